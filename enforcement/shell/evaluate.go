package shell

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// substitutions judges the commands inside the expansions of node.
func (sh *shell) substitutions(node syntax.Node) {
	if node == nil {
		return
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			sh.fork().list(n.Stmts)
			return false
		case *syntax.ProcSubst:
			sub := sh.fork()
			if n.Op == syntax.CmdOut {
				sub.in = input{given: true}
			}
			sub.list(n.Stmts)
			return false
		case *syntax.ParamExp:
			sh.promptExpansion(n)
			sh.arithmetic(n.Index)
		case *syntax.ArithmExp:
			sh.arithmetic(n.X)
		}
		return true
	})
}

// promptExpansion judges ${name@P}, which runs the substitutions in a value.
func (sh *shell) promptExpansion(p *syntax.ParamExp) {
	if p.Exp == nil || p.Exp.Op != syntax.OtherParamOps || p.Exp.Word.Lit() != "P" {
		return
	}
	sh.a.unsure("", "a prompt expansion runs what is in the value")
	if p.Param == nil || !sh.a.enter() {
		return
	}
	defer sh.a.leave()
	if w, err := syntax.NewParser().Document(strings.NewReader(sh.vars[p.Param.Value].Str)); err == nil {
		sh.substitutions(w)
	}
}

// arithmetic judges quoted text used as a number: the shell evaluates it again,
// and a subscript in it may hold a command. Variables are judged when they are
// set.
func (sh *shell) arithmetic(node syntax.Node) {
	if node == nil {
		return
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		if q, ok := n.(*syntax.SglQuoted); ok && runsCode(q.Value) {
			sh.a.unsure(q.Value, "arithmetic runs the command in a subscript")
		}
		return true
	})
}

var subscriptCode = regexp.MustCompile("[A-Za-z_]\\w*\\[[^\\]]*(?:\\$\\(|`|\\$\\{)")

// runsCode reports text that runs a command when it is evaluated as a number or
// as the name of an array element.
func runsCode(s string) bool { return subscriptCode.MatchString(s) }
