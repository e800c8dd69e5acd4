package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// A shell evaluates a variable that is used as a number: a value such as
// "a[$(command)]" runs the command. So a variable whose value is what stands in
// a file must not be a number, unless a program made a number of it.

// countings are the programs that print numbers alone.
var countings = setOf(`wc seq nproc date id tput getconf pgrep`)

// repeats are those that print what they are given.
var repeats = setOf(`echo printf print`)

// foreign reports a word that holds what a program prints of a file's content, or
// a variable that does.
func (sh *shell) foreign(w syntax.Node) bool {
	found := false
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			found = found || slices.ContainsFunc(n.Stmts, sh.foreignStmt)
			return false
		case *syntax.ArithmExp:
			return false // a number
		case *syntax.ParamExp:
			found = found || n.Param != nil && !n.Length && holdsForeign(sh, n.Param.Value)
		}
		return !found
	})
	return found
}

// matches reports a pattern, which stands for what files are named.
func matches(a arg) bool { return a.glob }

// holdsForeign reports a variable with foreign content, and arguments of a
// function or script that are not known, or run code as a number.
func holdsForeign(sh *shell, name string) bool {
	list := sh.vars["@"].List
	switch i, err := strconv.Atoi(name); {
	case name == "@", name == "*":
	case err == nil && i > 0 && i <= len(list):
		list = list[i-1 : i]
	default:
		return sh.a.foreign[name]
	}
	return slices.ContainsFunc(list, func(s string) bool { return !isKnown(s) || runsCode(s) })
}

func (sh *shell) foreignStmt(st *syntax.Stmt) bool {
	switch cmd := st.Cmd.(type) {
	case nil:
		return len(st.Redirs) > 0 // $(<file)
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll {
			return sh.foreignStmt(cmd.Y)
		}
		return sh.foreignStmt(cmd.X) || sh.foreignStmt(cmd.Y)
	case *syntax.CallExpr:
		if len(cmd.Args) == 0 || !repeats[cmd.Args[0].Lit()] && !counts(cmd) {
			return len(cmd.Args) > 0
		}
		return slices.ContainsFunc(cmd.Args, func(w *syntax.Word) bool { return sh.foreign(w) || spellsCode(w) })
	}
	return true
}

// spellsCode reports a word with a quoted text that runs code as a number, such as a
// format of date.
func spellsCode(w *syntax.Word) (found bool) {
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted:
			found = found || runsCode(n.Value)
		case *syntax.Lit:
			found = found || runsCode(n.Value)
		}
		return !found
	})
	return found
}

// counts reports a call that prints a number: wc, grep -c, git rev-list --count and the
// like. What any other program prints may be what a file holds, or how one is named.
func counts(c *syntax.CallExpr) bool {
	name := c.Args[0].Lit()
	for _, w := range c.Args[1:] {
		lit, grep := w.Lit(), strings.Contains(name, "grep") || name == "rg"
		switch {
		case (grep || name == "git") && (lit == "--count" || lit == "--count-matches"):
			return true
		case grep && len(lit) > 1 && lit[0] == '-' && lit[1] != '-' && strings.Contains(lit, "c"):
			return true
		case name == "tr" && (lit == "-cd" || lit == "-dc"):
			return true
		}
	}
	return countings[name]
}

// numbers doubts foreign content in the arithmetic of a node.
func (sh *shell) numbers(node syntax.Node) {
	if node == nil {
		return
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			sh.number("", sh.foreign(n))
			return false
		case *syntax.Lit:
			namedIn(sh, n.Value)
		case *syntax.SglQuoted:
			namedIn(sh, n.Value)
		case *syntax.ParamExp:
			if n.Param != nil && !n.Length {
				sh.number(n.Param.Value, holdsForeign(sh, n.Param.Value))
			}
		}
		return true
	})
}

var variableName = lazyregexp.New(`[A-Za-z_]\w*`)

// namedIn doubts the variables that a text used as a number names.
func namedIn(sh *shell, text string) {
	for _, name := range variableName.Regexp().FindAllString(text, -1) {
		sh.number(name, sh.a.foreign[name])
	}
}

func (sh *shell) number(name string, foreign bool) {
	if foreign {
		sh.a.unsure(name, "what a file holds is used as a number or a name, and may be a command")
	}
}

var numeric = []syntax.BinTestOperator{syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr}

// comparisons judges the numbers of a [[ ]] test.
func (sh *shell) comparisons(c *syntax.TestClause) {
	syntax.Walk(c, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.UnaryTest:
			sh.number("", (n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar) && sh.foreign(n.X))
		case *syntax.BinaryTest:
			if slices.Contains(numeric, n.Op) {
				sh.numbers(n.X)
				sh.numbers(n.Y)
			}
		}
		return true
	})
}
