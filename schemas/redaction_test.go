package schemas

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var updateRedaction = flag.Bool("update-redaction", false, "rewrite testdata/redaction.txt")

// Every field of every payload has a decision: redacted, or kept with a reason.
// A field that is new has to be decided on; -update-redaction writes it down.
func TestEveryFieldHasADecision(t *testing.T) {
	var b strings.Builder
	for _, typ := range Types() {
		fmt.Fprintf(&b, "%s\n", typ)
		decisions(&b, definitions()[typ].goType, "\t", nil)
	}
	const file = "testdata/redaction.txt"
	if *updateRedaction {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Split(string(want), "\n")
	for i, line := range strings.Split(b.String(), "\n") {
		if i >= len(known) || known[i] != line {
			t.Fatalf("%s:%d: a field without a decision, or with another: %s\nlook whether it may hold a secret, then run the test with -update-redaction", file, i+1, line)
		}
	}
}

func decisions(b *strings.Builder, of reflect.Type, indent string, above []reflect.Type) {
	of = elementOf(of)
	if slices.Contains(above, of) {
		return
	}
	for i := range of.NumField() {
		f := of.Field(i)
		inner := elementOf(f.Type)
		reason := Kept(of, f.Name)
		switch {
		case reason != "":
			fmt.Fprintf(b, "%s%s\tkept: %s\n", indent, f.Name, reason)
		case inner.Kind() == reflect.Struct && inner != reflect.TypeFor[time.Time]():
			fmt.Fprintf(b, "%s%s\n", indent, f.Name)
			decisions(b, inner, indent+"\t", append(above, of))
		case textsOf(f.Type).kind == noText:
			fmt.Fprintf(b, "%s%s\tno text\n", indent, f.Name)
		default:
			fmt.Fprintf(b, "%s%s\tredacted\n", indent, f.Name)
		}
	}
}

// elementOf is the type of what lists, maps and pointers hold.
func elementOf(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

// A field that is kept exists, and is no longer listed when it is gone.
func TestKeptFieldsExist(t *testing.T) {
	text, err := os.ReadFile("testdata/redaction.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, fields := range keptFields {
		for _, f := range fields {
			_, name, _ := strings.Cut(f, ".")
			if name == "" {
				name = f
			}
			if !strings.Contains(string(text), "\t"+name+"\tkept: ") {
				t.Errorf("%s is kept, and no payload has it", f)
			}
		}
	}
}

func TestRedact(t *testing.T) {
	mark := func(name, s string) string {
		if name == "password" || name == "--password" {
			return "***"
		}
		return strings.ReplaceAll(s, "secret", "***")
	}
	for _, c := range []struct {
		name     string
		in, want Payload
	}{
		{"a string", PromptSubmitted{Prompt: "a secret", PromptID: "secret"}, PromptSubmitted{Prompt: "a ***", PromptID: "secret"}},
		{"bytes", ObservationRecorded{Original: []byte("a secret"), Sealed: []byte("secret")}, ObservationRecorded{Original: []byte("a ***"), Sealed: []byte("secret")}},
		{"a list", ApprovalRefused{Problems: []string{"one", "secret"}}, ApprovalRefused{Problems: []string{"one", "***"}}},
		{"a list of structs", RuleViolated{Violations: []Violation{{Path: "secret", Excerpt: "secret"}}}, RuleViolated{Violations: []Violation{{Path: "secret", Excerpt: "***"}}}},
		{"a map", CommandFinished{Details: map[string]string{"url": "secret"}}, CommandFinished{Details: map[string]string{"url": "***"}}},
		{
			"a map of anything",
			HookObserved{Fields: map[string]any{"n": 1, "a": "secret", "l": []any{"secret", nil, map[string]any{"k": "secret"}}, "none": nil}},
			HookObserved{Fields: map[string]any{"n": 1, "a": "***", "l": []any{"***", nil, map[string]any{"k": "***"}}, "none": nil}},
		},
		{"a pointer", RuleProposed{Rule: Rule{ID: "secret", Skill: &Skill{Steps: []string{"secret"}}}}, RuleProposed{Rule: Rule{ID: "secret", Skill: &Skill{Steps: []string{"***"}}}}},
		{"nothing", SessionEnded{Reason: "exit"}, SessionEnded{Reason: "exit"}},
	} {
		before := fmt.Sprintf("%#v", c.in)
		got := Redact(c.in, mark)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
		if fmt.Sprintf("%#v", c.in) != before && !strings.Contains(before, "0x") {
			t.Errorf("%s: the payload given was changed to %+v", c.name, c.in)
		}
		if again := Redact(got, mark); !reflect.DeepEqual(again, got) {
			t.Errorf("%s: redacted twice it is %+v", c.name, again)
		}
	}
	for in, want := range map[string]string{
		`{"a":"secret","n":1.50}`: `{"a":"***","n":1.50}`,
		`{"a": 1}`:                `{"a": 1}`,
		`{"a":"s\u0065cret"}`:     `{"a":"***"}`,
		`no JSON, a secret`:       `no JSON, a ***`,
	} {
		if got := cleanJSON(json.RawMessage(in), mark); string(got) != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}
