package eventlog

import (
	"strings"
	"testing"
)

// TestBodiesAreHeldAgainstTheirSchema says what a client is told whose event
// lacks a field, has one of another type, has an unknown one, or is no JSON.
func TestBodiesAreHeldAgainstTheirSchema(t *testing.T) {
	for _, c := range []struct{ body, says string }{
		{`{"host":"claude"}`, "hook"},
		{`{`, "not JSON"},
		{`[]`, `want "object"`},
		{`{"host":1}`, "/properties/host"},
		{`{"host":"claude","hook":"x","surely_unknown":1}`, "surely_unknown"},
	} {
		err := validateBody("hook.observed", []byte(c.body))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an error with %q", c.body, err, c.says)
		}
	}
	if err := validateBody("hook.observed", []byte(`{"host":"claude","hook":"PreToolUse"}`)); err != nil {
		t.Error(err)
	}
}
