package schemas

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func sampleNodeOf(t NodeType) Rule {
	var r Rule
	fill(reflect.ValueOf(&r).Elem(), "x")
	sampleNode(&r, t)
	if t != NodeRule {
		r.Check = nil
	}
	return r
}

func TestEveryNodeTypeHasItsFieldsAndSchema(t *testing.T) {
	for _, typ := range NodeTypes() {
		t.Run(string(typ), func(t *testing.T) {
			r := sampleNodeOf(typ)
			if err := r.Validate(); err != nil {
				t.Fatal(err)
			}
			if (r.Detail() == nil) != (typ == NodeRule) {
				t.Errorf("detail %v", r.Detail())
			}
			schema := compileNodeSchema(t, typ)
			if err := schema.Validate(asJSON(t, r)); err != nil {
				t.Errorf("its own schema refuses it: %v", err)
			}
			for _, other := range NodeTypes() {
				if other == typ {
					continue
				}
				if err := schema.Validate(asJSON(t, sampleNodeOf(other))); err == nil {
					t.Errorf("the schema of %s accepts a %s", typ, other)
				}
				mixed := r
				mixed.Type = other
				if err := mixed.Validate(); !errors.Is(err, ErrMalformed) {
					t.Errorf("the fields of %s as a %s: %v", typ, other, err)
				}
			}
		})
	}
	if _, err := NodeJSONSchema("Wish"); !errors.Is(err, ErrUnknownType) {
		t.Errorf("schema of an unknown type: %v", err)
	}
}

// The committed files are what other programs read.
func TestNodeSchemasAreCommitted(t *testing.T) {
	for _, typ := range NodeTypes() {
		want, err := NodeJSONSchema(typ)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("jsonschema", "node."+string(typ)+".json")
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(path); err != nil || string(have) != string(want) {
			t.Errorf("%s is out of date (run: go test ./schemas -update): %v", path, err)
		}
	}
}

func compileNodeSchema(t *testing.T, typ NodeType) *jsonschema.Schema {
	t.Helper()
	raw, err := NodeJSONSchema(typ)
	if err != nil {
		t.Fatal(err)
	}
	var parsed any
	if err := json.Unmarshal(raw, &parsed); err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("node.json", parsed); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("node.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func asJSON(t *testing.T, v any) any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
