package turn

import (
	"runtime"
	"sync"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine/runner"
	"github.com/writbus/writ/enforcement/host"
)

// bounds says which commands can be run confined. It remembers the sessions whose
// host was told to run a command confined and reported that it ran another: what
// such a host runs is not bounded.
type bounds struct {
	runner runner.Runner

	mu       sync.Mutex
	sessions map[string]bool
}

// confines says that a tool's command is to be rewritten: nobody can tell what
// it writes, and the host takes another command instead.
func (b *bounds) confines(t turn, shell *enforcement.ShellCommand, v enforcement.Verdict) bool {
	can, _ := b.can(t)
	return can && shell != nil && shell.Effect == enforcement.EffectCannotTell && v != enforcement.Deny
}

// can says whether a tool's command can be run confined, and why not.
func (b *bounds) can(t turn) (can bool, why string) {
	switch {
	case b.runner.Writ == "" || runtime.GOOS != "linux":
		return false, "confinement is not to be had, " + b.runner.Why
	case !host.TakesCommand(t.Host, t.Tool):
		return false, "this host takes no other command in its place"
	case host.RulesSeeCommand(t.Host) && t.Shell != nil && !runner.Whole(*t.Shell):
		return false, "it is not whole, and the user's own rules for commands could not be held against it"
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
