package projections

import (
	"encoding/binary"
	"strconv"
	"time"

	"github.com/writbus/writ/schemas"
)

// The verdicts of the write gate, as events spell them.
const (
	verdictAllow   = "allow"
	verdictHold    = "hold"
	verdictDiscard = "discard"
)

// Verdicts tallies what the write gate decided: per scope and minute of the
// observations' own time, by the verdict that holds now. An
// observation counts once, where it was recorded: a second record of its id
// changes nothing, and regating moves it from one count to another. A query
// helper takes a Reader of the view "verdicts".
//
//	o/<scope>/<observation>       what the observation counts as
//	b<minute>/<scope>             Tally of a minute and scope, counters only
//	q<minute>/<scope>/<reason>    fallbacks of a minute, scope and reason, a varint
//
// A minute is eight bytes that order as time does.
type Verdicts struct {
	// What the batch adds to the counters, modulo 2⁶⁴; sums do not depend on
	// where a batch ends.
	tallies map[tallyKey]*[tallySlots]uint64
	reasons map[reasonKey]uint64

	key, value []byte // scratch
}

// tallyKey names a stored Tally.
type tallyKey struct {
	scope  string
	minute int64
}

type reasonKey struct {
	tallyKey
	reason string
}

// NewVerdicts returns the view.
func NewVerdicts() *Verdicts {
	w := &Verdicts{}
	w.Begin()
	return w
}

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
func (*Verdicts) Name() string { return "verdicts" }

// Version implements Projector.
func (*Verdicts) Version() int { return 2 }

// Types implements Projector.
func (*Verdicts) Types() []schemas.Type {
	return []schemas.Type{schemas.ObservationRecorded{}.EventType(), schemas.ObservationRegated{}.EventType()}
}

// Apply implements Projector.
func (w *Verdicts) Apply(v View, e schemas.Event) error {
	scope := e.Aggregate.ID
	switch p := e.Data.(type) {
	case schemas.ObservationRecorded:
		w.key = appendIDKey(w.key[:0], 'o', scope, p.ObservationID)
		key := w.key
		_, found, err := v.Get(key)
		if err != nil || found {
			return err
		}
		c := counted{Verdict: p.Verdict, Fallback: p.Fallback, Minute: minuteOf(e.Time)}
		if p.Fallback {
			c.Reason = p.Reason
		}
		return w.count(v, scope, key, nil, c)
	case schemas.ObservationRegated:
		key := idKey('o', scope, p.ObservationID)
		was, found, err := getDocument[counted](v, key)
		if err != nil || !found {
			return err
		}
		// Somebody decided now, so it is no fallback any more.
		return w.count(v, scope, key, &was, counted{Verdict: p.Verdict, Minute: was.Minute})
	}
	return nil
}

// count moves an observation from what it counted as to what it counts as.
func (w *Verdicts) count(v View, scope string, key []byte, was *counted, is counted) error {
	if was != nil {
		w.add(scope, *was, ^uint64(0))
	}
	w.add(scope, is, 1)
	if is.Fallback || !plainVerdict(is.Verdict) {
		return setDocument(v, key, is)
	}
	w.value = is.appendPlain(w.value[:0])
	return v.Set(key, w.value)
}

func plainVerdict(v string) bool {
	return v == "" || v == verdictAllow || v == verdictHold || v == verdictDiscard
}

// appendPlain writes what json.Marshal does for a plain verdict without
// fallback, the common case.
func (c counted) appendPlain(to []byte) []byte {
	to = append(to, '{')
	if c.Verdict != "" {
		to = append(append(append(to, `"v":"`...), c.Verdict...), `",`...)
	}
	return append(strconv.AppendInt(append(to, `"m":`...), c.Minute, 10), '}')
}

// add adds n to the counters that an observation counts in.
func (w *Verdicts) add(scope string, c counted, n uint64) {
	key := tallyKey{scope, c.Minute}
	t := w.tallies[key]
	if t == nil {
		t = new([tallySlots]uint64)
		w.tallies[key] = t
	}
	t[slotOf(c.Verdict)] += n
	if c.Fallback {
		t[slotFallback] += n
		w.reasons[reasonKey{key, c.Reason}] += n
	}
}

// Begin implements Batcher.
func (w *Verdicts) Begin() {
	w.tallies, w.reasons = map[tallyKey]*[tallySlots]uint64{}, map[reasonKey]uint64{}
}

// Flush implements Batcher.
func (w *Verdicts) Flush(v View) error {
	for key, t := range w.tallies {
		if err := addTally(v, key.in('b'), t); err != nil {
			return err
		}
	}
	for key, n := range w.reasons {
		stored := append(append(key.in('q'), '/'), schemas.EncodeToken(key.reason)...)
		if err := addCounter(v, stored, n); err != nil {
			return err
		}
	}
	return nil
}

// in is the stored key among those of a kind.
func (k tallyKey) in(kind byte) []byte {
	return append(append(minuteKey(kind, k.minute), '/'), schemas.EncodeToken(k.scope)...)
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

func slotOf(verdict string) int {
	switch verdict {
	case verdictAllow, "":
		return slotAllow
	case verdictHold:
		return slotHold
	case verdictDiscard:
		return slotDiscard
	default:
		return slotUnknown
	}
}

func addTally(v View, key []byte, n *[tallySlots]uint64) error {
	value, _, err := v.Get(key)
	if err != nil {
		return err
	}
	var sum [tallySlots * 8]byte
	copy(sum[:], value)
	for slot := range tallySlots {
		at := sum[slot*8:]
		binary.BigEndian.PutUint64(at, binary.BigEndian.Uint64(at)+n[slot])
	}
	return v.Set(key, sum[:])
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
