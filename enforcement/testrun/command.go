package testrun

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Command finds the command that runs the tests of some files of a project, for
// a POSIX shell at its root; "" where the project shows none. Each language's
// tests are run by the tool that the project's own files name, in the folder
// nearest to the changed file that has such a file.
func Command(root string, files []string) string {
	type key struct{ dir, tool string }
	packages := map[key][]string{}
	var order []key
	for _, file := range files {
		for _, r := range runners {
			if !slices.Contains(r.suffixes, path.Ext(file)) {
				continue
			}
			dir, found := nearest(root, path.Dir(file), r.marks)
			if !found {
				continue
			}
			k := key{dir, r.name}
			if packages[k] == nil {
				order = append(order, k)
				packages[k] = []string{}
			}
			packages[k] = append(packages[k], strings.TrimPrefix(strings.TrimPrefix(file, dir), "/"))
		}
	}
	var commands []string
	for _, k := range order {
		at := slices.IndexFunc(runners, func(r runner) bool { return r.name == k.tool })
		command := runners[at].command(filepath.Join(root, filepath.FromSlash(k.dir)), packages[k])
		switch {
		case command == "":
		case k.dir == "":
			commands = append(commands, command)
		default:
			commands = append(commands, "(cd "+quoted(k.dir)+" && "+command+")")
		}
	}
	if len(commands) == 0 {
		if dir, found := nearest(root, "", []string{"Makefile", "makefile", "GNUmakefile"}); found && dir == "" && hasTarget(root) {
			return "make test"
		}
	}
	return strings.Join(commands, " && ")
}

// runner is how one language's tests are run.
type runner struct {
	name     string
	suffixes []string
	marks    []string // files of which one stands in the folder the command runs in
	command  func(dir string, files []string) string
}

var runners = []runner{
	{"go", []string{".go"}, []string{"go.mod"}, goTests},
	{"rust", []string{".rs"}, []string{"Cargo.toml"}, fixed("cargo test --quiet")},
	{"javascript", []string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"}, []string{"package.json"}, scriptTests},
	{"python", []string{".py"}, []string{"pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", "conftest.py", "requirements.txt", "tests"}, pythonTests},
	{"gradle", []string{".java", ".kt", ".groovy", ".scala"}, []string{"gradlew", "build.gradle", "build.gradle.kts"}, wrapped("gradlew", "gradle", "test -q")},
	{"maven", []string{".java", ".kt", ".scala"}, []string{"pom.xml"}, wrapped("mvnw", "mvn", "-q test")},
	{"ruby", []string{".rb"}, []string{"Gemfile", "Rakefile", ".rspec"}, rubyTests},
	{"php", []string{".php"}, []string{"phpunit.xml", "phpunit.xml.dist"}, fixed("vendor/bin/phpunit")},
	{"elixir", []string{".ex", ".exs"}, []string{"mix.exs"}, fixed("mix test")},
	{"dart", []string{".dart"}, []string{"pubspec.yaml"}, fixed("dart test")},
	{"swift", []string{".swift"}, []string{"Package.swift"}, fixed("swift test --quiet")},
	{"zig", []string{".zig"}, []string{"build.zig"}, fixed("zig build test")},
}

func fixed(command string) func(string, []string) string {
	return func(string, []string) string { return command }
}

// wrapped prefers the wrapper that a project brings along.
func wrapped(wrapper, program, arguments string) func(string, []string) string {
	return func(dir string, _ []string) string {
		if exists(dir, wrapper) {
			return "./" + wrapper + " " + arguments
		}
		return program + " " + arguments
	}
}

// goTests runs the packages of the changed files and, where those are many, all
// of the module.
func goTests(dir string, files []string) string {
	const most = 20
	var packages []string
	for _, file := range files {
		at := "./" + path.Dir(file)
		if path.Dir(file) == "." {
			at = "."
		}
		// A package that is gone cannot be tested by its name.
		if entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(path.Dir(file)))); err != nil || !slices.ContainsFunc(entries, isGo) {
			continue
		}
		if !slices.Contains(packages, quoted(at)) {
			packages = append(packages, quoted(at))
		}
	}
	if len(packages) == 0 || len(packages) > most {
		packages = []string{"./..."}
	}
	slices.Sort(packages)
	return "go test " + strings.Join(packages, " ")
}

func isGo(e fs.DirEntry) bool { return !e.IsDir() && path.Ext(e.Name()) == ".go" }

var plainPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)
})

// quoted quotes what a shell would not take for one word.
func quoted(word string) string {
	if plainPath().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// scriptTests runs the script that a package of npm's calls test, by the tool
// whose lock file is there.
func scriptTests(dir string, _ []string) string {
	var manifest struct {
		Scripts map[string]string `json:"scripts"`
	}
	raw, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil || json.Unmarshal(raw, &manifest) != nil {
		return ""
	}
	script := manifest.Scripts["test"]
	if script == "" || strings.Contains(script, "no test specified") {
		return ""
	}
	for _, tool := range [][2]string{{"pnpm-lock.yaml", "pnpm test"}, {"yarn.lock", "yarn test"}, {"bun.lock", "bun run test"}, {"bun.lockb", "bun run test"}} {
		if exists(dir, tool[0]) {
			return tool[1]
		}
	}
	return "npm test --silent"
}

func pythonTests(dir string, _ []string) string {
	python := "python3"
	for _, at := range []string{".venv/bin/python", "venv/bin/python"} {
		if exists(dir, at) {
			python = at
			break
		}
	}
	switch {
	case exists(dir, "manage.py") && !exists(dir, "pytest.ini"):
		return python + " manage.py test"
	case exists(dir, "uv.lock"):
		return "uv run pytest -q"
	}
	return python + " -m pytest -q"
}

func rubyTests(dir string, _ []string) string {
	switch {
	case exists(dir, "bin/rails") && exists(dir, "test"):
		return "bin/rails test"
	case exists(dir, "spec"):
		return "bundle exec rspec"
	case exists(dir, "Rakefile"):
		return "bundle exec rake test"
	}
	return ""
}

var testTarget = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^test\s*:`)
})

func hasTarget(root string) bool {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if raw, err := os.ReadFile(filepath.Join(root, name)); err == nil {
			return testTarget().Match(raw)
		}
	}
	return false
}

// nearest is the folder at or above one, within the project, that holds one of
// some files; "" is the root.
func nearest(root, dir string, marks []string) (at string, found bool) {
	for dir = strings.Trim(path.Clean("/"+dir), "/"); ; dir = strings.Trim(path.Dir("/"+dir), "/") {
		for _, mark := range marks {
			if exists(filepath.Join(root, filepath.FromSlash(dir)), mark) {
				return dir, true
			}
		}
		if dir == "" {
			return "", false
		}
	}
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
	return !errors.Is(err, fs.ErrNotExist) && err == nil
}
