package corpus

import (
	"reflect"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// valueKind says which YAML value a front matter key takes.
type valueKind int

const (
	textValue    valueKind = iota
	listValue              // of texts
	flagValue              // true or false
	integerValue           // whole number
	numberValue
	edgeValue // list of {type, target}
	mapValue  // keys of its own
)

// field binds a front matter key to a field of a struct in schemas.
type field struct {
	key      string
	index    int // in the struct
	kind     valueKind
	required bool    // a blank or missing value is refused
	sub      []field // of a mapValue
}

// fields are the front matter keys in canonical order, which is the order of
// the struct: a field that schemas gains is read and written without a change
// here.
var fields = fieldsOf(reflect.TypeFor[schemas.Rule]())

// wordLists are lists of short words and names, written on one line.
var wordLists = []string{"tags", "contexts", "paths", "except", "tools", "members", "phases", "roles", "pressures"}

// fieldsOf reads the yaml tags of a struct. It panics on a type it cannot
// read, which only a change of schemas brings about.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		key, options, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if key == "-" {
			continue
		}
		f := field{key: key, index: i, required: !strings.Contains(options, "omitempty")}
		switch of := t.Field(i).Type; {
		case of == reflect.TypeFor[[]schemas.Edge]():
			f.kind = edgeValue
		case of == reflect.TypeFor[[]string]():
			f.kind = listValue
		case of.Kind() == reflect.String:
			f.kind = textValue
		case of.Kind() == reflect.Bool:
			f.kind = flagValue
		case of.Kind() == reflect.Int:
			f.kind = integerValue
		case of.Kind() == reflect.Float64:
			f.kind = numberValue
		case of.Kind() == reflect.Pointer && of.Elem().Kind() == reflect.Struct:
			f.kind, f.sub = mapValue, fieldsOf(of.Elem())
		default:
			panic("corpus: no front matter form for " + of.String())
		}
		out = append(out, f)
	}
	return out
}

func fieldOf(fields []field, key string) (field, bool) {
	i := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
	if i < 0 {
		return field{}, false
	}
	return fields[i], true
}

// detailKeys maps a node type to the key that its own fields stand under.
var detailKeys = func() map[schemas.NodeType]string {
	keys := map[schemas.NodeType]string{}
	rule := reflect.TypeFor[schemas.Rule]()
	for _, f := range fields {
		if name := schemas.NodeType(rule.Field(f.index).Name); f.kind == mapValue && slices.Contains(schemas.NodeTypes(), name) {
			keys[name] = f.key
		}
	}
	return keys
}()
