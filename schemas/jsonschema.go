package schemas

import (
	"embed"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

//go:embed jsonschema/*.json
var embeddedSchemas embed.FS

// JSONSchema returns the JSON Schema (draft 2020-12) of a type's body at a
// version, as shipped. It returns ErrUnknownType or ErrFutureVersion.
func JSONSchema(t Type, version int) ([]byte, error) {
	d, known := definitions()[t]
	if !known {
		return nil, fmt.Errorf("%w: %q", ErrUnknownType, t)
	}
	if version < 1 || version > d.version() {
		return nil, fmt.Errorf("%w: %s version %d", ErrFutureVersion, t, version)
	}
	return embeddedSchemas.ReadFile("jsonschema/" + schemaFile(t, version))
}

func schemaFile(t Type, version int) string { return fmt.Sprintf("%s.v%d.json", t, version) }

// schemaOf is the JSON Schema of an event's body or of a node.
func schemaOf(t reflect.Type) map[string]any { return wire{stored: true}.of(t) }

// RequestSchema is the JSON Schema (draft 2020-12) of what a service takes. A
// field that is left out has its zero value; one that it does not name is
// refused.
func RequestSchema(t reflect.Type) json.RawMessage { return wire{strict: true}.document(t) }

// ReplySchema is the JSON Schema of what a service answers. Later versions may
// answer with more fields: a reader skips those that it does not know.
func ReplySchema(t reflect.Type) json.RawMessage { return wire{}.document(t) }

// RequestFields are the names of the fields that a service takes, sorted.
func RequestFields(t reflect.Type) []string {
	var names []string
	for _, f := range wireFields(t) {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return names
}

// wire makes schemas of what encoding/json reads and writes. Those of services are of
// this build alone.
type wire struct {
	stored bool           // in events, whose schemas are frozen
	strict bool           // nothing is required
	within []reflect.Type // structs that are being described, to end at one that holds itself
}

func (w wire) document(t reflect.Type) json.RawMessage {
	raw, err := json.Marshal(w.of(t))
	if err != nil {
		panic("schemas: a schema does not marshal: " + err.Error())
	}
	return raw
}

var (
	jsonMarshaler   = reflect.TypeFor[json.Marshaler]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
)

func (w wire) of(t reflect.Type) map[string]any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[[]byte]():
		return map[string]any{"type": []string{"string", "null"}, "contentEncoding": "base64"}
	case t.Kind() != reflect.Pointer && (t.Implements(jsonMarshaler) || reflect.PointerTo(t).Implements(jsonUnmarshaler)):
		return map[string]any{} // says itself what it looks like
	case t.Kind() != reflect.Pointer && t.Implements(textMarshaler):
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": []string{"array", "null"}, "items": w.of(t.Elem())}
	case reflect.Map:
		m := map[string]any{"type": []string{"object", "null"}, "additionalProperties": w.of(t.Elem())}
		if w.stored {
			m["type"] = "object"
		}
		return m
	case reflect.Pointer:
		if w.stored {
			return w.of(t.Elem())
		}
		return map[string]any{"anyOf": []any{w.of(t.Elem()), map[string]any{"type": "null"}}}
	case reflect.Struct:
		return w.ofStruct(t)
	default:
		return map[string]any{}
	}
}

func (w wire) ofStruct(t reflect.Type) map[string]any {
	if slices.Contains(w.within, t) {
		return map[string]any{"type": "object"}
	}
	w.within = append(slices.Clip(w.within), t)
	properties, required := map[string]any{}, []string{}
	for _, f := range wireFields(t) {
		properties[f.name] = w.of(f.typ)
		if !w.strict && !f.optional {
			required = append(required, f.name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties}
	if w.strict || w.stored {
		s["additionalProperties"] = false
	}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

type wireField struct {
	name     string
	typ      reflect.Type
	optional bool
}

// wireFields are the fields of a struct as encoding/json names them: those of an
// embedded struct without a name of its own are the outer one's, unless that has
// one of the same name.
func wireFields(t reflect.Type) []wireField {
	if t.Kind() != reflect.Struct {
		return nil
	}
	var fields, deeper []wireField
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			deeper = append(deeper, wireFields(f.Type)...)
			continue
		case name == "-" && options == "" || !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		fields = append(fields, wireField{name, f.Type, strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")})
	}
	for _, f := range deeper {
		if !slices.ContainsFunc(fields, func(have wireField) bool { return have.name == f.name }) {
			fields = append(fields, f)
		}
	}
	return fields
}
