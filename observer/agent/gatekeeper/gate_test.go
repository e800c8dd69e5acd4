package gatekeeper

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine/runner"
	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/observer/agent/verbs/workspace"
)

// world answers as it is told to, and keeps what it was asked.
type world struct {
	answer host.Answer
	err    error
	took   []host.Call
}

func (w *world) Take(_ context.Context, c host.Call, _ project.Project) (host.Answer, error) {
	w.took = append(w.took, c)
	return w.answer, w.err
}

func (w *world) State(context.Context, string) (enforcement.State, uint64, error) {
	return enforcement.State{}, 0, nil
}

func (w *world) At(root, home string) project.Project {
	return project.Options{}.Bare(root, home)
}

func (w *world) gate(guarded bool, r runner.Runner) *Gate {
	return &Gate{Options{
		Turn: w, Sessions: w, Projects: w, Runner: r,
		Guarded: func(dir string) (string, bool) { return dir, guarded },
	}}
}

var errDown = errors.New("the log is away")

func TestAsk(t *testing.T) {
	confining, none := runner.Runner{Writ: "/usr/bin/writ"}, runner.Runner{Why: "no Landlock"}
	write, list, unknown := workspace.Act{Path: "/p/a.go", Content: []byte("package a\n")}, workspace.Act{Command: "ls"}, workspace.Act{Command: "$UNKNOWN x"}
	for _, c := range []struct {
		name    string
		guarded bool
		runner  runner.Runner
		answer  host.Answer
		fails   error
		act     workspace.Act
		want    dialect.Verdict
		says    string // part of the reason
		runs    bool   // under the runner
	}{
		{"a write that passes", true, confining, host.Answer{}, nil, write, dialect.Allow, "", false},
		{"a write that is refused", true, confining, host.Answer{Verdict: host.Refuse, Reason: "no plan"}, nil, write, dialect.Deny, "no plan", false},
		{"a command that passes", true, confining, host.Answer{}, nil, list, dialect.Allow, "", true},
		{"a command to be asked about", true, confining, host.Answer{Verdict: host.AskUser, Reason: "sure?"}, nil, list, dialect.Ask, "sure?", true},
		{"a command that is refused", true, confining, host.Answer{Verdict: host.Refuse, Reason: "no"}, nil, list, dialect.Deny, "no", false},
		{"a verdict nobody knows", true, confining, host.Answer{Verdict: 99}, nil, list, dialect.Deny, "", false},
		{"no answer", true, confining, host.Answer{}, errDown, list, dialect.Deny, "", false},
		{"nothing confines what reads only", true, none, host.Answer{}, nil, list, dialect.Allow, "", false},
		{"nothing confines what nobody can judge", true, none, host.Answer{}, nil, unknown, dialect.Ask, "no Landlock", false},
		{"a write where nothing is guarded", false, confining, host.Answer{Verdict: host.Refuse}, nil, write, dialect.Allow, "", false},
		{"a command where nothing is guarded", false, confining, host.Answer{Verdict: host.Refuse}, nil, list, dialect.Allow, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{answer: c.answer, err: c.fails}
			d, err := w.gate(c.guarded, c.runner).Ask(t.Context(), verbs.Call{Run: "r", Agent: "a", Workspace: t.TempDir()}, c.act)
			if !errors.Is(err, c.fails) || d.Verdict != c.want || !strings.Contains(d.Reason, c.says) {
				t.Errorf("%+v, %v", d, err)
			}
			if d.Supervised != c.runs || slices.Contains(d.Argv, "confine") != c.runs || c.runs && d.Argv[len(d.Argv)-1] != c.act.Command {
				t.Errorf("it runs as %q", d.Argv)
			}
			if asked := len(w.took) == 1; asked != c.guarded {
				t.Errorf("asked %d times", len(w.took))
			}
		})
	}
}

// What is done is told under the ticket that it was asked under, and nowhere but
// in a guarded project.
func TestDone(t *testing.T) {
	w := &world{answer: host.Answer{Context: " told ", Notice: "said\n"}}
	call := verbs.Call{Run: "r", Workspace: t.TempDir()}
	said, err := w.gate(true, runner.Runner{}).Done(t.Context(), call, workspace.Act{Command: "x"}, "ticket", workspace.Report{Failed: true, Error: "exit 1", Millis: 7})
	if err != nil || said != "told\n\nsaid" || len(w.took) != 1 {
		t.Fatalf("%q, %v", said, err)
	}
	if c := w.took[0]; c.Kind != host.ToolFailed || c.ToolUseID != "ticket" || c.Error != "exit 1" || c.Millis != 7 || c.Session != "r" || c.Host != Host {
		t.Errorf("told %+v", c)
	}
	if said, err := w.gate(false, runner.Runner{}).Done(t.Context(), call, workspace.Act{Command: "x"}, "ticket", workspace.Report{}); said != "" || err != nil || len(w.took) != 1 {
		t.Errorf("unguarded: %q, %v, told %d times", said, err, len(w.took))
	}
}
