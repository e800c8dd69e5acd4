package schemas

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compiled is a schema as a reader of another language takes it.
func compiled(t *testing.T, schema json.RawMessage) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///schema", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///schema")
	if err != nil {
		t.Fatalf("%v: %s", err, schema)
	}
	return s
}

func TestRequestSchemaTakesWhatTheServiceTakes(t *testing.T) {
	s := compiled(t, RequestSchema(reflect.TypeFor[RetrieveRequest]()))
	for text, valid := range map[string]bool{
		`{}`:                            true,
		`{"query":"retry"}`:             true,
		`{"query":"retry","limit":3}`:   true,
		`{"quary":"retry"}`:             false,
		`{"query":7}`:                   false,
		`{"query":"x","domains":["a"]}`: true,
		`{"query":"x","domains":null}`:  true,
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(value); (err == nil) != valid {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What a service answers fits its schema, embedded structs and all.
func TestReplySchemaFitsReplies(t *testing.T) {
	for _, reply := range []any{SessionView{}, Status{}, RuleView{}, SessionList{Sessions: []SessionSummary{{Session: "s"}}}, ReplayPage{}, AlwaysOnReply{}} {
		s := compiled(t, ReplySchema(reflect.TypeOf(reply)))
		raw, err := json.Marshal(reply)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(value); err != nil {
			t.Errorf("%T: %v\n%s", reply, err, raw)
		}
	}
}

func TestSchemasEndAtWhatHoldsItself(t *testing.T) {
	type tree struct {
		Name     string `json:"name"`
		Children []*struct {
			Sub any `json:"sub,omitempty"`
		} `json:"children"`
		hidden int
		Left   int `json:"-"`
	}
	type knot struct {
		Next *knot `json:"next,omitempty"`
	}
	_ = tree{hidden: 1}
	if got := string(RequestSchema(reflect.TypeFor[knot]())); !strings.Contains(got, `"next":{"anyOf":[{"type":"object"}`) {
		t.Error(got)
	}
	if got := RequestFields(reflect.TypeFor[tree]()); strings.Join(got, " ") != "children name" {
		t.Error(got)
	}
	type inner struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	type outer struct {
		ID int `json:"id"`
		inner
	}
	if got := string(ReplySchema(reflect.TypeFor[outer]())); got != `{"properties":{"id":{"type":"integer"},"name":{"type":"string"}},"required":["id","name"],"type":"object"}` {
		t.Error("a field that hides another:", got)
	}
	if got := RequestFields(reflect.TypeFor[SessionView]()); !strings.Contains(strings.Join(got, " "), "session") {
		t.Error("fields of an embedded struct are missing:", got)
	}
}
