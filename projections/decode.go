package projections

import (
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
