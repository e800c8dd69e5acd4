package shell

import (
	"path"
	"regexp"
	"strings"
)

// readers are the programs that write nothing whatever their arguments are, and
// those that write only what an option names.
func readers() family {
	f := family{}
	f.add(`cat tac rev head tail nl wc cut tr paste join comm fold fmt pr expand unexpand column
		od hexdump hd strings cmp diff3 md5sum sha1sum sha224sum sha256sum sha384sum
		sha512sum b2sum b3sum cksum sum md5 shasum base32 basenc numfmt factor seq yes sleep uname arch nproc
		whoami id groups who w last users logname hostname uptime free df du ps pgrep pidof pstree top htop vmstat
		iostat mpstat lscpu lsblk lsusb lspci lsmod dmesg stat ls dir vdir exa eza lsd bat batcat most
		basename dirname realpath readlink pathchk printenv tput clear tty locale getconf getent
		info apropos whatis which whereis cloc tokei scc gron htmlq pup
		tsort ptx look cal ncal bc nm size readelf objdump otool lsof fuser ss netstat
		ping ping6 dig nslookup host whois traceroute tracepath mtr zcat bzcat xzcat zstdcat lz4cat gzcat
		zegrep zfgrep bzgrep xzgrep zless zmore zdiff zcmp
		kill pbpaste xsel xclip pbcopy wl-copy wl-paste getfacl getfattr lsattr
		csvcut csvgrep csvlook csvstat csvsort csvjoin csvjson ncdu dust duf procs glow mdcat
		jless sync uuidgen errno namei findmnt mountpoint vercmp semver`, command{})
	f.add("expr", command{texts: -1})
	f.add("pkill killall skill", command{texts: -1, judge: func(c *call) {
		for _, a := range c.args {
			// To end the daemon by its name is to call it down.
			if !a.known || strings.Contains(a.val, "writ") {
				c.sh.writ([]arg{literal("down")})
			}
		}
	}})
	f.add("jq", command{texts: 1})
	f.add("grep egrep fgrep zgrep pcregrep", command{texts: 1, judge: func(c *call) {
		p := grepOptions.parse(c.args)
		if p.has("-r", "-R", "--recursive", "--dereference-recursive", "--directories") {
			c.readsTrees(afterPattern(p))
		}
	}})
	f.add("fx", command{texts: 1, judge: func(c *call) { c.unsureIf(len(c.args) > 1, "runs code that may save the file") }})
	f.add("ag ack pt sift", command{texts: 1, judge: func(c *call) { c.readsTrees(afterPattern(grepOptions.parse(c.args))) }})
	f.add("diff colordiff delta difft", command{judge: func(c *call) {
		if p := (optSpec{short: "IUCFWxXS"}).parse(c.args); p.has("-r", "--recursive") {
			c.readsTrees(p.operands)
		}
	}})
	f.add("base64", command{judge: optionFiles(optSpec{short: "wbio"}, "-o", "--output")})
	f.add("sort", command{judge: func(c *call) {
		p := optSpec{short: "kotST", long: "--key --output --field-separator --buffer-size --temporary-directory --compress-program --files0-from --parallel --batch-size --random-source --sort"}.parse(c.args)
		if p.unsplit {
			c.unsure("its options are known only at run time")
		}
		for _, v := range p.values("-o", "--output") {
			c.write(v)
		}
		for _, v := range p.values("--compress-program") {
			c.run([]arg{v})
		}
	}})
	f.add("shuf", command{judge: optionFiles(optSpec{short: "inor", long: "--input-range --head-count --output --random-source"}, "-o", "--output")})
	f.add("uniq", command{judge: nthOperand(optSpec{short: "fsw", long: "--skip-fields --skip-chars --check-chars"}, 1)})
	f.add("xxd", command{judge: nthOperand(optSpec{short: "cglosn"}, 1)})
	f.add("iconv", command{judge: optionFiles(optSpec{short: "fto", long: "--from-code --to-code --output"}, "-o", "--output")})
	f.add("sdiff", command{judge: optionFiles(optSpec{short: "owI"}, "-o", "--output")})
	f.add("tree", command{judge: optionFiles(optSpec{short: "oLPIHT"}, "-o")})
	f.add("less more", command{judge: func(c *call) {
		p := optSpec{short: "oOpPtTbhjkxyz", long: "--log-file --LOG-FILE"}.parse(c.args)
		for _, v := range p.values("-o", "-O", "--log-file", "--LOG-FILE") {
			c.write(v)
		}
		for _, a := range c.args {
			// What follows + is typed at its prompt: "!" runs a command, "s" saves.
			c.unsureIf(strings.HasPrefix(a.val, "+") && strings.ContainsAny(a.val, "!|svoO#"), "types a command at its prompt")
		}
		careful("loads keys of its own", "-k", "--lesskey*")(c)
	}})
	f.add("file", command{judge: func(c *call) {
		if (optSpec{short: "mefFP"}).parse(c.args).has("-C", "--compile") {
			c.writeName("magic.mgc")
		}
	}})
	f.add("man", command{judge: func(c *call) {
		p := optSpec{short: "PHCMSelLmprT", long: "--pager --html --config-file"}.parse(c.args)
		for _, v := range p.values("-P", "--pager", "-H", "--html") {
			c.text(v)
		}
		if p.has("-C", "--config-file") {
			c.unsure("configuration of its own")
		}
	}})
	f.add("date", command{}) // setting the clock changes no file
	f.add("rg ripgrep", command{texts: 1, judge: func(c *call) {
		for _, a := range c.args {
			if v, ok := strings.CutPrefix(a.val, "--pre="); ok {
				c.unsure("runs a program for every file")
				c.text(literal(v))
			}
			if a.val == "--pre" || a.split || strings.HasPrefix(a.val, "--hostname-bin") {
				c.unsure("runs a program for every file")
			}
		}
		if p := grepOptions.parse(c.args); !p.has("--files", "--type-list", "--version") {
			c.readsTrees(afterPattern(p))
		}
	}})
	f.add("fd fdfind", command{judge: fdJudge})
	f.add("find gfind", command{judge: findJudge})
	f.add("fzf sk", command{judge: careful("runs the commands it is given", "--preview*", "--bind", "--execute", "--become", "--listen*", "--with-shell")})
	f.add("yq xq", command{judge: inPlace("-i", "--inplace", "--in-place", "--split-exp", "--split-exp-file", "-s")})
	f.add("xmllint", command{judge: func(c *call) {
		optionFiles(optSpec{short: "o", long: "--output --xpath --schema --encode"}, "--output", "-o")(c)
		careful("takes commands that save", "--shell")(c)
	}})
	f.add("mlr", command{judge: func(c *call) {
		c.unsureIf(c.flagged("-I", "tee", "split", "put") || c.first() == "-s", "rewrites its files or splits its output")
		c.unsureIf(c.given("--prepipe*", "--load", "--mload"), "runs a command or loads code")
		for _, a := range c.args {
			c.unsureIf(containsArg(c.args, "filter") && (a.val == "-f" || mlrActs.MatchString(a.val)), "its program may write or run a command")
		}
	}})
	f.add("dasel", command{judge: when(opaque("changes the file"), "put", "delete")})
	f.add("xmlstarlet", command{judge: func(c *call) {
		c.unsureIf(c.first() == "tr" || c.first() == "transform" || c.given("--inplace") || c.flagged("-L"), "changes the file, or writes what its style sheet says")
	}})
	f.add("ldd", command{judge: opaque("may run the program")})
	f.guard()
	return f
}

// mlrActs are the words by which a program of Miller writes or runs a command.
var mlrActs = regexp.MustCompile(`\b(tee|emit\w*|print\w*|eprint\w*|dump|edump|system|exec)\b`)

// grepOptions are the options with a value of grep and of programs like it.
var grepOptions = optSpec{short: "efmABCdDgtTjME", long: `--regexp --file --max-count --after-context --before-context --context
	--include --exclude --exclude-dir --exclude-from --glob --iglob --type --type-not --max-depth --threads --sort --color --replace --encoding`}

// afterPattern are the operands behind the pattern.
func afterPattern(p parsed) []arg {
	if p.has("-e", "-f", "--regexp", "--file") || len(p.operands) == 0 {
		return p.operands
	}
	return p.operands[1:]
}

// nthOperand is a program that writes one of its operands, counted from 0.
func nthOperand(spec optSpec, n int) judge {
	return func(c *call) {
		// What looks like one operand too many may be the value of an option.
		ops := spec.parse(c.args).operands
		for _, a := range ops[min(n, len(ops)):] {
			c.writeOut(a)
		}
	}
}

// inPlace is a program that rewrites its file operands when asked to.
func inPlace(names ...string) judge {
	return func(c *call) {
		if !c.given(names...) {
			return
		}
		for i, a := range c.args {
			// The first operand may be an expression; a name that is no file
			// does no harm in the result.
			if !strings.HasPrefix(a.val, "-") && i > 0 && c.looksLikeFile(a) {
				c.write(a)
			}
		}
		if len(c.sh.a.paths) == 0 {
			c.unsure("rewrites its files")
		}
	}
}

// looksLikeFile tells a file operand from an expression.
func (c *call) looksLikeFile(a arg) bool {
	return !a.known || !strings.ContainsAny(a.val, " =|()[]{}") && !strings.HasPrefix(a.val, ".") || strings.HasPrefix(a.val, "./") || strings.HasPrefix(a.val, "../")
}

// findJudge judges find, whose expression may delete, write and run.
func findJudge(c *call) {
	var bases []arg
	i := 0
	for ; i < len(c.args); i++ {
		v := c.args[i].val
		if v == "-H" || v == "-L" || v == "-P" || strings.HasPrefix(v, "-O") {
			continue
		}
		if v == "-D" {
			i++
			continue
		}
		if strings.HasPrefix(v, "-") || v == "(" || v == "!" {
			break
		}
		if c.args[i].split {
			c.unsure("its expression is known only at run time")
		}
		bases = append(bases, c.args[i])
	}
	if len(bases) == 0 {
		bases = []arg{literal(".")}
	}
	c.searches(bases)
	all := findsAll(c.args[i:])
	for ; i < len(c.args); i++ {
		a := c.args[i]
		switch a.val {
		case "-delete":
			c.found(bases, all)
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if file, ok := c.arg(i + 1); ok {
				c.write(file)
			}
			i++
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(c.args) && c.args[end].val != ";" && (c.args[end].val != "+" || c.args[end-1].val != "{}") {
				end++
			}
			c.forEach(c.args[i+1:end], bases)
			i = end
		default:
			if a.split {
				c.unsure("its expression is known only at run time")
			}
		}
	}
}

// findsAll reports an expression of find that leaves nothing out, hidden files of
// settings included.
func findsAll(expression []arg) bool {
	for i, a := range expression {
		switch a.val {
		case "-empty":
			return false
		case "-name", "-iname", "-path", "-ipath", "-wholename":
			if i+1 < len(expression) && !forSettings(expression[i+1]) {
				return false
			}
		}
	}
	return true
}

// forSettings reports a name pattern that takes hidden folders or the files of
// settings.
func forSettings(pattern arg) bool {
	if !pattern.known && !pattern.glob {
		return true
	}
	for _, name := range []string{".writ", "config.yaml", "./.writ", "./.writ/config.yaml"} {
		if ok, err := path.Match(pattern.val, name); ok || err != nil {
			return true
		}
	}
	return strings.Contains(pattern.val, "writ")
}

// searches notes folders whose names a command is about to print.
func (c *call) searches(folders []arg) {
	for _, a := range folders {
		dir, ok := a.folder()
		paths, _ := c.sh.resolve(dir)
		for _, p := range paths {
			if ok && len(c.sh.a.found) < maxItems {
				c.sh.a.found = append(c.sh.a.found, p)
			}
		}
	}
}

// found records that files under the folders change, which ones being unknown.
func (c *call) found(bases []arg, all bool) {
	c.unsure("deletes what it finds")
	for _, b := range bases {
		c.write(b)
		if all {
			c.gone(b)
		}
	}
}

// forEach runs a command for the files found under the folders.
func (c *call) forEach(args, bases []arg) {
	if len(args) == 0 {
		return
	}
	for _, base := range bases {
		folder := ""
		if base.known {
			folder = base.val
		}
		run := make([]arg, len(args))
		for i, a := range args {
			if strings.Contains(a.val, "{}") {
				a = arg{val: strings.ReplaceAll(a.val, "{}", unknownArg(folder).val)}
			}
			run[i] = a
		}
		c.sh.fork().exec(run)
	}
}

// fdJudge judges fd, which runs what follows -x or -X.
func fdJudge(c *call) {
	c.searches(afterPattern(optSpec{short: "dEtescSowxX", long: "--max-depth --exclude --type --extension --size"}.parse(c.args)))
	if c.sh.a.found == nil {
		c.searches([]arg{literal(".")})
	}
	for i, a := range c.args {
		switch a.val {
		case "-x", "--exec", "-X", "--exec-batch":
			run := append([]arg(nil), c.args[i+1:]...)
			if len(run) > 0 {
				c.sh.fork().exec(append(run, unknownArg(".")))
			}
			return
		}
	}
	// Bundled with other letters, or with its command attached.
	p := optSpec{short: "dEtecSoj", long: "--max-depth --exclude --type --extension --size"}.parse(c.args)
	c.unsureIf(p.has("-x", "-X", "--exec", "--exec-batch") || p.unsplit, "runs a command for every file")
}
