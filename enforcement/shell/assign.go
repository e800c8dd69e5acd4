package shell

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// letRedirects judges an unquoted > in let, which the parser takes for an
// operator and a shell for a redirection.
func (sh *shell) letRedirects(c *syntax.LetClause) {
	var src strings.Builder
	if err := syntax.NewPrinter(syntax.Minify(true)).Print(&src, c); err != nil {
		sh.a.unsure("let", "an expression that cannot be read")
		return
	}
	words, ok := strings.CutPrefix(src.String(), "let ")
	if !ok {
		return
	}
	stmts, err := sh.a.parse(": "+words, syntax.LangBash)
	if err != nil {
		sh.a.unsure(src.String(), "an expression that cannot be read")
	}
	for _, st := range stmts {
		sh.redirects(st.Redirs)
	}
}

// declare follows declare, export, local and their like.
func (sh *shell) declare(c *syntax.DeclClause) {
	for _, as := range c.Args {
		if as.Name == nil {
			for _, a := range sh.word(as.Value) {
				if runsCode(a.val) {
					sh.a.unsure(a.val, "a declaration runs the command in a subscript")
				}
			}
			continue
		}
		if !as.Naked {
			sh.assign(as)
		}
		if c.Variant.Value == "export" || exports(c) {
			sh.export(as.Name.Value)
		}
	}
}

// exports reports declare -x.
func exports(c *syntax.DeclClause) bool {
	return len(c.Args) > 0 && c.Args[0].Name == nil && c.Args[0].Value != nil &&
		strings.HasPrefix(c.Args[0].Value.Lit(), "-") && strings.Contains(c.Args[0].Value.Lit(), "x")
}

func (sh *shell) export(name string) {
	if v, ok := sh.vars[name]; ok {
		v.Exported = true
		sh.vars[name] = v
	}
}

// assign sets a shell variable.
func (sh *shell) assign(as *syntax.Assign) {
	name := as.Name.Value
	if as.Index != nil {
		sh.arithmetic(as.Index)
		sh.setVar(name, unknownVar())
		return
	}
	if as.Array != nil {
		sh.assignArray(as)
		return
	}
	a := sh.value(as.Value)
	v := a.template()
	old, set := sh.vars[name]
	if as.Append {
		switch {
		case !set || old.Kind == expand.Indexed:
			v = string(hole)
		default:
			v = old.Str + v
		}
	}
	sh.setVar(name, text(v))
	sh.hazard(name, literal(v))
}

func (sh *shell) assignArray(as *syntax.Assign) {
	v := expand.Variable{Set: true, Kind: expand.Indexed}
	if old := sh.vars[as.Name.Value]; as.Append && old.Kind == expand.Indexed {
		v.List = append(v.List, old.List...)
	}
	for _, el := range as.Array.Elems {
		if el.Index != nil || el.Value == nil {
			sh.setVar(as.Name.Value, unknownVar())
			return
		}
		for _, a := range sh.word(el.Value) {
			v.List = append(v.List, a.template())
		}
	}
	sh.setVar(as.Name.Value, v)
}
