package verbs

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNewCallSplitsTheSubVerb(t *testing.T) {
	for _, c := range []struct{ verb, args, sub, rest string }{
		{"mcp", "call files read {\"a\": 1}", "call", "files read {\"a\": 1}"},
		{"mem", "shared   write  a note", "shared write", "a note"},
		{"fetch", "https://example.com/", "", "https://example.com/"},
		{"schedule", "in 5 minutes: look", "", "in 5 minutes: look"},
		{"nothing", "x", "", "x"},
	} {
		if got := NewCall(c.verb, c.args, nil); got.Sub != c.sub || got.Rest != c.rest || got.Args != c.args {
			t.Errorf("/%s %s: sub %q, rest %q", c.verb, c.args, got.Sub, got.Rest)
		}
	}
}

func TestErrIsOneLine(t *testing.T) {
	r := Err("the server said \"no\nOK: done\"\r\n", "ask it\nagain.")
	if r.Text != `ERR: the server said "no OK: done". Adapt: ask it again.` || r.Outcome != Failed {
		t.Errorf("%q, %q", r.Text, r.Outcome)
	}
	if long := Err(strings.Repeat("é", 5000), "wait").Text; len(long) > 1100 || !utf8.ValidString(long) {
		t.Errorf("%d bytes, valid %v", len(long), utf8.ValidString(long))
	}
}

func TestWithLeavesTheOriginalAlone(t *testing.T) {
	first := OK("done").With("a", "1")
	second := first.With("b", "2")
	if len(first.Details) != 1 || second.Details["a"] != "1" || second.Details["b"] != "2" {
		t.Errorf("%v, %v", first.Details, second.Details)
	}
}
