package projections

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/writbus/writ/schemas"
)

// The verdicts of the write gate, as events spell them.
const (
	verdictAllow   = "allow"
	verdictHold    = "hold"
	verdictDiscard = "discard"
)

// Verdicts tallies what the write gate decided: per scope, in total and per
// minute of the observations' own time, by the verdict that holds now. An
// observation counts once, where it was recorded: a second record of its id
// changes nothing, and regating moves it from one count to another. A query
// helper takes a Reader of the view "verdicts".
//
//	o/<scope>/<observation>       what the observation counts as
//	t/<scope>                     Tally of a scope, counters only
//	b<minute>/<scope>             Tally of a minute and scope, counters only
//	r/<scope>/<reason>            fallbacks of a scope by reason, a varint
//	q<minute>/<scope>/<reason>    fallbacks of a minute, scope and reason
//
// A minute is eight bytes that order as time does.
type Verdicts struct{}

// NewVerdicts returns the view.
func NewVerdicts() Verdicts { return Verdicts{} }

// Tally counts observations by verdict.
type Tally struct {
	Allow   uint64 `json:"allow"` // fallbacks among them
	Hold    uint64 `json:"hold"`
	Discard uint64 `json:"discard"`
	// Unknown verdicts are neither recalled nor reflected.
	Unknown  uint64 `json:"unknown,omitempty"`
	Fallback uint64 `json:"fallback"`
	// Reasons counts the fallbacks by their reason.
	Reasons map[string]uint64 `json:"reasons,omitempty"`
}

// Total is allow + hold + discard, what the ratios of drift divide by.
func (t Tally) Total() uint64 { return t.Allow + t.Hold + t.Discard }

// counted is the part of an observation that is counted.
type counted struct {
	Verdict  string `json:"v,omitempty"`
	Fallback bool   `json:"f,omitempty"`
	Reason   string `json:"r,omitempty"` // of a fallback
	Minute   int64  `json:"m"`           // when it was recorded, minutes since 1970
}

// Name implements Projector.
func (Verdicts) Name() string { return "verdicts" }

// Version implements Projector.
func (Verdicts) Version() int { return 1 }

// Types implements Projector.
func (Verdicts) Types() []schemas.Type {
	return []schemas.Type{schemas.ObservationRecorded{}.EventType(), schemas.ObservationRegated{}.EventType()}
}

// Apply implements Projector.
func (Verdicts) Apply(v View, e schemas.Event) error {
	scope := e.Aggregate.ID
	switch p := e.Data.(type) {
	case schemas.ObservationRecorded:
		key := idKey('o', scope, p.ObservationID)
		_, found, err := v.Get(key)
		if err != nil || found {
			return err
		}
		c := counted{Verdict: p.Verdict, Fallback: p.Fallback, Minute: minuteOf(e.Time)}
		if p.Fallback {
			c.Reason = p.Reason
		}
		return count(v, scope, key, nil, &c)
	case schemas.ObservationRegated:
		key := idKey('o', scope, p.ObservationID)
		was, found, err := getDocument[counted](v, key)
		if err != nil || !found {
			return err
		}
		// Somebody decided now, so it is no fallback any more.
		return count(v, scope, key, &was, &counted{Verdict: p.Verdict, Minute: was.Minute})
	}
	return nil
}

// count moves an observation from what it counted as to what it counts as.
func count(v View, scope string, key []byte, was, is *counted) error {
	if was != nil {
		if err := add(v, scope, *was, ^uint64(0)); err != nil {
			return err
		}
	}
	if err := add(v, scope, *is, 1); err != nil {
		return err
	}
	return setDocument(v, key, is)
}

// add adds n, modulo 2⁶⁴, to the counters that an observation counts in.
func add(v View, scope string, c counted, n uint64) error {
	token := schemas.EncodeToken(scope)
	minute := minuteKey('b', c.Minute)
	for _, key := range [][]byte{append([]byte("t/"), token...), append(append(minute, '/'), token...)} {
		if err := addTally(v, key, c, n); err != nil {
			return err
		}
	}
	if !c.Fallback {
		return nil
	}
	reason := token + "/" + schemas.EncodeToken(c.Reason)
	minute = minuteKey('q', c.Minute)
	for _, key := range [][]byte{append([]byte("r/"), reason...), append(append(minute, '/'), reason...)} {
		if err := addCounter(v, key, n); err != nil {
			return err
		}
	}
	return nil
}

// The counters of a stored Tally. Persisted; never change.
const (
	slotAllow = iota
	slotHold
	slotDiscard
	slotUnknown
	slotFallback
	tallySlots
)

func addTally(v View, key []byte, c counted, n uint64) error {
	value, _, err := v.Get(key)
	if err != nil {
		return err
	}
	var slots [tallySlots * 8]byte
	copy(slots[:], value)
	bump := func(slot int) {
		at := slots[slot*8:]
		binary.BigEndian.PutUint64(at, binary.BigEndian.Uint64(at)+n)
	}
	switch c.Verdict {
	case verdictAllow, "":
		bump(slotAllow)
	case verdictHold:
		bump(slotHold)
	case verdictDiscard:
		bump(slotDiscard)
	default:
		bump(slotUnknown)
	}
	if c.Fallback {
		bump(slotFallback)
	}
	return v.Set(key, slots[:])
}

func addCounter(v View, key []byte, n uint64) error {
	value, _, err := v.Get(key)
	if err != nil {
		return err
	}
	old, _ := binary.Uvarint(value)
	if old+n == 0 {
		return v.Delete(key)
	}
	return v.Set(key, binary.AppendUvarint(nil, old+n))
}

func minuteOf(t time.Time) int64 {
	minute := t.Unix() / 60
	if t.Unix()%60 < 0 {
		minute--
	}
	return minute
}

// minuteKey orders minutes before 1970 first.
func minuteKey(kind byte, minute int64) []byte {
	return ordinal([]byte{kind}, uint64(minute)^1<<63)
}

func readTally(value []byte) (t Tally, err error) {
	if len(value) != tallySlots*8 {
		return t, fmt.Errorf("projections: tally of %d bytes", len(value))
	}
	slot := func(i int) uint64 { return binary.BigEndian.Uint64(value[i*8:]) }
	return Tally{
		Allow: slot(slotAllow), Hold: slot(slotHold), Discard: slot(slotDiscard),
		Unknown: slot(slotUnknown), Fallback: slot(slotFallback),
	}, nil
}
