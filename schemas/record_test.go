package schemas

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

var updateForgotten = flag.Bool("update-forgotten", false, "rewrite testdata/legible.txt")

// forgettable are the types whose texts can be forgotten.
func forgettable() []Type {
	return append(append(TypesOf(KindSession), TypesOf(KindAgent)...), MessageQuarantined{}.EventType())
}

// Every text of a session or a run is forgotten, but for the fields that the list
// names: a field that is new is forgotten too, unless it is put there.
func TestForgetLeavesOnlyTheListedFields(t *testing.T) {
	var legible strings.Builder
	for _, typ := range forgettable() {
		e := sampleEvent(typ)
		m, err := Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		left := Forget(m)
		if m2 := Forget(left); !bytes.Equal(m2.Body, left.Body) {
			t.Errorf("%s: forgotten twice it is %s", typ, m2.Body)
		}
		back, err := Decode(left)
		if err != nil {
			t.Errorf("%s cannot be read any more: %v", typ, err)
			continue
		}
		if c, ok := back[0].Data.(Checker); ok && c.Check() != nil {
			t.Errorf("%s lacks what it requires: %v", typ, c.Check())
		}
		stay(&legible, string(typ), reflect.ValueOf(back[0].Data))
	}
	const file = "testdata/legible.txt"
	if *updateForgotten {
		if err := os.WriteFile(file, []byte(legible.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != legible.String() {
		t.Errorf("other fields stay legible than %s says: look whether anybody's words may stand in them, then run the test with -update-forgotten\n%s%v", file, legible.String(), err)
	}
}

// stay lists the fields of which a text is left.
func stay(b *strings.Builder, path string, v reflect.Value) {
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && Kept(v.Type(), f.Name) == "" {
				stay(b, path+" "+f.Name, v.Field(i))
			}
		}
	case v.Kind() == reflect.Slice && v.Len() > 0 && v.Type().Elem().Kind() == reflect.Struct:
		stay(b, path, v.Index(0))
	case textsOf(v.Type()).kind != noText && !strings.Contains(fmt.Sprintf("%s", v.Interface()), Forgotten):
		fmt.Fprintln(b, path)
	}
}

func TestForget(t *testing.T) {
	e := sampleEvent("prompt.submitted")
	e.Data = PromptSubmitted{Prompt: "a secret wish", PromptID: "p1", Origin: "user"}
	decided := ToolDecided{Tool: "Bash", Command: "echo secret", Verdict: "deny", Rule: "ENF-1", Reason: "a secret reason"}
	m, err := Encode(e, decided)
	if err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(m.Body)
	left := Forget(m)
	if !bytes.Equal(m.Body, before) {
		t.Error("the message given was changed")
	}
	events, err := Decode(left)
	if err != nil || len(events) != 2 {
		t.Fatal(events, err)
	}
	if want := (PromptSubmitted{Prompt: Forgotten, PromptID: "p1", Origin: "user"}); events[0].Data != want {
		t.Errorf("got %+v", events[0].Data)
	}
	if got := events[1].Data.(ToolDecided); got.Command != Forgotten || got.Reason != Forgotten || got.Verdict != "deny" || got.Rule != "ENF-1" {
		t.Errorf("got %+v", got)
	}
	e.Data = ContextCompacted{Stage: "before"}
	if m, err = Encode(e); err != nil {
		t.Fatal(err)
	}
	if got := Forget(m); !bytes.Equal(got.Body, m.Body) {
		t.Errorf("a message without a text became %s", got.Body)
	}
	// Older versions are written anew as the current one, also where the header is
	// as NATS carries it; what nobody understands keeps nothing.
	e.Data = decided
	if m, err = Encode(e); err != nil {
		t.Fatal(err)
	}
	var block strings.Builder
	block.WriteString("NATS/1.0\r\n")
	for name, values := range m.Header {
		value := values[0]
		if name == HeaderWritVersion {
			value = "1"
		}
		fmt.Fprintf(&block, "%s: %s\r\n", name, value)
	}
	block.WriteString("\r\n")
	raw := Forget(Message{Subject: m.Subject, Block: []byte(block.String()), Body: m.Body})
	if got := raw.Attribute(HeaderWritVersion); got != fmt.Sprint(ToolDecided{}.EventType().Version()) || len(raw.Block) != block.Len() {
		t.Errorf("version %q in %q", got, raw.Block)
	}
	if events, err := Decode(raw); err != nil || events[0].Data.(ToolDecided).Command != Forgotten {
		t.Errorf("%v %v", events, err)
	}
	if got := Forget(Message{Subject: "nobody.knows", Body: []byte("secret")}); bytes.Contains(got.Body, []byte("secret")) {
		t.Errorf("what nobody understands is still %s", got.Body)
	}
}
