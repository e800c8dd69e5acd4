package observation

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

var (
	testKey   = bytes.Repeat([]byte{7}, KeyBytes)
	testNonce = bytes.Repeat([]byte{9}, NonceBytes)
)

func FuzzSeal(f *testing.F) {
	for _, seed := range []string{"", "x", "[gate=hold category=c reason='because of Bertram'] Bertram", "\xff\x00", "no annotation, Bertram", "[gate=maybe] Bertram"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		was := Record("id", "source", "session", input)
		sealed, err := Seal(was, "scope", testKey, testNonce)
		if err != nil {
			t.Fatal(err)
		}
		if len(sealed.Original) > 0 || sealed.Text != "" || sealed.Category != "" || !sealed.Fallback && sealed.Reason != "" {
			t.Fatalf("in clear: %+v", sealed)
		}
		// As the log keeps it.
		raw, err := json.Marshal(sealed)
		if err != nil {
			t.Fatal(err)
		}
		var stored schemas.ObservationRecorded
		if err := json.Unmarshal(raw, &stored); err != nil {
			t.Fatal(err)
		}
		is, err := Open(stored, "scope", testKey)
		if err != nil || !reflect.DeepEqual(was, is) {
			t.Fatalf("opened %+v, %v; it was %+v", is, err, was)
		}
	})
}

func TestSealedHidesWhatItSays(t *testing.T) {
	sealed, err := Seal(Record("id", "s", "", []byte("[gate=allow category=bertram reason=bertram] Bertram")), "scope", testKey, testNonce)
	raw, jsonErr := json.Marshal(sealed)
	if err != nil || jsonErr != nil || strings.Contains(strings.ToLower(string(raw)), "bertram") {
		t.Errorf("%s, %v, %v", raw, err, jsonErr)
	}
}

func TestOnlyItsOwnKeyOpensAnObservation(t *testing.T) {
	sealed, err := Seal(Record("id", "s", "", []byte("text")), "scope", testKey, testNonce)
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Repeat([]byte{8}, KeyBytes)
	moved, torn, changed := sealed, sealed, sealed
	moved.ObservationID = "id2"
	torn.Sealed = sealed.Sealed[:5]
	changed.Sealed = bytes.Clone(sealed.Sealed)
	changed.Sealed[20] ^= 1
	for name, open := range map[string]func() error{
		"another key":      func() error { _, err := Open(sealed, "scope", other); return err },
		"no key":           func() error { _, err := Open(sealed, "scope", nil); return err },
		"erased key":       func() error { _, err := Open(sealed, "scope", make([]byte, KeyBytes)); return err },
		"another scope":    func() error { _, err := Open(sealed, "scope2", testKey); return err },
		"another id":       func() error { _, err := Open(moved, "scope", testKey); return err },
		"torn":             func() error { _, err := Open(torn, "scope", testKey); return err },
		"changed by a bit": func() error { _, err := Open(changed, "scope", testKey); return err },
	} {
		if err := open(); !errors.Is(err, ErrSealed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Seal(sealed, "scope", testKey[:3], testNonce); err == nil {
		t.Error("sealed with a short key")
	}
}

func TestDriftsFireOnce(t *testing.T) {
	l := DefaultLimits()
	for _, c := range []struct {
		name                           string
		allow, hold, discard, fallback int
		raised                         []string
		want                           string
	}{
		{"too few", 0, 0, 44, 0, nil, ""},
		{"raised", 0, 0, 45, 0, nil, "+discard"},
		{"already raised", 0, 0, 45, 0, []string{AlarmDiscard}, ""},
		{"a little below", 18, 0, 32, 0, []string{AlarmDiscard}, ""},
		{"well below", 30, 0, 30, 0, []string{AlarmDiscard}, "-discard"},
		{"fewer, still bad", 0, 0, 30, 0, []string{AlarmDiscard}, ""},
		{"quiet", 0, 0, 22, 0, []string{AlarmDiscard}, "-discard"},
		{"nothing at all", 0, 0, 0, 0, []string{AlarmDiscard, AlarmHold}, "-hold-discard"},
		{"another one", 0, 50, 0, 0, []string{AlarmDiscard}, "+hold-discard"},
		{"fallbacks are allows", 50, 0, 0, 30, nil, "+fallback"},
	} {
		got := ""
		for _, d := range Drifts(c.allow, c.hold, c.discard, c.fallback, c.raised, l) {
			got += map[bool]string{true: "+", false: "-"}[d.Raised] + d.Alarm
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTranscript(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       []Noted
	}{
		{"no JSON", `[gate=allow] x`, nil},
		{"a user's", `{"type":"user","uuid":"u","message":{"content":"[gate=allow] x"}}`, nil},
		{"without an id", `{"type":"assistant","message":{"content":"[gate=allow] x"}}`, nil},
		{
			"a string", `{"type":"assistant","uuid":"u","sessionId":"s","message":{"content":"Hello\n[gate=allow] x"}}`,
			[]Noted{{"u#2", "s", []byte("[gate=allow] x")}},
		},
		{
			"blocks", `{"type":"assistant","uuid":"u","message":{"content":[{"type":"thinking","text":"[gate=allow] no"},{"type":"text","text":"a"},{"type":"text","text":"- [gate=nope] b\r\n  🔴 [gate=hold confidence] c"}]}}`,
			[]Noted{{"u#2", "", []byte("- [gate=nope] b")}, {"u#3", "", []byte("  🔴 [gate=hold confidence] c")}},
		},
		{
			"malformed ones count", `{"type":"assistant","uuid":"u","message":{"content":"[confidence=0.5] c\n[TODO] d\n[k=v] e"}}`,
			[]Noted{{"u#1", "", []byte("[confidence=0.5] c")}},
		},
	} {
		if got := Transcript([]byte(c.line)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzTranscript(f *testing.F) {
	f.Add([]byte(`{"type":"assistant","uuid":"u","message":{"content":"[gate=allow] x"}}`))
	f.Add([]byte(`{"type":"assistant","uuid":"u","message":{"content":[{"type":"text","text":"[gate="}]}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, n := range Transcript(line) {
			if g := Gate(n.Input); n.ID == "" || g.Fallback && g.Reason == MissingAnnotation {
				t.Fatalf("%q promotes %q", line, n.Input)
			}
		}
	})
}
