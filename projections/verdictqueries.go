package projections

import (
	"encoding/binary"
	"fmt"
	"iter"
	"time"

	"github.com/writbus/writ/schemas"
)

// Window returns the tally of the observations recorded in the minutes from
// the one of from up to, and without, the one of to. The scope "" means all.
func (*Verdicts) Window(r Reader, scope string, from, to time.Time) (Tally, error) {
	sum := Tally{Reasons: map[string]uint64{}}
	for e, err := range span(r, 'b', from, to) {
		if err != nil {
			return sum, err
		}
		if scope != "" && string(e.Key[len("b")+8+1:]) != schemas.EncodeToken(scope) {
			continue
		}
		before := sum.Fallback
		if err := sum.add(e.Value); err != nil {
			return sum, err
		}
		if sum.Fallback == before {
			continue
		}
		if err := sum.addReasons(r, e.Key); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// span yields the keys of a kind whose minute lies in a window. It scans in
// steps of the keys' common prefixes, so that a window costs what it holds.
func span(r Reader, kind byte, from, to time.Time) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		first, end := uint64(minuteOf(from))^1<<63, uint64(minuteOf(to))^1<<63
		for first < end {
			// The largest aligned block of minutes that begins at first and
			// does not go beyond the window; whole bytes can be a prefix.
			width := 8
			for width > 1 {
				block := uint64(1) << (8 * (8 - width + 1))
				if first%block != 0 || end-first < block {
					break
				}
				width--
			}
			prefix := ordinal([]byte{kind}, first)[:1+width]
			for e, err := range r.Scan(prefix) {
				if !yield(e, err) || err != nil {
					return
				}
			}
			first += uint64(1) << (8 * (8 - width))
		}
	}
}

// add adds a stored Tally.
func (t *Tally) add(value []byte) error {
	if len(value) != tallySlots*8 {
		return fmt.Errorf("projections: tally of %d bytes", len(value))
	}
	for slot, n := range [tallySlots]*uint64{slotAllow: &t.Allow, slotHold: &t.Hold, slotDiscard: &t.Discard, slotUnknown: &t.Unknown, slotFallback: &t.Fallback} {
		*n += binary.BigEndian.Uint64(value[slot*8:])
	}
	return nil
}

// addReasons adds the fallbacks of a minute and scope, of which the key is that of
// their tally.
func (t *Tally) addReasons(r Reader, key []byte) error {
	prefix := append(append([]byte{'q'}, key[1:]...), '/')
	for e, err := range r.Scan(prefix) {
		if err != nil {
			return err
		}
		reason, err := schemas.DecodeToken(string(e.Key[len(prefix):]))
		if err != nil {
			return err
		}
		n, _ := binary.Uvarint(e.Value)
		t.Reasons[reason] += n
	}
	return nil
}
