package settings_test

import (
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement/host/claude"
)

func TestStatusLineIsAddedOnceAndLeavesNoTrace(t *testing.T) {
	for name, x := range map[string]struct {
		before string
		own    bool // Writ's line is there afterwards
	}{
		"no settings":         {"", true},
		"none":                {"{\n  \"model\": \"m\"\n}\n", true},
		"the user's":          {`{"statusLine":{"type":"command","command":"~/bin/line"}}`, false},
		"the user's, by name": {`{"statusLine":{"type":"command","command":"~/bin/line writ statusline"}}`, false},
		"of another shape":    {`{"statusLine":"off"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			merged, err := claude.Settings.Merge([]byte(x.before), "/opt/writ")
			if err != nil {
				t.Fatal(err)
			}
			if is := strings.Contains(string(merged), `"/opt/writ statusline"`); is != x.own || claude.Settings.Line.Foreign(merged) == x.own {
				t.Errorf("own %v: %s", is, merged)
			}
			again, err := claude.Settings.Merge(merged, "/opt/writ")
			if err != nil || string(again) != string(merged) {
				t.Errorf("the second time %v: %s", err, again)
			}
			moved, err := claude.Settings.Merge(merged, "/usr/bin/writ")
			if err != nil || strings.Contains(string(moved), "/opt/writ") || strings.Count(string(moved), "statusLine") != 1 {
				t.Errorf("another path %v: %s", err, moved)
			}
			after, err := claude.Settings.Remove(moved, []byte(x.before))
			if err != nil || x.before != "" && string(after) != x.before || strings.Contains(string(after), "writ statusline\"") != strings.Contains(x.before, "writ statusline\"") {
				t.Errorf("%v: %q, want %q", err, after, x.before)
			}
		})
	}
}
