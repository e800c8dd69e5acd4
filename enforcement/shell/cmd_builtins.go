package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// builtins are the commands of the shell itself.
func builtins() family {
	f := family{}
	f.add(": true false pwd dirs wait jobs disown bg fg umask times help bind complete compopt suspend logout caller exit return break continue getopts type",
		command{builtin: true})
	f.add("ulimit", command{builtin: true, judge: func(c *call) {
		p := optSpec{}.parse(c.args)
		c.unsureIf(p.has("-c") && slices.ContainsFunc(p.operands, func(a arg) bool { return a.val != "0" }), "lets programs leave images of their memory")
	}})
	f.add("echo print", command{builtin: true, texts: -1})
	f.add("printf", command{builtin: true, texts: -1, judge: printfJudge})
	f.add("test [", command{builtin: true, judge: subscripts})
	f.add("unset", command{builtin: true, judge: func(c *call) {
		subscripts(c)
		for _, a := range c.args {
			delete(c.sh.env, a.val)
			if _, ok := c.sh.vars[a.val]; ok {
				c.sh.setVar(a.val, expand.Variable{})
			}
			if c.first() == "-f" {
				delete(c.sh.funcs, a.val)
			}
		}
	}})
	f.add("read mapfile readarray", command{builtin: true, texts: -1, judge: readJudge})
	f.add("cd chdir", command{builtin: true, judge: cdJudge})
	f.add("pushd", command{builtin: true, judge: pushdJudge})
	f.add("popd", command{builtin: true, judge: func(c *call) {
		sh := c.sh
		if n := len(sh.kept); n > 0 {
			sh.dirs, sh.kept = sh.kept[n-1], sh.kept[:n-1:n-1]
			return
		}
		sh.lost = true
	}})
	f.add("set", command{builtin: true, texts: -1, judge: setJudge})
	f.add("shopt", command{builtin: true, texts: -1, judge: func(c *call) {
		if c.first() == "-s" && c.flagged("expand_aliases") {
			c.sh.expands = true
		}
	}})
	f.add("setopt unsetopt zstyle", command{builtin: true, texts: -1})
	f.add("autoload zmodload", command{builtin: true, texts: -1, judge: opaque("loads code into the shell")})
	f.add("emulate", command{builtin: true, texts: -1, judge: func(c *call) {
		if code, ok := (optSpec{short: "co"}).parse(c.args).last("-c"); ok {
			c.text(code)
		}
	}})
	f.add("shift", command{builtin: true, judge: func(c *call) {
		if list := c.sh.vars["@"].List; len(list) > 0 {
			var args []arg
			for _, s := range list[1:] {
				args = append(args, literal(s))
			}
			c.sh.positional(args)
		}
	}})
	f.add("alias", command{builtin: true, texts: -1, judge: func(c *call) {
		for _, a := range c.args {
			if name, value, ok := strings.Cut(a.val, "="); ok && len(c.sh.aliases) < maxVars {
				c.sh.aliases[name] = value
			}
		}
	}})
	f.add("unalias", command{builtin: true, judge: func(c *call) {
		for _, a := range c.args {
			delete(c.sh.aliases, a.val)
		}
	}})
	f.add("hash", command{builtin: true, judge: func(c *call) {
		p := optSpec{short: "p"}.parse(c.args)
		if target, ok := p.last("-p"); ok {
			for _, name := range p.operands {
				c.sh.rebound[name.val] = target.val
			}
		}
	}})
	f.add("enable", command{builtin: true, judge: func(c *call) {
		if c.flagged("-f") || strings.HasPrefix(c.first(), "-f") {
			c.unsure("loads code into the shell")
		}
	}})
	f.add("compgen", command{builtin: true, judge: compgenJudge})
	f.add("history fc", command{builtin: true, judge: historyJudge})
	f.add("trap", command{builtin: true, texts: -1, judge: func(c *call) {
		p := optSpec{}.parse(c.args)
		if len(p.operands) > 1 && p.operands[0].val != "-" && p.operands[0].val != "" {
			c.text(p.operands[0])
			if a := p.operands[0]; a.known && !a.guess && len(c.sh.traps) < maxTraps {
				c.sh.traps = append(c.sh.traps[:len(c.sh.traps):len(c.sh.traps)], a.val)
			} else if a.known {
				c.unsure("too many traps to follow")
			}
		}
	}})
	f.add("eval", command{builtin: true, texts: -1, judge: evalJudge})
	f.add(". source", command{builtin: true, judge: sourceJudge})
	f.add("let", command{builtin: true, judge: subscripts})
	// The parser turns these into declarations unless they stand behind another
	// word, as in "builtin declare".
	f.add("declare typeset local export readonly", command{builtin: true, texts: -1, judge: func(c *call) {
		subscripts(c)
		c.unsureIf(c.name != "export" && c.given("-n"), "makes one variable another one's name")
		c.sh.exports = c.sh.exports || c.given("-f") && (c.name == "export" || c.given("-x"))
		for _, a := range c.args {
			if name, value, ok := strings.Cut(a.val, "="); ok && syntax.ValidName(name) {
				c.sh.a.bound[name] = c.sh.a.bound[name] || c.given("-i", "-l", "-u", "-c")
				c.sh.setVar(name, text(value))
				c.sh.hazard(name, literal(value))
			}
			if name, _, _ := strings.Cut(a.val, "="); len(c.sh.a.bound) < maxVars && (c.name == "readonly" || c.given("-r")) {
				c.sh.a.bound[name] = true
			}
		}
	}})
	return f
}

// compgenJudge judges compgen, which runs commands and expands the words it is
// given.
func compgenJudge(c *call) {
	c.unsureIf(c.given("-C", "-F"), "runs a command")
	for _, a := range c.args {
		c.unsureIf(!a.known || strings.ContainsAny(a.val, "$`"), "expands its words")
	}
}

// subscripts judges builtins that evaluate the subscript in a name.
func subscripts(c *call) {
	for _, a := range c.args {
		if runsCode(a.val) && (c.name != "test" && c.name != "[" || c.flagged("-v", "-R")) {
			c.unsure("runs the command in a subscript")
		}
	}
}

func printfJudge(c *call) {
	if len(c.args) < 2 || c.first() != "-v" {
		return
	}
	name := c.args[1]
	if runsCode(name.val) {
		c.unsure("runs the command in a subscript")
	}
	v := unknownVar()
	if len(c.args) > 2 {
		values := make([]string, 0, len(c.args))
		known := true
		for _, a := range c.args[2:] {
			values = append(values, a.val)
			known = known && a.known && !a.guess
		}
		if out, ok := c.sh.printed("printf", values, input{}); ok && known {
			v = text(out)
		}
	}
	c.sh.setVar(name.val, v)
}

// readJudge follows read and mapfile, which set variables from standard input.
func readJudge(c *call) {
	p := optSpec{short: "adinNptuCcOs"}.parse(c.args)
	if c.name == "read" {
		p = optSpec{short: "adinNptu"}.parse(c.args)
	}
	names := p.operands
	names = append(names, p.values("-a", "-A")...)
	for _, n := range names {
		if runsCode(n.val) {
			c.unsure("runs the command in a subscript")
		}
		c.sh.setVar(n.val, unknownVar())
		if len(c.sh.a.foreign) < maxVars {
			c.sh.a.foreign[n.val] = !c.sh.in.known
		}
	}
	if len(names) == 0 && !c.sh.in.known {
		c.sh.a.foreign["REPLY"], c.sh.a.foreign["MAPFILE"] = true, true
	}
	if c.name != "read" {
		if p.has("-C") {
			c.unsure("runs a command for every line")
		}
		return
	}
	line, _, _ := strings.Cut(c.sh.in.text, "\n")
	if len(p.operands) == 1 && c.sh.in.known && len(p.values("-d", "-n", "-N", "-u")) == 0 {
		c.sh.setVar(p.operands[0].val, text(strings.TrimSpace(line)))
	}
}

func cdJudge(c *call) {
	p := optSpec{}.parse(c.args)
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

func pushdJudge(c *call) {
	ops := optSpec{}.parse(c.args).operands
	if len(ops) == 0 || strings.HasPrefix(ops[0].val, "+") {
		c.sh.lost = true
		return
	}
	c.sh.kept = append(c.sh.kept[:len(c.sh.kept):len(c.sh.kept)], c.sh.dirs)
	c.sh.chdir(ops[0])
}

func setJudge(c *call) {
	for i, a := range c.args {
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
			c.sh.errexit = c.sh.errexit || strings.Contains(a.val, "e")
			c.sh.exports = c.sh.exports || strings.Contains(a.val, "a")
			c.sh.physical = c.sh.physical || strings.Contains(a.val, "P")
		case strings.HasPrefix(a.val, "+"):
			c.sh.errexit = c.sh.errexit && !strings.Contains(a.val, "e")
		case i == 0:
			c.sh.positional(c.args)
			return
		}
	}
}

func historyJudge(c *call) {
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
	if c.name == "fc" && !c.flagged("-l", "-ln", "-lr") {
		c.unsure("edits and runs commands of the history")
	}
}

func evalJudge(c *call) {
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

func sourceJudge(c *call) {
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
