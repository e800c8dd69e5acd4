package shell

import (
	"path"
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
	f.add("cargo", command{judge: subcommands{
		reads: "metadata tree version search locate-project pkgid read-manifest info verify-project help --list",
		table: map[string]judge{
			"fmt":     unless(rewrites("the sources of the project"), "--check"),
			"init":    opaque("writes a project"),
			"install": opaque("installs a program"),
		},
	}.judge})
	f.add("rustfmt", command{info: true, judge: unless(func(c *call) {
		c.write(optSpec{long: "--edition --config --config-path --emit"}.parse(c.args).operands...)
	}, "--check")})
	f.add("rustc", command{info: true, judge: opaque("compiles")})
	f.add("rustup", command{info: true, judge: subcommands{reads: "show which toolchain:list target:list component:list doc"}.judge})
	f.add("npm", command{judge: npmJudge})
	f.add("pnpm yarn", command{judge: npmJudge})
	f.add("corepack nvm fnm volta n", command{info: true, judge: when(opaque("installs programs"), "install", "use", "enable", "prepare", "add", "default", "alias")})
	f.add("pip pip3", command{judge: subcommands{reads: "list show freeze check search inspect debug help index config:list config:get cache:dir cache:list"}.judge})
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
	if p.has("-n", "--just-print", "--dry-run", "--recon", "-q", "--question", "-v", "--version", "-h", "--help") {
		return
	}
	c.unsure("runs the code of the project")
}

func goJudge(c *call) {
	if dir, ok := strings.CutPrefix(c.first(), "-C"); ok && len(c.args) > 1 {
		rest := c.args[1:]
		if dir == "" {
			dir, rest = rest[0].val, rest[1:]
		}
		sh := c.sh.fork()
		sh.moveInto(literal(strings.TrimPrefix(dir, "=")))
		c = &call{sh: sh, name: c.name, args: rest}
	}
	if c.flagged("-toolexec", "--toolexec", "-vettool", "--vettool") {
		c.unsure("runs a program of its own choice")
		return
	}
	if c.first() == "list" && c.flagged("-mod") && !c.flagged("-m") {
		c.unsure("may write go.mod")
	}
	subcommands{
		reads: "version list doc help vet mod:graph mod:why mod:verify mod:download tool:cover tool:nm tool:objdump tool:pprof tool:dist tool:buildid telemetry bug",
		table: map[string]judge{
			"env":      when(opaque("sets defaults"), "-w", "-u"),
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

func goBuild(c *call) {
	for i, a := range c.args {
		if out, ok := strings.CutPrefix(a.val, "-o="); ok {
			c.write(arg{val: out, known: a.known})
			return
		}
		if a.val == "-o" && i+1 < len(c.args) {
			c.write(c.args[i+1])
			return
		}
	}
	c.unsure("writes a program if there is one main package")
	c.writeName(".")
}

func goTest(c *call) {
	c.unsure("runs the code of the project")
	for i, a := range c.args {
		name, value, attached := strings.Cut(a.val, "=")
		switch name {
		case "-coverprofile", "-cpuprofile", "-memprofile", "-blockprofile", "-trace", "-o":
			if attached {
				c.write(literal(value))
			} else if i+1 < len(c.args) {
				c.write(c.args[i+1])
			}
		}
	}
}

func goTool(c *call) {
	switch c.first() {
	case "cover", "nm", "objdump", "pprof", "dist", "buildid", "":
		for i, a := range c.args {
			if v, ok := strings.CutPrefix(a.val, "-o="); ok {
				c.write(literal(v))
			} else if (a.val == "-o" || a.val == "-output") && i+1 < len(c.args) {
				c.write(c.args[i+1])
			}
		}
		if c.flagged("-http", "-w", "-svg", "-png", "-pdf") {
			c.unsure("writes a report")
		}
	default:
		c.unsure("runs a tool of the module")
	}
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
	table["pack"] = unless(opaque("packs the project"), "--dry-run")
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
