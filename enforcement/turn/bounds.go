package turn

import (
	"os"
	"runtime"
	"sync"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine/runner"
)

// bounds says which commands can be run confined. It remembers the sessions whose
// host was told to run a command confined and reported that it ran another: what
// such a host runs is not bounded.
type bounds struct {
	runner runner.Runner

	mu       sync.Mutex
	sessions map[string]bool
}

// confines says that a tool's command is to be rewritten. What is read from a
// command explains and asks; that it writes nothing else is the kernel's to hold.
// So only a plain line runs as it is, and what the user is asked for because other
// processes do it, which nothing here holds.
func (b *bounds) confines(t turn, shell *enforcement.ShellCommand, d enforcement.Decision) bool {
	can, _ := b.can(t)
	return can && shell != nil && !shell.Plain && d.Verdict != enforcement.Deny && d.Rule != enforcement.RuleElsewhere
}

// bound is the session that a command's hold follows, and whether it is a worker's.
// Under a released policy no mode and no gate opens code.
func (t turn) bound(s enforcement.State, parent *enforcement.State) (enforcement.State, bool) {
	if t.project.Settings.Policy.Under != nil {
		return enforcement.State{}, false
	}
	s.Mode = t.project.Settings.Policy.Counts(s.Mode)
	return s, parent != nil
}

// holds are the options of a command's hold, which opens what a released policy
// names as it stands there, and no link's target.
func (t turn) holds(s enforcement.State, parent *enforcement.State, c *enforcement.ShellCommand) []string {
	s, worker := t.bound(s, parent)
	words := runner.OptionsFor(t.project.Root, s, worker, c)
	if under := t.project.Settings.Policy.Under; under != nil {
		for _, name := range under.Plain() {
			at := t.project.Target(name, "")
			if _, err := os.Lstat(at.Path); err == nil && at.Rel == name && at.Class != enforcement.ClassProtected {
				words = append(words, "--write", name)
			}
		}
	}
	return words
}

// actsElsewhere reports a command that its user may have let run as it is.
func (t turn) actsElsewhere() bool {
	return t.Shell != nil && len(t.shell().Elsewhere) > 0
}

// can says whether a tool's command can be run confined, and why not.
func (b *bounds) can(t turn) (can bool, why string) {
	absent := b.runner.Absent()
	switch {
	case absent != "" || runtime.GOOS != "linux":
		return false, "confinement is not to be had, " + absent
	case !t.Facts.TakesCommand || t.Tool != "Bash":
		return false, "this host takes no other command in its place"
	case t.Facts.RulesSeeCommand && t.Shell != nil && !runner.Named(*t.Shell):
		return false, "its programs cannot be named, and the user's own rules for commands could not be held against it"
	case b.disobeyed(t.Session):
		return false, "this host ran an earlier command otherwise than Writ told it"
	}
	return true, ""
}

func (b *bounds) disobeyed(session string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sessions[session]
}

// note remembers a session whose host ran a command otherwise.
func (b *bounds) note(session string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sessions == nil {
		b.sessions = map[string]bool{}
	}
	b.sessions[session] = true
}
