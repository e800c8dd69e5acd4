package observation

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/writbus/writ/schemas"
)

func TestFallbacks(t *testing.T) {
	same(t, missing,
		"x", "[gate] x", "(gate=hold)", "{gate=hold} x", "gate=hold x", "[k=v] x", "[k=v l='w'] x", "[]", "[ ] x", "[,] x", "[=hold] x", "[", "[[gate=hold]] x",
		"[gate hold] x", "[gate: hold] x", "[gate,hold] x", "[hold] x", "[gates=hold] x", "[the gate=hold] x", "［gate=hold] x",
		"[TODO] x", "[ADR-0094] shipped", "[link](http://x)", "[link](http://x?gate=hold)", "![gate=hold](x)", "[x]: http://x?gate=hold", "-5 degrees", "- 5 degrees", "*5*",
	)
	same(t, broken,
		"[confidence=0.8] x", "[conf=0.8 reason=r category=c] x", "[reason=hold] x", "[category=budget] x", "[k=v reason=r] x",
		"[k=v gate=hold x", "🔴 [gate=hold x", "- [gate=hold",
	)
	check(t, []gateCase{
		{"[gate=maybe] x", failed("x", "unknown_verdict")},
		{"- 🔴 [gate=maybe conf=1 reason=r] \n x ", failed("x", "unknown_verdict")},
		{"[gate=hold-allow] x", failed("x", "unknown_verdict")},
		{"[gate=held] x", failed("x", "unknown_verdict")},
		{"[gate=maybe]", failed("", "unknown_verdict")},
		{"[gate=maybe category=c] x", Gated{"x", "allow", "unknown_verdict", 0.35, true, "c"}},
		{" \t[gate=hold x \r\n", broken("[gate=hold x")},
		{"\u00A0\u2003[TODO] x\u3000", missing("[TODO] x")},
		{"x\xFFy", missing("x\uFFFDy")},
	})
}

func TestEmptyObservations(t *testing.T) {
	const empty = "empty_observation"
	check(t, []gateCase{
		{"", failed("", empty)},
		{"\n", failed("", empty)},
		{" \t\r\n\v\f\u0085\u00A0\u2028", failed("", empty)},
		{"[gate=hold]", failed("", empty)},
		{"- 🔴 [gate=discard conf=1 reason=r] \n\t", failed("", empty)},
		{"[gate=discard category=c]", Gated{"", "allow", empty, 0.35, true, "c"}},
		// No annotation follows these markers, so they stay.
		{"-", failed("-", empty)},
		{"\t* \n", failed("*", empty)},
		{"•", failed("•", empty)},
		{"🔴", failed("🔴", empty)},
		{"🟢\uFE0F", failed("🟢\uFE0F", empty)},
		{" - 🟡 ", failed("- 🟡", empty)},
		{"--", missing("--")},
		{"🔴 -", missing("🔴 -")},
		{"🔴🟢", missing("🔴🟢")},
		{"[gate=hold] -", good("-", "hold")},
		{"[gate=hold] 🔴", good("🔴", "hold")},
	})
	if got := Gate(nil); got != failed("", empty) {
		t.Errorf("nil: %+v", got)
	}
}

func TestRecord(t *testing.T) {
	input := []byte(" 🔴 [gate=hold conf=80% category=c reason=r] x\xFF ")
	want := schemas.ObservationRecorded{
		ObservationID: "id", Original: []byte(string(input)), Text: "x\uFFFD", Verdict: "hold", Confidence: 0.8, Reason: "r",
		GateVersion: "v1", Category: "c", Origin: "observer", Session: "s",
	}
	got := Record("id", "observer", "s", input)
	for i := range input {
		input[i] = '!'
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := Record("id", "", "", nil); got.Original == nil || !got.Fallback {
		t.Errorf("an empty observation is recorded as %+v", got)
	}
}

func TestRecordSurvivesTheCodec(t *testing.T) {
	for _, input := range []string{
		"", "x", "[gate=hold conf=0.1 category='c\xFF' reason='\xC3\x28'] a\xF0\x9F\x94 \x00\uFEFF", "\xFF\xFE", "[gate=discard conf=-0.0] x", "</script>\u2028",
	} {
		want := schemas.Event{
			ID: "0199aaaa-0000-7000-8000-000000000000", Time: time.Unix(1, 0).UTC(), Source: "test", Aggregate: schemas.Memory("scope"),
			Data: Record("id", "observer", "s", []byte(input)),
		}
		message, err := schemas.Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := schemas.Decode(message)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || !reflect.DeepEqual(got[0].Data, want.Data) {
			t.Errorf("%q:\ngot  %+v\nwant %+v", input, got, want.Data)
		}
		// The stored names are the specification's.
		var stored map[string]any
		if err := json.Unmarshal(message.Body, &stored); err != nil || stored["write_gate_version"] != "v1" {
			t.Errorf("%q: stored as %s (%v)", input, message.Body, err)
		}
	}
}
