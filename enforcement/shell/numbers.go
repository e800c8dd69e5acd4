package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A shell evaluates a variable that is used as a number: a value such as
// "a[$(command)]" runs the command. So a variable whose value is what stands in
// a file must not be a number, unless a program made a number of it.

// contents are the programs that print what is in files, or what others send.
var contents = setOf(`cat tac head tail sed gsed awk gawk mawk cut tr jq yq grep egrep fgrep rg curl wget base64 xxd od sort uniq
	python python3 node perl ruby openssl paste nl rev fold column strings`)

// foreign reports a word that holds what a program prints of a file's content.
func foreign(w syntax.Node) bool {
	found := false
	syntax.Walk(w, func(n syntax.Node) bool {
		s, ok := n.(*syntax.CmdSubst)
		if !ok || found {
			return !found
		}
		for _, st := range s.Stmts {
			found = found || foreignStmt(st)
		}
		return false
	})
	return found
}

func foreignStmt(st *syntax.Stmt) bool {
	switch cmd := st.Cmd.(type) {
	case nil:
		return len(st.Redirs) > 0 // $(<file)
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll {
			return foreignStmt(cmd.Y) || passesOn(cmd.Y) && foreignStmt(cmd.X)
		}
		return foreignStmt(cmd.X) || foreignStmt(cmd.Y)
	case *syntax.CallExpr:
		return len(cmd.Args) > 0 && contents[cmd.Args[0].Lit()] && !counts(cmd)
	}
	return true
}

// counts reports a call that prints a number: grep -c, jq length and the like.
func counts(c *syntax.CallExpr) bool {
	for _, w := range c.Args[1:] {
		lit, grep := w.Lit(), strings.Contains(c.Args[0].Lit(), "grep") || c.Args[0].Lit() == "rg"
		switch {
		case grep && (lit == "--count" || lit == "--count-matches"):
			return true
		case grep && len(lit) > 1 && lit[0] == '-' && lit[1] != '-' && strings.Contains(lit, "c"):
			return true
		case c.Args[0].Lit() == "tr" && (lit == "-cd" || lit == "-dc"):
			return true
		}
	}
	return false
}

// numbers doubts variables with foreign content in the arithmetic of a node.
func (sh *shell) numbers(node syntax.Node) {
	if node == nil || len(sh.a.foreign) == 0 {
		return
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			sh.number(n.Value)
		case *syntax.ParamExp:
			if n.Param != nil && !n.Length {
				sh.number(n.Param.Value)
			}
		}
		return true
	})
}

func (sh *shell) number(name string) {
	if sh.a.foreign[name] {
		sh.a.unsure(name, "what a file holds is used as a number, and may be a command")
	}
}

var numeric = []syntax.BinTestOperator{syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr}

// comparisons judges the numbers of a [[ ]] test.
func (sh *shell) comparisons(c *syntax.TestClause) {
	syntax.Walk(c, func(n syntax.Node) bool {
		b, ok := n.(*syntax.BinaryTest)
		if !ok {
			return true
		}
		if slices.Contains(numeric, b.Op) {
			sh.numbers(b.X)
			sh.numbers(b.Y)
		}
		return true
	})
}
