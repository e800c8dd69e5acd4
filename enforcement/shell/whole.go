package shell

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// maxNamed bounds the commands that Named lists.
const maxNamed = 200

// Named writes the commands that a command line holds one below the other, each
// word in quotes in which nothing has a meaning: what reads the lines finds each
// program with its arguments and where its output goes, and no shell runs
// anything else for them. A plain line is left as it is; what holds no command may
// still set what later ones use, and is named ":". ok is false for what does not
// parse to its end, or holds too many.
func Named(command string) (lines string, ok bool) {
	if _, plain := PlainWords(command); plain {
		return strings.Trim(command, " "), true
	}
	stmts, err := statements(command, syntax.LangBash)
	var all []string
	syntax.Walk(&syntax.File{Stmts: stmts}, func(n syntax.Node) bool {
		if st, found := n.(*syntax.Stmt); found && named(st) != "" {
			all = append(all, named(st))
		}
		return true
	})
	return cmp.Or(strings.Join(all, "\n"), ":"), err == nil && strings.TrimSpace(command) != "" && len(all) <= maxNamed
}

// Moves are the folders that a line changes to, one after the other, if it
// succeeds; "-" is where the shell stood before. There are none where the line may
// change folders in another way.
func Moves(line string) []string {
	stmts, err := statements(line, syntax.LangBash)
	moves, known, sure, last := []string(nil), err == nil, true, false
	var chain func(st *syntax.Stmt)
	chain = func(st *syntax.Stmt) {
		simple := !st.Background && !st.Negated && !st.Coprocess && !slices.ContainsFunc(st.Redirs, loud)
		switch c := st.Cmd.(type) {
		case *syntax.BinaryCmd:
			if simple && c.Op == syntax.AndStmt {
				chain(c.X)
				chain(c.Y)
				return
			}
		case *syntax.CallExpr:
			if simple && len(c.Assigns) == 0 && len(c.Args) == 2 && c.Args[0].Lit() == "cd" {
				moves, known = append(moves, c.Args[1].Lit()), known && (sure || last) && aFolder.MatchString(c.Args[1].Lit())
				return
			}
		}
		sure = false
		syntax.Walk(st, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Subshell, *syntax.CmdSubst:
				return false
			case *syntax.CallExpr:
				known = known && (len(n.Args) == 0 || n.Args[0].Lit() != "" && !movers[n.Args[0].Lit()])
			}
			return true
		})
	}
	for i, st := range stmts {
		// Behind another command of a chain it may not have run, unless the line ends so.
		last, sure = i == len(stmts)-1, true
		chain(st)
	}
	if !known {
		return nil
	}
	return moves
}

// loud reports a redirection that may fail, writes or sets a variable: all but what drops or joins streams.
func loud(r *syntax.Redirect) bool {
	return r.N != nil && strings.HasPrefix(r.N.Value, "{") || r.Word.Lit() != "/dev/null" && (r.Op != syntax.DplOut || r.Word.Lit() != "1")
}

// aFolder is a name that every shell takes for the same folder.
var aFolder = lazyregexp.New(`^(-|~?[\w@+:,./][\w@+:,./-]*|~)$`)

// movers are the programs of a shell that change its folder, may run one that does, or
// end it before.
var movers = setOf("cd chdir pushd popd eval source . builtin command exit return exec")

// writing are the redirections that write.
var writing = map[syntax.RedirOperator]bool{
	syntax.RdrOut: true, syntax.AppOut: true, syntax.RdrAll: true, syntax.AppAll: true, syntax.RdrClob: true,
	syntax.AppClob: true, syntax.RdrAllClob: true, syntax.AppAllClob: true, syntax.RdrInOut: true,
}

// named is one command with its redirections, "" for what runs no program.
func named(st *syntax.Stmt) string {
	call, _ := st.Cmd.(*syntax.CallExpr)
	var words []string
	if call != nil {
		for _, w := range call.Args {
			words = append(words, onlyLetters(w))
		}
	}
	if len(words) == 0 {
		words = []string{"true"}
	}
	to := false
	for _, r := range st.Redirs {
		if writing[r.Op] {
			words, to = append(words, ">", onlyLetters(r.Word)), true
		}
	}
	if call == nil && !to || call != nil && len(call.Args) == 0 && !to {
		return ""
	}
	return strings.Join(words, " ")
}

// onlyLetters is a word as it stands, or in single quotes.
func onlyLetters(w *syntax.Word) string {
	text := w.Lit()
	if text == "" {
		if text = plainWord(w); text == "" {
			var b strings.Builder
			_ = syntax.NewPrinter().Print(&b, w) // a Builder does not fail
			text = b.String()
		}
	}
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, text)
	plain := text != "" && !keywords[text]
	for i := range len(text) {
		plain = plain && plainLetter(text[i]) && text[i] != '=' && text[i] != '%'
	}
	if plain {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
