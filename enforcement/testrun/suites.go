package testrun

import (
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement/testrun/outcome"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// suite is one command that runs tests which a change can reach, for a POSIX shell
// in its place.
type suite struct {
	at      place
	tool    string // whose output is read; "" for a command that tells by its exit status alone
	command string
	// whole says that nothing chose among the tests: these may be all there are.
	whole bool
	// later comes after what stands nearer to the change.
	later bool
	why   string // why it cannot be run, "" for nothing
	made  string // a file that the tool may have to make, relative to the project
	// alone runs some failed tests by themselves in another tree, whose place there is,
	// or all of the suite's for none; nil for command. "" says that the tree has none
	// of their files.
	alone func(failed []string, there place) string
}

// changes are the changed files of one language in one place.
type changes struct {
	place
	files []string // relative to the place
}

// existing are those that are still there.
func (c changes) existing() []string { return c.having(c.files) }

// having are the files that a place has.
func (p place) having(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool { return !p.has(file) })
}

// ofFiles runs those of a suite's files alone that are in another tree: runners end
// at the first that is not.
func ofFiles(files []string, command func(files []string) string) func([]string, place) string {
	return func(_ []string, there place) string {
		if files = there.having(files); len(files) == 0 {
			return ""
		}
		return command(files)
	}
}

// ask runs a command of a toolchain that says what depends on what, in a place, and
// returns what it printed; "" where it fails.
type ask func(at place, command string) string

// suites are the tests that some changed files of a project can reach, what stands
// nearest to them first, each by the project's own toolchain.
func suites(root string, changed []string, asked ask) []suite {
	type key struct {
		dir  string
		tool int
	}
	found := map[key]*changes{}
	var order []key
	for _, file := range changed {
		for i, e := range ecosystems {
			if !slices.Contains(e.suffixes, path.Ext(file)) {
				continue
			}
			at, there := nearest(root, file, e.marks)
			if !there {
				continue
			}
			k := key{at.dir, i}
			if found[k] == nil {
				found[k] = &changes{place: at}
				order = append(order, k)
			}
			found[k].files = append(found[k].files, at.inside(file))
		}
	}
	var all []suite
	for _, k := range order {
		all = append(all, ecosystems[k.tool].suites(*found[k], asked)...)
	}
	if len(order) == 0 && len(changed) > 0 {
		if at := (place{root: root}); at.hasTarget() {
			all = append(all, suite{at: at, command: "make test", whole: true})
		}
	}
	slices.SortStableFunc(all, func(a, b suite) int {
		switch {
		case a.later == b.later:
			return 0
		case b.later:
			return -1
		}
		return 1
	})
	return all
}

// ecosystem is how the tests of one language are found and run.
type ecosystem struct {
	suffixes []string
	marks    []string // files of which one stands in the folder the command runs in
	suites   func(changes, ask) []suite
}

var ecosystems = []ecosystem{
	{[]string{".go"}, []string{"go.mod"}, goSuites},
	{[]string{".rs"}, []string{"Cargo.toml"}, cargoSuites},
	{append(slices.Clone(scriptSuffixes), ".vue", ".svelte"), []string{"package.json"}, scriptSuites},
	{[]string{".py"}, append(slices.Clone(pythonMarks), "tests"), pythonSuites},
	{[]string{".java", ".kt", ".groovy", ".scala"}, []string{"gradlew", "build.gradle", "build.gradle.kts"}, gradleSuites},
	{[]string{".java", ".kt", ".scala"}, []string{"pom.xml"}, mavenSuites},
	{[]string{".rb"}, []string{"Gemfile", "Rakefile", ".rspec"}, rubySuites},
	{[]string{".php"}, []string{"phpunit.xml", "phpunit.xml.dist", "composer.json"}, phpSuites},
	{[]string{".ex", ".exs"}, []string{"mix.exs"}, plain("mix test --stale", false)},
	{[]string{".dart"}, []string{"pubspec.yaml"}, plain("dart test", true)},
	{[]string{".swift"}, []string{"Package.swift"}, plain("swift test --quiet", true)},
	{[]string{".zig"}, []string{"build.zig"}, plain("zig build test", true)},
}

// plain runs one command, of which only the exit status tells anything.
func plain(command string, whole bool) func(changes, ask) []suite {
	return func(c changes, _ ask) []suite { return []suite{{at: c.place, command: command, whole: whole}} }
}

// goSuites are the packages of the changed files, and then those that import them.
func goSuites(c changes, asked ask) []suite {
	var own []string
	for _, file := range c.files {
		dir := "./" + path.Dir(file)
		if path.Dir(file) == "." {
			dir = "."
		}
		// A package that is gone cannot be tested by its name.
		if entries, err := os.ReadDir(c.path(path.Dir(file))); err == nil && !slices.Contains(own, dir) &&
			slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !e.IsDir() && path.Ext(e.Name()) == ".go" }) {
			own = append(own, dir)
		}
	}
	if len(own) == 0 {
		return []suite{goSuite(c.place, []string{"./..."}, false)}
	}
	slices.Sort(own)
	all := []suite{goSuite(c.place, own, false)}
	if importers := goImporters(asked(c.place, goList), c, own); len(importers) > 0 {
		all = append(all, goSuite(c.place, importers, true))
	}
	return all
}

func goSuite(at place, packages []string, later bool) suite {
	return suite{at: at, tool: outcome.Go, command: "go test -json" + words(packages), later: later, alone: func(failed []string, _ place) string {
		if failed == nil {
			return "go test -json" + words(packages)
		}
		var names, in []string
		for _, one := range failed {
			// outcome names a test after its package; a name has no slash and no dot.
			dot := strings.LastIndexByte(one, '.')
			if dot < strings.LastIndexByte(one, '/') || dot < 0 || !goTestName.MatchString(one[dot+1:]) {
				in = append(in, one) // it is not built, or does not begin
				continue
			}
			names, in = append(names, one[dot+1:]), append(in, one[:dot])
		}
		slices.Sort(in)
		run := "^$"
		if len(names) > 0 {
			run = "^(" + strings.Join(names, "|") + ")$"
		}
		return "go test -json -run " + quoted(run) + words(slices.Compact(in))
	}}
}

var goTestName = lazyregexp.New(`^(?:Test|Fuzz|Example)`)

// goList prints each package with its folder and what it and its tests import.
const goList = `go list -e -f '{{.ImportPath}}|{{.Dir}}|{{range .Imports}}{{.}} {{end}}|{{range .TestImports}}{{.}} {{end}}{{range .XTestImports}}{{.}} {{end}}' ./...`

// goImporters are the packages with tests that import some packages of a module,
// directly or not, without these themselves.
func goImporters(listed string, c changes, own []string) []string {
	importers, testers := map[string][]string{}, map[string][]string{}
	var next []string
	for line := range strings.Lines(listed) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) != 4 {
			continue
		}
		for _, to := range strings.Fields(fields[2]) {
			importers[to] = append(importers[to], fields[0])
		}
		for _, to := range append(strings.Fields(fields[3]), fields[0]) {
			testers[to] = append(testers[to], fields[0])
		}
		for _, dir := range own {
			if sameFolder(fields[1], c.path(dir)) {
				next = append(next, fields[0])
			}
		}
	}
	reached, tests := map[string]bool{}, map[string]bool{}
	first := slices.Clone(next)
	for len(next) > 0 {
		one := next[0]
		next = next[1:]
		if reached[one] {
			continue
		}
		reached[one] = true
		for _, tester := range testers[one] {
			tests[tester] = true
		}
		next = append(next, importers[one]...)
	}
	for _, one := range first {
		delete(tests, one)
	}
	return slices.Sorted(maps.Keys(tests))
}

func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

func pythonSuites(c changes, _ ask) []suite {
	program, asks := python(c.place)
	if c.djangoAlone() {
		return []suite{{at: c.place, command: program + " manage.py test", whole: true}}
	}
	one := func(files []string, later bool) suite {
		s := suite{at: c.place, tool: outcome.Pytest, command: pytest(program, files), whole: files == nil, later: later}
		s.alone = func(failed []string, there place) string {
			again := slices.DeleteFunc(there.having(files), func(file string) bool {
				module := strings.ReplaceAll(strings.TrimSuffix(file, ".py"), "/", ".")
				return failed != nil && !slices.ContainsFunc(failed, func(name string) bool { return name == module || strings.HasPrefix(name, module+".") })
			})
			if files != nil && len(again) == 0 {
				return ""
			}
			theirs, _ := python(c.place)
			if asks { // its environment belongs to the folder
				theirs = `"$(cd ` + quoted(c.path(".")) + ` && ` + program + ` -c 'import sys; print(sys.executable)')"`
			}
			return pytest(theirs, again)
		}
		return s
	}
	files := c.sources([]string{".py"})
	near, far := c.reaching(files, c.files, pythonImports(files))
	switch {
	case len(near) > 0 && len(far) > 0:
		return []suite{one(near, false), one(far, true)}
	case len(near)+len(far) > 0:
		return []suite{one(append(near, far...), false)}
	}
	return []suite{one(nil, false)}
}

var djangoSettings = lazyregexp.New(`DJANGO_SETTINGS_MODULE`)

// djangoAlone says that a place's tests are run by Django itself.
func (p place) djangoAlone() bool {
	return p.has("manage.py") && !p.has("pytest.ini") && !slices.ContainsFunc([]string{"pyproject.toml", "setup.cfg", "tox.ini", "conftest.py"}, func(file string) bool {
		return djangoSettings.MatchString(p.text(file))
	})
}

// scriptSuites are the tests of the package, and then of those of its workspace that
// import it.
func scriptSuites(c changes, _ ask) []suite {
	all := c.scripts()
	for _, dependent := range c.dependents() {
		for _, s := range dependent.scripts() {
			s.later = true
			all = append(all, s)
		}
	}
	return all
}

// scripts ask the package's own runner for the tests that are related to the changed
// files.
func (c changes) scripts() []suite {
	files := c.existing()
	for _, runner := range []struct{ name, related, alone string }{
		{"vitest", " related --run --passWithNoTests --reporter=json", " run --passWithNoTests --reporter=json"},
		{"jest", " --json --ci --passWithNoTests --findRelatedTests", " --json --ci --passWithNoTests --runTestsByPath"},
	} {
		if own := runnerOf(c.manifest().Scripts["test"]); own != "" && own != runner.name || own == "" && !c.uses(runner.name) {
			continue
		}
		program, why := c.program(runner.name)
		program = c.settings(runner.name) + program
		s := suite{at: c.place, tool: outcome.Jest, command: program + runner.related + words(files), why: why}
		if len(files) == 0 { // all of them are gone: what used them is told by a run of all
			s.command, s.whole = program+runner.alone, true
		}
		s.alone = func(failed []string, _ place) string {
			if failed == nil {
				return s.command
			}
			var in []string
			for _, name := range failed {
				file, _, _ := strings.Cut(name, outcome.Inside)
				in = append(in, file)
			}
			slices.Sort(in)
			return program + runner.alone + words(slices.Compact(in))
		}
		return []suite{s}
	}
	sources := scriptFiles{}
	for _, file := range c.sources(scriptSuffixes) {
		sources[file] = true
	}
	near, far := c.reaching(slices.Collect(maps.Keys(sources)), c.files, sources)
	near = append(near, far...)
	if len(near) > 0 && !slices.ContainsFunc(near, func(file string) bool { return !nodeTest.MatchString(c.text(file)) }) {
		return []suite{{at: c.place, tool: outcome.Node, command: c.node(near), alone: ofFiles(near, c.node)}}
	}
	if len(near) > 0 && !slices.ContainsFunc(near, func(file string) bool { return !bunTest.MatchString(c.text(file)) }) {
		command := "bun test"
		for _, file := range near {
			command += " " + quoted("./"+file)
		}
		return []suite{{at: c.place, command: command}}
	}
	script := c.manifest().Scripts["test"]
	if script == "" || strings.Contains(script, "no test specified") {
		return nil
	}
	command := map[string]string{"npm": "npm test --silent", "bun": "bun run test"}[c.manager()]
	if command == "" {
		command = c.manager() + " test"
	}
	return []suite{{at: c.place, command: command, whole: true}}
}

// runnerOf is the runner that a package's script names, "" for none that is known.
func runnerOf(script string) string {
	if found := scriptRunner.FindStringSubmatch(script); found != nil {
		return found[1]
	}
	return ""
}

var scriptRunner = lazyregexp.New(`(?:^|[\s/])(vitest|jest|mocha|ava|jasmine|node --test|bun test)(?:\s|$)`)

// bunTest is a test of Bun's own runner.
var bunTest = lazyregexp.New(`['"]bun:test['"]`)

var nodeFlags = lazyregexp.New(`--(?:import|require|loader|experimental-[\w-]+)(?:[= ][^\s-]\S*)?`)

// node runs test files by Node's own runner, with what the package's script loads
// before them.
func (p place) node(files []string) string {
	flags := strings.Join(nodeFlags.Regexp().FindAllString(p.manifest().Scripts["test"], -1), " ")
	return strings.Join(strings.Fields("node --test --test-reporter=tap "+flags), " ") + words(files)
}

var cargoName = lazyregexp.New(`(?m)^\s*name\s*=\s*"([^"]+)"`)

// cargoSuites are the tests of the crate, and then of those of its workspace that
// depend on it.
func cargoSuites(c changes, asked ask) []suite {
	run := func(crates []string, later bool) suite {
		command := "cargo test --no-fail-fast --message-format=short"
		for _, crate := range crates {
			command += " -p " + quoted(crate)
		}
		return suite{at: c.place, tool: outcome.Cargo, command: command, later: later, whole: crates == nil, made: c.lock()}
	}
	m := cargoName.FindStringSubmatch(c.text("Cargo.toml"))
	if m == nil {
		return []suite{run(nil, false)}
	}
	all := []suite{run([]string{m[1]}, false)}
	if dependents := cargoDependents(asked(c.place, "cargo metadata --offline --no-deps --format-version 1"), m[1]); len(dependents) > 0 {
		all = append(all, run(dependents, true))
	}
	return all
}

func rubySuites(c changes, _ ask) []suite {
	specs := c.mentioning(c.files, []string{".rb"}, rubySpec, camel)
	tests := c.mentioning(c.files, []string{".rb"}, rubyTest, camel)
	for _, file := range c.sources([]string{".rb"}) { // cart_test.rb is about cart.rb, whatever that defines
		if rubyTest.MatchString(file) && !slices.Contains(tests, file) && slices.ContainsFunc(c.files, func(changed string) bool { return namedAfter(file, changed) }) {
			tests = append(tests, file)
		}
	}
	var all []suite
	switch {
	case len(specs) > 0:
		all = append(all, suite{at: c.place, tool: outcome.RSpec, command: c.rspec(specs), alone: ofFiles(specs, c.rspec)})
	case len(tests) == 0 && c.has("spec"):
		all = append(all, suite{at: c.place, tool: outcome.RSpec, command: c.rspec(nil), whole: true})
	case len(tests) == 0 && c.has("Rakefile") && c.has("test"):
		all = append(all, suite{at: c.place, command: c.bundle() + "rake test", whole: true})
	}
	if len(tests) > 0 {
		all = append(all, suite{at: c.place, tool: outcome.Minitest, command: c.minitest(tests), alone: ofFiles(tests, c.minitest)})
	}
	return all
}

var (
	rubySpec = lazyregexp.New(`_spec\.rb$`)
	rubyTest = lazyregexp.New(`(?:^|/)(?:[^/]*_test|test_[^/]*)\.rb$`)
	phpTest  = lazyregexp.New(`Test\.php$`)
	javaTest = lazyregexp.New(`(?:^|/)(?:Test[A-Z0-9_][^/]*|[^/]*(?:Test|Tests|TestCase|IT|Spec))\.(?:java|kt|groovy|scala)$`)
)

func (p place) bundle() string {
	if _, _, found := p.holding("Gemfile"); found {
		return "bundle exec "
	}
	return ""
}

func (p place) rspec(files []string) string {
	return reported(p.bundle() + `rspec --no-color --format json --out "$r"` + words(files))
}

func (p place) minitest(files []string) string {
	switch {
	case p.has("bin/rails"):
		return "bin/rails test -v" + words(files)
	case len(files) == 1:
		return p.bundle() + "ruby -Ilib -Itest" + words(files) + " -v"
	}
	return p.bundle() + `ruby -Ilib -Itest -e 'while (f = ARGV.shift) != "-v"; require File.expand_path(f); end; ARGV << "-v"'` + words(files) + " -v"
}

// phpSuites run the tests that name a changed class.
func phpSuites(c changes, _ ask) []suite {
	tests := c.mentioning(c.files, []string{".php"}, phpTest, stem)
	if len(tests) == 0 {
		return []suite{{at: c.place, tool: outcome.PHPUnit, command: c.phpunit(""), whole: true}}
	}
	var names []string
	for _, file := range tests {
		names = append(names, stem(file))
	}
	return []suite{{at: c.place, tool: outcome.PHPUnit, command: c.phpunit(" --filter " + quoted(`\b(`+strings.Join(names, "|")+`)::`))}}
}

func (p place) phpunit(arguments string) string {
	program := "phpunit"
	if at, name, found := p.holding("vendor/bin/pest", "vendor/bin/phpunit"); found {
		program = quoted(p.inside(path.Join(at.dir, name)))
	}
	return reported(program + ` --do-not-cache-result --log-junit "$r"` + arguments)
}
