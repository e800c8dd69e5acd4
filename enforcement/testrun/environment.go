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

	"github.com/writbus/writ/schemas/lazyregexp"
)

// place is a folder of a project.
type place struct {
	root string // the project's, absolute
	dir  string // relative to root, slashes, "" for the root itself
}

// path is a file or folder of the place, for the system.
func (p place) path(name string) string {
	return filepath.Join(p.root, filepath.FromSlash(p.dir), filepath.FromSlash(name))
}

func (p place) has(name string) bool {
	_, err := os.Stat(p.path(name))
	return !errors.Is(err, fs.ErrNotExist) && err == nil
}

// inside is a file of the project as the place names it.
func (p place) inside(file string) string {
	if p.dir == "" {
		return file
	}
	if below, is := strings.CutPrefix(file, p.dir+"/"); is {
		return below
	}
	return strings.Repeat("../", strings.Count(p.dir, "/")+1) + file
}

// up goes from a place to the project's root, and stops where found says so.
func (p place) up(found func(place) bool) (place, bool) {
	for at := p; ; at.dir = strings.Trim(path.Dir("/"+at.dir), "/") {
		if found(at) {
			return at, true
		}
		if at.dir == "" {
			return place{}, false
		}
	}
}

// holding is the nearest place, at or above one, that holds one of some files.
func (p place) holding(names ...string) (at place, name string, found bool) {
	at, found = p.up(func(at place) bool {
		i := slices.IndexFunc(names, at.has)
		if i >= 0 {
			name = names[i]
		}
		return i >= 0
	})
	return at, name, found
}

// nearest is the place of a file's project within the project: the nearest folder
// at or above it that holds one of some files.
func nearest(root, file string, marks []string) (place, bool) {
	at, _, found := place{root, strings.Trim(path.Dir(path.Clean("/"+file)), "/")}.holding(marks...)
	return at, found
}

// pythonMarks are files of a project of Python.
var pythonMarks = []string{"pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", "conftest.py", "requirements.txt", "Pipfile", "manage.py"}

// locks are the tools that keep a project's environment, by their lock files.
var locks = []struct{ file, run string }{
	{"uv.lock", "uv run --frozen python"},
	{"poetry.lock", "poetry run python"},
	{"pdm.lock", "pdm run python"},
	{"pixi.lock", "pixi run python"},
	{"Pipfile.lock", "pipenv run python"},
}

// python is the interpreter of a place: the one of the environment in the project,
// or the one that the tool of its lock file gives, or the system's. asks says that
// a tool gives it, by the folder that it runs in.
func python(p place) (program string, asks bool) {
	environments := []string{".venv/bin/python", "venv/bin/python", "env/bin/python", ".venv/Scripts/python.exe", "venv/Scripts/python.exe"}
	at, name, found := p.holding(environments...)
	if found {
		return quoted(p.inside(path.Join(at.dir, name))), false
	}
	var files []string
	for _, l := range locks {
		files = append(files, l.file)
	}
	if _, name, found := p.holding(files...); found {
		return locks[slices.Index(files, name)].run, true
	}
	return "python3", false
}

// pytest is the command that runs test files of a place and writes a report.
func pytest(program string, files []string) string {
	return reported(`env -u PYTHONPYCACHEPREFIX PYTHONDONTWRITEBYTECODE=1 ` + program + ` -m pytest -q -o cache_dir="$r.d" --tb=short --continue-on-collection-errors --junitxml="$r"` + words(files))
}

// manifest is what is read of a package.json.
type manifest struct {
	Name            string            `json:"name"`
	Dependencies    map[string]any    `json:"dependencies"`
	DevDependencies map[string]any    `json:"devDependencies"`
	Scripts         map[string]string `json:"scripts"`
	PackageManager  string            `json:"packageManager"`
}

func (p place) manifest() (m manifest) {
	if raw, err := os.ReadFile(p.path("package.json")); err == nil {
		_ = json.Unmarshal(raw, &m) // one that cannot be read names nothing
	}
	return m
}

// uses says whether a package, or one around it, depends on a tool.
func (p place) uses(tool string) bool {
	_, found := p.up(func(at place) bool {
		m := at.manifest()
		return m.Dependencies[tool] != nil || m.DevDependencies[tool] != nil || at.has("node_modules/.bin/"+tool)
	})
	return found
}

// manager is what installs the packages of a place, by its lock file.
func (p place) manager() string {
	byLock := map[string]string{"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun", "package-lock.json": "npm"}
	if _, lock, found := p.holding("pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb", "package-lock.json"); found {
		return byLock[lock]
	}
	name := ""
	p.up(func(at place) bool {
		name, _, _ = strings.Cut(at.manifest().PackageManager, "@")
		return name != ""
	})
	if slices.Contains([]string{"pnpm", "yarn", "bun"}, name) {
		return name
	}
	return "npm"
}

// settings are the variables that the package's own script sets for a tool.
func (p place) settings(tool string) string {
	if found := scriptSettings.FindStringSubmatch(p.manifest().Scripts["test"]); found != nil && strings.Contains(found[2], tool) {
		return strings.Join(strings.Fields(found[1]), " ") + " "
	}
	return ""
}

// scriptSettings are assignments before a script's first command.
var scriptSettings = lazyregexp.New(`^\s*(?:cross-env\s+)?((?:[A-Za-z_]\w*=[\w./:,@+=-]*\s+)+)(.*)`)

// program is the command of a tool of JavaScript as the project has it installed;
// why says that it has not.
func (p place) program(tool string) (command, why string) {
	if at, name, found := p.holding("node_modules/.bin/" + tool); found {
		return quoted("./" + p.inside(path.Join(at.dir, name))), ""
	}
	if _, _, plain := p.holding(".pnp.cjs"); plain {
		return "yarn " + tool, ""
	}
	return "", tool + " is not installed here; run `" + p.manager() + " install`"
}

// wrapped prefers the wrapper that a project brings along, and says where its build
// begins: the topmost folder that has one of some files.
func (p place) wrapped(wrapper, program string, marks ...string) (top place, command string) {
	top = p
	p.up(func(at place) bool {
		if slices.ContainsFunc(append(marks, wrapper), at.has) {
			top = at
		}
		return false
	})
	if top.has(wrapper) {
		return top, "./" + wrapper
	}
	return top, program
}

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

// words are names as further words of a command.
func words(names []string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(" " + quoted(name))
	}
	return b.String()
}

// reported has a command write its report to a file of its own, "$r", and prints
// that alone. Its status is the command's.
func reported(command string) string {
	return `r=$(mktemp) && { ` + command + ` >&2; s=$?; cat "$r"; rm -rf "$r" "$r.d"; (exit $s); }`
}

var testTarget = lazyregexp.New(`(?m)^test\s*:`)

// hasTarget says whether the place's makefile has a target for tests.
func (p place) hasTarget() bool {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if raw, err := os.ReadFile(p.path(name)); err == nil {
			return testTarget.MatchString(string(raw))
		}
	}
	return false
}
