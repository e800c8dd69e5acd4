package testrun

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
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
		dir, found := nearest(root, path.Dir(file), r.marks)
		if !found && !r.anywhere {
			return t, "there is no " + r.marks[0] + " above it"
		}
		t.Dir = dir
		t.Tool, t.Command, why = r.command(filepath.Join(root, filepath.FromSlash(dir)), strings.TrimPrefix(strings.TrimPrefix(file, dir), "/"))
		if t.Tool == outcome.Cargo {
			t.Make = path.Join(dir, "Cargo.lock")
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
	command  func(dir, file string) (tool, command, why string)
}

var fileRunners = []fileRunner{
	{"|.py|", []string{"pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", "conftest.py", "requirements.txt"}, true, pytestFile},
	{"|.go|", []string{"go.mod"}, false, goFile},
	{"|.js|.jsx|.ts|.tsx|.mjs|.cjs|.mts|.cts|", []string{"package.json"}, true, scriptFile},
	{"|.rs|", []string{"Cargo.toml"}, false, cargoFile},
	{"|.java|.kt|", []string{"pom.xml"}, false, mavenFile},
	{"|.rb|", []string{"Gemfile", "Rakefile", ".rspec"}, true, rubyFile},
	{"|.php|", []string{"phpunit.xml", "phpunit.xml.dist", "composer.json"}, true, phpFile},
}

func pytestFile(dir, file string) (tool, command, why string) {
	base := pythonTests(dir, nil)
	if strings.HasSuffix(base, "manage.py test") {
		return "", "", "the tests of Django run all together"
	}
	base = strings.TrimSuffix(base, " -q")
	return outcome.Pytest, reported(`env -u PYTHONPYCACHEPREFIX PYTHONDONTWRITEBYTECODE=1 ` + base + ` -q -p no:cacheprovider --tb=short --junitxml="$r" ` + quoted("./"+file)), ""
}

var goTest = lazyregexp.New(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)

func goFile(dir, file string) (tool, command, why string) {
	content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
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
	at := "./" + path.Dir(file)
	return outcome.Go, "go test -json -count=1 -vet=off -gcflags=-e -run " + quoted("^("+strings.Join(names, "|")+")$") + " " + quoted(at), ""
}

var nodeTest = lazyregexp.New(`['"]node:test['"]`)

// scriptFile runs a file by the runner that the package depends on, or by Node's
// own where the file uses that.
func scriptFile(dir, file string) (tool, command, why string) {
	var manifest struct {
		Dependencies    map[string]any    `json:"dependencies"`
		DevDependencies map[string]any    `json:"devDependencies"`
		Scripts         map[string]string `json:"scripts"`
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "package.json")); err == nil {
		_ = json.Unmarshal(raw, &manifest) // one that cannot be read names no runner
	}
	uses := func(name string) bool {
		return manifest.Dependencies[name] != nil || manifest.DevDependencies[name] != nil || exists(dir, "node_modules/.bin/"+name)
	}
	content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
	if err != nil {
		return "", "", "it cannot be read"
	}
	name := quoted("./" + file)
	switch {
	case nodeTest.Regexp().Match(content):
		return outcome.Node, "node --test --test-reporter=tap " + name, ""
	case uses("vitest"):
		return outcome.Jest, "npx --no-install vitest run --reporter=json " + name, ""
	case uses("jest"):
		return outcome.Jest, "npx --no-install jest --json --ci --runTestsByPath " + name, ""
	}
	return "", "", "package.json names no runner that Writ knows: vitest, jest or node:test"
}

func cargoFile(_, file string) (tool, command, why string) {
	target := "--lib"
	parts := strings.Split(file, "/")
	if n := len(parts); n >= 2 && parts[n-2] == "tests" {
		target = "--test " + quoted(strings.TrimSuffix(parts[n-1], ".rs"))
	} else if n >= 3 && parts[n-3] == "tests" {
		target = "--test " + quoted(parts[n-2])
	}
	return outcome.Cargo, "cargo test --message-format=short " + target, ""
}

func mavenFile(dir, file string) (tool, command, why string) {
	program := "mvn"
	if exists(dir, "mvnw") {
		program = "./mvnw"
	}
	name := strings.TrimSuffix(path.Base(file), path.Ext(file))
	reports := "target/surefire-reports/TEST-*" + name + ".xml"
	return outcome.Maven, "rm -f " + reports + "; " + program + " -q -B -Dsurefire.failIfNoSpecifiedTests=false -DfailIfNoTests=false -Dtest=" + quoted(name) + " test; echo '" + outcome.Reports + "'; cat " + reports, ""
}

// rubyFile runs a specification by RSpec, and another test by Minitest.
func rubyFile(dir, file string) (tool, command, why string) {
	bundle := ""
	if exists(dir, "Gemfile") {
		bundle = "bundle exec "
	}
	name := quoted("./" + file)
	switch {
	case strings.HasSuffix(file, "_spec.rb"):
		return outcome.RSpec, reported(bundle + `rspec --no-color --format json --out "$r" ` + name), ""
	case exists(dir, "bin/rails"):
		return outcome.Minitest, "bin/rails test -v " + name, ""
	}
	return outcome.Minitest, bundle + "ruby -Ilib -Itest " + name + " -v", ""
}

func phpFile(dir, file string) (tool, command, why string) {
	program := "phpunit"
	for _, at := range []string{"vendor/bin/pest", "vendor/bin/phpunit"} {
		if exists(dir, at) {
			program = at
			break
		}
	}
	return outcome.PHPUnit, reported(program + ` --do-not-cache-result --log-junit "$r" ` + quoted("./"+file)), ""
}

// reported has a command write its report to a file of its own, "$r", and prints
// that alone.
func reported(command string) string {
	return `r=$(mktemp) && { ` + command + ` >&2; cat "$r"; rm -f "$r"; }`
}
