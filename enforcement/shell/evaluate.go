package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/writbus/writ/schemas/lazyregexp"
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
			sh.number("", n.Excl && n.Names == 0 && n.Param != nil && holdsForeign(sh, n.Param.Value))
			if n.Slice != nil {
				sh.numbers(n.Slice.Offset)
				sh.numbers(n.Slice.Length)
			}
			replacement(sh, n.Repl)
			if n.Exp != nil && n.Exp.Word != nil && containsLit(n.Exp.Word, "(") && slices.Contains(removals, n.Exp.Op) {
				sh.a.unsure("", "a pattern that not every shell takes for one")
			}
			sh.arithmetic(n.Index)
			if n.Param != nil && oneElement(n.Index) && strings.ContainsRune(sh.vars[n.Param.Value].Str, hole) {
				sh.a.unsure("", "an element of an array that is not known")
			}
		case *syntax.ArithmExp:
			sh.arithmetic(n.X)
		case *syntax.ExtGlob:
			if n.Pattern != nil && zshQualifier.MatchString(n.Pattern.Value) {
				sh.a.unsure(n.Pattern.Value, "zsh runs the command in a pattern's qualifier")
			}
		}
		return true
	})
}

// oneElement reports an index that the expander finds nothing at in a variable
// that it takes for no array.
func oneElement(index syntax.ArithmExpr) bool {
	w, ok := index.(*syntax.Word)
	return index != nil && !(ok && slices.Contains([]string{"@", "*", "0"}, w.Lit()))
}

// removals take what matches a pattern off an end of a value.
var removals = []syntax.ParExpOperator{syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix}

// replacement judges ${name/pattern/text} where shells differ in what it gives, or
// the expander does from all of them: patterns that are bound to an end or are
// alternatives, and backslashes and & in the text.
func replacement(sh *shell, r *syntax.Replace) {
	if r == nil {
		return
	}
	if r.With != nil && (containsLit(r.With, "&") || containsLit(r.With, `\`)) {
		sh.a.unsure("", "a replacement that shells read differently")
	}
	if r.Orig == nil {
		return
	}
	for _, a := range sh.word(r.Orig) {
		if strings.ContainsRune(a.val, hole) || strings.HasPrefix(a.val, "#") || strings.HasPrefix(a.val, "%") || strings.Contains(a.val, "(") {
			sh.a.unsure("", "a replacement whose pattern shells read differently")
		}
	}
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
	if test, ok := node.(*syntax.TestClause); ok {
		sh.comparisons(test)
	} else {
		sh.numbers(node)
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		var text string
		switch n := n.(type) {
		case *syntax.SglQuoted:
			text = n.Value
		case *syntax.Lit: // its $( is behind a backslash
			text = n.Value
		}
		if runsCode(text) {
			sh.a.unsure(text, "arithmetic runs the command in a subscript")
		}
		return true
	})
}

// zshQualifier finds a command, or a function, behind a pattern of zsh: what bash
// reads as a pattern of its own.
var zshQualifier = lazyregexp.New(`e[:'"\[{(<+,/%=]|^[^|]*\+\w`)

// containsLit reports a word with this text outside expansions.
func containsLit(w *syntax.Word, text string) bool {
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.Contains(part.Value, text) {
				return true
			}
		case *syntax.ParamExp, *syntax.CmdSubst:
			return true
		}
	}
	return false
}

var subscriptCode = lazyregexp.New("(?s)[A-Za-z_]\\w*\\[.*(?:\\$\\(|`|\\$\\{)")

// runsCode reports text that runs a command when it is evaluated as a number or
// as the name of an array element.
func runsCode(s string) bool { return subscriptCode.MatchString(s) }
