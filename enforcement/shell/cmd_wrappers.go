package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// wrapper is a program that runs another one.
type wrapper struct {
	options optSpec
	skip    int      // operands before the program
	files   []string // options that name a file the wrapper writes
	assigns bool     // NAME=value words may stand before the program
	opaque  string   // why the result cannot be told even if the program can
}

func (w wrapper) judge(c *call) {
	options := w.options
	options.stop = true
	p := options.parse(c.args)
	for _, v := range p.values(w.files...) {
		if strings.HasPrefix(v.val, "|") || strings.HasPrefix(v.val, "!") {
			c.unsure("runs a command on its output")
			c.text(arg{val: v.val[1:], known: v.known})
			continue
		}
		c.write(v)
	}
	if w.opaque != "" {
		c.unsure(w.opaque)
	}
	rest := p.operands
	for w.assigns && len(rest) > 0 && c.assignment(rest[0]) {
		rest = rest[1:]
	}
	if len(rest) == 0 && c.name == "sudo" && p.has("-s", "-i", "--shell", "--login") {
		c.unsure("starts a shell")
		(&call{sh: c.sh.child(), name: "sh"}).input(c.sh)
		return
	}
	if len(rest) > w.skip {
		rest = rest[w.skip:]
		if rest[0].val == "--" {
			rest = rest[1:]
		}
		c.run(rest)
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
	c.sh.hazard(name, v)
	return true
}

// wrappers are the programs that run the command behind them.
func wrappers() family {
	f := family{}
	wrap := func(names string, w wrapper) { f.add(names, command{judge: inFork(w.judge), texts: -1}) }
	wrap("nohup setsid chronic unbuffer eatmydata fakeroot torify proxychains proxychains4 dbus-run-session noglob nocorrect - busybox toybox", wrapper{})
	wrap("gosu", wrapper{skip: 1})
	wrap("caffeinate", wrapper{options: optSpec{short: "tw"}})
	wrap("sudo", wrapper{options: optSpec{short: "ughpCrtTUDR", long: "--user --group --host --prompt --chdir --role --type"}, assigns: true})
	wrap("doas", wrapper{options: optSpec{short: "uC"}, assigns: true})
	wrap("nice", wrapper{options: optSpec{short: "n", long: "--adjustment"}})
	wrap("ionice", wrapper{options: optSpec{short: "cnpPu", long: "--class --classdata"}})
	wrap("timeout gtimeout", wrapper{options: optSpec{short: "ks", long: "--kill-after --signal"}, skip: 1})
	wrap("stdbuf gstdbuf", wrapper{options: optSpec{short: "ioe", long: "--input --output --error"}})
	wrap("time gtime", wrapper{options: optSpec{short: "fo", long: "--format --output"}, files: []string{"-o", "--output"}})
	wrap("taskset", wrapper{options: optSpec{short: "p"}, skip: 1})
	wrap("numactl", wrapper{options: optSpec{short: "CNmip"}})
	wrap("chroot", wrapper{options: optSpec{long: "--userspec --groups"}, skip: 1, opaque: "paths are those of another root"})
	wrap("unshare nsenter bwrap firejail", wrapper{options: optSpec{short: "SGtRw"}, opaque: "runs in another name space"})
	wrap("strace ltrace dtruss", wrapper{options: optSpec{short: "oepsaEuIPSXb", long: "--output --trace --attach --env --user"}, files: []string{"-o", "--output"}})
	wrap("xvfb-run", wrapper{options: optSpec{short: "esnfplw", long: "--error-file --auth-file --server-num --server-args"}, files: []string{"-e", "-f", "--error-file", "--auth-file"}})
	wrap("parallel", wrapper{options: optSpec{short: "jNnIaLPSdC"}, opaque: "the operands come from its input"})
	wrap("entr", wrapper{opaque: "runs the command later"})
	wrap("watchexec nodemon", wrapper{options: optSpec{short: "ewipc"}, opaque: "runs the command later"})
	f.add("command builtin", command{builtin: true, texts: -1, judge: func(c *call) {
		p := optSpec{stop: true}.parse(c.args)
		if c.name == "command" && p.has("-v", "-V") {
			return
		}
		if len(p.operands) > 0 {
			c.sh.program(p.operands[0].val, p.operands[1:], commandLine(p.operands))
			if !p.operands[0].known {
				c.unsure("the program is known only at run time")
			}
		}
	}})
	f.add("exec", command{builtin: true, texts: -1, judge: wrapper{options: optSpec{short: "a"}}.judge})
	f.add("env genv", command{texts: -1, judge: inFork(envJudge)})
	f.add("xargs gxargs", command{texts: -1, judge: inFork(xargsJudge)})
	f.add("flock", command{texts: -1, judge: inFork(flockJudge)})
	f.add("watch", command{texts: -1, judge: func(c *call) {
		p := optSpec{short: "nq", long: "--interval", stop: true}.parse(c.args)
		if p.has("-x", "--exec") {
			c.run(p.operands)
			return
		}
		evalJudge(&call{sh: c.sh.fork(), name: c.name, args: p.operands})
	}})
	f.add("script", command{texts: -1, judge: scriptJudge})
	f.add("su runuser", command{texts: -1, judge: func(c *call) {
		p := optSpec{short: "cgGsw", long: "--command --shell --group"}.parse(c.args)
		if v, ok := p.last("-c", "--command"); ok {
			c.text(v)
			return
		}
		c.unsure("starts a shell")
	}})
	f.add("sudoedit visudo", command{judge: func(c *call) { c.unsure("an editor"); c.write(optSpec{short: "u"}.parse(c.args).operands...) }})
	f.add("direnv", command{judge: afterWords("exec", 1, "loads the settings of a folder")})
	f.add("mise rtx asdf", command{judge: afterWords("exec x", 0, "installs and chooses programs")})
	f.add("uv poetry pipenv pdm rye hatch", command{info: true, judge: packageRunner})
	f.add("npx bunx pnpx pipx uvx", command{info: true, judge: wrapper{options: optSpec{short: "pc", long: "--package --call --from --with"}, opaque: "runs a program of a package"}.judge})
	f.add("bundle", command{info: true, judge: runner("list show info check outdated platform env", "exec")})
	f.add("nix-shell nix devbox op doppler dotenv aws-vault conda mamba micromamba systemd-run at batch", command{info: true, judge: opaque("runs commands in an environment of its own")})
	return f
}

// inFork keeps what a wrapper sets from reaching the shell.
func inFork(j judge) judge {
	return func(c *call) {
		j(&call{sh: c.sh.fork(), name: c.name, args: c.args})
	}
}

// afterWords runs the command behind one of the words.
func afterWords(words string, skip int, text string) judge {
	return func(c *call) {
		c.unsure(text)
		for i, a := range c.args {
			if strings.Contains(" "+words+" ", " "+a.val+" ") && i+1+skip < len(c.args) {
				rest := c.args[i+1+skip:]
				for len(rest) > 0 && strings.HasPrefix(rest[0].val, "-") {
					rest = rest[1:]
				}
				c.run(rest)
				return
			}
		}
	}
}

// runner is a package manager with a subcommand that runs a program.
func runner(reads, runs string) judge {
	return func(c *call) {
		sub := nextWord(c.args)
		if strings.Contains(" "+reads+" ", " "+sub+" ") && sub != "" {
			return
		}
		afterWords(runs, 0, "runs a program of a package")(c)
	}
}

// packageRunner judges uv, poetry and their like.
func packageRunner(c *call) {
	words := []string{}
	for _, a := range c.args {
		if !strings.HasPrefix(a.val, "-") {
			words = append(words, a.val)
		}
	}
	switch two := strings.Join(words[:min(2, len(words))], " "); two {
	case "pip list", "pip show", "pip freeze", "pip tree", "pip check", "python list", "python find", "tool list", "cache dir", "env info", "env list", "self version":
		return
	}
	if len(words) > 0 {
		switch words[0] {
		case "version", "show", "check", "list", "tree", "info", "graph", "search", "about":
			if c.name != "uv" || words[0] == "version" && len(words) == 1 || words[0] == "tree" && c.flagged("--frozen") {
				return
			}
		}
	}
	afterWords("run", 0, "runs a program of a package")(c)
}

func envJudge(c *call) {
	p := optSpec{short: "uCS", long: "--unset --chdir --split-string", stop: true}.parse(c.args)
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

func xargsJudge(c *call) {
	p := optSpec{short: "aEIJLnPsdR", maybe: "ile", long: "--arg-file --delimiter --max-lines --max-args --max-procs --max-chars --replace", stop: true}.parse(c.args)
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
	if c.sh.in.names || containsArg(run, "--") {
		for i := range unknown {
			unknown[i].split = false
		}
	}
	sub.exec(append(append([]arg(nil), run...), unknown...))
}

func flockJudge(c *call) {
	p := optSpec{short: "wEc", long: "--timeout --wait --conflict-exit-code --command", stop: true}.parse(c.args)
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

func scriptJudge(c *call) {
	p := optSpec{short: "cEIOBTmo", long: "--command --log-in --log-out --log-io --log-timing --timing"}.parse(c.args)
	for _, v := range p.values("-I", "-O", "-B", "-T", "--log-in", "--log-out", "--log-io", "--log-timing") {
		c.write(v)
	}
	switch len(p.operands) {
	case 0:
		if !p.has("-O", "-B", "--log-out", "--log-io") {
			c.writeName("typescript")
		}
	default:
		c.write(p.operands[0])
	}
	if v, ok := p.last("-c", "--command"); ok {
		c.text(v)
		return
	}
	if len(p.operands) > 1 {
		c.run(p.operands[1:])
		return
	}
	c.unsure("starts a shell")
}
