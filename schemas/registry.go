package schemas

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Type names what happened, "entity.past_participle". It is the last two
// tokens of the event's subject. Persisted; never rename one: a changed
// meaning is a new type.
type Type string

// Upcast reshapes the raw JSON of one version into that of the next.
type Upcast func(json.RawMessage) (json.RawMessage, error)

type definition struct {
	kind    Kind
	goType  reflect.Type
	decode  func(json.RawMessage) (Payload, error)
	upcasts []Upcast
}

// version is derived, so that it cannot disagree with the upcasts.
func (d definition) version() int { return len(d.upcasts) + 1 }

func define[P Payload](kind Kind, upcasts ...Upcast) (Type, definition) {
	var zero P
	return zero.EventType(), definition{
		kind:   kind,
		goType: reflect.TypeFor[P](),
		decode: func(raw json.RawMessage) (Payload, error) {
			var p P
			if err := jsonv1.Unmarshal(raw, &p); err != nil {
				return nil, fmt.Errorf("%w: %s: %w", ErrMalformed, zero.EventType(), err)
			}
			return p, nil
		},
		upcasts: upcasts,
	}
}

// definitions are made when the first is asked for: many runs of the client ask
// for none.
var definitions = sync.OnceValue(func() map[Type]definition {
	all := map[Type]definition{}
	add := func(t Type, d definition) {
		if _, twice := all[t]; twice {
			panic("schemas: type defined twice: " + string(t))
		}
		all[t] = d
	}
	registerSession(add)
	registerRule(add)
	registerViolation(add)
	registerTests(add)
	registerSubagent(add)
	registerOthers(add)
	return all
})

// Types lists every known type, sorted.
func Types() []Type {
	return slices.Sorted(maps.Keys(definitions()))
}

// TypesOf lists the known types of one kind of aggregate, sorted.
func TypesOf(kind Kind) []Type {
	return slices.DeleteFunc(Types(), func(t Type) bool { return t.Kind() != kind })
}

// ParseType returns ErrUnknownType for a name this build does not know.
func ParseType(name string) (Type, error) {
	if _, known := definitions()[Type(name)]; !known {
		return "", fmt.Errorf("%w: %q", ErrUnknownType, name)
	}
	return Type(name), nil
}

// Kind is the kind of aggregate that events of this type belong to, "" for an
// unknown type.
func (t Type) Kind() Kind {
	return definitions()[t].kind
}

// Version is the schema version this build writes, 0 for an unknown type.
func (t Type) Version() int {
	d, known := definitions()[t]
	if !known {
		return 0
	}
	return d.version()
}

// DecodePayload reads the JSON body of a type at a version, upcasting it step
// by step. It returns ErrUnknownType, ErrFutureVersion or ErrMalformed.
func DecodePayload(t Type, version int, raw json.RawMessage) (Payload, error) {
	d, known := definitions()[t]
	if !known {
		return nil, fmt.Errorf("%w: %q", ErrUnknownType, t)
	}
	return d.payload(t, version, raw)
}

func (d definition) payload(t Type, version int, raw json.RawMessage) (Payload, error) {
	switch {
	case version < 1:
		return nil, fmt.Errorf("%w: %s: version %d", ErrMalformed, t, version)
	case version > d.version():
		return nil, fmt.Errorf("%w: %s version %d, this build reads up to %d", ErrFutureVersion, t, version, d.version())
	}
	for step := version; step < d.version(); step++ {
		next, err := d.upcasts[step-1](raw)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: upcast from version %d: %w", ErrMalformed, t, step, err)
		}
		raw = next
	}
	return d.decode(raw)
}
