// Package runner makes the command line that runs a command confined, and finds
// the command in such a line again.
//
// It guarantees that any command comes through whole, and that the line's second
// mention of it, for a host that holds its user's rules against the line, never
// runs. What confines is the parent package; this one is not linked into it,
// since the client has no use for the grammar of shells.
package runner

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine"
	"github.com/writbus/writ/enforcement/shell"
)

// Runner puts the kernel in front of commands that nobody can judge: the command
// line is rewritten to run under `writ confine`.
type Runner struct {
	Writ    string // the client's path, "" where confinement is not to be had
	Why     string // why not
	DataDir string
}

// Find looks for what confinement takes: Landlock, and the client beside this
// program.
func Find(dataDir string) Runner {
	if _, why := confine.Supported(); why != "" {
		return Runner{Why: why, DataDir: dataDir}
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "writ")
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return Runner{Writ: beside, DataDir: dataDir}
		}
	}
	return Runner{Why: "the program writ is not beside writd", DataDir: dataDir}
}

// String is for `writ status`.
func (r Runner) String() string {
	if r.Writ == "" {
		return "none (" + r.Why + "): commands whose effect cannot be told are asked for in gated phases"
	}
	return "Landlock: commands whose effect cannot be told run confined, where the host lets Writ rewrite them (Claude Code, Gemini CLI, OpenCode); elsewhere they are asked for in gated phases"
}

// profileOf is what a session's commands may write, as enforcement/confine/DESIGN
// has it per mode and phase.
func profileOf(s enforcement.State, worker bool) confine.Profile {
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

// Rewrite is the command line that runs a command confined, with options from
// [Options]. Where the host holds that line against its user's rules, the command
// is shown in it a second time: those find it there, and no shell comes to it.
func (r Runner) Rewrite(command string, options []string, shown bool) string {
	words := []string{r.front()}
	for _, option := range options {
		words = append(words, plainWord(option))
	}
	line := strings.Join(append(words, "--shell", Shell(), "-c", quote(command)), " ")
	if !shown {
		return line
	}
	again, ok := shell.Whole(command)
	if !ok {
		return line // whoever asks has refused it before, by [Whole]
	}
	return rulesBegin + line + rulesMiddle + again + rulesEnd
}

// front is how every such line begins.
func (r Runner) front() string {
	return plainWord(r.Writ) + " confine --data " + plainWord(r.DataDir)
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

// Options are the options of `writ confine` for a session's commands.
func Options(root string, s enforcement.State, worker bool) []string {
	profile := profileOf(s, worker)
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

// Shell is the shell that runs confined commands.
var Shell = sync.OnceValue(func() string {
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

// Unwrap returns the command inside a line that [Runner.Rewrite] made. Whoever
// else writes such a line only limits himself by it.
func (r Runner) Unwrap(command string) (inner string, ok bool) {
	line, shown := strings.CutPrefix(command, rulesBegin)
	if r.Writ == "" || !strings.HasPrefix(line, r.front()+" ") {
		return "", false
	}
	mark := " --shell " + Shell() + " -c "
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

// ForTests are the options of `writ confine` for a run of tests, none where this
// system cannot confine.
func (r Runner) ForTests(root string, s enforcement.State) []string {
	if r.Writ == "" {
		return nil
	}
	profile := profileOf(s, false)
	words := []string{"--project", root, "--profile", string(profile), "--quiet", "--whole"}
	if profile == confine.Implementation {
		words = append(words, "--lock", enforcement.PlanFile)
	}
	return words
}

// Whole reports a command that is complete, as [Runner.Rewrite] shows it a second
// time.
func Whole(command string) bool {
	_, ok := shell.Whole(command)
	return ok
}
