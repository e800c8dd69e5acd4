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
	"regexp"
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

	proof *proof // what probes found of the hold; nil where none are run
}

// Find looks for what confinement takes: Landlock, and the client beside this
// program. Whoever finds it runs [Runner.Prove] next: decisions wait for that.
func Find(dataDir string) Runner {
	if _, why := confine.Supported(); why != "" {
		return Runner{Why: why, DataDir: dataDir}
	}
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "writ")
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return Runner{Writ: beside, DataDir: dataDir, proof: &proof{ended: make(chan struct{})}}
		}
	}
	return Runner{Why: "the program writ is not beside writd", DataDir: dataDir}
}

// String is for `writ status`.
func (r Runner) String() string {
	if absent := r.Absent(); absent != "" {
		return "none (" + absent + "): commands whose effect cannot be told are asked for in gated phases"
	}
	return "Landlock for commands whose effect cannot be told (Claude Code, Gemini CLI, OpenCode); other hosts' are asked for"
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
	case s.Mode == enforcement.ModeWork && s.Phase() == enforcement.PhaseTesting, s.Mode == enforcement.ModeSmall:
		return confine.Tests
	case s.Mode == enforcement.ModeWork:
		return confine.ReadOnly
	default:
		return confine.Scratch
	}
}

// refusals are what programs say of a refusal by the kernel; some only say what they
// could not do.
var refusals = regexp.MustCompile(`(?i)permission denied|operation not permitted|read-?only (?:file system|database)|\bE(?:ACCES|PERM|ROFS)\b|` +
	`(?:unable|failed|cannot|could not|can't|couldn't|error while)(?: to)? \(?(?:re\)?)?(?:creat|writ|open)`)

// Explain says of a session's command that ran confined and failed with output
// what it was held to, "" where the output speaks of no refusal.
func Explain(s enforcement.State, worker bool, output string) string {
	if !refusals.MatchString(output) {
		return ""
	}
	return "writ confine: the command ran under " + profileOf(s, worker).Refusals()
}

// ClosesCode says that a session's commands may not write code.
func ClosesCode(s enforcement.State, worker bool) bool {
	return profileOf(s, worker) != confine.Implementation
}

// Rewrite is the command line that runs a command confined, with options from
// [Options]. A change of folder that the command begins with stays outside, and
// those further on are made again behind it, so that the host's shell stands where
// it would. Where the host holds the line
// against its user's rules, the command's programs are named in it a second time:
// those rules find them there, and no shell comes to it.
func (r Runner) Rewrite(command string, options []string, shown bool) string {
	folder, rest := leading(command)
	if orElse(folder, rest) {
		folder, rest = "", command
	}
	command = rest
	words := []string{r.front()}
	for _, option := range options {
		words = append(words, plainWord(option))
	}
	line := strings.Join(append(words, "--quiet", "--shell", Shell(), "--host-shell", "-c", quote(command)), " ")
	if again, ok := shell.Named(command); shown && ok { // [Named] said so before
		line = rulesBegin + line + rulesMiddle + again + rulesEnd
	}
	return folder + line + moved(command)
}

// orElse says that something may run where the changes of folder before a command
// fail, in the folder where the shell stands then.
func orElse(folder, rest string) bool {
	return strings.HasSuffix(strings.TrimRight(folder, " "), "&&") && strings.Contains(rest, "||")
}

// moved makes the changes of folder again that a command made, if it succeeded.
func moved(command string) (line string) {
	if folder, rest := leading(command); orElse(folder, rest) {
		line, command = " && { { "+folder+":; } > /dev/null 2>&1 || :; }", rest
	}
	for _, folder := range shell.Moves(command) {
		line += " && { cd " + folder + " > /dev/null 2>&1 || :; }" // what it says was said within
	}
	return line
}

// leading splits off the changes of folder that a command line begins with, as far
// as every shell reads them in one way.
func leading(command string) (folder, rest string) {
	rest = command
	for {
		at := strings.IndexAny(rest, "&;\n")
		if at < 0 {
			return command[:len(command)-len(rest)], rest
		}
		joint := 1
		if rest[at] == '&' {
			joint = 2
		}
		words, plain := shell.PlainWords(rest[:at])
		after := strings.TrimLeft(rest[min(at+joint, len(rest)):], " ")
		if !plain || len(words) != 1 || len(words[0]) != 2 || words[0][0] != "cd" || strings.HasPrefix(words[0][1], "-") ||
			rest[at] == '&' && !strings.HasPrefix(rest[at:], "&&") || after == "" || strings.ContainsAny(after[:1], "&;|\n") {
			return command[:len(command)-len(rest)], rest
		}
		rest = after
	}
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

// OptionsFor are the options of `writ confine` for one command, which was judged:
// what it names and may write can be made, and where all that it does is known,
// git may keep its own data.
func OptionsFor(root string, s enforcement.State, worker bool, c *enforcement.ShellCommand) []string {
	words := Options(root, s, worker)
	if profileOf(s, worker) == confine.Implementation {
		return words
	}
	if c.KeepsGitData {
		words = append(words, "--git")
	}
	for _, t := range c.Targets {
		// Beside a project in a temp folder nothing is made but what is named.
		if t.Class == enforcement.ClassScratch && strings.HasPrefix(root, path.Dir(t.Path)+"/") {
			words = append(words, "--make", t.Path)
		}
		if t.Rel == "" || strings.HasPrefix(t.Rel, "..") {
			continue
		}
		switch t.Class {
		case enforcement.ClassPlan, enforcement.ClassTest, enforcement.ClassFindings:
			words = append(words, "--make", t.Rel)
		}
	}
	return words
}

// Options are the options of `writ confine` for a session's commands.
func Options(root string, s enforcement.State, worker bool) []string {
	profile := profileOf(s, worker)
	words := []string{"--project", root, "--profile", string(profile)}
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
	folder, line := leading(command)
	line, shown := strings.CutPrefix(line, rulesBegin)
	if r.Writ == "" || !strings.HasPrefix(line, r.front()+" ") {
		return "", false
	}
	mark := " --shell " + Shell() + " --host-shell -c "
	at := strings.Index(line, mark)
	if at < 0 {
		return "", false
	}
	inner, rest, ok := unquote(line[at+len(mark):])
	if !ok {
		return "", false
	}
	tail := ""
	if shown {
		again, named := shell.Named(inner)
		if !named {
			return "", false
		}
		tail = rulesMiddle + again + rulesEnd
	}
	return folder + inner, rest == tail+moved(inner)
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
	if r.Absent() != "" {
		return nil
	}
	profile := profileOf(s, false)
	words := []string{"--project", root, "--profile", string(profile), "--quiet", "--whole"}
	return words
}

// Named reports a command whose programs can be named, as [Runner.Rewrite] shows
// them to a host's rules.
func Named(command string) bool {
	_, ok := shell.Named(command)
	return ok
}
