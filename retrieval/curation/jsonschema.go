package curation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/writbus/writ/schemas"
)

// nodeSchema is as much of JSON Schema as the generated schemas of nodes use; a
// test compares it with a whole implementation.
type nodeSchema struct {
	Type       names                  `json:"type"`
	Const      *string                `json:"const"`
	Minimum    *float64               `json:"minimum"`
	Properties map[string]*nodeSchema `json:"properties"`
	Required   []string               `json:"required"`
	Items      *nodeSchema            `json:"items"`
}

// names is one name or several.
type names []string

// UnmarshalJSON takes a string or a list of strings.
func (n *names) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*n = names{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(n))
}

var nodeSchemas = sync.OnceValue(func() map[schemas.NodeType]*nodeSchema {
	all := map[schemas.NodeType]*nodeSchema{}
	for _, t := range schemas.NodeTypes() {
		raw, err := schemas.NodeJSONSchema(t)
		if err != nil {
			panic("curation: a node type without a schema: " + err.Error())
		}
		s := &nodeSchema{}
		if err := json.Unmarshal(raw, s); err != nil {
			panic("curation: the schema of " + string(t) + ": " + err.Error())
		}
		all[t] = s
	}
	return all
})

func schemaFor(t schemas.NodeType) *nodeSchema { return nodeSchemas()[t] }

// validate reports where a value leaves its schema, as problems of a field.
func (p *Proposal) validate(s *nodeSchema, field, path string, value any) bool {
	kind := jsonKind(value)
	if s.Const != nil {
		if value != *s.Const {
			p.problem(field, fmt.Sprintf("%s must be %q", path, *s.Const))
			return false
		}
		return true
	}
	fits := len(s.Type) == 0 || slices.Contains(s.Type, kind) || kind == "integer" && slices.Contains(s.Type, "number")
	if !fits {
		p.problem(field, fmt.Sprintf("%s is of type %s and must be %s", path, kind, strings.Join(s.Type, " or ")))
		return false
	}
	switch v := value.(type) {
	case json.Number:
		if f, err := v.Float64(); err != nil || s.Minimum != nil && f < *s.Minimum {
			p.problem(field, fmt.Sprintf("%s is %s, which is out of range", path, v))
		}
	case []any:
		for i, item := range v {
			if s.Items != nil {
				p.validate(s.Items, field, fmt.Sprintf("%s[%d]", path, i), item)
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if known, has := s.Properties[key]; has {
				p.validate(known, field, path+"."+key, v[key])
			} else {
				p.problem(field, fmt.Sprintf("%s.%s is no field: remove it", path, key))
			}
		}
		for _, key := range s.Required {
			if _, has := v[key]; !has {
				p.problem(field, fmt.Sprintf("%s needs %s: add it", path, key))
			}
		}
	}
	return true
}

// jsonKind is the name that JSON Schema has for a value's type.
func jsonKind(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case json.Number:
		if f, err := v.Float64(); err == nil && f == float64(int64(f)) {
			return "integer"
		}
		return "number"
	default:
		return "object"
	}
}
