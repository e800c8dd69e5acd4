package schemas

import (
	"embed"
	"fmt"
	"reflect"
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

func schemaOf(t reflect.Type) map[string]any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[[]byte]():
		return map[string]any{"type": []string{"string", "null"}, "contentEncoding": "base64"}
	}
	switch t.Kind() {
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice:
		return map[string]any{"type": []string{"array", "null"}, "items": schemaOf(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Interface:
		return map[string]any{}
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Struct:
		return schemaOfStruct(t)
	default:
		panic("schemas: no JSON Schema for a field of " + t.String())
	}
}

func jsonKey(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func schemaOfStruct(t reflect.Type) map[string]any {
	properties := map[string]any{}
	required := []string{}
	for i := range t.NumField() {
		name, options := jsonKey(t.Field(i)), ""
		if _, rest, found := strings.Cut(t.Field(i).Tag.Get("json"), ","); found {
			options = rest
		}
		properties[name] = schemaOf(t.Field(i).Type)
		if options == "" {
			required = append(required, name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}
