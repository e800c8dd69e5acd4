package shell

import (
	"path"
	"slices"
	"strings"
)

// interpreters are the programs that run code: shells, whose code is followed,
// and the others, whose code is only searched for paths.
func interpreters() family {
	f := family{}
	f.add("bash sh dash zsh ksh ash mksh rbash yash", command{info: true, texts: -1, judge: shellJudge})
	f.add("fish csh tcsh pwsh powershell xonsh nu elvish", command{info: true, judge: interpreter("c", "")})
	f.add("python python2 python3 pypy pypy3 python3.9 python3.10 python3.11 python3.12 python3.13 python3.14",
		command{info: true, texts: -1, judge: pythonJudge})
	f.add("ipython jupyter", command{info: true, judge: interpreter("c", "")})
	f.add("node nodejs", command{info: true, texts: -1, judge: informing(interpreter("e", "--eval"), "-c --check -v")})
	f.add("deno", command{info: true, judge: func(c *call) {
		switch c.first() {
		case "info", "doc":
			return
		case "fmt", "lint":
			if c.flagged("--check") || c.first() == "lint" && !c.flagged("--fix") {
				return
			}
		}
		interpreter("e", "--eval")(c)
	}})
	f.add("bun tsx ts-node esno", command{info: true, judge: interpreter("e", "--eval")})
	f.add("ruby", command{info: true, texts: -1, judge: perlJudge})
	f.add("php", command{info: true, judge: informing(interpreter("r", "--run"), "-l -i -m -v")})
	f.add("lua luajit Rscript R julia elixir erl ghci runghc scala groovy kotlin swift java jshell clojure osascript tclsh expect guile racket sbcl octave gnuplot",
		command{info: true, judge: interpreter("e", "--eval")})
	f.add("dc m4 sqlite sqlite3 duckdb psql mysql mariadb mongosh mongo redis-cli cqlsh influx", command{info: true, judge: databaseJudge})
	return f
}

// shellJudge follows the code given to a shell.
func shellJudge(c *call) {
	p := optSpec{short: "oO", long: "--rcfile --init-file", stop: true}.parse(c.args)
	if p.has("--rcfile", "--init-file") {
		c.unsure("loads a start-up file")
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

// interpreter runs code that only its own kind can read. The code is searched
// for paths.
func interpreter(short, long string) judge {
	return func(c *call) {
		c.unsure("runs code")
		p := optSpec{short: short, long: long, stop: true}.parse(c.args)
		for _, v := range p.values("-"+short, long) {
			c.code(v.val)
		}
		for _, a := range p.operands {
			c.sh.mention(a)
		}
		if len(p.operands) == 0 || p.operands[0].val == "-" {
			c.code(c.sh.in.text)
		}
	}
}

// informing is an interpreter that runs nothing where one of these options stands
// first, with at most a file behind it. Further back it is the program's own.
func informing(otherwise judge, options string) judge {
	return func(c *call) {
		if len(c.args) > 2 || !slices.Contains(strings.Fields(options), c.first()) {
			otherwise(c)
		}
	}
}

// pythonReaders are modules of the standard library that only print.
var pythonReaders = map[string]bool{"json.tool": true, "this": true, "platform": true, "site": true, "tokenize": true, "ast": true, "dis": true, "tabnanny": true, "calendar": true, "base64": true}

func pythonJudge(c *call) {
	p := optSpec{short: "cmWXQ", stop: true}.parse(c.args)
	if module, ok := p.last("-m"); ok {
		c.module(module, p.operands)
		return
	}
	if p.has("-V", "--version", "-h") {
		return
	}
	interpreter("c", "")(c)
}

// module judges python -m.
func (c *call) module(module arg, rest []arg) {
	switch {
	case pythonReaders[module.val]:
		// Python looks for modules in the folder it is in first.
		dir, ok := c.sh.cwd()
		c.unsureIf(!ok || path.Clean(dir) != path.Clean(c.sh.a.env.Project) && path.Clean(dir) != path.Clean(c.sh.a.env.Dir) || c.sh.temporary(path.Clean(dir)), "loads modules of the folder")
		ops := (optSpec{long: "--indent"}).parse(rest).operands
		if module.val == "json.tool" && len(ops) > 1 {
			c.write(ops[1])
		}
	case module.val == "pip" || module.val == "uv" || module.val == "poetry" || module.val == "black" || module.val == "ruff":
		c.run(append([]arg{module}, rest...))
	case module.val == "venv" || module.val == "virtualenv":
		c.unsure("runs a module")
		ops := (optSpec{long: "--prompt"}).parse(rest).operands
		c.write(ops...)
	default:
		c.unsure("runs a module")
		for _, a := range rest {
			c.sh.mention(a)
		}
	}
}

// databaseJudge judges clients whose statements may change a data base.
func databaseJudge(c *call) {
	if c.flagged("-readonly", "--readonly") && !c.flagged("-cmd", ".output", ".once") {
		return
	}
	c.unsure("its statements may write")
	if strings.HasPrefix(c.name, "sqlite") || c.name == "duckdb" {
		if ops := (optSpec{}).parse(c.args).operands; len(ops) > 0 && ops[0].val != ":memory:" {
			c.write(ops[0])
		}
	}
}
