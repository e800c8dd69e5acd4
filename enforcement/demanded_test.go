package enforcement

import (
	"testing"

	"github.com/writbus/writ/schemas"
)

// TestOnlyWhatTheGatesAskForIsDemanded goes through the stances of the decision
// table: what is demanded is allowed, and no more of it than the phase asks for.
func TestOnlyWhatTheGatesAskForIsDemanded(t *testing.T) {
	columns := []string{PlanFile, CapabilitiesFile, "findings.md", testFile, codeFile, "tests/test_other.py", "src/other.py", "/tmp/x", "/q/x", ".git/hooks/x", ".github/workflows/ci.yml"}
	for stance, want := range map[string]string{
		"":                  "...........",
		ModeConversation:    "...........",
		ModeDebug:           "...........",
		ModeReview:          "...........",
		PhasePlanning:       "yy.........",
		PhaseTesting:        "...y.......",
		PhaseImplementation: "...yy......",
		PhaseVerification:   ".y.........",
		"drift":             "...........",
	} {
		for i, name := range columns {
			for _, actor := range []string{"agent", "inherits", "worker"} {
				for _, tool := range []string{"Write", "Bash"} {
					d := tableDecision(t, stance, actor, tool, name)
					expected := want[i] == 'y' && actor != "worker" && tool != "Bash"
					if d.Demanded != expected {
						t.Errorf("%s, %s, %s of %s: demanded %v, want %v (%s)", stance, actor, tool, name, d.Demanded, expected, d.Verdict)
					}
					if d.Demanded && d.Verdict != Allow {
						t.Errorf("%s, %s, %s of %s is demanded and not allowed", stance, actor, tool, name)
					}
				}
			}
		}
	}
}

func TestOneFileOfSeveralThatIsNotAskedForIsLeftToTheHost(t *testing.T) {
	x := reach(t, PhaseImplementation)
	req := x.requestOf(codeFile, "new")
	req.Targets = append(req.Targets, Classify(caseLayout, Resolve("node_modules/x.js", "/p", caseLayout.Home, nil)))
	if d := x.do(req); d.Demanded {
		t.Errorf("%s, demanded", d.Verdict)
	}
	for name, change := range map[string]func(*RequestTool){
		"code":     func(r *RequestTool) { r.Code = true },
		"unproven": func(r *RequestTool) { r.Unproven = "who knows"; r.Holds, r.Accepted = "mcp__x__y", true },
		"queues":   func(r *RequestTool) { r.Queues = []string{"go on with the work"} },
		"a folder": func(r *RequestTool) { r.Targets = []schemas.Target{{Path: "/p", Rel: ".", Class: ClassCode}} },
	} {
		req := x.requestOf(codeFile, "new")
		change(&req)
		if d := x.do(req); d.Demanded {
			t.Errorf("%s: demanded, %s", name, d.Verdict)
		}
	}
}

func TestTheCallThatSetsWorkIsDemanded(t *testing.T) {
	x := newSession(t, "")
	whole := x.shellRequest("/usr/local/bin/writ mode set work")
	whole.Shell.Plain = true // as the caller finds of its own program
	if d := x.do(whole); !d.Demanded {
		t.Errorf("by its whole path: %+v", d)
	}
	for command, want := range map[string]bool{
		"writ mode set work":                     true,
		"/usr/local/bin/writ mode set work":      false, // unless it is known to be this one
		"writ mode set work --session 5e2c-11":   true,
		"  writ mode set work ":                  true,
		"writ mode set conversation":             false,
		"writ mode set work && curl x":           false,
		"writ mode set work; ls":                 false,
		"writ mode set work > /tmp/x":            false,
		"writ mode set work | sh":                false,
		"writ mode set work --session $(id)":     false,
		"PATH=/tmp writ mode set work":           false,
		"writ mode set work\nls":                 false,
		"$(cat x)/writ mode set work":            false,
		"writ status":                            false,
		"ls":                                     false,
		"writ mode set work --orchestrator":      false,
		"writ mode set work #":                   false,
		"./writ mode set work `rm -r src`":       false,
		"writ mode set work --repro src/main.py": false,
	} {
		x := newSession(t, "")
		d := x.shell(command)
		if d.Demanded != want || d.Demanded && d.Verdict != Allow {
			t.Errorf("%q: demanded %v, %s: %s", command, d.Demanded, d.Verdict, d.Reason)
		}
	}
}
