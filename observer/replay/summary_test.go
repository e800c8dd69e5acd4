package replay_test

import (
	"testing"

	"github.com/writbus/writ/observer/replay"
	"github.com/writbus/writ/schemas"
)

// TestASummarySaysEachThingOnce: the rule of a refusal, of which its reason tells too;
// what a command line was; and a channel in words.
func TestASummarySaysEachThingOnce(t *testing.T) {
	for data, want := range map[string]string{
		`{"verdict":"deny","rule":"ENF-GATE-MODE","tool":"Write","reason":"ENF-GATE-MODE: a.go is refused"}`: "deny · ENF-GATE-MODE · Write · a.go is refused",
		`{"verdict":"allow","tool":"Bash","command":"go vet ./..."}`:                                         "allow · Bash · go vet ./...",
		`{"gate":"plan","channel":"prompt_unsourced"}`:                                                       "plan · prompt (the host does not say who typed it)",
	} {
		if got := replay.Summary(schemas.ReplayEvent{Aggregate: schemas.Session("s"), Data: []byte(data)}); got != want {
			t.Errorf("%s\n%q, want %q", data, got, want)
		}
	}
}
