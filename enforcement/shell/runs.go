package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Run is one program that a command line starts by name.
type Run struct {
	// Words are the program's base name and its arguments, wrappers such as env
	// and timeout taken off. A word that is known only when it runs is "".
	Words []string
	// Decides says that the command line cannot end well where this program does
	// not: its exit status is, or is part of, the status of the whole.
	Decides bool
}

// Runs lists the programs that a command line starts, in their order, as far as
// they are named in it. It judges nothing: programs in loops, conditions and
// functions are listed and decide nothing.
func Runs(command string) []Run {
	stmts, err := statements(command, syntax.LangBash)
	if err != nil || len(command) > maxPlain {
		return nil
	}
	var found started
	found.list(stmts, true)
	return found.runs
}

// started collects what a command line starts.
type started struct {
	runs     []Run
	pipefail bool
}

// list follows statements; only the last one's status is the list's, unless
// one before it is tied to it by "set -e", which nobody writes.
func (s *started) list(stmts []*syntax.Stmt, decides bool) {
	for i, st := range stmts {
		s.stmt(st, decides && i == len(stmts)-1)
	}
}

func (s *started) stmt(st *syntax.Stmt, decides bool) {
	if st == nil || st.Cmd == nil {
		return
	}
	decides = decides && !st.Negated && !st.Background && !st.Coprocess
	switch cmd := st.Cmd.(type) {
	case *syntax.CallExpr:
		s.call(cmd, decides)
	case *syntax.BinaryCmd:
		s.binary(cmd, decides)
	case *syntax.Subshell:
		s.list(cmd.Stmts, decides)
	case *syntax.Block:
		s.list(cmd.Stmts, decides)
	case *syntax.TimeClause:
		s.stmt(cmd.Stmt, decides)
	default:
		syntax.Walk(cmd, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok {
				s.call(call, false)
			}
			return true
		})
	}
}

func (s *started) binary(c *syntax.BinaryCmd, decides bool) {
	switch c.Op {
	case syntax.AndStmt:
		s.stmt(c.X, decides)
		s.stmt(c.Y, decides)
	case syntax.OrStmt:
		s.stmt(c.X, false)
		s.stmt(c.Y, false)
	default:
		s.stmt(c.X, decides && s.pipefail)
		s.stmt(c.Y, decides)
	}
}

func (s *started) call(c *syntax.CallExpr, decides bool) {
	words := make([]string, 0, len(c.Args))
	for _, w := range c.Args {
		words = append(words, plainWord(w))
	}
	if len(words) > 2 && words[0] == "set" && slices.Contains(words, "pipefail") {
		s.pipefail = true
	}
	words = unwrapped(words)
	if len(words) == 0 || words[0] == "" || len(s.runs) >= maxFields {
		return
	}
	if inner, ok := scriptOf(words); ok {
		for _, run := range Runs(inner) {
			run.Decides = run.Decides && decides
			s.runs = append(s.runs, run)
		}
		return
	}
	words[0] = path.Base(words[0])
	s.runs = append(s.runs, Run{words, decides})
}

// scriptOf is the text that a shell is given with -c.
func scriptOf(words []string) (script string, ok bool) {
	switch path.Base(words[0]) {
	case "bash", "sh", "zsh", "dash":
	default:
		return "", false
	}
	for i, w := range words[1:] {
		if strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.HasSuffix(w, "c") && i+2 < len(words) {
			return words[i+2], words[i+2] != ""
		}
	}
	return "", false
}

// plainWord is a word without expansions, "" for others.
func plainWord(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return ""
				}
				b.WriteString(lit.Value)
			}
		default:
			return ""
		}
	}
	return b.String()
}

// starters run the command in their arguments and end as it does. The value is
// how many operands come before that command.
var starters = map[string]int{
	"env": 0, "command": 0, "exec": 0, "nice": 0, "nohup": 0, "stdbuf": 0, "setsid": 0, "ionice": 0, "sudo": 0, "doas": 0,
	"timeout": 1, "gtimeout": 1, "chronic": 0, "npx": 0, "bunx": 0, "pnpx": 0, "xvfb-run": 0, "unbuffer": 0, "time": 0,
}

// startersWith run what follows one of their subcommands.
var startersWith = map[string][]string{
	"uv": {"run"}, "poetry": {"run"}, "pdm": {"run"}, "rye": {"run"}, "hatch": {"run"}, "pipenv": {"run"}, "pixi": {"run"},
	"bundle": {"exec"}, "npm": {"exec"}, "pnpm": {"exec", "dlx"}, "yarn": {"exec", "dlx"}, "bun": {"x"}, "mise": {"exec", "x"},
	"direnv": {"exec"}, "nix": {"develop"}, "dotenv": {"run"},
}

// optionsWithValue are options of starters that take the next word.
var optionsWithValue = setOf("-n -k --kill-after -s --signal -u --user -C --chdir -p --package --with --extra --group --python -c")

// unwrapped takes what only starts another program off the front.
func unwrapped(words []string) []string {
	for range maxDepth {
		if len(words) == 0 {
			return nil
		}
		name := path.Base(words[0])
		operands, plain := starters[name]
		rest := words[1:]
		if !plain {
			subcommands, known := startersWith[name]
			if !known || len(rest) == 0 || !slices.Contains(subcommands, rest[0]) {
				return words
			}
			rest = rest[1:]
		}
		for len(rest) > 0 && (operands > 0 || strings.HasPrefix(rest[0], "-") || strings.Contains(rest[0], "=")) {
			switch {
			case rest[0] == "--":
			case strings.HasPrefix(rest[0], "-"):
				if optionsWithValue[rest[0]] && len(rest) > 1 {
					rest = rest[1:]
				}
			case strings.Contains(rest[0], "="):
			default:
				operands--
			}
			rest = rest[1:]
		}
		words = rest
	}
	return words
}

// own are the doubts about a program that lie in what it is for: who lets it run
// lets it run its project's code, and write.
var own = map[string]bool{
	"runs the code of the project": true, "a subcommand that may write anything": true, "an unknown program": true,
	"runs code": true, "runs the commands of a file": true, "runs a module": true, "runs a script": true, "its code may do anything": true,
	"runs a program of a package": true, "installs packages, which may run code": true, "installs packages": true, "compiles": true,
	"runs plugins of the project or rewrites its files": true, "rewrites its files": true, "may rewrite its files": true,
	"rewrites the sources of the package": true, "rewrites the sources of the project": true, "rewrites sources": true, "may write go.mod": true,
	"writes a program if there is one main package": true, "writes a report": true, "writes a file": true, "keeps a cache": true,
	"the names are in the archive": true, "the names are in the patch": true, "its statements may write": true,
	"applies mails": true, "checks out commits": true, "may check out another branch": true, "changes the work tree": true,
	"the files come from another repository": true, "may change the work tree or the configuration": true,
}

// wrappers are known programs that a project has in its own folder.
var wrappers = setOf(`gradlew mvnw`)

const notInstalled = "runs a program that is not an installed one"

// Beyond says how a command line runs more than the programs that are allowed by
// their base names, "" where it does not: a program in the arguments, settings or
// variables of an allowed one, or one that stands in an installed one's place.
// What an allowed program runs because that is what it is for counts as allowed.
// A file that the shell writes by a redirection has to be writable by itself.
func Beyond(command string, env Env, allowed, writable func(name string) bool) (why string) {
	defer func() {
		if recover() != nil { // see Analyse
			why = "the command line is beyond the analyser"
		}
	}()
	a := newAnalysis(env)
	a.source(command)
	for _, name := range a.programs {
		if !allowed(name) {
			return "it runs " + name
		}
	}
	for _, d := range a.doubts {
		program, _, _ := strings.Cut(d.Command, " ")
		program = path.Base(program)
		if _, known := registry()[program]; own[d.Text] || d.Text == notInstalled && (!known || wrappers[program]) {
			continue
		}
		return d.Command + ": " + d.Text
	}
	for _, name := range a.redirected {
		if !writable(name) {
			return "the shell writes " + name + ", which /write does not grant"
		}
	}
	for name := range a.paths {
		if strings.HasSuffix(name, "/.git/config") || strings.HasSuffix(name, "/.gitconfig") || name == "/etc/gitconfig" || strings.Contains(name+"/", "/.git/hooks/") {
			return "it writes " + name + ", which says what git runs"
		}
	}
	return ""
}

// started notes a program that the command line starts.
func (a *analysis) started(name string) {
	if !slices.Contains(a.programs, name) {
		a.programs = append(a.programs, name)
	}
}
