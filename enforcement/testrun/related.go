package testrun

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

const (
	// maxSources bounds the files whose imports are read. A project that has more
	// is looked at in part, and what no test is found for runs as a whole.
	maxSources = 20_000
	// maxSource bounds a file of which the imports are read, in bytes.
	maxSource = 1 << 20
)

// passedOver are folders that hold no sources of the project.
var passedOver = []string{"node_modules", "vendor", "target", "build", "dist", "venv", "env", "__pycache__", "site-packages", "bower_components", "coverage"}

// sources are the files of a place with some suffixes, relative to it.
func (p place) sources(suffixes []string) []string {
	var all []string
	base := p.path(".")
	_ = filepath.WalkDir(base, func(name string, e fs.DirEntry, err error) error { // what cannot be read is passed over
		switch {
		case err != nil || name == base:
		case e.IsDir() && (strings.HasPrefix(e.Name(), ".") || slices.Contains(passedOver, e.Name())):
			return fs.SkipDir
		case e.Type().IsRegular() && slices.Contains(suffixes, path.Ext(e.Name())):
			if rel, err := filepath.Rel(base, name); err == nil {
				all = append(all, filepath.ToSlash(rel))
			}
			if len(all) == maxSources {
				return fs.SkipAll
			}
		}
		return nil
	})
	return all
}

// text is a source's, "" for one that cannot be read or is too long.
func (p place) text(file string) string {
	if info, err := os.Stat(p.path(file)); err != nil || info.Size() > maxSource {
		return ""
	}
	raw, _ := os.ReadFile(p.path(file)) // what cannot be read imports nothing
	return string(raw)
}

// imports are the files that each file of a language imports.
type imports interface {
	of(file, text string) []string
	test(file, text string) bool
}

// reaching finds the test files whose imports lead to one of some changed files:
// those that lead there in at most one step, and those that need more. A changed
// test is near.
func (p place) reaching(files, changed []string, language imports) (near, far []string) {
	importers, tests := map[string][]string{}, map[string]bool{}
	for _, file := range files {
		text := p.text(file)
		tests[file] = language.test(file, text)
		for _, imported := range language.of(file, text) {
			importers[imported] = append(importers[imported], file)
		}
	}
	steps := map[string]int{}
	var next []string
	for _, file := range changed {
		steps[file] = 0
		next = append(next, file)
	}
	for len(next) > 0 {
		file := next[0]
		next = next[1:]
		switch {
		case !tests[file]:
		case steps[file] <= 1:
			near = append(near, file)
		default:
			far = append(far, file)
		}
		for _, importer := range importers[file] {
			if _, seen := steps[importer]; !seen {
				steps[importer] = steps[file] + 1
				next = append(next, importer)
			}
		}
	}
	named := func(test string) bool {
		return slices.ContainsFunc(changed, func(file string) bool { return namedAfter(test, file) })
	}
	for _, test := range far { // test_core.py is about core.py, however it gets there
		if named(test) {
			near = append(near, test)
		}
	}
	far = slices.DeleteFunc(far, named)
	slices.Sort(near)
	slices.Sort(far)
	return near, far
}

// namedAfter says that a test is named after a file.
func namedAfter(test, file string) bool {
	stem, _, _ := strings.Cut(path.Base(test), ".")
	about, _, _ := strings.Cut(path.Base(file), ".")
	stem = strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(stem), "test_"), "_test")
	return stem == strings.ToLower(strings.TrimLeft(about, "_"))
}

// pythonModules are the files of a place by the names under which they can be
// imported.
type pythonModules map[string]string

func pythonImports(files []string) pythonModules {
	packages, modules := map[string]bool{}, pythonModules{}
	for _, file := range files {
		if path.Base(file) == "__init__.py" {
			packages[path.Dir(file)] = true
		}
	}
	for _, file := range files {
		whole := strings.TrimSuffix(strings.TrimSuffix(file, ".py"), "/__init__")
		top := path.Dir(whole)
		for packages[top] {
			top = path.Dir(top)
		}
		for _, root := range []string{".", "src", "lib", top} {
			name, is := strings.CutPrefix(whole, root+"/")
			if root == "." {
				name, is = whole, true
			}
			if name = strings.ReplaceAll(name, "/", "."); is && modules[name] == "" {
				modules[name] = file
			}
		}
	}
	return modules
}

var (
	pyFrom   = lazyregexp.New(`(?m)^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)`)
	pyImport = lazyregexp.New(`(?m)^[ \t]*import[ \t]+([^\n#]*)`)
	pyTest   = lazyregexp.New(`^(?:test_.*|.*_test|tests)\.py$`)
	pyName   = lazyregexp.New(`\w+`)
)

func (m pythonModules) test(file, _ string) bool { return pyTest.MatchString(path.Base(file)) }

func (m pythonModules) of(file, text string) (all []string) {
	add := func(name string) {
		if found := m[name]; found != "" && found != file {
			all = append(all, found)
		}
	}
	for _, found := range pyFrom.Regexp().FindAllStringSubmatch(text, -1) {
		from := m.absolute(file, found[1])
		add(from)
		for _, name := range pyName.Regexp().FindAllString(found[2], -1) {
			add(strings.TrimPrefix(from+"."+name, "."))
		}
	}
	for _, found := range pyImport.Regexp().FindAllStringSubmatch(text, -1) {
		for one := range strings.SplitSeq(found[1], ",") {
			if words := strings.Fields(one); len(words) > 0 {
				add(words[0])
			}
		}
	}
	if m.test(file, text) { // pytest reads these first
		for dir := path.Dir(file); ; dir = path.Dir(dir) {
			add(strings.ReplaceAll(strings.TrimPrefix(dir+"/conftest", "./"), "/", "."))
			if dir == "." {
				break
			}
		}
	}
	return all
}

// absolute is the name of a module that a file imports, which may begin with dots.
func (m pythonModules) absolute(file, name string) string {
	below := strings.TrimLeft(name, ".")
	up := len(name) - len(below)
	if up == 0 {
		return name
	}
	dir := path.Dir(file)
	for ; up > 1; up-- {
		dir = path.Dir(dir)
	}
	return strings.Trim(strings.ReplaceAll(dir, "/", ".")+"."+below, ".")
}

// scriptSuffixes end the names of JavaScript and TypeScript.
var scriptSuffixes = []string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"}

// scriptFiles are the files of a package.
type scriptFiles map[string]bool

var (
	jsImport = lazyregexp.New(`(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*['"](\.[^'"\n]*)['"]`)
	jsTest   = lazyregexp.New(`(?:^|/)__tests__/|[._](?:test|spec)\.[cm]?[jt]sx?$`)
)

func (s scriptFiles) test(file, text string) bool {
	return jsTest.MatchString(file) || nodeTest.MatchString(text)
}

func (s scriptFiles) of(file, text string) (all []string) {
	for _, found := range jsImport.Regexp().FindAllStringSubmatch(text, -1) {
		wanted := path.Join(path.Dir(file), found[1])
		bare := strings.TrimSuffix(wanted, path.Ext(wanted)) // TypeScript imports x.ts as x.js
		for _, ext := range append([]string{""}, scriptSuffixes...) {
			for _, name := range []string{wanted + ext, wanted + "/index" + ext, bare + ext} {
				if s[name] && name != file {
					all = append(all, name)
				}
			}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(all)))
}

// maxDependents bounds the packages of a workspace that are looked at for what
// depends on a change.
const maxDependents = 20

// dependents are the packages of the same workspace that depend on a changed one,
// directly or not, each with its files that import what it depends on.
func (c changes) dependents() (all []changes) {
	root := place{root: c.root}
	var packages []place
	for _, file := range root.sources([]string{".json"}) {
		if path.Base(file) == "package.json" {
			packages = append(packages, place{c.root, strings.TrimPrefix(path.Dir(file), ".")})
		}
	}
	seen := map[string]bool{c.dir: true}
	next := []string{c.manifest().Name}
	for len(next) > 0 && len(all) < maxDependents {
		name := next[0]
		next = next[1:]
		imported := regexp.MustCompile(`['"]` + regexp.QuoteMeta(name) + `(?:/[^'"\n]*)?['"]`)
		for _, p := range packages {
			if m := p.manifest(); name == "" || seen[p.dir] || m.Dependencies[name] == nil && m.DevDependencies[name] == nil {
				continue
			}
			var files []string
			for _, file := range p.sources(scriptSuffixes) {
				if imported.MatchString(p.text(file)) {
					files = append(files, file)
				}
			}
			if len(files) > 0 {
				seen[p.dir] = true
				all, next = append(all, changes{p, files}), append(next, p.manifest().Name)
			}
		}
	}
	return all
}

// mentioning are the tests of a place that name one of some types, which is how a
// language whose files are no modules refers to them, and those that changed.
func (p place) mentioning(changed, suffixes []string, test *lazyregexp.Regexp, name func(file string) string) (tests []string) {
	var names []string
	for _, file := range changed {
		if one := name(file); one != "" {
			names = append(names, one)
		}
	}
	for _, file := range p.sources(suffixes) {
		if !test.MatchString(file) {
			continue
		}
		text := p.text(file)
		named := func(one string) bool {
			for at := 0; ; {
				i := strings.Index(text[at:], one)
				if i < 0 {
					return false
				}
				begin, end := at+i, at+i+len(one)
				if (begin == 0 || !wordByte(text[begin-1])) && (end == len(text) || !wordByte(text[end])) {
					return true
				}
				at = end
			}
		}
		if slices.Contains(changed, file) || slices.ContainsFunc(names, named) {
			tests = append(tests, file)
		}
	}
	return tests
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// stem is a file's name without its folder and suffix.
func stem(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }

// camel is the name of what a file of Ruby defines, by its own.
func camel(file string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(stem(file), "_") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}
