package shell

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/writbus/writ/schemas/lazyregexp"
)

func unsetJudge(r *reading) {
	subscripts(r)
	for _, a := range r.args {
		delete(r.sh.env, a.val)
		if _, ok := r.sh.vars[a.val]; ok {
			r.sh.setVar(a.val, expand.Variable{})
		}
		if r.first() == "-f" {
			delete(r.sh.funcs, a.val)
		}
	}
}

func popdJudge(r *reading) {
	sh := r.sh
	if n := len(sh.kept); n > 0 {
		sh.dirs, sh.kept = sh.kept[n-1], sh.kept[:n-1:n-1]
		return
	}
	sh.lost = true
}

func shiftJudge(r *reading) {
	if list := r.sh.vars["@"].List; len(list) > 0 {
		var args []arg
		for _, s := range list[1:] {
			args = append(args, literal(s))
		}
		r.sh.positional(args)
	}
}

func aliasJudge(r *reading) {
	r.unsureIf(r.p.has("-g", "-s"), "a name that stands for something wherever zsh meets it")
	for _, a := range r.args {
		if name, value, ok := strings.Cut(a.val, "="); ok && len(r.sh.aliases) < maxVars {
			r.sh.aliases[name] = value
		}
	}
}

func unaliasJudge(r *reading) {
	for _, a := range r.args {
		delete(r.sh.aliases, a.val)
	}
}

// rebindJudge is hash -p, which gives names another program.
func rebindJudge(r *reading) {
	target, _ := r.p.last("-p")
	for _, name := range r.p.operands {
		r.sh.rebound[name.val] = target.val
	}
}

func trapJudge(r *reading) {
	if len(r.p.operands) < 2 || r.p.operands[0].val == "-" || r.p.operands[0].val == "" {
		return
	}
	a := r.p.operands[0]
	r.text(a)
	if a.known && !a.guess && len(r.sh.traps) < maxTraps {
		r.sh.traps = append(r.sh.traps[:len(r.sh.traps):len(r.sh.traps)], a.val)
	} else if a.known {
		r.unsure("too many traps to follow")
	}
}

// declareJudge judges declarations that the parser did not see, as they stand
// behind another word: "builtin declare".
func declareJudge(r *reading) {
	c := r.call
	subscripts(r)
	c.unsureIf(c.name != "export" && c.given("-n"), "makes one variable another one's name")
	c.sh.exports = c.sh.exports || c.given("-f") && (c.name == "export" || c.given("-x"))
	for _, a := range c.args {
		if name, value, ok := strings.Cut(a.val, "="); ok && syntax.ValidName(name) {
			c.sh.a.bound[name] = c.sh.a.bound[name] || c.given("-i", "-l", "-u", "-c")
			c.sh.setVar(name, text(value))
		}
		if name, _, _ := strings.Cut(a.val, "="); len(c.sh.a.bound) < maxVars && (c.name == "readonly" || c.given("-r")) {
			c.sh.a.bound[name] = true
		}
	}
}

// builtinJudge runs a builtin or a program whatever functions there are.
func builtinJudge(r *reading) {
	if len(r.p.operands) == 0 {
		return
	}
	r.sh.program(r.p.operands[0].val, r.p.operands[1:], commandLine(r.p.operands))
	r.unsureIf(!r.p.operands[0].known, "the program is known only at run time")
}

// subscripts judges builtins that evaluate the subscript in a name.
func subscripts(r *reading) {
	c := r.call
	for _, a := range c.args {
		c.unsureIf((runsCode(a.val) || c.name != "unset" && namesUnknown(a)) && (c.name != "test" && c.name != "[" || c.flagged("-v", "-R")), "runs the command in a subscript")
	}
}

// namesUnknown reports a word whose name of a variable nobody can tell: it may
// have a subscript with a command.
func namesUnknown(a arg) bool {
	name, _, _ := strings.Cut(a.val, "=")
	return strings.ContainsRune(name, hole)
}

func printfJudge(r *reading) {
	c := r.call
	if len(c.args) < 2 || c.first() != "-v" {
		return
	}
	name := c.args[1]
	c.unsureIf(runsCode(name.val) || namesUnknown(name), "runs the command in a subscript")
	v := unknownVar()
	delete(c.sh.a.foreign, name.val)
	if len(c.args) > 2 {
		values := make([]string, 0, len(c.args))
		known := true
		for _, a := range c.args[2:] {
			values = append(values, a.val)
			known = known && a.known && !a.guess
		}
		if out, ok := c.sh.printed("printf", values, input{}); ok && known {
			v = text(out)
		} else if len(c.sh.a.foreign) < maxVars {
			c.sh.a.foreign[name.val] = !c.args[2].known || textFormat.MatchString(c.args[2].val)
		}
	}
	c.sh.setVar(name.val, v)
}

// textFormat is a format of printf with more than numbers.
var textFormat = lazyregexp.New(`%[-+ #0-9.*]*[^-+ #0-9.*%diouxXeEfFgGaA]`)

// readJudge follows read and mapfile, which set variables from standard input.
func readJudge(r *reading) {
	c := r.call
	p := optSpec{short: "dnOsuCc"}.parse(c.args)
	if c.name == "read" {
		p = optSpec{short: "adinNptu"}.parse(c.args)
	}
	names := p.operands
	names = append(names, p.values("-a", "-A")...)
	for _, n := range names {
		c.unsureIf(runsCode(n.val) || namesUnknown(n), "runs the command in a subscript")
		c.sh.setVar(n.val, unknownVar())
		if len(c.sh.a.foreign) < maxVars {
			c.sh.a.foreign[n.val] = !c.sh.in.known
		}
	}
	if len(names) == 0 && !c.sh.in.known {
		c.sh.a.foreign["REPLY"], c.sh.a.foreign["MAPFILE"] = true, true
	}
	if c.name != "read" {
		c.unsureIf(p.has("-C"), "runs a command for every line")
		return
	}
	line, _, _ := strings.Cut(c.sh.in.text, "\n")
	if len(p.operands) == 1 && c.sh.in.known && len(p.values("-d", "-n", "-N", "-u")) == 0 {
		c.sh.setVar(p.operands[0].val, text(strings.TrimSpace(line)))
	}
}

func cdJudge(r *reading) {
	c, p := r.call, r.p
	ops := p.operands
	if c.first() == "-" {
		ops = c.args[:1]
	}
	physical := c.sh.physical
	c.sh.physical = !p.has("-L") && (physical || p.has("-P"))
	switch len(ops) {
	case 0:
		c.sh.chdir(literal(c.sh.vars["HOME"].Str))
	default:
		c.sh.chdir(ops[0])
	}
	c.sh.physical = physical
}

func pushdJudge(r *reading) {
	c := r.call
	ops := optSpec{}.parse(c.args).operands
	if len(ops) == 0 || strings.HasPrefix(ops[0].val, "+") {
		c.sh.lost = true
		return
	}
	c.sh.kept = append(c.sh.kept[:len(c.sh.kept):len(c.sh.kept)], c.sh.dirs)
	c.sh.chdir(ops[0])
}

// strange are options of a shell under which it reads words, or keeps what was
// typed, otherwise than it is followed here.
var strange = setOf("keyword history histexpand braceexpand posix")

func setJudge(r *reading) {
	c := r.call
	for i, a := range c.args {
		c.unsureIf(i > 0 && strings.HasSuffix(c.args[i-1].val, "o") && strange[a.val], "an option changes how the shell reads")
		switch {
		case a.val == "--" || a.val == "-":
			c.sh.positional(c.args[i+1:])
			return
		case a.val == "allexport" && i > 0 && c.args[i-1].val == "-o":
			c.sh.exports = true
		case a.val == "errexit" && i > 0 && c.args[i-1].val == "-o":
			c.sh.errexit = true
		case a.val == "physical" && i > 0 && c.args[i-1].val == "-o":
			c.sh.physical = true
		case strings.HasPrefix(a.val, "-"):
			c.unsureIf(strings.ContainsAny(a.val, "kH"), "an option changes how the shell reads")
			c.sh.errexit = c.sh.errexit || strings.Contains(a.val, "e")
			c.sh.exports = c.sh.exports || strings.Contains(a.val, "a")
			c.sh.physical = c.sh.physical || strings.Contains(a.val, "P")
		case strings.HasPrefix(a.val, "+"):
			c.unsureIf(strings.Contains(a.val, "B"), "an option changes how the shell reads")
			c.sh.errexit = c.sh.errexit && !strings.Contains(a.val, "e")
		case i == 0:
			c.sh.positional(c.args)
			return
		}
	}
}

func historyJudge(r *reading) {
	c := r.call
	for i, a := range c.args {
		switch a.val {
		case "-w", "-a":
			if file, ok := c.arg(i + 1); ok {
				c.write(file)
				return
			}
			c.write(literal(c.sh.a.env.Home + "/.bash_history"))
		}
	}
	c.unsureIf(c.name == "fc" && !c.flagged("-l", "-ln", "-lr"), "edits and runs commands of the history")
}

func evalJudge(r *reading) {
	c := r.call
	parts := make([]string, len(c.args))
	for i, a := range c.args {
		if !a.known || a.guess {
			c.unsure("runs a command line known only at run time")
			return
		}
		parts[i] = a.val
	}
	c.sh.script(strings.Join(parts, " "))
}

func sourceJudge(r *reading) {
	c := r.call
	if len(c.args) == 0 {
		return
	}
	a := c.args[0]
	if a.subst != nil {
		if out, ok := c.sh.capture(a.subst.Stmts); ok {
			c.sh.script(out)
			return
		}
	}
	if a.known && (a.val == "/dev/stdin" || a.val == "/dev/fd/0") && c.sh.in.known {
		c.sh.script(c.sh.in.text)
		return
	}
	c.unsure("runs the commands of a file")
}
