package skeleton

import (
	"path"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// language reads a file's tests.
type language func(content []byte) []test

// place says where one language keeps its tests.
type place struct {
	name  *lazyregexp.Regexp  // of the file
	where func([]string) bool // of its folders, outermost first; nil for anywhere
	read  language
	hint  string
}

var places = map[string][]place{
	".go": {{lazyregexp.New(`^[^_.].*_test\.go$`), goFolders, readGo, "Name it *_test.go, beside the package it tests."}},
	".py": {
		{lazyregexp.New(`^(?:test_.*|.*_test|tests)\.py$`), nil, readPython, "Name it test_*.py or *_test.py."},
	},
	".java": {{lazyregexp.New(`^(?:Test[A-Z0-9_].*|.*(?:Test|Tests|TestCase|IT|ITCase)|IT[A-Z].*)\.java$`), jvmFolders, readJava, "Put it under src/test/java and name it *Test.java."}},
	".kt":   {{lazyregexp.New(`^(?:Test[A-Z0-9_].*|.*(?:Test|Tests|TestCase|IT|Spec))\.kt$`), jvmFolders, readJava, "Put it under src/test/kotlin and name it *Test.kt."}},
	".cs":   {{lazyregexp.New(`^[A-Z][A-Za-z0-9_]*\.cs$`), dotnetFolders, readCSharp, "Put it into a test project, a folder named like Shop.Tests, and name it *Tests.cs."}},
	".php":  {{lazyregexp.New(`^.*Test\.php$`), in("tests", "test", "Tests"), readPHP, "Put it under tests/ and name it *Test.php."}},
	".rs":   {{lazyregexp.New(`^.*\.rs$`), nil, readRust, "Put it directly into tests/, as tests/*.rs."}},
	".rb": {
		{lazyregexp.New(`^.*_spec\.rb$`), in("spec"), readRuby, "Name it *_spec.rb under spec/, or *_test.rb under test/."},
		{lazyregexp.New(`^(?:.*_test|test_.*)\.rb$`), in("test", "tests"), readRuby, ""},
	},
	".robot":  {{lazyregexp.New(`^.*\.robot$`), nil, further{dialect: "elixir", comments: lazyregexp.New(`(?m)^#.*|\s.*\bRun Keyword And (?:Ignore Error|Return Status)\b.*|(?s:\*\*\* (?:Settings|Variables|Keywords) \*\*\*.*?(?:\n\*|\z))`), skips: names("Skip skip")}.read, ""}},
	".bats":   {{lazyregexp.New(`^.*\.bats$`), nil, readBats, ""}},
	".sh":     {{lazyregexp.New(`^(?:test_.*|test-.*|.*[._-]test|.*_spec)\.sh$`), nil, readShell, "Name it *_test.sh or use Bats (*.bats)."}},
	".groovy": {{lazyregexp.New(`^.*(?:Spec|Test|Tests)\.groovy$`), jvmFolders, readGroovy, "Put it under src/test/groovy and name it *Spec.groovy."}},
	".scala":  {{lazyregexp.New(`^.*(?:Spec|Test|Tests|Suite)\.scala$`), jvmFolders, further{dialect: "scala", asserts: names("forAll"), tests: names("property")}.read, "Put it under src/test/scala and name it *Spec.scala or *Suite.scala."}},
	".swift":  {{lazyregexp.New(`^.*(?:Test|Tests)\.swift$`), testFolder, readSwift, "Put it under Tests/ and name it *Tests.swift."}},
	".dart":   {{lazyregexp.New(`^.*_test\.dart$`), in("test", "integration_test"), further{dialect: "dart"}.read, "Put it under test/ and name it *_test.dart."}},
	".exs":    {{lazyregexp.New(`^.*_test\.exs$`), in("test"), further{dialect: "elixir"}.read, "Put it under test/ and name it *_test.exs."}},
	".lua":    {{lazyregexp.New(`^(?:.*_spec|.*_test|test_.*)\.lua$`), nil, further{dialect: "lua"}.read, "Name it *_spec.lua."}},
	".zig": {
		{lazyregexp.New(`^(?:test_.*|.*_test|.*_tests|tests?)\.zig$`), nil, further{dialect: "c"}.read, "Name it *_test.zig, or put it into tests/."},
		{lazyregexp.New(`^.*\.zig$`), in("test", "tests"), further{dialect: "c"}.read, ""},
	},
	".t":       {{lazyregexp.New(`^.*\.t$`), in("t", "xt"), further{dialect: "perl", asserts: names("is isnt ok like unlike is_deeply cmp_ok isa_ok can_ok new_ok throws_ok dies_ok lives_ok"), skips: names("skip todo skip_all TODO")}.read, "Put it into t/ and name it *.t."}},
	".r":       {{lazyregexp.New(`^test[-_].*\.[rR]$`), in("testthat", "tests"), further{dialect: "perl", skips: names("skip skip_if skip_if_not skip_on_cran")}.read, "Put it into tests/testthat/ and name it test-*.R."}},
	".jl":      {{lazyregexp.New(`^.*\.jl$`), in("test"), further{dialect: "elixir", asserts: names("@test @test_throws @test_logs @test_warn @test_nowarn @inferred")}.read, "Put it under test/."}},
	".clj":     {{lazyregexp.New(`^.*_test\.clj[cs]?$`), in("test", "tests"), further{dialect: "perl", comments: lazyregexp.New(`;[^\n]*|#_|(?s)\(ns\s.*?\]\s*\)\s*\)`), asserts: names("is are testing-vars")}.read, "Put it under test/ and name it *_test.clj."}},
	".erl":     {{lazyregexp.New(`^.*(?:_tests?|_SUITE)\.erl$`), in("test", "tests"), further{dialect: "c", comments: lazyregexp.New(`%[^\n]*`)}.read, "Put it under test/ and name it *_tests.erl."}},
	".hs":      {{lazyregexp.New(`^.*(?:Spec|Tests?)\.hs$`), in("test", "tests", "spec"), further{dialect: "c", comments: lazyregexp.New(`(?s)\{-.*?-\}|--[^\n]*`), operators: strings.NewReplacer("@?=", " `shouldBe` ", "@=?", " `shouldBe` "), skips: names("xit xspecify xdescribe pending pendingWith"), asserts: names("property prop forAll quickCheck")}.read, "Put it under test/ and name it *Spec.hs."}},
	".ml":      {{lazyregexp.New(`^(?:test_.*|.*_tests?|tests?)\.ml$`), in("test", "tests"), further{dialect: "c", comments: lazyregexp.New(`(?s)\(\*.*?\*\)`), skips: names("skip skip_if")}.read, "Put it under test/ and name it test_*.ml."}},
	".fs":      {{lazyregexp.New(`^.*(?:Tests?|Specs?)\.fs$`), dotnetFolders, further{dialect: "c", comments: lazyregexp.New(`(?s)\(\*.*?\*\)`), skips: names("Skip Ignore ptest ptestCase"), tests: names("Fact Theory TestMethod Property testCase testAsync testTask testProperty testList")}.read, "Put it into a test project, a folder named like Shop.Tests, and name it *Tests.fs."}},
	".cr":      {{lazyregexp.New(`^.*_spec\.cr$`), in("spec"), readRuby, "Name it *_spec.cr under spec/."}},
	".nim":     {{lazyregexp.New(`^(?:t.*|.*_test)\.nim$`), in("tests", "test"), further{dialect: "elixir", skips: names("skip")}.read, "Put it under tests/ and name it t*.nim."}},
	".ps1":     {{lazyregexp.New(`^.*\.[tT]ests\.ps1$`), nil, further{dialect: "elixir", comments: lazyregexp.New(`(?s)<#.*?#>`), skips: names("Skip Set-ItResult")}.read, "Name it *.Tests.ps1."}},
	".m":       {{lazyregexp.New(`^.*Tests?\.m$`), testFolder, further{dialect: "c"}.read, "Put it into a folder of tests and name it *Tests.m."}},
	".elm":     {{lazyregexp.New(`^.*Tests?\.elm$`), in("tests"), further{dialect: "c", comments: lazyregexp.New(`(?s)\{-.*?-\}|--[^\n]*`), skips: names("skip")}.read, "Put it under tests/ and name it *Test.elm."}},
	".gleam":   {{lazyregexp.New(`^.*_test\.gleam$`), in("test"), further{dialect: "c"}.read, "Put it under test/ and name it *_test.gleam."}},
	".rkt":     {{lazyregexp.New(`^(?:.*[-_]tests?|tests?[-_].*|tests?)\.rkt$`), nil, further{dialect: "perl", comments: lazyregexp.New(`;[^\n]*|(?s)#\|.*?\|#|\(require[^)]*\)`)}.read, "Name it *-test.rkt."}},
	".feature": {{lazyregexp.New(`^.*\.feature$`), in("features", "test", "tests", "spec"), further{dialect: "elixir", asserts: names("Then")}.read, "Put it under features/."}},
	".sol":     {{lazyregexp.New(`^.*\.t\.sol$`), nil, further{dialect: "c", skips: names("skip")}.read, "Name it *.t.sol."}},
	".c":       {{lazyregexp.New(`^(?:test_.*|.*_test|.*_tests)\.c$`), nil, further{dialect: "c"}.read, "Name it test_*.c or *_test.c."}},
	".cc":      {{lazyregexp.New(`^(?:test_.*|.*_test|.*_tests|.*_unittest)\.cc$`), nil, further{dialect: "cpp"}.read, "Name it *_test.cc."}},
	".cpp":     {{lazyregexp.New(`^(?:[tT]est_?.*|.*(?:_test|_tests|Test|Tests))\.cpp$`), nil, further{dialect: "cpp"}.read, "Name it *_test.cpp."}},
}

func init() {
	name := lazyregexp.New(`^.+[._](?:test|spec)\.[cm]?[jt]sx?$`)
	hint := "Name it *.test.* or *.spec.*, or put it into __tests__/."
	for _, ext := range []string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"} {
		places[ext] = []place{
			{name, nil, readJavaScript, hint},
			{lazyregexp.New(`^.*[cm]?[jt]sx?$`), in("__tests__"), readJavaScript, ""},
			{lazyregexp.New(`^.*\.cy\.[jt]sx?$`), nil, readJavaScript, ""},
			{lazyregexp.New(`^[^.].*$`), in("test"), readJavaScript, ""},
		}
	}
}

// ignored are folders no test runner descends into.
var ignored = []string{"node_modules", "vendor", ".git", "__pycache__", "site-packages"}

// supportFolders hold what tests use and runners do not run.
var supportFolders = []string{"testdata", "fixtures", "__fixtures__", "__mocks__", "__snapshots__", "snapshots", "test-data", "test_data", "golden"}

func in(names ...string) func([]string) bool {
	return func(folders []string) bool {
		return slices.ContainsFunc(folders, func(f string) bool { return slices.Contains(names, f) })
	}
}

// goFolders: the go tool skips folders that begin with a dot or underscore.
func goFolders(folders []string) bool {
	return !slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(f, "_") || strings.HasPrefix(f, ".") })
}

var jvmTestSet = lazyregexp.New(`^(?:test|tests|it|[a-z][A-Za-z]*Test|testFixtures)$`)

// jvmFolders wants a test source set: src/test, src/integrationTest, or a
// plain test folder where there is no src at all.
func jvmFolders(folders []string) bool {
	for i, f := range folders {
		if f == "src" && i+1 < len(folders) && folders[i+1] == "main" {
			return false
		}
	}
	return slices.ContainsFunc(folders, jvmTestSet.MatchString)
}

var dotnetProject = lazyregexp.New(`(?i)^(?:tests?|specs?|.*[._-](?:unit|integration|acceptance|functional)?tests?|.*[._-]specs?|[A-Za-z]*(?:UnitTests?|IntegrationTests?|Tests))$`)

func dotnetFolders(folders []string) bool {
	return slices.ContainsFunc(folders, dotnetProject.MatchString)
}

func testFolder(folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		l := strings.ToLower(f)
		return strings.HasSuffix(l, "test") || strings.HasSuffix(l, "tests")
	})
}

// rustPlace: Cargo builds each file directly in tests/, and tests/x/main.rs;
// unit tests may live in a module file of their own, tests.rs.
func rustPlace(folders []string, base string) bool {
	n := len(folders)
	switch {
	case n > 0 && folders[n-1] == "tests":
		return base != "mod.rs"
	case n > 1 && folders[n-2] == "tests":
		return base == "main.rs"
	}
	return slices.Contains(folders, "src") && base == "tests.rs"
}

func split(p string) (folders []string, base string) {
	parts := strings.Split(path.Clean(p), "/")
	return parts[:len(parts)-1], parts[len(parts)-1]
}

// suffixOf is the suffix by which a file's language is known.
func suffixOf(name string) string {
	switch ext := path.Ext(name); ext {
	case ".R":
		return ".r"
	case ".cljc", ".cljs":
		return ".clj"
	default:
		return ext
	}
}

func find(p string) (place, bool) {
	folders, base := split(p)
	if in(ignored...)(folders) || in("testdata", "__fixtures__", "__mocks__", "__snapshots__")(folders) {
		return place{}, false
	}
	ext := suffixOf(base)
	for _, pl := range places[ext] {
		if !pl.name.MatchString(base) || pl.where != nil && !pl.where(folders) {
			continue
		}
		if ext == ".rs" && !rustPlace(folders, base) {
			continue
		}
		return pl, true
	}
	return place{}, false
}

func languageOf(p string) language {
	pl, _ := find(p)
	return pl.read
}

func placeHint(p string) string {
	if list := places[suffixOf(p)]; len(list) > 0 && list[0].hint != "" {
		return list[0].hint
	}
	return "Put it where the language keeps its tests, under the name its runner looks for."
}

// IsTestPath tells whether a language's test runner would take a file of this
// name and place. p is relative to the project root, with forward slashes.
func IsTestPath(p string) bool {
	_, ok := find(p)
	return ok
}

// supportNames are files that configure or set up tests.
var supportNames = lazyregexp.New(`^(?:conftest\.py|pytest\.ini|tox\.ini|\.rspec|spec_helper\.rb|rails_helper\.rb|test_helper\.(?:rb|exs)|phpunit\.xml(?:\.dist)?|Pest\.php|jest\.config\.[cm]?[jt]s|jest\.setup\.[cm]?[jt]sx?|vitest\.(?:config|setup|workspace)\.[cm]?[jt]s|playwright\.config\.[jt]s|cypress\.config\.[jt]s|karma\.conf\.js|setupTests\.[jt]sx?|\.mocharc\.(?:js|json|ya?ml|cjs)|xunit\.runner\.json|\.runsettings)$`)

// testFolders are folders whose every file serves the tests.
var testFolders = []string{"test", "tests", "spec", "__tests__", "e2e", "integration_test"}

// IsTestSupport tells whether a file serves tests without being one: fixtures,
// testdata, conftest.py, runner settings, helpers inside a test folder. p is
// relative to the project root, with forward slashes. What IsTestPath takes is
// no support.
func IsTestSupport(p string) bool {
	if IsTestPath(p) {
		return false
	}
	folders, base := split(p)
	if in(ignored...)(folders) {
		return false
	}
	if in(supportFolders...)(folders) || supportNames.MatchString(base) {
		return true
	}
	for i, f := range folders {
		if slices.Contains(testFolders, f) && !slices.Contains(folders[:i], "main") {
			return true
		}
	}
	return path.Ext(base) == ".cs" && dotnetFolders(folders)
}
