package shell

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Holes stand in a value for text that is known only at run time. They are
// private-use characters; a source that contains one is taken for unknown text.
const (
	hole      = '\uE000' // any text
	globHole  = '\uE001' // any text without a slash: what a pattern matches
	freshHole = '\uE002' // text without a slash that nobody foresees, such as a random number
)

func isHole(r rune) bool { return r == hole || r == globHole || r == freshHole }

func isKnown(s string) bool { return !strings.ContainsFunc(s, isHole) }

// arg is one word of a command after expansion.
type arg struct {
	val   string            // with holes where not known
	known bool              // val is the word, exactly
	guess bool              // val is the word unless an unset variable is set after all
	glob  bool              // val is a pattern that matches files
	split bool              // may be any number of words, options among them
	revs  bool              // those are commits and branches that git prints
	bare  bool              // one unquoted literal, so that an alias applies
	subst *syntax.ProcSubst // the word is a process substitution
}

func literal(s string) arg { return arg{val: s, known: isKnown(s)} }

// unknownArg is a word of which only the folder it lies in may be known.
func unknownArg(folder string) arg {
	if folder == "" {
		return arg{val: string(hole)}
	}
	return arg{val: under(folder, string(hole))}
}

// template is the value with holes for everything that is not known.
func (a arg) template() string {
	switch {
	case a.glob:
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune("*?[]", r) {
				return globHole
			}
			return r
		}, a.val)
	case a.guess || !a.known && isKnown(a.val):
		return a.val + string(hole)
	}
	return a.val
}

// folder returns the folder that a partly known name lies in; ok is false where
// nothing is known about it.
func (a arg) folder() (dir string, ok bool) {
	t := a.template()
	i := strings.IndexFunc(t, isHole)
	if i < 0 {
		return t, true
	}
	slash := strings.LastIndexByte(t[:i], '/')
	if slash < 0 {
		first, _ := utf8.DecodeRuneInString(t[i:])
		return ".", first != hole && !strings.ContainsRune(t, hole)
	}
	if slash == 0 {
		return "/", true
	}
	return t[:slash], true
}

// environ is the expander's view of a shell's variables.
type environ struct {
	sh      *shell
	lenient bool // unset variables are holes
	whole   bool // no word splitting
	missing bool // an unset variable was asked for
	touched bool // an unknown value was handed out
}

func (e *environ) Get(name string) expand.Variable {
	if _, own := e.sh.vars[name]; own && shellsOwn[name] {
		// Assigned, it is what a shell made of it: some keep their own value.
		e.touched = true
		return unknownVar()
	}
	switch name {
	case "IFS":
		if e.whole {
			return text("")
		}
		v := e.sh.vars[name]
		if !isKnown(v.Str) {
			return expand.Variable{}
		}
		return v
	case "PWD":
		if dir, ok := e.sh.cwd(); ok {
			return text(dir)
		}
		e.touched = true
		return unknownVar()
	case "OLDPWD":
		if len(e.sh.prev) == 1 {
			return text(e.sh.prev[0])
		}
		e.touched = true
		return unknownVar()
	case "?", "#", "SECONDS", "PPID", "UID", "EUID", "EPOCHSECONDS", "SHLVL":
		// A number never changes the folder of a name.
		e.touched = true
		return text(string(globHole))
	case "$", "!", "RANDOM", "BASHPID", "SRANDOM":
		e.touched = true
		return text(string(freshHole))
	}
	v, ok := e.sh.vars[name]
	if !ok {
		if strings.HasPrefix(name, "HOME ") {
			// An answer here keeps the expander from the user database.
			e.touched = true
			return unknownVar()
		}
		e.missing = true
		if e.lenient {
			e.touched = true
			return unknownVar()
		}
		return expand.Variable{}
	}
	if !isKnown(v.Str) || slices.ContainsFunc(v.List, func(s string) bool { return !isKnown(s) }) {
		e.touched = true
	}
	return v
}

// shellsOwn are the variables that a shell gives a value of its own.
var shellsOwn = setOf("PWD OLDPWD SECONDS PPID UID EUID EPOCHSECONDS EPOCHREALTIME SHLVL RANDOM BASHPID SRANDOM LINENO")

func (e *environ) Each(yield func(string, expand.Variable) bool) {
	for _, name := range slices.Sorted(maps.Keys(e.sh.vars)) {
		if !yield(name, e.sh.vars[name]) {
			return
		}
	}
}

// Set serves ${name:=value}.
func (e *environ) Set(name string, v expand.Variable) error {
	if e.missing {
		v = unknownVar()
	}
	e.sh.setVar(name, v)
	return nil
}

var errUnknown = errors.New("shell: known only at run time")

// config returns an expander that reads nothing but the shell's variables.
// globbed is set when a word is a file pattern.
func (sh *shell) config(env *environ, globbed *bool) *expand.Config {
	return &expand.Config{
		Env:     env,
		NoUnset: true,
		ExtGlob: true,
		CmdSubst: func(w io.Writer, cs *syntax.CmdSubst) error {
			out, ok := sh.capture(cs.Stmts)
			if !ok {
				if !env.lenient {
					return errUnknown
				}
				env.touched = true
				out = string(hole)
			}
			_, err := io.WriteString(w, out)
			return err
		},
		ProcSubst: func(*syntax.ProcSubst) (string, error) { return "/dev/fd/63", nil },
		ReadDir2: func(string) ([]fs.DirEntry, error) {
			*globbed = true
			return nil, nil
		},
	}
}

// words expands the words of a command.
func (sh *shell) words(words []*syntax.Word) []arg {
	var args []arg
	for _, w := range words {
		args = append(args, sh.word(w)...)
		if len(args) > maxFields {
			sh.a.unsure("", "a word expands to too many words")
			return args[:maxFields]
		}
	}
	return args
}

func (sh *shell) word(w *syntax.Word) []arg {
	if lit, ok := plain(w); ok {
		return []arg{{val: lit, known: isKnown(lit), bare: true}}
	}
	if len(w.Parts) == 1 {
		switch part := w.Parts[0].(type) {
		case *syntax.ProcSubst:
			return []arg{{val: "/dev/fd/63", known: true, subst: part}}
		case *syntax.ParamExp:
			if v := sh.vars[part.Param.Value]; part.Index == nil && len(v.List) > 1 && part.Param.Value != "@" && part.Param.Value != "*" {
				return []arg{{val: string(hole), split: true}} // bash takes the first of it, zsh all
			}
		}
	}
	if args, ok := sh.fields(w, &environ{sh: sh}); ok {
		return args
	}
	if args, ok := sh.fields(w, &environ{sh: sh, lenient: true}); ok {
		return args
	}
	return []arg{{val: string(hole), split: true}}
}

// plain returns a word that no expansion changes.
func plain(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok || strings.ContainsAny(lit.Value, "\\*?[{~") {
		return "", false
	}
	return lit.Value, true
}

func (sh *shell) fields(w *syntax.Word, env *environ) (args []arg, ok bool) {
	defer func() {
		if recover() != nil {
			args, ok = nil, false
		}
	}()
	globbed := false
	splits := loose(w)
	for field, err := range expand.FieldsSeq(sh.config(env, &globbed), w) {
		if err != nil || len(args) > maxFields || len(args) > 0 && sh.a.expanded > maxExpanded {
			return nil, false
		}
		if len(args) > 0 {
			sh.a.expanded++
		}
		a := arg{val: field, glob: globbed}
		exact := isKnown(field) && !env.touched
		a.known = exact && !globbed
		a.guess = a.known && env.missing
		a.split = !exact && splits
		a.revs = a.split && revisions(w)
		args = append(args, a)
		globbed = false
	}
	return args, true
}

// loose reports an unquoted substitution, whose output the shell splits.
func loose(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		_, ok := p.(*syntax.CmdSubst)
		return ok
	})
}

// value expands a word as in an assignment: one value, not split.
func (sh *shell) value(w *syntax.Word) arg {
	if w == nil {
		return literal("")
	}
	for _, lenient := range []bool{false, true} {
		if args, ok := sh.fields(w, &environ{sh: sh, lenient: lenient, whole: true}); ok && len(args) <= 1 {
			if len(args) == 0 {
				return literal("")
			}
			a := args[0]
			a.glob = false
			a.known = a.known || !a.split && isKnown(a.val) && args[0].glob
			return a
		}
	}
	if lit := w.Lit(); lit != "" {
		return literal(lit)
	}
	return unknownArg("")
}

// document expands the body of a here-document.
func (sh *shell) document(w *syntax.Word) (body string, known bool) {
	defer func() {
		if recover() != nil {
			body, known = "", false
		}
	}()
	var globbed bool
	for _, lenient := range []bool{false, true} {
		env := &environ{sh: sh, lenient: lenient}
		body, err := expand.Document(sh.config(env, &globbed), w)
		if err == nil {
			return body, !env.touched && !env.missing && isKnown(body)
		}
	}
	return "", false
}
