package testrun

import (
	"os"
	"path"
	"strings"

	"github.com/writbus/writ/enforcement/testrun/outcome"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// File finds how one test file of a project is run by itself, so that its tests
// can be told apart; why says why not.
func File(root, file string) (t schemas.TestFile, why string) {
	t.Path = file
	for _, r := range fileRunners {
		if !strings.Contains(r.suffixes, "|"+path.Ext(file)+"|") {
			continue
		}
		at, found := nearest(root, file, r.marks)
		if !found && !r.anywhere {
			return t, "there is no " + strings.Join(r.marks, " or ") + " above it"
		}
		at.root, t.Dir = root, at.dir
		t.Tool, t.Command, why = r.command(at, at.inside(file))
		if t.Tool == outcome.Cargo {
			t.Make = path.Join(at.dir, "Cargo.lock")
		}
		return t, why
	}
	return t, "Writ does not know how a file of this kind is run by itself"
}

// fileRunner runs a test file of a language.
type fileRunner struct {
	suffixes string
	marks    []string
	anywhere bool // it runs at the project's root where none of marks is
	command  func(at place, file string) (tool, command, why string)
}

var fileRunners = []fileRunner{
	{"|.py|", pythonMarks, true, pytestFile},
	{"|.go|", []string{"go.mod"}, false, goFile},
	{"|.js|.jsx|.ts|.tsx|.mjs|.cjs|.mts|.cts|", []string{"package.json"}, true, scriptFile},
	{"|.rs|", []string{"Cargo.toml"}, false, cargoFile},
	{"|.java|.kt|", []string{"pom.xml", "build.gradle", "build.gradle.kts"}, false, javaFile},
	{"|.rb|", []string{"Gemfile", "Rakefile", ".rspec"}, true, rubyFile},
	{"|.php|", []string{"phpunit.xml", "phpunit.xml.dist", "composer.json"}, true, phpFile},
}

func pytestFile(at place, file string) (tool, command, why string) {
	if at.djangoAlone() {
		return "", "", "the tests of Django run all together"
	}
	program, _ := python(at)
	return outcome.Pytest, pytest(program, []string{"./" + file}), ""
}

var goTest = lazyregexp.New(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)

func goFile(at place, file string) (tool, command, why string) {
	content, err := os.ReadFile(at.path(file))
	if err != nil {
		return "", "", "it cannot be read"
	}
	var names []string
	for _, m := range goTest.Regexp().FindAllSubmatch(content, -1) {
		names = append(names, string(m[1]))
	}
	if len(names) == 0 {
		return "", "", "it has no test that the go tool runs"
	}
	return outcome.Go, "go test -json -count=1 -vet=off -gcflags=-e -run " + quoted("^("+strings.Join(names, "|")+")$") + " " + quoted("./"+path.Dir(file)), ""
}

var nodeTest = lazyregexp.New(`['"]node:test['"]`)

// scriptFile runs a file by the runner that the package depends on, or by Node's
// own where the file uses that.
func scriptFile(at place, file string) (tool, command, why string) {
	content, err := os.ReadFile(at.path(file))
	if err != nil {
		return "", "", "it cannot be read"
	}
	if nodeTest.Regexp().Match(content) {
		return outcome.Node, at.node([]string{"./" + file}), ""
	}
	for _, runner := range []struct{ name, flags string }{{"vitest", " run --reporter=json"}, {"jest", " --json --ci --runTestsByPath"}} {
		if at.uses(runner.name) {
			program, why := at.program(runner.name)
			return outcome.Jest, program + runner.flags + words([]string{"./" + file}), why
		}
	}
	return "", "", "package.json names no runner that Writ knows: vitest, jest or node:test"
}

func cargoFile(_ place, file string) (tool, command, why string) {
	target := "--lib"
	parts := strings.Split(file, "/")
	if n := len(parts); n >= 2 && parts[n-2] == "tests" {
		target = "--test " + quoted(strings.TrimSuffix(parts[n-1], ".rs"))
	} else if n >= 3 && parts[n-3] == "tests" {
		target = "--test " + quoted(parts[n-2])
	}
	return outcome.Cargo, "cargo test --message-format=short " + target, ""
}

// javaFile runs a test class by the build tool that is nearest to it.
func javaFile(at place, file string) (tool, command, why string) {
	names := []string{stem(file)}
	if at.has("pom.xml") {
		return outcome.Maven, at.maven("", names), ""
	}
	top, command := at.gradle(names)
	if back := at.below(top); back != "" {
		command = "cd " + strings.Repeat("../", strings.Count(back, "/")+1) + " || exit; " + command
	}
	return outcome.Maven, command, ""
}

// rubyFile runs a specification by RSpec, and another test by Minitest.
func rubyFile(at place, file string) (tool, command, why string) {
	if strings.HasSuffix(file, "_spec.rb") {
		return outcome.RSpec, at.rspec([]string{"./" + file}), ""
	}
	return outcome.Minitest, at.minitest([]string{"./" + file}), ""
}

func phpFile(at place, file string) (tool, command, why string) {
	return outcome.PHPUnit, at.phpunit(" " + quoted("./"+file)), ""
}
