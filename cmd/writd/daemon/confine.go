package daemon

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/shell"
)

// confined puts the kernel in front of commands that nobody can judge: the
// command line is rewritten to run under `writ confine`.
type confined struct {
	writ string // the client's path, "" where confinement is not to be had
	why  string // why not
	abi  int
}

// newConfined looks for what confinement takes: Landlock, and the client
// beside this program or on the PATH.
func newConfined() confined {
	abi, why := confine.Supported()
	if why != "" {
		return confined{why: why}
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "writ")
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return confined{writ: beside, abi: abi}
		}
	}
	return confined{why: "the program writ is not beside writd", abi: abi}
}

// String is for `writ status`.
func (c confined) String() string {
	if c.writ == "" {
		return "none (" + c.why + "): commands whose effect cannot be told are asked for in gated phases"
	}
	return "Landlock: commands whose effect cannot be told run confined, where the host lets Writ rewrite them (Claude Code, Gemini CLI, OpenCode); elsewhere they are asked for in gated phases"
}

// profile is what a session's commands may write, as enforcement/confine/DESIGN
// has it per mode and phase.
func confineProfile(s enforcement.State, worker bool) confine.Profile {
	switch {
	case worker:
		return confine.Implementation
	case s.Mode == enforcement.ModeConversation, s.Mode == enforcement.ModeDebug:
		return confine.Implementation
	case s.Mode == enforcement.ModeWork && s.Phase() == enforcement.PhaseImplementation:
		return confine.Implementation
	case s.Mode == enforcement.ModeWork && s.Phase() == enforcement.PhaseTesting:
		return confine.Tests
	case s.Mode == enforcement.ModeWork:
		return confine.ReadOnly
	default:
		return confine.Scratch
	}
}

// rewrite is the command line that runs a command confined. Where a host holds
// that line against its user's rules, the command stands in it a second time:
// those find it there, and no shell comes to it.
func (c confined) rewrite(t turn, dataDir string, s enforcement.State, worker bool) string {
	words := []string{c.front(dataDir)}
	for _, option := range confineOptions(t.project.root, s, worker) {
		words = append(words, plainWord(option))
	}
	line := strings.Join(append(words, "--shell", confinedShell(), "-c", quote(*t.Shell)), " ")
	if !host.RulesSeeCommand(t.Host) {
		return line
	}
	shown, ok := shell.Whole(*t.Shell)
	if !ok {
		return line // d.bounds has refused it before
	}
	return rulesBegin + line + rulesMiddle + shown + rulesEnd
}

// front is how every such line begins.
func (c confined) front(dataDir string) string {
	return plainWord(c.writ) + " confine --data " + plainWord(dataDir)
}

// The line around a confined command and its second mention.
const (
	rulesBegin  = "if true; then "
	rulesMiddle = "; else\n"
	rulesEnd    = "\nfi"
)

// plainWord is one word for a shell, in quotes only where it needs them.
func plainWord(text string) string {
	if text == "" || strings.ContainsFunc(text, needsQuote) {
		return quote(text)
	}
	return text
}

// confineOptions are the options of `writ confine` for a session's commands.
func confineOptions(root string, s enforcement.State, worker bool) []string {
	profile := confineProfile(s, worker)
	words := []string{"--project", root, "--profile", string(profile)}
	if s.Mode == enforcement.ModeWork && profile == confine.Implementation && !worker {
		words = append(words, "--lock", enforcement.PlanFile)
	}
	if profile == confine.Tests {
		for _, dir := range testFolders(s) {
			words = append(words, "--write", dir)
		}
	}
	if s.Mode == enforcement.ModeReview && !worker {
		words = append(words, "--write", enforcement.DefaultFindings)
	}
	return words
}

// testFolders are the folders of the tests that the session wrote, where those
// are folders of tests alone.
func testFolders(s enforcement.State) []string {
	var dirs []string
	for _, file := range s.Work.TestFiles {
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			switch path.Base(dir) {
			case "test", "tests", "spec", "__tests__":
				if !slices.Contains(dirs, dir) {
					dirs = append(dirs, dir)
				}
			}
		}
	}
	slices.Sort(dirs)
	return dirs
}

var confinedShell = sync.OnceValue(func() string {
	if _, err := os.Stat("/bin/bash"); err == nil {
		return "/bin/bash"
	}
	return "/bin/sh"
})

// quote makes one word of a text for a POSIX shell.
func quote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// needsQuote reports what a shell may read as more than a letter of a word.
func needsQuote(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./", r)
}

// unwrap returns the command inside one that [confined.rewrite] made. Whoever
// else writes such a line only limits himself by it.
func (c confined) unwrap(dataDir, command string) (inner string, ok bool) {
	line, shown := strings.CutPrefix(command, rulesBegin)
	if c.writ == "" || !strings.HasPrefix(line, c.front(dataDir)+" ") {
		return "", false
	}
	mark := " --shell " + confinedShell() + " -c "
	at := strings.Index(line, mark)
	if at < 0 {
		return "", false
	}
	inner, rest, ok := unquote(line[at+len(mark):])
	if !ok {
		return "", false
	}
	again := ""
	if shown {
		text, whole := shell.Whole(inner)
		if !whole {
			return "", false
		}
		again = rulesMiddle + text + rulesEnd
	}
	return inner, rest == again
}

// unquote reads the word that [quote] made at the beginning of a text.
func unquote(text string) (word, rest string, ok bool) {
	rest, ok = strings.CutPrefix(text, "'")
	var b strings.Builder
	for ok {
		var piece string
		if piece, rest, ok = strings.Cut(rest, "'"); !ok {
			break
		}
		b.WriteString(piece)
		after, more := strings.CutPrefix(rest, `\''`)
		if !more {
			return b.String(), rest, true
		}
		b.WriteByte('\'')
		rest = after
	}
	return "", "", false
}

// confines says that a tool's command is to be rewritten: nobody can tell what
// it writes, and the host takes another command instead.
func (d *Daemon) confines(t turn, shell *enforcement.ShellCommand, v enforcement.Verdict) bool {
	can, _ := d.bounds(t)
	return can && shell != nil && shell.Effect == enforcement.EffectCannotTell && v != enforcement.Deny
}

// bounds says whether a tool's command can be run confined, and why not.
func (d *Daemon) bounds(t turn) (can bool, why string) {
	switch {
	case d.confined.writ == "" || runtime.GOOS != "linux":
		return false, "confinement is not to be had, " + d.confined.why
	case !host.TakesCommand(t.Host, t.Tool):
		return false, "this host takes no other command in its place"
	case host.RulesSeeCommand(t.Host) && !parses(t.Shell):
		return false, "it is not whole, and the user's own rules for commands could not be held against it"
	case d.heedless.has(t.Session):
		return false, "this host ran an earlier command otherwise than Writ told it"
	}
	return true, ""
}

func parses(command *string) bool {
	if command == nil {
		return true
	}
	_, ok := shell.Whole(*command)
	return ok
}

// heedless are the sessions whose host was told to run a command confined and
// reported that it ran another: what it runs is not bounded.
type heedless struct {
	mu       sync.Mutex
	sessions map[string]bool
}

func (h *heedless) has(session string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[session]
}

func (h *heedless) note(session string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions == nil {
		h.sessions = map[string]bool{}
	}
	h.sessions[session] = true
}
