package shell

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// readAct reads what a step does; the head of the table lists the acts.
func readAct(e *entry, words []string) act {
	name, rest := words[0], words[1:]
	if do, ok := argActs[name]; ok {
		args := readPick(rest)
		return func(r *reading) { do(r, args(r)) }
	}
	if do, ok := eachActs[name]; ok {
		args := readPick(rest)
		return func(r *reading) {
			for _, a := range args(r) {
				do(r, a)
			}
		}
	}
	if do, ok := plainActs[name]; ok {
		return do
	}
	if kind, ok := gitKinds[name]; ok {
		args := readPick(rest)
		return func(r *reading) { r.git.act(kind, args(r)...) }
	}
	text := strings.Join(rest, " ")
	switch name {
	case "doubt":
		return func(r *reading) { r.unsure(text) }
	case "elsewhere":
		class := e.class
		if text != "" {
			class = Class(text)
		}
		if !slices.Contains(classes, class) {
			panic("shell: no class " + text)
		}
		return func(r *reading) { r.sh.a.actsElsewhere(class, r.name) }
	case "name":
		return func(r *reading) { r.writeName(text) }
	case "home":
		return func(r *reading) { r.write(literal(path.Join(r.sh.a.env.Home, text))) }
	case "gitfile":
		return func(r *reading) { r.writeName(r.git.inGitDir(text)) }
	case "as":
		return func(r *reading) { registry()[text].read(&reading{call: r.call, git: r.git}) }
	case "prefix":
		args := readPick(rest[1:])
		return func(r *reading) {
			if given := args(r); len(given) > 0 {
				r.prefixed(given[0])
			} else {
				r.prefixed(literal(rest[0]))
			}
		}
	case "behind":
		skip, err := strconv.Atoi(rest[0])
		if err == nil {
			rest = rest[1:]
		}
		return func(r *reading) {
			if i := slices.IndexFunc(r.args, func(a arg) bool { return slices.Contains(rest, a.val) }); i >= 0 {
				r.run(afterOptions(r.args[min(i+1+skip, len(r.args)):]))
			}
		}
	case "pack":
		return func(r *reading) { replaced(r.call, r.p, text, false) }
	case "unpack":
		return func(r *reading) { replaced(r.call, r.p, text, true) }
	case "subcommands":
		return func(r *reading) { r.subcommands(e.name, rest) }
	case "go":
		do, ok := programs[text]
		if !ok {
			panic("shell: no program " + text)
		}
		return do
	}
	panic("shell: no act " + name)
}

// argActs do something with all of the arguments that are picked.
var argActs map[string]func(r *reading, args []arg)

// eachActs do something with each of them.
var eachActs map[string]func(r *reading, a arg)

// plainActs take no words of the table.
var plainActs map[string]act

// programs are those that the notation of the table is too small for.
var programs map[string]act

var gitKinds = map[string]GitKind{
	"discards": GitDiscards, "deletes": GitDeletes, "publishes": GitPublishes,
	"rewrites": GitRewrites, "leaves": GitLeaves, "plants": GitPlants,
}

func init() {
	argActs = map[string]func(*reading, []arg){
		"extract": func(r *reading, dirs []arg) { r.extracts(r.folder(dirs)) },
		"trees":   func(r *reading, args []arg) { r.readsTrees(args) },
		"paths":   func(r *reading, args []arg) { r.git.paths(args) },
		"run":     func(r *reading, args []arg) { r.run(args) },
		"tail": func(r *reading, args []arg) {
			if len(args) > 0 && args[0].val == "--" {
				args = args[1:]
			}
			r.run(args)
		},
		"rest": func(r *reading, args []arg) { r.run(afterOptions(args)) },
		"interpret": func(r *reading, code []arg) {
			r.unsure("runs code")
			for _, v := range code {
				r.code(v.val)
			}
			for _, a := range r.p.operands {
				r.sh.mention(a)
			}
			if len(r.p.operands) == 0 || r.p.operands[0].val == "-" {
				r.code(r.sh.in.text)
			}
		},
	}
	eachActs = map[string]func(*reading, arg){
		"write":  func(r *reading, a arg) { r.write(a) },
		"out":    func(r *reading, a arg) { r.writeOut(a) },
		"unname": func(r *reading, a arg) { r.unname(a) },
		"close":  func(r *reading, a arg) { r.gone(a) },
		"text":   func(r *reading, a arg) { r.text(a) },
		"start":  func(r *reading, a arg) { r.run([]arg{a}) },
		"beside": func(r *reading, a arg) { r.writeName(parent(a.val)) },
		"pipe":   (*reading).pipe,
	}
	programs = map[string]act{
		"killed": killedJudge, "fd": fdJudge, "find": findJudge, "rewritten": rewritten, "printf": printfJudge,
		"subscripts": subscripts, "unset": unsetJudge, "read": readJudge, "cd": cdJudge, "pushd": pushdJudge, "popd": popdJudge,
		"set": setJudge, "shift": shiftJudge, "alias": aliasJudge, "unalias": unaliasJudge, "rebind": rebindJudge,
		"history": historyJudge, "trap": trapJudge, "eval": evalJudge, "source": sourceJudge, "declare": declareJudge,
		"tee": teeJudge, "copy": copyJudge(false), "move": copyJudge(true), "install": installJudge, "link": linkJudge,
		"mkdir": mkdirJudge, "mode": modeJudge, "mktemp": mktempJudge, "sed": sedJudge, "awk": awkJudge, "perl": perlJudge,
		"edCommands": edCommands, "patch": patchJudge, "tar": tarJudge, "zipped": zippedJudge, "sevenZip": sevenZipJudge,
		"goFolder": goFolderJudge, "goFlags": goFlagsJudge, "compiler": compilerJudge, "shell": shellJudge, "module": moduleJudge,
		"inputShell": inputShell, "builtin": builtinJudge, "env": envJudge, "xargs": xargsJudge, "flock": flockJudge,
		"evalFork": evalFork, "curlOutput": curlOutput, "curlUploads": curlUploads, "curlFormats": curlFormats,
		"curlNames": curlNames, "wgetNames": wgetNames, "ssh": sshJudge, "scp": scpJudge, "rsyncShell": rsyncShell,
		"openssl": opensslJudge, "sqlite": sqliteJudge, "publicKey": publicKeyJudge, "git": gitJudge, "gitMove": gitMove, "gitClean": gitClean,
		"gitApply": gitApply, "gitCloned": gitCloned, "gitFetched": gitFetched, "aliases": func(r *reading) { r.sh.expands = true },
	}
	plainActs = map[string]act{
		"stop":     func(*reading) {},
		"inspect":  func(r *reading) { r.git.reads() },
		"metadata": func(r *reading) { r.git.metadata() },
		"tree":     func(r *reading) { r.git.wholeTree() },
		"worktree": func(r *reading) { r.gitTree("") },
		"unsplit":  func(r *reading) { r.unsureIf(r.p.unsplit, "its options are known only at run time") },
		"assigns":  (*reading).assigns,
	}
}

// pipe judges the file for a program's output, which may be a command.
func (r *reading) pipe(v arg) {
	if !strings.HasPrefix(v.val, "|") && !strings.HasPrefix(v.val, "!") {
		r.write(v)
		return
	}
	r.unsure("runs a command on its output")
	r.text(arg{val: v.val[1:], known: v.known})
}

// assigns takes NAME=value words off the front of the operands.
func (r *reading) assigns() {
	for len(r.p.operands) > 0 && r.assignment(r.p.operands[0]) {
		r.p.operands = r.p.operands[1:]
	}
}

// afterOptions are the arguments from the first that is not an option.
func afterOptions(args []arg) []arg {
	for len(args) > 0 && strings.HasPrefix(args[0].val, "-") {
		args = args[1:]
	}
	return args
}

// subcommands judges a program whose first operand says what it does: by an
// entry of its own, or as a reader where it is listed, as "outer:inner" with the
// word behind it. Others cannot be told.
func (r *reading) subcommands(program string, reads []string) {
	if len(r.p.operands) == 0 {
		r.unsureIf(!r.p.has("--version", "--help", "-V", "-h", "-v"), "no subcommand that is known")
		return
	}
	sub := r.p.operands[0]
	if !sub.known || sub.guess {
		r.unsure("the subcommand is known only at run time")
		return
	}
	rest := &call{sh: r.sh, name: r.name + " " + sub.val, args: r.p.operands[1:]}
	if e, ok := registry()[program+"/"+sub.val]; ok {
		e.judge(rest)
		return
	}
	if at := slices.IndexFunc(r.args, func(a arg) bool { return a.val == sub.val }); at > 0 && r.mayTake(r.args[at-1], rest.args) {
		r.unsure("an option may take the subcommand for its value")
		return
	}
	second, sure := r.nextWord(rest.args)
	if slices.Contains(reads, sub.val) || sure && slices.Contains(reads, sub.val+":"+second) || informs(rest.args, false) {
		return
	}
	r.unsure("a subcommand that may write anything")
}

// mayTake reports an option that may take the word behind it: others are there to be
// the subcommand.
func (r *reading) mayTake(option arg, others []arg) bool {
	return strings.HasPrefix(option.val, "-") && !strings.HasPrefix(option.val, "--no-") && len(option.val) > 1 && !strings.Contains(option.val, "=") && !flagsAlone[option.val] && strings.Trim(option.val[1:], r.entry.takes.alone) != "" &&
		slices.ContainsFunc(others, func(a arg) bool { return !strings.HasPrefix(a.val, "-") })
}

// flagsAlone are options that stand before subcommands of many programs, and take nothing.
var flagsAlone = setOf(`-a -d -g -h -q -qq -r -s -v -vv -vvv -D -V --all --all-namespaces --debug --disable-pip-version-check --failed --force-local --frozen --full --global --help --insecure-skip-tls-verify --isolated --json
	--locked --long --offline --parseable --plain --production --quiet --recursive --remote --require-virtualenv --reverse --silent --stats --syslog --system --tls
	--tlsverify --transient-store --user --value --verbose --version --warnings-as-errors --workspaces`)

// writeOut records an output file; "-" means standard output.
func (c *call) writeOut(a arg) {
	if a.known && a.val == "-" {
		return
	}
	c.write(a)
}

func (c *call) unsureIf(cond bool, text string) {
	if cond {
		c.unsure(text)
	}
}

// nextWord is the first argument that is not an option; sure says that none may take it
// for its value.
func (r *reading) nextWord(args []arg) (word string, sure bool) {
	for i, a := range args {
		if !strings.HasPrefix(a.val, "-") {
			return a.val, i == 0 || !r.mayTake(args[i-1], args[i+1:])
		}
	}
	return "", true
}

// folder is the name of the last folder given, "." without one.
func (c *call) folder(dirs []arg) string {
	if len(dirs) == 0 {
		return "."
	}
	d := dirs[len(dirs)-1]
	if !d.known || d.guess {
		c.unsure("the folder is known only at run time")
		if dir, ok := d.folder(); ok {
			return dir
		}
		return "."
	}
	return d.val
}

// extracts records files whose names are in an archive.
func (c *call) extracts(folder string) {
	c.unsure("the names are in the archive")
	c.writeName(folder)
}

// prefixed records files whose names begin with a prefix.
func (c *call) prefixed(prefix arg) {
	c.unsure("makes up the names of its files")
	if prefix.known {
		c.writeName(parent(prefix.val))
	}
}

// flagged reports whether an argument is one of the options, or one of them
// with =value.
func (c *call) flagged(names ...string) bool {
	return slices.ContainsFunc(c.args, func(a arg) bool {
		name, _, _ := strings.Cut(a.val, "=")
		return slices.Contains(names, name)
	})
}

// afterPattern are the operands behind the pattern of a search.
func afterPattern(p parsed) []arg {
	if p.has("-e", "-f", "--regexp", "--file") || len(p.operands) == 0 {
		return p.operands
	}
	return p.operands[1:]
}

// replaced records files that a compressor replaces by others: with a suffix, or
// without one where it expands.
func replaced(c *call, p parsed, suffix string, expands bool) {
	if v, ok := p.last("-S"); ok {
		suffix = v.val
	}
	for _, a := range p.operands {
		if a.val == "-" {
			continue
		}
		if !p.has("-k", "--keep") || !a.known {
			c.write(a)
		}
		if !a.known {
			continue
		}
		name := a.val + suffix
		if expands {
			name = strings.TrimSuffix(a.val, path.Ext(a.val))
			if path.Ext(a.val) == ".tgz" {
				name += ".tar"
			}
		}
		c.write(arg{val: name, known: true, guess: a.guess})
	}
}
