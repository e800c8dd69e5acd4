package enforcement

import (
	"path"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement/shell"
	"github.com/writbus/writ/schemas"
)

// Effects of a shell command, as events record them (persisted; never change).
const (
	EffectReads      = "reads_only"
	EffectWrites     = "writes"
	EffectCannotTell = "cannot_tell"
)

// ShellCommand is a command line with what it does, as Inspect found out.
type ShellCommand struct {
	Text    string
	Effect  string           // one of the effects above
	Targets []schemas.Target // what it writes
	Private []string         // paths of Writ's own data that it refers to
	Why     string           // why the effect cannot be told, "" otherwise
	Writ    []WritCall       // its calls of writ itself
}

// WritCall is one call of writ's own binary in a command line.
type WritCall struct {
	Args    []string // after the program name
	Dynamic bool     // an argument is known only when it runs
}

// Inspect analyses a command line that would run in dir, with the variables
// vars, and resolves the paths it writes through readlink (see Resolve).
func Inspect(l Layout, dir, command string, vars map[string]string, readlink func(string) (string, bool)) *ShellCommand {
	r := shell.Analyse(command, shell.Env{Dir: dir, Home: l.Home, Project: l.Project, Vars: vars})
	c := &ShellCommand{Text: command, Effect: r.Effect.String()}
	for _, p := range r.Paths {
		c.add(Classify(l, Resolve(p, dir, l.Home, readlink)))
		// Deleting or replacing a link changes the link, not its target.
		c.add(Classify(l, path.Join(Resolve(path.Dir(p), dir, l.Home, readlink), path.Base(p))))
	}
	for _, p := range r.Mentions {
		if abs := Resolve(p, dir, l.Home, readlink); l.InData(abs) && !slices.Contains(c.Private, abs) {
			c.Private = append(c.Private, abs)
		}
	}
	if r.Effect == shell.CannotTell && len(r.Reasons) > 0 {
		c.Why = r.Reasons[0].Text
		if r.Reasons[0].Command != "" {
			c.Why = r.Reasons[0].Command + ": " + c.Why
		}
	}
	for _, w := range r.Writ {
		c.Writ = append(c.Writ, WritCall{Args: w.Args, Dynamic: w.Dynamic})
	}
	return c
}

func (c *ShellCommand) add(t schemas.Target) {
	if !slices.ContainsFunc(c.Targets, func(have schemas.Target) bool { return have.Path == t.Path }) {
		c.Targets = append(c.Targets, t)
	}
}

// What an agent may do with writ itself. A command is found by its first word,
// or its first two. What is in neither list is judged as a program nobody
// knows.
var (
	writAllowed = setOf(
		"", "status", "query", "recall", "search", "context", "help", "version", "doctor",
		"rule show", "rule list", "rule validate", "rule propose",
		"session list", "session show", "memory health", "index status", "mode", "observe",
	)
	writRefused = setOf(
		"phase", "approve", "hook", "emit", "rule review", "rule revert", "rule import",
		"memory forget", "memory review", "init", "uninstall", "down",
	)
)

// judgeWritCalls judges all calls of writ in a command line; unlisted reports
// that one is in neither list.
func judgeWritCalls(calls []WritCall) (worst ruling, unlisted bool) {
	worst = allowed
	for _, w := range calls {
		r, known := judgeWritCall(w)
		unlisted = unlisted || !known
		if worse(r, worst) {
			worst = r
		}
	}
	return worst, unlisted
}

func judgeWritCall(w WritCall) (r ruling, known bool) {
	first, second := writWords(w.Args)
	both := strings.TrimSpace(first + " " + second)
	group := first == "rule" || first == "memory"
	switch {
	case writRefused[first], writRefused[both]:
		return ruling{rule: RuleProtected, text: textWrit(both)}, true
	case w.Dynamic && (first == "" || group && second == ""):
		return ruling{rule: RuleProtected, text: textWrit("a command named only at run time")}, true
	case writAllowed[both], writAllowed[first] && !group:
		return allowed, true
	}
	return allowed, false
}

// writWords are the first two arguments that are no options.
func writWords(args []string) (first, second string) {
	var words []string
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			words = append(words, a)
		}
	}
	switch len(words) {
	case 0:
		return "", ""
	case 1:
		return words[0], ""
	}
	return words[0], words[1]
}
