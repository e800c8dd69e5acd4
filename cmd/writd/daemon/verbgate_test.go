package daemon

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine/runner"
	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/gatekeeper"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/observer/agent/verbs/outside"
)

// conversation calls verbs of a daemon as its dispatcher does.
type conversation struct {
	t         *testing.T
	d         *Daemon
	gate      *gatekeeper.Gate
	set       *outside.Set
	run       string
	workspace string
	confirmed bool
}

// converse opens what a daemon decides with, without its services.
func converse(t *testing.T, workspace string) *conversation {
	t.Helper()
	settings := config.DefaultSettings()
	settings.DataDir, settings.Durability, settings.ShippedRules = t.TempDir(), "interval", false
	d := &Daemon{
		settings: settings, layout: config.Layout{Root: settings.DataDir}, logger: slog.New(slog.DiscardHandler),
	}
	closeBus, err := d.openBus(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeBus)
	closeViews, err := d.openViews(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeViews)
	gate := d.gatekeeper()
	c := &conversation{t: t, d: d, gate: gate, set: d.verbsOutside(gate, nil), run: bus.NewID(), workspace: workspace}
	t.Cleanup(c.set.Close)
	return c
}

func (c *conversation) call(verb, args, body string) verbs.Result {
	c.t.Helper()
	one := verbs.NewCall(verb, args, nil)
	if verb == "write" {
		one.Body = []byte(body)
	}
	one.Run, one.Agent, one.Workspace, one.Confirmed = c.run, "worker", c.workspace, c.confirmed
	one.Grant, one.Limits = dialect.NewGrant([]string{"*"}), dialect.DefaultLimits()
	r, err := c.set.Handlers[verb].Handle(c.t.Context(), one)
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

// expect calls a verb and looks at the begin of what came of it.
func (c *conversation) expect(verb, args, body, want string) verbs.Result {
	c.t.Helper()
	r := c.call(verb, args, body)
	if !strings.HasPrefix(r.Text, want) {
		c.t.Errorf("/%s %s: %q, expected %q", verb, args, r.Text, want)
	}
	return r
}

// TestVerbsInAGuardedProject: the gates hold for agents of the command language
// as for any other, and their acts are in the log.
func TestVerbsInAGuardedProject(t *testing.T) {
	t.Parallel()
	project := newProject(t, "mode: work\n")
	put(t, filepath.Join(project, "main.go"), "package main\n")
	c := converse(t, project)
	c.expect("write", "main.go", "package other\n", "ERR: ENF-GATE-PLAN")
	c.expect("exec", "echo x > main.go", "", "WARN: ENF-GATE-PLAN") // the second refusal in a row is a question
	c.expect("write", ".writ/config.yaml", "mode: conversation\n", "WARN: .writ/config.yaml is a setting of agents, hooks or git")
	c.confirmed = true
	c.expect("write", ".writ/config.yaml", "mode: conversation\n", "ERR: ENF-PROTECTED")
	c.confirmed = false
	c.expect("exec", "cat "+c.d.layout.Credentials()+"/admin.json", "", "ERR: ENF-PROTECTED")
	c.expect("read", c.d.layout.Root, "", "ERR: ")
	c.expect("exec", "cat main.go", "", "package main\n[exit 0]\n")
	c.expect("write", "plan.md", "# Plan\n", "OK: wrote plan.md")
	raw, err := os.ReadFile(filepath.Join(project, "main.go"))
	if err != nil || string(raw) != "package main\n" {
		t.Errorf("%q, %v", raw, err)
	}
	state, _, err := c.d.sessions.State(t.Context(), c.run)
	if err != nil || state.Host != gatekeeper.Host || state.Mode != enforcement.ModeWork || state.Refusals == 0 || len(state.Written) != 1 {
		t.Errorf("the session is %+v, %v", state, err)
	}
}

// TestVerbsWithoutAProject: nothing is gated, and what is no agent's to write
// stays so.
func TestVerbsWithoutAProject(t *testing.T) {
	t.Parallel()
	c := converse(t, t.TempDir())
	c.expect("write", "deep/a.txt", "one\n", "OK: wrote deep/a.txt (4 bytes, 1 lines; new)")
	c.expect("exec", "cat deep/a.txt; exit 3", "", "one\n[exit 3]\n")
	c.expect("exec", "echo x > .git/config", "", "ERR: ENF-PROTECTED")
	c.expect("exec", "cat "+c.d.layout.Credentials()+"/admin.json", "", "ERR: ENF-PROTECTED")
	c.expect("exec", "echo x > ../outside", "", "")
	if state, _, err := c.d.sessions.State(t.Context(), c.run); err != nil || state.Host != "" {
		t.Errorf("a session was recorded: %+v, %v", state, err)
	}
	// Without confinement, what nobody can judge takes a person's word.
	c.gate.Runner = runner.Runner{Why: "no reason"}
	c.expect("exec", "./anything", "", "WARN: nobody can tell what this command writes, and commands cannot be confined here (no reason)")
	c.confirmed = true
	c.expect("exec", "./anything", "", "/bin/sh: 1: ./anything: not found\n[exit 127]\n")
}

// putProgram writes a program to be run. No other is started meanwhile: it would
// inherit the file that is open for writing, and what is open for writing cannot
// be run.
func putProgram(t testing.TB, path, script string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestCommandsOfAgentsAreConfined looks at how a command is run where a client
// is beside the daemon.
func TestCommandsOfAgentsAreConfined(t *testing.T) {
	t.Parallel()
	c := converse(t, newProject(t, "mode: conversation\n"))
	c.gate.Runner.Writ = filepath.Join(t.TempDir(), "writ")
	putProgram(t, c.gate.Runner.Writ, "#!/bin/sh\necho \"$WRIT_HOME\"\nprintf '%s\\n' \"$@\"\n")
	r := c.call("exec", "make  'all'", "")
	want := strings.Join([]string{
		c.d.layout.Root, "confine", "--whole", "--quiet", "--project", resolved(t, c.workspace), "--profile", "implementation", "--shell", runner.Shell(), "-c", "make  'all'", "[exit 0]", "",
	}, "\n")
	if r.Text != want {
		t.Errorf("got %q, expected %q", r.Text, want)
	}
}
