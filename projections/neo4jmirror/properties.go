package neo4jmirror

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/writbus/writ/schemas"
)

// property binds a property in Neo4j to its place in a node. What all nodes
// share stands under its own name, and so do the fields of the node's type; no
// two of them have the same name. A check's fields begin with "check_".
type property struct {
	name  string
	path  []int // of reflect fields; the first is in schemas.Rule
	owner schemas.NodeType
	kind  reflect.Type
}

// apart are the fields that are no properties: the type is the label, edges
// are relationships.
var apart = map[string]bool{"type": true, "edges": true}

const checkPrefix = "check_"

var properties = sync.OnceValue(func() []property {
	var all []property
	rule := reflect.TypeFor[schemas.Rule]()
	for i := range rule.NumField() {
		f := rule.Field(i)
		name := fieldName(f)
		switch {
		case name == "" || apart[name]:
		case f.Type.Kind() != reflect.Pointer:
			all = append(all, property{name: name, path: []int{i}, kind: f.Type})
		default:
			owner, prefix := schemas.NodeType(f.Name), ""
			if name == "check" {
				owner, prefix = "", checkPrefix
			}
			part := f.Type.Elem()
			for j := range part.NumField() {
				if inner := fieldName(part.Field(j)); inner != "" {
					all = append(all, property{name: prefix + inner, path: []int{i, j}, owner: owner, kind: part.Field(j).Type})
				}
			}
		}
	}
	return all
})

// fieldName is the name in JSON, "" for a field that JSON leaves out.
func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" || !f.IsExported() {
		return ""
	}
	return name
}

// propertiesOf are what a node carries in Neo4j. Every name of the mirror is
// there, with nil where the node has nothing, so that writing them also takes
// away what was there before; names of others are left alone.
func propertiesOf(r schemas.Rule) (map[string]any, error) {
	set := make(map[string]any, len(properties()))
	value := reflect.ValueOf(r)
	for _, p := range properties() {
		v, there := p.in(value)
		if !there {
			if _, other := set[p.name]; !other {
				set[p.name] = nil
			}
			continue
		}
		stored, err := store(v)
		if err != nil {
			return nil, fmt.Errorf("neo4jmirror: %s of %s: %w", p.name, r.ID, err)
		}
		set[p.name] = stored
	}
	return set, nil
}

// in finds the property in a node; there is false below a nil pointer.
func (p property) in(rule reflect.Value) (v reflect.Value, there bool) {
	v = rule.Field(p.path[0])
	if len(p.path) == 1 {
		return v, true
	}
	if v.IsNil() {
		return v, false
	}
	return v.Elem().Field(p.path[1]), true
}

// store gives a field the form in which Neo4j holds it. An empty text or list
// is no property.
func store(v reflect.Value) (any, error) {
	switch {
	case v.Kind() == reflect.Bool:
		return v.Bool(), nil
	case v.CanInt():
		return v.Int(), nil
	case v.CanFloat():
		return v.Float(), nil
	case v.IsZero():
		return nil, nil
	case v.Kind() == reflect.String:
		return v.String(), nil
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
		list := make([]string, v.Len())
		for i := range list {
			list[i] = v.Index(i).String()
		}
		if len(list) == 0 {
			return nil, nil
		}
		return list, nil
	}
	raw, err := json.Marshal(v.Interface())
	return string(raw), err
}

// sizeOf is about how many bytes a node takes on its way to the database.
func sizeOf(r schemas.Rule) int {
	bytes := 0
	value := reflect.ValueOf(r)
	for _, p := range properties() {
		bytes += len(p.name) + 2
		v, there := p.in(value)
		switch {
		case !there:
		case v.Kind() == reflect.String:
			bytes += v.Len()
		case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
			for i := range v.Len() {
				bytes += v.Index(i).Len() + 3
			}
		}
	}
	return bytes
}
