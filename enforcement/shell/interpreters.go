package shell

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// shellJudge follows the code given to a shell.
func shellJudge(r *reading) {
	c, p := r.call, r.p
	c.unsureIf(p.has("--rcfile", "--init-file"), "loads a start-up file")
	c.unsureIf(p.has("-k") || p.has("-O", "+O"), "an option changes how the shell reads")
	for _, v := range p.values("-o") {
		c.unsureIf(!v.known || strange[v.val], "an option changes how the shell reads")
	}
	sh := c.sh.child()
	sh.errexit = p.has("-e")
	switch {
	case p.has("-n") || p.has("--version", "--help"):
	case p.has("-c"):
		if len(p.operands) == 0 {
			return
		}
		script := p.operands[0]
		if len(p.operands) > 1 {
			sh.positional(p.operands[2:])
			sh.setVar("0", text(p.operands[1].template()))
		}
		(&call{sh: sh, name: c.name, args: c.args}).text(script)
	case len(p.operands) == 0 || p.has("-s"):
		sh.positional(p.operands)
		c.input(sh)
	default:
		c.scriptFile(sh, p.operands[0])
	}
}

// inputShell is a shell that reads its standard input.
func inputShell(r *reading) { (&call{sh: r.sh.child(), name: "sh"}).input(r.sh) }

// input follows code that a shell reads from its standard input.
func (c *call) input(sh *shell) {
	in := sh.in
	if in.known {
		sh.in = input{given: true}
		sh.script(in.text)
		return
	}
	c.unsure("runs the commands on its standard input")
	if in.text != "" {
		c.partial(arg{val: in.text})
	}
}

// scriptFile judges a file of commands: one that the command line spells out,
// or one that cannot be looked into.
func (c *call) scriptFile(sh *shell, file arg) {
	if file.subst != nil {
		if out, ok := sh.capture(file.subst.Stmts); ok {
			sh.script(out)
			return
		}
	}
	if file.known && (file.val == "/dev/stdin" || file.val == "/dev/fd/0") {
		c.input(sh)
		return
	}
	c.sh.mention(file)
	c.unsure("runs the commands of a file")
}

// pythonReaders are modules of the standard library that only print.
var pythonReaders = map[string]bool{"json.tool": true, "this": true, "platform": true, "site": true, "tokenize": true, "ast": true, "dis": true, "tabnanny": true, "calendar": true, "base64": true}

// moduleJudge judges python -m.
func moduleJudge(r *reading) {
	c, rest := r.call, r.p.operands
	module, _ := r.p.last("-m")
	switch {
	case pythonReaders[module.val]:
		// Python looks for modules in the folder it is in first.
		dir, ok := c.sh.cwd()
		c.unsureIf(!ok || path.Clean(dir) != path.Clean(c.sh.a.env.Project) && path.Clean(dir) != path.Clean(c.sh.a.env.Dir) || c.sh.temporary(path.Clean(dir)), "loads modules of the folder")
		ops := (optSpec{long: []string{"--indent"}}).parse(rest).operands
		if module.val == "json.tool" && len(ops) > 1 {
			c.write(ops[1])
		}
	case module.val == "pip" || module.val == "uv" || module.val == "poetry" || module.val == "black" || module.val == "ruff":
		c.run(append([]arg{module}, rest...))
	case module.val == "venv" || module.val == "virtualenv":
		c.unsure("runs a module")
		ops := (optSpec{long: []string{"--prompt"}}).parse(rest).operands
		c.write(ops...)
	default:
		if base, e, known := lookUp(module.val); known && e.class != "" {
			c.sh.a.actsElsewhere(e.class, base)
		}
		c.unsure("runs a module")
		for _, a := range rest {
			c.sh.mention(a)
		}
	}
}

// assignment takes NAME=value before a program, as env and sudo do.
func (c *call) assignment(a arg) bool {
	name, value, ok := strings.Cut(a.val, "=")
	if !ok || !syntax.ValidName(name) {
		return false
	}
	v := arg{val: value, known: a.known, guess: a.guess}
	c.sh.setVar(name, exported(v.template()))
	return true
}

func envJudge(r *reading) {
	c, p := r.call, r.p
	for _, v := range p.values("-C", "--chdir") {
		c.sh.moveInto(v)
	}
	rest := p.operands
	for _, v := range p.values("-S", "--split-string") {
		words, ok := c.sh.split(v.val)
		if !ok || !v.known {
			c.unsure("its command line is known only at run time")
			return
		}
		rest = append(words, rest...)
	}
	for len(rest) > 0 && c.assignment(rest[0]) {
		rest = rest[1:]
	}
	c.run(rest)
}

func xargsJudge(r *reading) {
	c, p := r.call, r.p
	run := p.operands
	if len(run) == 0 {
		return
	}
	unknown := []arg{{val: string(hole), split: true}}
	if c.sh.in.known {
		unknown = nil
		for _, w := range strings.Fields(c.sh.in.text) {
			unknown = append(unknown, literal(w))
		}
		if strings.ContainsAny(c.sh.in.text, `'"\`) || p.has("-0", "-d", "-a", "--arg-file", "--null", "--delimiter") {
			unknown = []arg{{val: string(hole), split: true}}
		}
	}
	sub := c.sh.fork()
	sub.in = input{known: true, given: true}
	if v, ok := p.last("-I", "-J", "--replace"); ok || p.has("-i") {
		mark := "{}"
		if ok {
			mark = v.val
		}
		for _, u := range unknown[:min(len(unknown), maxItems)] {
			args := make([]arg, len(run))
			for i, a := range run {
				args[i] = a
				if mark != "" && strings.Contains(a.val, mark) {
					args[i] = literal(strings.ReplaceAll(a.val, mark, u.val))
				}
			}
			sub.exec(args)
		}
		return
	}
	// What a program lists are names, not options, as far as one can expect. What
	// stands in a file may be anything, unless options have ended.
	if c.sh.in.names || containsAny(run, []string{"--"}) {
		for i := range unknown {
			unknown[i].split = false
		}
	}
	sub.exec(append(append([]arg(nil), run...), unknown...))
}

func flockJudge(r *reading) {
	c, p := r.call, r.p
	if len(p.operands) == 0 {
		return
	}
	lock, rest := p.operands[0], p.operands[1:]
	if lock.known && strings.Trim(lock.val, "0123456789") == "" {
		return
	}
	c.write(lock)
	if len(rest) > 1 && (rest[0].val == "-c" || rest[0].val == "--command") {
		c.text(rest[1])
		return
	}
	c.run(rest)
}

// evalFork runs the operands as a command line, apart from the shell.
func evalFork(r *reading) {
	evalJudge(&reading{call: &call{sh: r.sh.fork(), name: r.name, args: r.p.operands}})
}

// killedJudge: to end the daemon by its name is to call it down.
func killedJudge(r *reading) {
	for _, a := range r.args {
		if !a.known || strings.Contains(a.val, "writ") {
			r.sh.a.writCall([]arg{literal("down")})
		}
	}
}

// readingSQL are the options under which sqlite3 only shows what it finds.
var readingSQL = setOf(`-readonly --readonly -header --header -noheader --noheader -csv --csv -json --json -line --line -list --list
	-column --column -table --table -box --box -markdown --markdown -html --html -quote --quote -tabs --tabs -ascii -bail -batch --batch -safe --safe`)

// readingDot are its commands that do the same, whole: it knows others by any part
// of their names.
var readingDot = lazyregexp.New(`(?i)^\.(?:tables?|schema|indexes|indices|databases|dbinfo|dump|fullschema|headers?|mode|help|stats|timer|width|show|version)(?:\s[\w%*. -]*)?$`)

// writingSQL are statements and functions that reach another file, or a program,
// from a data base that is opened for reading.
var writingSQL = lazyregexp.New(`(?i)writefile|edit\s*\(|load|attach|vacuum|copy|export|install|import|(?m:^\s*\.)|dbpage|pragma[^;]*(?:=|\()|create`)

// askingPragma are those that say something, whatever they are given.
const askingPragma = `(?i:pragma\s+(?:\w+\.)?(?:table_x?info|table_list|index_x?info|index_list|foreign_key_list|foreign_key_check|integrity_check|quick_check)\b(?:\s*(?:\(|=)\s*['"\w.]*\s*\)?)?)`

var askingPragmas = lazyregexp.New(askingPragma)

// oneQuery is a statement that asks, and no other behind it.
var oneQuery = lazyregexp.New(`(?i)^\s*(?:(?:select|explain|values)\b[^;]*|` + askingPragma + `\s*);?\s*$`)

// sqliteJudge lets pass what a data base opened for reading is asked by statements
// that stand on the command line. Of one that is not it names no path.
func sqliteJudge(r *reading) {
	var operands []arg
	readonly, plain, asks := false, true, true
	for _, a := range r.args {
		switch {
		case !strings.HasPrefix(a.val, "-"):
			operands = append(operands, a)
		case strings.HasSuffix(a.val, "-readonly"):
			readonly = true
		default:
			plain = plain && readingSQL[a.val]
		}
		plain = plain && a.known && !a.guess
	}
	for i, a := range operands {
		dot := strings.HasPrefix(strings.TrimSpace(a.val), ".")
		plain = plain && (i == 0 || dot && readingDot.MatchString(a.val) || !dot && !writingSQL.MatchString(askingPragmas.Regexp().ReplaceAllString(a.val, "")))
		asks = asks && (i == 0 || dot || oneQuery.MatchString(a.val))
	}
	r.p.operands = operands
	switch {
	case !plain || len(operands) < 2 || !readonly && !asks:
		r.unsure("its statements may write")
		return
	case !readonly:
		r.unsure("it makes a data base that is not there, and mends one") // what is held can do neither, and reads
	}
	r.p.operands = []arg{literal(":memory:")}
}
