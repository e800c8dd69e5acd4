package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call is one simple command about to run: a program with its arguments.
type call struct {
	sh   *shell
	name string // base name of the program
	args []arg
}

// simple follows a simple command: assignments, then the program.
func (sh *shell) simple(c *syntax.CallExpr) {
	for _, as := range c.Assigns {
		sh.substitutions(as)
	}
	for _, w := range c.Args {
		sh.substitutions(w)
	}
	if len(c.Args) == 0 {
		for _, as := range c.Assigns {
			sh.assign(as)
		}
		return
	}
	args := sh.words(c.Args)
	if len(args) == 0 {
		return
	}
	if name, ok := lookedUp(c.Args[0]); ok {
		args[0] = literal("/usr/bin/" + name)
	}
	if len(c.Assigns) == 0 {
		sh.exec(args)
		return
	}
	// Assignments before a command last as long as it does, but what the command
	// does to the shell itself (cd, a function) stays.
	saved := sh.fork()
	for _, as := range c.Assigns {
		sh.assign(as)
		sh.export(as.Name.Value)
	}
	sh.exec(args)
	for _, as := range c.Assigns {
		name := as.Name.Value
		if v, ok := saved.vars[name]; ok {
			sh.vars[name] = v
		} else {
			delete(sh.vars, name)
		}
		if h, ok := saved.env[name]; ok {
			sh.env[name] = h
		} else {
			delete(sh.env, name)
		}
	}
}

// lookedUp is the program that a word has the shell look for, as in "$(which ls)".
func lookedUp(w *syntax.Word) (name string, ok bool) {
	parts := w.Parts
	if len(parts) == 1 {
		if quoted, is := parts[0].(*syntax.DblQuoted); is {
			parts = quoted.Parts
		}
	}
	if len(parts) != 1 {
		return "", false
	}
	subst, is := parts[0].(*syntax.CmdSubst)
	if !is || len(subst.Stmts) != 1 {
		return "", false
	}
	call, is := subst.Stmts[0].Cmd.(*syntax.CallExpr)
	if !is || len(call.Args) < 2 || len(call.Assigns) > 0 {
		return "", false
	}
	var words []string
	for _, a := range call.Args {
		words = append(words, plainWord(a))
	}
	name = words[len(words)-1]
	switch strings.Join(words[:len(words)-1], " ") {
	case "which", "command -v", "type -P", "whence -p":
		return name, name != "" && !strings.ContainsAny(name, "/- ")
	}
	return "", false
}

// outlives are the programs that start what goes on by itself.
var outlives = setOf(`nohup setsid disown at batch daemonize start-stop-daemon screen tmux systemd-run bg coproc`)

// exec runs a program, function or builtin with expanded arguments.
func (sh *shell) exec(args []arg) {
	if sh.a.exhausted() || !sh.a.enter() {
		return
	}
	defer sh.a.leave()
	head := args[0]
	line := commandLine(args)
	if !head.known || head.guess {
		sh.a.unsure(line, "the program is known only at run time")
		for _, a := range args[1:] {
			sh.mention(a)
		}
		return
	}
	if head.val == "" {
		return
	}
	if outlives[head.val[strings.LastIndexByte(head.val, '/')+1:]] {
		sh.a.background = true
	}
	if sh.alias(head, args[1:]) {
		return
	}
	if body, ok := sh.funcs[head.val]; ok {
		sh.invoke(body, args[1:])
		return
	}
	sh.program(head.val, args[1:], line)
}

// invoke calls a function of the shell.
func (sh *shell) invoke(body *syntax.Stmt, args []arg) {
	saved := sh.fork()
	sh.positional(args)
	sh.stmt(body)
	outer := saved.vars["@"].List
	sh.positional(nil)
	restored := make([]arg, len(outer))
	for i, s := range outer {
		restored[i] = literal(s)
	}
	sh.positional(restored)
}

// alias expands an alias that the command line itself defines. Whether aliases
// are on depends on the shell, so the plain program is judged as well unless
// they were switched on.
func (sh *shell) alias(head arg, args []arg) bool {
	value, ok := sh.aliases[head.val]
	if !ok || !head.bare {
		return false
	}
	delete(sh.aliases, head.val)
	defer func() { sh.aliases[head.val] = value }()
	words, simple := sh.split(value)
	if !simple || len(words) == 0 {
		sh.a.unsure(value, "an alias with operators")
		sh.script(value)
		return sh.expands
	}
	if len(args) > 0 && strings.HasSuffix(value, " ") {
		// A trailing space lets the next word be an alias too.
		if next, ok := sh.aliases[args[0].val]; ok {
			sh.a.unsure(value, "an alias that expands the next word")
			more, _ := sh.split(next)
			args = append(more, args[1:]...)
		}
	}
	sh.exec(append(words, args...))
	return sh.expands
}

// split breaks a command line into words where it is one simple command.
func (sh *shell) split(src string) (words []arg, ok bool) {
	stmts, err := sh.a.parse(src, syntax.LangBash)
	if err != nil || len(stmts) != 1 || len(stmts[0].Redirs) > 0 || stmts[0].Background || stmts[0].Negated {
		return nil, false
	}
	c, ok := stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 {
		return nil, false
	}
	sh.substitutions(c)
	return sh.words(c.Args), true
}

// program judges a program that is not a function of the shell.
func (sh *shell) program(name string, args []arg, line string) {
	base, cmd, known := lookUp(name)
	sh.a.started(base)
	if known = known && !strings.ContainsAny(base, "%!"); !known {
		cmd = &entry{}
	}
	if cmd.texts >= 0 {
		skip, blind := cmd.texts, sh.a.blind
		for _, a := range args {
			if skip > 0 && a.known && !strings.HasPrefix(a.val, "-") {
				skip--
				continue
			}
			sh.mention(a)
		}
		if namesOnly[base] {
			sh.a.blind = blind
		}
	}
	if strings.Contains(name, "/") {
		sh.mentionName(name)
	}
	if target, ok := sh.rebound[name]; ok {
		sh.a.unsure(line, "hash -p gives the name another program")
		if target != name {
			sh.program(target, args, line)
		}
		return
	}
	if base == "writ" {
		sh.a.writCall(args)
		return
	}
	if strings.Contains(name, "/") && !sh.installed(name) {
		sh.a.unsure(line, notInstalled)
	}
	c := &call{sh: sh, name: base, args: args}
	if !known {
		sh.a.unsure(line, "an unknown program")
		if speaks.MatchString(plainWords(args)) {
			sh.a.actsElsewhere(Machine, base)
		}
		return
	}
	if !cmd.builtin || strings.Contains(name, "/") {
		sh.hazards(c, line)
	}
	if cmd.info && informs(args, cmd.reads != nil) {
		return
	}
	cmd.judge(c)
}

// namesOnly are the programs that show files' names and properties, and nothing
// of what is in them.
var namesOnly = setOf("ls dir vdir exa eza lsd stat du wc basename dirname realpath readlink namei tree file test [ rm touch mkdir chmod chown md5sum sha1sum sha256sum")

// about are the options by which a program tells of itself.
var about = setOf("--version --help -V -h -version -help")

// informs reports a call that only asks for that, with a word where the program has
// some: of others that names a file to run.
func informs(args []arg, words bool) bool {
	return len(args) == 1 && args[0].known && (about[args[0].val] || words && (args[0].val == "version" || args[0].val == "help"))
}

// writCall records a call of writ's own binary. The caller decides about it; a
// subcommand that may change the project is not a reader either.
func (a *analysis) writCall(args []arg) {
	w := WritCall{}
	for _, word := range args {
		val := word.val
		if !word.known || word.guess {
			w.Dynamic = true
			val = ""
		}
		w.Args = append(w.Args, val)
	}
	if len(a.writ) < maxFindings {
		a.writ = append(a.writ, w)
	}
	for _, s := range w.Args {
		if strings.HasPrefix(s, "-") {
			continue
		}
		switch s {
		case "status", "find", "query", "recall", "search", "context", "rule", "session", "memory", "index", "mode", "observe", "check", "statusline", "version", "help", "doctor":
			return
		}
		break
	}
	if len(args) > 0 && !informs(args, true) {
		a.unsure("writ "+commandLine(args), "a writ command that may change the project")
	}
}

// holesShown renders holes for people.
var holesShown = strings.NewReplacer(string(hole), "…", string(globHole), "*", string(freshHole), "*")

// commandLine renders arguments for a reason, as far as a reason shows them.
func commandLine(args []arg) string {
	var line strings.Builder
	for i, a := range args {
		if line.Len() > 4*maxShown {
			break
		}
		if i > 0 {
			line.WriteByte(' ')
		}
		line.WriteString(a.val[:min(len(a.val), 4*maxShown)])
	}
	return shorten(holesShown.Replace(line.String()))
}

// line is the call as reasons show it.
func (c *call) line() string {
	if len(c.args) == 0 {
		return c.name
	}
	return c.name + " " + commandLine(c.args)
}

// write records an operand that the program writes.
func (c *call) write(args ...arg) {
	for _, a := range args {
		c.sh.write(c.line(), a)
	}
}

// writeName records a file that the program writes under a name of its own.
func (c *call) writeName(name string) { c.sh.writeName(c.line(), name) }

// unsure records that what the program does cannot be told.
func (c *call) unsure(text string) { c.sh.a.unsure(c.line(), text) }

// run judges a command that this one starts.
func (c *call) run(args []arg) {
	if len(args) > 0 {
		c.sh.exec(args)
	}
}

// text judges an argument that is a command line of its own.
func (c *call) text(a arg) {
	if !a.known || a.guess {
		c.unsure("runs a command line known only at run time")
		c.partial(a)
		return
	}
	c.sh.fork().script(a.val)
}

// partial judges the known parts of a command line with holes, for its paths.
func (c *call) partial(a arg) {
	if rest := strings.TrimFunc(a.val, isHole); rest != "" && isKnown(rest) {
		c.sh.fork().script(rest)
	}
}

// arg returns the i-th argument, and whether there is one.
func (c *call) arg(i int) (arg, bool) {
	if i < 0 || i >= len(c.args) {
		return arg{}, false
	}
	return c.args[i], true
}

// first returns the value of the first argument, "" where unknown or absent.
func (c *call) first() string {
	if a, ok := c.arg(0); ok && a.known {
		return a.val
	}
	return ""
}
