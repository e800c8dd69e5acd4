package projections

import (
	"encoding/binary"
	"iter"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
)

// Scope returns the tally of one scope over all time.
func (*Verdicts) Scope(r Reader, scope string) (Tally, error) {
	t := Tally{Reasons: map[string]uint64{}}
	value, found, err := r.Get(idKey('t', scope))
	if err != nil || !found {
		return t, err
	}
	counters, err := readTally(value)
	if err != nil {
		return t, err
	}
	t.add(counters)
	for e, err := range r.Scan(idPrefix('r', scope)) {
		if err != nil {
			return t, err
		}
		if err := t.addReason(string(e.Key), e.Value); err != nil {
			return t, err
		}
	}
	return t, nil
}

// Scopes returns the tallies of every scope over all time.
func (w *Verdicts) Scopes(r Reader) (map[string]Tally, error) {
	all := map[string]Tally{}
	for e, err := range r.Scan([]byte("t/")) {
		if err != nil {
			return nil, err
		}
		scope, err := schemas.DecodeToken(string(e.Key[2:]))
		if err != nil {
			return nil, err
		}
		if all[scope], err = w.Scope(r, scope); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Window returns the tally of the observations recorded in the minutes from
// the one of from up to, and without, the one of to. The scope "" means all.
func (w *Verdicts) Window(r Reader, scope string, from, to time.Time) (Tally, error) {
	sum := Tally{Reasons: map[string]uint64{}}
	for b, err := range w.Buckets(r, scope, time.Minute, from, to) {
		if err != nil {
			return sum, err
		}
		sum.add(b.Tally)
	}
	return sum, nil
}

// Bucket is the tally of a span of time.
type Bucket struct {
	Start time.Time `json:"start"`
	Tally
}

// Buckets cuts a window into spans of a size, which is a multiple of a
// minute: time.Hour gives one bucket per hour. Spans begin at multiples of the
// size since 1970, UTC; one without observations is left out. The scope ""
// means all.
func (w *Verdicts) Buckets(r Reader, scope string, size time.Duration, from, to time.Time) iter.Seq2[Bucket, error] {
	return func(yield func(Bucket, error) bool) {
		var open Bucket
		flush := func() bool { return open.Reasons == nil || yield(open, nil) }
		for m, err := range w.minutes(r, scope, from, to) {
			if err != nil {
				yield(Bucket{}, err)
				return
			}
			start := floor(m.Start, size)
			if open.Reasons == nil || !start.Equal(open.Start) {
				if !flush() {
					return
				}
				open = Bucket{Start: start, Tally: Tally{Reasons: map[string]uint64{}}}
			}
			open.add(m.Tally)
		}
		flush()
	}
}

// floor is the last multiple of size since 1970 that is not after t.
func floor(t time.Time, size time.Duration) time.Time {
	step := max(int64(size/time.Minute), 1)
	minute := minuteOf(t)
	rest := minute % step
	if rest < 0 {
		rest += step
	}
	return time.Unix((minute-rest)*60, 0).UTC()
}

// minutes yields the tally of every scope and minute of a window that has
// one, in the order of time.
func (w *Verdicts) minutes(r Reader, scope string, from, to time.Time) iter.Seq2[Bucket, error] {
	return func(yield func(Bucket, error) bool) {
		for e, err := range span(r, 'b', from, to) {
			if err != nil {
				yield(Bucket{}, err)
				return
			}
			token := string(e.Key[len("b")+8+1:])
			if scope != "" && token != schemas.EncodeToken(scope) {
				continue
			}
			b := Bucket{Start: time.Unix(keyMinute(e.Key)*60, 0).UTC()}
			if b.Tally, err = readTally(e.Value); err == nil && b.Fallback > 0 {
				err = b.readReasons(r, keyMinute(e.Key), token)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
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

func keyMinute(key []byte) int64 { return int64(binary.BigEndian.Uint64(key[1:]) ^ 1<<63) }

func (t *Tally) add(o Tally) {
	t.Allow += o.Allow
	t.Hold += o.Hold
	t.Discard += o.Discard
	t.Unknown += o.Unknown
	t.Fallback += o.Fallback
	for reason, n := range o.Reasons {
		t.Reasons[reason] += n
	}
}

func (t *Tally) readReasons(r Reader, minute int64, token string) error {
	t.Reasons = map[string]uint64{}
	prefix := append(append(minuteKey('q', minute), '/'), token+"/"...)
	for e, err := range r.Scan(prefix) {
		if err != nil {
			return err
		}
		if err := t.addReason(string(e.Key), e.Value); err != nil {
			return err
		}
	}
	return nil
}

// addReason adds a counter whose key ends in the encoded reason.
func (t *Tally) addReason(key string, value []byte) error {
	reason, err := schemas.DecodeToken(key[strings.LastIndexByte(key, '/')+1:])
	if err != nil {
		return err
	}
	n, _ := binary.Uvarint(value)
	t.Reasons[reason] += n
	return nil
}
