package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// buildTools are the programs that build, test and install.
func buildTools() family {
	f := family{}
	project := "runs the code of the project"
	f.add("make gmake bmake", command{info: true, judge: makeJudge})
	f.add("ninja cmake ctest meson bazel buck2 scons rake gradle gradlew mvn mvnw ant sbt lein mix rebar3 dune stack cabal zig just task mage earthly dagger nx turbo lerna rush gulp grunt vite webpack rollup esbuild parcel next nuxt astro jest vitest mocha ava playwright cypress tox nox pytest py.test unittest invoke fab behave phpunit rspec cucumber dotnet msbuild xcodebuild flutter dart composer bundler gem cpan cpanm luarocks pre-commit husky lint-staged sphinx-build mkdocs hugo jekyll latexmk pdflatex xelatex pandoc wasm-pack trunk tauri electron-builder ansible ansible-playbook vagrant packer act goreleaser ko air buf protoc swag wire mockgen mockery stringer sqlc ent templ alembic prisma drizzle-kit knex sequelize flask django-admin uvicorn gunicorn celery rails",
		command{info: true, judge: opaque(project)})
	f.add("go", command{judge: goJudge})
	f.add("gofmt gofumpt goimports", command{judge: func(c *call) {
		p := optSpec{short: "r"}.parse(c.args)
		if p.has("-w") || c.flagged("-w", "--w") {
			for _, a := range p.operands {
				c.write(a)
			}
		}
		c.unsureIf(c.given("-cpuprofile", "-memprofile", "-trace"), "writes a profile")
	}})
	f.add("shfmt clang-format yamlfmt stylua", command{judge: func(c *call) {
		p := optSpec{short: "i", maybe: ""}.parse(c.args)
		if c.name == "shfmt" && !p.has("-w", "--write") {
			return
		}
		if c.name == "clang-format" && !c.flagged("-i") {
			return
		}
		c.unsureIf(c.name == "stylua" || c.name == "yamlfmt", "rewrites its files")
		for _, a := range c.args {
			if !strings.HasPrefix(a.val, "-") {
				c.write(a)
			}
		}
	}})
	f.add("cargo", command{judge: both(careful("settings of its own may name a program", "--config", "-Z", "-C"), subcommands{
		reads: "metadata tree version search locate-project pkgid read-manifest info verify-project help --list",
		table: map[string]judge{
			"fmt":     unless(rewrites("the sources of the project"), "--check"),
			"init":    opaque("writes a project"),
			"install": opaque("installs a program"),
		},
	}.judge)})
	f.add("rustfmt", command{info: true, judge: unless(func(c *call) {
		c.write(optSpec{long: "--edition --config --config-path --emit"}.parse(c.args).operands...)
	}, "--check")})
	f.add("rustc", command{info: true, judge: opaque("compiles")})
	f.add("rustup", command{info: true, judge: subcommands{reads: "show which toolchain:list target:list component:list doc"}.judge})
	f.add("npm", command{judge: npmJudge})
	f.add("pnpm yarn", command{judge: npmJudge})
	f.add("corepack nvm fnm volta n", command{info: true, judge: when(opaque("installs programs"), "install", "use", "enable", "prepare", "add", "default", "alias")})
	f.add("pip pip3", command{judge: both(careful("an option writes a file or runs a program", "--log*", "--python", "--cache-dir", "--editor", "--report"),
		subcommands{reads: "list show freeze check search inspect debug help index config:list config:get cache:dir cache:list"}.judge)})
	f.add("gcc cc clang g++ c++ clang++ tcc gfortran", command{info: true, judge: compilerJudge})
	f.add("ld gold lld as nasm yasm", command{info: true, judge: func(c *call) {
		p := optSpec{short: "o"}.parse(c.args)
		if v, ok := p.last("-o"); ok {
			c.write(v)
			return
		}
		c.writeName("a.out")
	}})
	f.add("strip ranlib", command{judge: operands(optSpec{short: "oKNR"})})
	f.add("objcopy", command{judge: func(c *call) {
		if ops := (optSpec{short: "OIjRKN"}).parse(c.args).operands; len(ops) > 0 {
			c.write(ops[len(ops)-1])
		}
	}})
	f.add("javac kotlinc scalac ghc ocamlc swiftc dmd nim crystal v gnatmake fpc valac tsc",
		command{info: true, judge: opaque("compiles")})
	return f
}

func rewrites(what string) judge {
	return func(c *call) {
		c.unsure("rewrites " + what)
		c.writeName(".")
	}
}

// makeJudge judges make: a dry run prints what it would do.
func makeJudge(c *call) {
	p := optSpec{short: "CfIoWEl", maybe: "j", long: "--directory --file --makefile --include-dir --eval"}.parse(c.args)
	if p.has("-E", "--eval") || slices.ContainsFunc(c.args, func(a arg) bool {
		return a.subst != nil || strings.Contains(a.val, "=") && strings.ContainsAny(a.val, "$`") || strings.HasPrefix(a.val, "SHELL")
	}) {
		c.unsure("runs code given as an option")
		return
	}
	if p.has("-v", "--version", "-h", "--help") {
		return
	}
	if p.has("-n", "--just-print", "--dry-run", "--recon", "-q", "--question") {
		// Reading the makefile already runs what it says, so it must be the project's.
		dir, ok := c.sh.cwd()
		c.unsureIf(!ok || !inside(path.Clean(dir), c.sh.a.env.Project) || p.has("-C", "-f", "-I", "-E", "--directory", "--file", "--makefile", "--include-dir"), "reads a makefile, which may run programs")
		for _, a := range p.operands {
			name, value, ok := strings.Cut(a.val, "=")
			c.unsureIf(!a.known || ok && strings.ContainsAny(value, "/;&|") || strings.Contains(name, "SHELL"), "sets a variable, which may name a program")
		}
		return
	}
	c.unsure("runs the code of the project")
}

func goJudge(c *call) {
	args, moved := c.goFolder(c.args)
	if len(args) > 1 && !moved {
		var rest []arg
		rest, _ = c.goFolder(args[1:])
		args = append(args[:1:1], rest...)
	}
	c = &call{sh: c.sh, name: c.name, args: args}
	if c.given("-toolexec", "-vettool", "-overlay", "-modfile", "-pkgdir", "-compiler") {
		c.unsure("runs a program of its own choice, or with files of its own")
		return
	}
	c.goTools()
	if mod, ok := c.goValue("-mod"); ok && mod.val != "vendor" && mod.val != "readonly" && nextWord(args) != "mod" {
		c.unsure("may write go.mod")
		goMod(c)
	}
	subcommands{
		reads: "version list doc help vet mod:graph mod:why mod:verify mod:download telemetry bug",
		table: map[string]judge{
			"env":      careful("sets defaults", "-w", "-u"),
			"build":    goBuild,
			"generate": opaque("runs the code of the project"),
			"fmt":      rewrites("the sources of the package"),
			"fix":      rewrites("the sources of the package"),
			"clean":    when(func(c *call) { c.unsure("deletes build results"); c.writeName(".") }, "-i", "-r"),
			"get":      goMod,
			"mod":      goModCommand,
			"work":     func(c *call) { c.writeName("go.work") },
			"test":     goTest,
			"tool":     goTool,
		},
	}.judge(c)
}

// goFolder takes -C off the front of arguments and moves there.
func (c *call) goFolder(args []arg) (rest []arg, moved bool) {
	if len(args) == 0 {
		return args, false
	}
	name, dir, attached := strings.Cut(args[0].val, "=")
	if name != "-C" && name != "--C" {
		return args, false
	}
	rest = args[1:]
	folder := arg{val: dir, known: args[0].known}
	if !attached {
		if len(rest) == 0 {
			return rest, true
		}
		folder, rest = rest[0], rest[1:]
	}
	c.sh = c.sh.fork()
	c.sh.moveInto(folder)
	return rest, true
}

// goValue is the last value of an option of the go command.
func (c *call) goValue(option string) (value arg, ok bool) {
	for i, a := range c.args {
		name, v, attached := strings.Cut(a.val, "=")
		if name != option && name != "-"+option {
			continue
		}
		switch {
		case attached:
			value, ok = arg{val: v, known: a.known, guess: a.guess}, true
		case i+1 < len(c.args):
			value, ok = c.args[i+1], true
		}
	}
	return value, ok
}

// goTools judges what is handed on to the compiler, the linker and the
// assembler, which write files and run programs by their own options.
func (c *call) goTools() {
	for _, option := range []string{"-gcflags", "-ldflags", "-asmflags", "-gccgoflags"} {
		for i, a := range c.args {
			name, v, attached := strings.Cut(a.val, "=")
			if name != option && name != "-"+option {
				continue
			}
			if !attached && i+1 < len(c.args) {
				v = c.args[i+1].val
			}
			c.unsureIf(!plainToolFlags.MatchString(v), "hands options to a tool that may write files or run programs")
		}
	}
}

// plainToolFlags are options of Go's tools that change only what is built.
var plainToolFlags = regexp.MustCompile(`^(?:[\w./]+=)?\s*(?:-?-(?:s|w|N|l|m|S|B|e|h|race|msan|shared|dynlink|X(?:[ =]\S+|[ =]?'[^']*')|buildid=\S*|compressdwarf=\w+|m=\d|l=\d|c=\d)(?:\s+|$))*$`)

// goBuild writes what -o says, the last one counting, or a program of the
// package's name.
func goBuild(c *call) {
	if out, ok := c.goValue("-o"); ok {
		c.write(out)
		return
	}
	c.unsure("writes a program if there is one main package")
	c.writeName(".")
}

func goTest(c *call) {
	c.unsure("runs the code of the project")
	for i, a := range c.args {
		name, value, attached := strings.Cut(a.val, "=")
		switch name {
		case "-coverprofile", "-cpuprofile", "-memprofile", "-blockprofile", "-mutexprofile", "-trace", "-o":
			if attached {
				c.write(literal(value))
			} else if i+1 < len(c.args) {
				c.write(c.args[i+1])
			}
		}
	}
}

// goTool judges the tools of Go. The known ones print unless an option names a
// file or a program.
func goTool(c *call) {
	switch c.first() {
	case "":
	case "nm", "objdump", "addr2line":
	case "cover":
		if out, ok := c.goValue("-o"); ok {
			c.write(out)
		} else {
			c.unsureIf(!c.given("-func", "-V"), "writes its output")
		}
		c.unsureIf(c.given("-pkgcfg", "-outfilelist", "-mode", "-var"), "rewrites sources")
	case "buildid":
		c.unsureIf(c.given("-w"), "changes the program")
	case "dist":
		c.unsureIf(nextWord(c.args[1:]) != "list" && nextWord(c.args[1:]) != "version" && nextWord(c.args[1:]) != "env", "builds Go itself")
	case "pprof":
		c.pprof()
	default:
		c.unsure("runs a tool of the module")
	}
}

// pprof prints a report where it is asked for text, and writes files or serves
// pages otherwise.
func (c *call) pprof() {
	if out, ok := c.goValue("-output"); ok {
		c.write(out)
	}
	if out, ok := c.goValue("-o"); ok {
		c.write(out)
	}
	c.unsureIf(!c.flagged("-top", "-text", "-list", "-peek", "-tree", "-raw", "-traces", "-tags", "-disasm", "-topproto", "--help"), "writes a report")
	c.unsureIf(c.given("-tools", "-http", "-web", "-weblist", "-proto", "-gif", "-png", "-svg", "-pdf", "-ps", "-evince", "-gv", "-callgrind", "-dot"), "runs programs or writes a report")
}

// goMod records the files of the module, which may lie above the folder.
func goMod(c *call) {
	c.writeName("go.mod")
	c.writeName("go.sum")
}

func goModCommand(c *call) {
	switch c.first() {
	case "graph", "why", "verify", "download":
	case "edit":
		if !c.flagged("-json", "-print") {
			c.writeName("go.mod")
		}
	case "vendor":
		c.writeName("vendor")
	default:
		goMod(c)
	}
}

func npmJudge(c *call) {
	c.unsureIf(c.given("--browser", "--git", "--viewer", "--userconfig", "--globalconfig", "--script-shell", "--shell", "--editor", "--node-options", "--logs-dir", "--cache", "--cache-folder"), "an option names a program or settings of its own")
	dir, ok := c.sh.cwd()
	c.unsureIf(c.name == "yarn" && (!ok || c.sh.temporary(path.Clean(dir)) || c.given("--cwd")), "runs the yarn that a folder's settings name")
	installs := func(c *call) {
		c.unsure("installs packages, which may run code")
		for _, name := range []string{"package.json", "package-lock.json", "node_modules"} {
			c.writeName(name)
		}
	}
	table := map[string]judge{}
	for name := range strings.FieldsSeq("install i ci add uninstall remove rm un update up upgrade dedupe prune link rebuild") {
		table[name] = installs
	}
	table["exec"] = func(c *call) { afterFirstWord(c) }
	table["dlx"] = table["exec"]
	table["audit"] = when(installs, "fix")
	table["pack"] = func(c *call) {
		c.unsureIf(!c.flagged("--dry-run") || !c.flagged("--ignore-scripts"), "packs the project, or runs its scripts")
	}
	table["version"] = func(c *call) {
		if len(c.args) > 0 {
			c.unsure("changes the version")
		}
	}
	if c.name == "yarn" && nextWord(c.args) == "" && !c.flagged("--version", "-v", "--help") {
		installs(c)
		return
	}
	subcommands{
		options: optSpec{short: "C", long: "--prefix --workspace --filter --cwd --dir"},
		reads:   "ls list la ll view info show v outdated help config:get config:list config:ls root prefix bin whoami ping search explain why fund doctor docs query help-search pkg:get licenses store:path versions",
		table:   table,
	}.judge(c)
}

// afterFirstWord runs the rest of the arguments as a program of a package.
func afterFirstWord(c *call) {
	c.unsure("runs a program of a package")
	rest := c.args
	for len(rest) > 0 && strings.HasPrefix(rest[0].val, "-") {
		rest = rest[1:]
	}
	c.run(rest)
}

// compilerFiles are options of compilers that name further files to write, or
// whose values reach the linker and the assembler.
var compilerFiles = []string{
	"-Wl,", "-Wa,", "-Xlinker", "-Xassembler", "-MF", "-aux-info", "-specs", "-fdump", "-dumpdir", "-dumpbase", "-fstack-usage",
	"-fcallgraph-info", "-fprofile", "-ftest-coverage", "-fdiagnostics-add-output", "-T",
}

// compilerJudge judges C compilers.
func compilerJudge(c *call) {
	var sources []string
	output, mode := arg{}, ""
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		switch v := a.val; {
		case v == "-o" && i+1 < len(c.args):
			i++
			output = c.args[i]
		case strings.HasPrefix(v, "-o") && len(v) > 2:
			output = literal(v[2:])
		case v == "-c" || v == "-S" || v == "-E" || v == "-fsyntax-only" || v == "-M" || v == "-MM" || v == "-v" || v == "-dumpversion" || v == "-dumpmachine" || strings.HasPrefix(v, "-print-"):
			mode = v
		case strings.HasPrefix(v, "-fplugin") || v == "-wrapper" || strings.HasPrefix(v, "-B") || strings.HasPrefix(v, "@") || strings.HasPrefix(v, "-save-temps") || strings.HasPrefix(v, "-MD") || strings.HasPrefix(v, "-MMD") || v == "--coverage":
			c.unsure("an option loads code or writes other files")
		case v == "-":
			sources = append(sources, v)
		case slices.ContainsFunc(compilerFiles, func(option string) bool { return strings.HasPrefix(v, option) }):
			c.unsure("an option that writes other files")
		case v == "-I" || v == "-L" || v == "-D" || v == "-x" || v == "-include" || v == "-isystem":
			i++
		case strings.HasPrefix(v, "-"):
		default:
			if !a.known {
				c.unsure("the names are known only at run time")
			}
			sources = append(sources, v)
		}
	}
	switch {
	case mode == "-fsyntax-only" || len(sources) == 0:
	case output.val != "":
		c.writeOut(output)
	case mode == "-c" || mode == "-S":
		suffix := map[string]string{"-c": ".o", "-S": ".s"}[mode]
		for _, s := range sources {
			base := path.Base(s)
			c.writeName(strings.TrimSuffix(base, path.Ext(base)) + suffix)
		}
	case mode == "":
		c.writeName("a.out")
	}
}
