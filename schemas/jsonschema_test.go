package schemas

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write the JSON Schemas and the history of the current versions")

const history = "testdata/history"

// TestSchemasAreCurrentAndFrozen fails when a struct changed without a new
// version: the frozen schema of a shipped version is never rewritten.
func TestSchemasAreCurrentAndFrozen(t *testing.T) {
	for _, typ := range Types() {
		t.Run(string(typ), func(t *testing.T) {
			generated, err := generateJSONSchema(typ)
			if err != nil {
				t.Fatal(err)
			}
			name := schemaFile(typ, typ.Version())
			if *update {
				write(t, filepath.Join("jsonschema", name), generated)
				if _, err := os.Stat(filepath.Join(history, name)); os.IsNotExist(err) {
					write(t, filepath.Join(history, name), generated)
				}
			}
			embedded, err := JSONSchema(typ, typ.Version())
			if err != nil {
				t.Fatalf("%v (run: go test ./schemas -update)", err)
			}
			if !*update && !bytes.Equal(embedded, generated) {
				t.Errorf("the embedded schema is out of date (run: go test ./schemas -update)\n%s", generated)
			}
			frozen, err := os.ReadFile(filepath.Join(history, name))
			if err != nil {
				t.Fatalf("%v (run: go test ./schemas -update)", err)
			}
			if !bytes.Equal(frozen, generated) {
				t.Errorf("version %d of %s was shipped with another shape: add an upcast, which makes version %d", typ.Version(), typ, typ.Version()+1)
			}
		})
	}
}

// generateJSONSchema derives the schema of a type's current version from its
// Go struct. A field without omitempty is required; unknown fields are refused,
// so that a misspelt one is not lost.
func generateJSONSchema(t Type) ([]byte, error) {
	d, known := definitions()[t]
	if !known {
		return nil, fmt.Errorf("%w: %q", ErrUnknownType, t)
	}
	s := schemaOf(d.goType)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["$id"] = fmt.Sprintf("urn:writ:event:%s:v%d", t, d.version())
	s["title"] = string(t)
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("schemas: schema of %s: %w", t, err)
	}
	return append(out, '\n'), nil
}

// TestHistoryStillDecodes reads a body of every version ever shipped.
func TestHistoryStillDecodes(t *testing.T) {
	for _, typ := range Types() {
		sample := filepath.Join(history, schemaFile(typ, typ.Version())[:len(schemaFile(typ, typ.Version()))-len(".json")]+".sample.json")
		if *update {
			if _, err := os.Stat(sample); os.IsNotExist(err) {
				body, err := json.MarshalIndent(sampleEvent(typ).Data, "", "  ")
				if err != nil {
					t.Fatal(err)
				}
				write(t, sample, append(body, '\n'))
			}
		}
		for version := 1; version <= typ.Version(); version++ {
			name := schemaFile(typ, version)
			body, err := os.ReadFile(filepath.Join(history, name[:len(name)-len(".json")]+".sample.json"))
			if err != nil {
				t.Errorf("%s version %d has no sample: %v", typ, version, err)
				continue
			}
			if _, err := DecodePayload(typ, version, body); err != nil {
				t.Errorf("%s version %d: %v", typ, version, err)
			}
			validate(t, name, body)
		}
	}
}

func validate(t *testing.T, schema string, body []byte) {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(filepath.Join(history, schema))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil {
		t.Errorf("%s: %v", schema, err)
	}
	doc.(map[string]any)["surely_unknown"] = 1
	if s.Validate(doc) == nil {
		t.Errorf("%s lets an unknown field pass", schema)
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}
