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
func Runs(command string) (runs []Run) {
	defer func() {
		if recover() != nil {
			runs = nil
		}
	}()
	if len(command) > maxPlain {
		return nil
	}
	parsed, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil
	}
	var found started
	found.list(parsed.Stmts, true)
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
