package projections

import (
	"iter"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// plainBody is the content type of a record with one event. Any other may hold
// several events of several types and has to be decoded to know.
const plainBody = "application/json"

// interest is what a projector reads.
type interest struct {
	all     bool
	types   []schemas.Type
	streams []schemas.Stream
}

func newInterest(types []schemas.Type) interest {
	if len(types) == 0 {
		return interest{all: true, streams: schemas.Streams()}
	}
	in := interest{types: types}
	read := map[schemas.Stream]bool{}
	for _, t := range types {
		read[t.Kind().Stream()] = true
	}
	for _, s := range schemas.Streams() {
		if read[s] {
			in.streams = append(in.streams, s)
		}
	}
	return in
}

func (in interest) has(t schemas.Type) bool {
	return in.all || slices.Contains(in.types, t)
}

// decoded is what a projector reads of a record, or why it cannot be read.
type decoded struct {
	record schemas.Record
	events []schemas.Event
	err    error
}

// aheadRecords is how many records are decoded while as many are applied.
// Decoding takes about as long as applying; fewer records are not worth a
// goroutine.
const aheadRecords = 256

// decoded are the records with their events, in order. Of many, the next are
// decoded while the caller works on these, each after its turn.
func (in interest) decoded(records []schemas.Record, turn func()) iter.Seq[decoded] {
	if len(records) <= aheadRecords {
		return slices.Values(in.decode(records, turn))
	}
	return func(yield func(decoded) bool) {
		parts, done := make(chan []decoded, 1), make(chan struct{})
		defer close(done)
		go func() {
			defer close(parts)
			for part := range slices.Chunk(records, aheadRecords) {
				select {
				case parts <- in.decode(part, turn):
				case <-done:
					return
				}
			}
		}()
		for part := range parts {
			for _, d := range part {
				if !yield(d) {
					return
				}
			}
		}
	}
}

func (in interest) decode(records []schemas.Record, turn func()) []decoded {
	out := make([]decoded, 0, len(records))
	events := make([]schemas.Event, 0, len(records))
	for _, r := range records {
		turn()
		from := len(events)
		var err error
		if events, err = in.appendEvents(events, r); err != nil {
			events = events[:from]
		}
		out = append(out, decoded{record: r, events: events[from:], err: err})
	}
	return out
}

// appendEvents decodes a record if the projector reads it, and appends the
// events it reads. What is of no interest is told from subject and header
// alone; a type that the build does not know is decoded, so that its error is
// found by every view.
func (in interest) appendEvents(list []schemas.Event, r schemas.Record) ([]schemas.Event, error) {
	t := subjectType(r.Message.Subject)
	if !in.has(t) && t.Version() > 0 {
		if c := r.Message.Attribute(schemas.HeaderContentType); c == plainBody || c == "" {
			return list, nil
		}
	}
	from := len(list)
	list, err := r.AppendEvents(list)
	if err != nil || in.all {
		return list, err
	}
	wanted := list[:from]
	for _, e := range list[from:] {
		if in.has(e.Type()) {
			wanted = append(wanted, e)
		}
	}
	return wanted, nil
}

// subjectType is the type a subject names: its last two tokens.
func subjectType(subject string) schemas.Type {
	last := strings.LastIndexByte(subject, '.')
	if last < 0 {
		return ""
	}
	return schemas.Type(subject[strings.LastIndexByte(subject[:last], '.')+1:])
}
