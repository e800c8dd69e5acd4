package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// capture returns what statements print, where that follows from the text of
// the command line alone. Only one simple command of a few programs qualifies.
func (sh *shell) capture(stmts []*syntax.Stmt) (out string, ok bool) {
	if len(stmts) != 1 || sh.a.exhausted() || !sh.a.enter() {
		return "", false
	}
	defer sh.a.leave()
	st := stmts[0]
	c, simple := st.Cmd.(*syntax.CallExpr)
	if !simple || len(c.Args) == 0 || st.Negated || st.Background {
		return "", false
	}
	in := input{}
	for _, r := range st.Redirs {
		switch {
		case r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc:
			body, known := sh.document(r.Hdoc)
			in = input{text: body, known: known, given: true}
		case r.Op == syntax.WordHdoc:
			a := sh.value(r.Word)
			in = input{text: a.val + "\n", known: a.known && !a.guess, given: true}
		case r.N != nil && r.N.Value == "2":
		default:
			return "", false
		}
	}
	args := sh.words(c.Args)
	values := make([]string, len(args))
	for i, a := range args {
		if !a.known || a.guess || a.subst != nil {
			return "", false
		}
		values[i] = a.val
	}
	if len(values) == 0 {
		return "", false
	}
	if _, shadowed := sh.funcs[values[0]]; shadowed || len(sh.aliases) > 0 {
		return "", false
	}
	out, ok = sh.printed(values[0], values[1:], in)
	return out, ok && len(out) <= maxValue
}

// printed is the output of a few programs that do nothing but print.
func (sh *shell) printed(name string, args []string, in input) (string, bool) {
	switch name {
	case "echo":
		return echo(args)
	case "printf":
		if len(args) == 0 || strings.HasPrefix(args[0], "-") {
			return "", false
		}
		if !plainEscapes(args[0]) || !plainFormat.MatchString(args[0]) {
			return "", false
		}
		out, used, err := expand.Format(nil, args[0], args[1:])
		return out, err == nil && used == len(args)-1
	case "cat":
		return in.text, len(args) == 0 && in.known
	case "pwd":
		dir, ok := sh.cwd()
		return dir + "\n", ok
	case "dirname":
		if len(args) == 1 && !strings.HasPrefix(args[0], "-") {
			return parent(args[0]) + "\n", true
		}
	case "basename":
		if (len(args) == 1 || len(args) == 2) && !strings.HasPrefix(args[0], "-") {
			base := path.Base(args[0])
			if len(args) == 2 && base != args[1] {
				base = strings.TrimSuffix(base, args[1])
			}
			return base + "\n", true
		}
	case "git":
		return sh.gitPrints(args)
	case "mktemp":
		return sh.temporaryName(args)
	case "date":
		// A date holds no slash unless its format does, so it never changes the
		// folder of a name that it is part of.
		format := strings.Join(args, "")
		return string(globHole), !strings.Contains(format, "/") && !slashedDate.MatchString(format)
	case "whoami", "hostname", "uname", "nproc", "id":
		return string(globHole), true
	}
	return "", false
}

// slashedDate is a part of a date's format that prints slashes.
var slashedDate = lazyregexp.New(`%[^a-zA-Z%]*[EO]?[Dx]`)

// plainFormat is a format of printf that every printf reads alike.
var plainFormat = lazyregexp.New(`^(?:[^%]|%[sd%])*$`)

// plainEscapes reports text whose escapes are the ones that all shells know.
func plainEscapes(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		if i++; i == len(s) || !strings.ContainsRune(`nt\"'`, rune(s[i])) {
			return false
		}
	}
	return true
}

func echo(args []string) (string, bool) {
	newline, escapes := true, false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		newline = newline && !strings.Contains(args[0], "n")
		escapes = strings.Contains(args[0], "e")
		args = args[1:]
	}
	out := strings.Join(args, " ")
	// Without -e some shells know escapes and others do not; of those with it, only
	// some are the same in all.
	if strings.Contains(out, `\`) && (!escapes || !plainEscapes(out)) {
		return "", false
	}
	if escapes {
		var err error
		out, _, err = expand.Format(nil, strings.ReplaceAll(out, "%", "%%"), []string{})
		if err != nil {
			return "", false
		}
	}
	if newline {
		out += "\n"
	}
	return out, true
}

func (w *place) gitPrints(args []string) (string, bool) {
	if len(args) < 2 || args[0] != "rev-parse" {
		return "", false
	}
	switch last := args[len(args)-1]; args[1] {
	case "--show-toplevel":
		if len(args) > 2 {
			return "", false
		}
		dir, ok := w.cwd()
		return w.a.env.Project + "\n", ok && inside(dir, w.a.env.Project)
	case "HEAD", "--short":
		return string(globHole), len(args) == 2 || len(args) == 3 && args[1] != "HEAD" && last == "HEAD"
	}
	return "", false
}

// temporaryName is the name mktemp would choose, with the random part fixed.
func (sh *shell) temporaryName(args []string) (string, bool) {
	folder, template := sh.tempDir(), ""
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-d" || a == "-q" || a == "-u" || a == "-t" || a == "--directory":
		case a == "-p" && i+1 < len(args):
			i++
			folder = args[i]
		case strings.HasPrefix(a, "-"):
			return "", false
		default:
			template = a
		}
	}
	switch {
	case template == "":
		return path.Join(folder, "tmp.XXXXXXXXXX") + "\n", true
	case strings.Contains(template, "/"):
		return template + "\n", true
	case len(args) == 1:
		dir, ok := sh.cwd()
		return path.Join(dir, template) + "\n", ok
	}
	return path.Join(folder, template) + "\n", true
}
