package shell

import (
	"slices"
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
	attributes := c.Variant.Value + " "
	for _, as := range c.Args {
		if as.Name == nil && as.Value != nil && strings.HasPrefix(as.Value.Lit(), "-") {
			attributes += as.Value.Lit()
		}
	}
	defer sh.attribute(attributes, c.Args)
	for _, as := range c.Args {
		if as.Name == nil {
			for _, a := range sh.word(as.Value) {
				if runsCode(a.val) || namesUnknown(a) {
					sh.a.unsure(a.val, "a declaration sets what is not known, or runs the command in a subscript")
				}
				if name, value, set := strings.Cut(a.val, "="); set {
					sh.setVar(strings.TrimSuffix(name, "+"), text(value))
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

// attribute follows what a declaration does to its variables from then on: those
// that are read-only keep their value whatever is assigned to them, others
// change what they are given, and a reference is another one's name.
func (sh *shell) attribute(attributes string, names []*syntax.Assign) {
	builtin, flags, _ := strings.Cut(attributes, " ")
	switch {
	case strings.Contains(flags, "f"):
		sh.exports = sh.exports || builtin == "export" || strings.Contains(flags, "x")
		return
	case strings.Contains(flags, "n") && builtin != "export":
		sh.a.unsure(builtin, "makes one variable another one's name")
	case builtin != "readonly" && !strings.ContainsAny(flags, "riluc"):
		return
	}
	for _, as := range names {
		if as.Name == nil || len(sh.a.bound) >= maxVars {
			continue
		}
		sh.a.bound[as.Name.Value] = true
		if strings.Contains(flags, "i") && as.Value != nil {
			sh.numbers(as.Value)
		}
		if strings.ContainsAny(flags, "iluc") {
			sh.setVar(as.Name.Value, unknownVar())
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

// zshPaths are the arrays in which zsh keeps what others have in a variable of
// capitals.
var zshPaths = setOf("path cdpath fpath module_path nameddirs")

// assign sets a shell variable.
func (sh *shell) assign(as *syntax.Assign) {
	name := as.Name.Value
	if as.Index != nil && name == "options" || as.Array != nil && zshPaths[name] {
		sh.a.unsure(name, "zsh takes it for where programs and folders are, or for what it does")
	}
	if as.Index != nil {
		sh.arithmetic(as.Index)
		sh.setVar(name, unknownVar())
		return
	}
	if as.Array != nil {
		sh.assignArray(as)
		return
	}
	if as.Value != nil && len(sh.a.foreign) < maxVars {
		sh.a.foreign[name] = sh.foreign(as.Value) || as.Append && sh.a.foreign[name]
	}
	if as.Value != nil && sh.a.bound[name] { // which may be declared a number
		sh.numbers(as.Value)
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
}

func (sh *shell) assignArray(as *syntax.Assign) {
	// A list without words is no word at all; none would be read as an empty one.
	v := expand.Variable{Set: true, Kind: expand.Indexed, List: []string{}}
	if old := sh.vars[as.Name.Value]; as.Append && old.Kind == expand.Indexed {
		v.List = append(v.List, old.List...)
	}
	for _, el := range as.Array.Elems {
		sh.arithmetic(el.Index)
		if el.Index != nil || el.Value == nil {
			sh.setVar(as.Name.Value, unknownVar())
			return
		}
		words := sh.word(el.Value)
		if sh.foreign(el.Value) || slices.ContainsFunc(words, matches) {
			sh.a.foreign[as.Name.Value] = true
		}
		for _, a := range words {
			v.List = append(v.List, a.template())
		}
	}
	sh.setVar(as.Name.Value, v)
}
