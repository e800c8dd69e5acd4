package turn

import (
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine"
	"github.com/writbus/writ/enforcement/confine/runner"
	"github.com/writbus/writ/enforcement/host"
)

// TestAHostThatDoesNotConfineIsAskedAgain: what may run because the kernel
// bounds it must not, where the host ran something else.
func TestAHostThatDoesNotConfineIsAskedAgain(t *testing.T) {
	if _, why := confine.Supported(); why != "" {
		t.Skip("no confinement here: " + why)
	}
	b := &bounds{runner: runner.Runner{Writ: "/usr/bin/writ"}}
	claude := turn{Call: host.Call{Host: "claude", Facts: host.Facts{TakesCommand: true, RulesSeeCommand: true}, Tool: "Bash", Session: "s"}}
	if can, why := b.can(claude); !can || why != "" {
		t.Errorf("claude: %v %q", can, why)
	}
	b.note("s")
	if can, why := b.can(claude); can || !strings.Contains(why, "otherwise") {
		t.Errorf("a host that disobeyed: %v %q", can, why)
	}
	if can, why := b.can(turn{Call: host.Call{Host: "cursor", Tool: "Bash", Session: "t"}}); can || !strings.Contains(why, "host") {
		t.Errorf("cursor: %v %q", can, why)
	}
	b.runner = runner.Runner{Why: "no Landlock"}
	if can, why := b.can(claude); can || !strings.Contains(why, "no Landlock") {
		t.Errorf("no Landlock: %v %q", can, why)
	}
}

// TestWhatActsElsewhereRunsAsItIs: a hold around a command keeps it from the
// processes that the user just let it ask.
func TestWhatActsElsewhereRunsAsItIs(t *testing.T) {
	if _, why := confine.Supported(); why != "" {
		t.Skip("no confinement here: " + why)
	}
	b := &bounds{runner: runner.Runner{Writ: "/usr/bin/writ"}}
	claude := turn{Call: host.Call{Host: "claude", Facts: host.Facts{TakesCommand: true}, Tool: "Bash", Session: "s"}}
	command := &enforcement.ShellCommand{Text: "docker run x"}
	if b.confines(claude, command, enforcement.Decision{Verdict: enforcement.Ask, Rule: enforcement.RuleElsewhere}) {
		t.Error("what was asked for because it acts elsewhere is held")
	}
	if !b.confines(claude, command, enforcement.Decision{Verdict: enforcement.Ask, Rule: enforcement.RuleOutside}) {
		t.Error("what was asked for otherwise is not held")
	}
}
