//go:build unix

package testrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/integration"
)

// commit makes a repository of a project, as it stands, and says when that was.
func commit(t *testing.T, root string) int64 {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "before", "--date=@1700000000 +0000"}} {
		c := exec.Command("git", args...)
		c.Dir, c.Env = root, append(os.Environ(), "GIT_COMMITTER_DATE=@1700000000 +0000", "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
	return 1700000001
}

func put(t *testing.T, root, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, file), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestOnlyWhatFailsAnewIsAFailure runs real runners over a project in which one
// test was red before the session, and one that nothing changed can reach.
func TestOnlyWhatFailsAnewIsAFailure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		needs   []string
		files   string
		changed string
		content string
		known   string
		fresh   string
	}{
		"pytest": {
			[]string{"python3", "-m", "pytest", "--version"},
			"pyproject.toml src/shop/__init__.py src/shop/cart.py=def~total():|~~~~return~1| src/shop/other.py tests/conftest.py=import~sys|sys.path.insert(0,'src')| " +
				"tests/test_cart.py=from~shop.cart~import~total|def~test_old():|~~~~assert~total()==2|def~test_new():|~~~~assert~total()==1| tests/test_other.py=import~shop.other|def~test_far():|~~~~assert~False|",
			"src/shop/cart.py", "def total():\n    return 3\n", "tests.test_cart.test_old", "tests.test_cart.test_new",
		},
		"go": {
			[]string{"go", "version"},
			"go.mod=module~m||go~1.22| cart/cart.go=package~cart||func~Total()~int~{~return~1~}| cart/cart_test.go=package~cart||import~\"testing\"||func~TestOld(t~*testing.T)~{~if~Total()~!=~2~{~t.Error(\"old\")~}~}||func~TestNew(t~*testing.T)~{~if~Total()~!=~1~{~t.Error(\"new\")~}~}| " +
				"far/far.go=package~far| far/far_test.go=package~far||import~\"testing\"||func~TestFar(t~*testing.T)~{~t.Error(\"far\")~}|",
			"cart/cart.go", "package cart\n\nfunc Total() int { return 3 }\n", "m/cart.TestOld", "m/cart.TestNew",
		},
		"node": {
			[]string{"node", "--version"},
			"package.json={} cart.js=exports.total=()=>1| cart.test.js=const~test=require('node:test'),assert=require('node:assert'),{total}=require('./cart')|test('old',()=>assert.equal(total(),2))|test('new',()=>assert.equal(total(),1))| far.test.js=require('node:test')('far',()=>{throw~1})|",
			"cart.js", "exports.total=()=>3\n", "old", "new",
		},
		"gradle": {
			gradle,
			"settings.gradle build.gradle=" + strings.NewReplacer(" ", "~", "\n", "|").Replace(gradleBuild) +
				" src/main/java/Cart.java=class~Cart~{~static~int~total()~{~return~1;~}~}| src/main/java/Far.java=class~Far~{}| " +
				"src/test/java/CartTest.java=import~static~org.junit.Assert.*;|import~org.junit.Test;|public~class~CartTest~{|~~@Test~public~void~old()~{~assertEquals(2,Cart.total());~}|~~@Test~public~void~fresh()~{~assertEquals(1,Cart.total());~}|}| " +
				"src/test/java/FarTest.java=import~static~org.junit.Assert.*;|import~org.junit.Test;|public~class~FarTest~{|~~@Test~public~void~far()~{~assertNull(new~Far());~}|}|",
			"src/main/java/Cart.java", "class Cart {\n  static int total() { return 3; }\n}\n", "CartTest.old", "CartTest.fresh",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "go" { // it compiles and links for each run
				integration.Only(t, "the other runners, and TestRealRunnersAreReadFileByFile for Go")
			}
			if out, err := exec.Command(c.needs[0], c.needs[1:]...).CombinedOutput(); err != nil {
				t.Skipf("%s is not to be had here: %v %s", name, err, out)
			}
			root := lay(t, c.files)
			run := schemas.TestRun{ID: "r", Project: root, Changed: []string{c.changed}, Began: commit(t, root), Millis: (5 * time.Minute).Milliseconds()}
			put(t, root, c.changed, c.content)
			world := World{Vars: os.Environ()}
			got := Run(t.Context(), run, world)
			if got.Exit == 0 || strings.Join(got.New, " ") != c.fresh || strings.Join(got.Known, " ") != c.known || got.Uncompared != "" || got.Whole {
				t.Fatalf("%+v", got)
			}
			if out, err := exec.Command("git", "-C", root, "status", "--porcelain").Output(); err != nil || strings.Contains(string(out), "??") && name == "go" {
				t.Errorf("left behind: %s %v", out, err)
			}
			// What the base has is remembered: nothing of it runs again.
			run.Base, run.Known, run.New = got.Base, got.Known, got.New
			if err := os.Rename(filepath.Join(root, ".git"), filepath.Join(root, ".kept")); err != nil {
				t.Fatal(err)
			}
			if gone := Run(t.Context(), run, world); gone.Uncompared == "" || len(gone.New) != 2 {
				t.Errorf("without a repository: %+v", gone)
			}
		})
	}
}

// TestWhereNothingBeganNothingPassed: tests that cannot begin, in the base either, are
// told, and count for nothing beside those that ran.
func TestWhereNothingBeganNothingPassed(t *testing.T) {
	t.Parallel()
	python, goes, node := []string{"python3", "-m", "pytest", "--version"}, []string{"go", "version"}, []string{"node", "--version"}
	const (
		cart  = "pyproject.toml cart.py=def~total():|~~~~return~1| "
		test  = "from~cart~import~total|def~test_total():|~~~~assert~total()==1|"
		old   = "def total():\n    return 1\n\n"
		other = "def total():\n    return 3\n"
		shop  = "go.mod=module~m||go~1.22| cart/cart.go=package~cart||func~Total()~int~{~return~1~}| "
		in    = "cart/cart_test.go=package~cart||import~\"testing\"||func~TestTotal(t~*testing.T)~{~if~Total()~!=~1~{~t.Error(\"no\")~}~}|"
		less  = "package cart\n\nfunc Total() int { return 3 }\n"
		js    = "package.json={} cart.js=exports.total=()=>1| "
	)
	for name, c := range map[string]struct {
		needs                   []string
		files, changed, content string
		fresh, notRun, unrun    string // fresh are the new failures; notRun and unrun are within what is told
	}{
		"a test file that is not read":          {python, cart + "test_cart.py=import~nosuch|" + test, "cart.py", other, "", "No module named 'nosuch'", ""},
		"another one breaks beside it":          {python, cart + "test_cart.py=" + test + " test_b.py=import~cart,nosuch|", "cart.py", other, "test_cart.test_total", "", "No module named 'nosuch'"},
		"another one holds beside it":           {python, cart + "test_cart.py=" + test + " test_b.py=import~cart,nosuch|", "cart.py", old, "", "", "`test_b` fails without"},
		"not read for another reason":           {python, cart + "test_cart.py=import~nosuch|" + test, "test_cart.py", "import nowhere\n", "test_cart: test_cart.py: : ModuleNotFoundError: No module named 'nowhere'", "", ""},
		"a runner that falls":                   {python, cart + "test_cart.py=" + test + " conftest.py=def~pytest_collection_modifyitems():|~~~~raise~OSError('down')|", "cart.py", other, "", "OSError: down", ""},
		"what all tests load":                   {python, cart + "test_cart.py=" + test + " conftest.py=import~cart|", "cart.py", "import nosuch\n", ": cart.py: : ModuleNotFoundError: No module named 'nosuch'", "", ""},
		"no test of Python":                     {python, cart, "cart.py", other, "", noTests, ""},
		"all tests are passed over":             {python, cart + "test_cart.py=import~pytest|pytestmark=pytest.mark.skip|" + test, "cart.py", other, "", "skipped", ""},
		"tests of Go that are not built":        {goes, shop + strings.Replace(in, "Total()", "Nope()", 1), "cart/cart.go", less, "", "undefined: Nope", ""},
		"and code of Go that is no longer":      {goes, shop + strings.Replace(in, "Total()", "Nope()", 1), "cart/cart.go", "package cart\n\nvar x int = \"\"\n", "m/cart: ", "", ""},
		"no test of Go":                         {goes, shop + strings.Replace(in, "package", "//go:build~far||package", 1), "cart/cart.go", less, "", noTests, ""},
		"tests of Go that fall before they run": {goes, shop + in + "func~TestMain(*testing.M)~{~panic(1)~}|", "cart/cart.go", less, "", "m/cart` fails without this session's changes too: panic: 1", ""},
		"a file of Node that throws":            {node, js + "cart.test.js=require('nosuch');require('./cart');require('node:test')", "cart.js", "exports.total=()=>3\n", "", "nosuch", ""},
		"a file of Node without tests":          {node, js + "cart.test.js=require('./cart');require('node:test')", "cart.js", "exports.total=()=>3\n", "", noTests, ""},
		"a script that finds none":              {node, "package.json={\"scripts\":{\"test\":\"echo~~0~passing\"}} cart.js", "cart.js", "x\n", "", noTests, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !slices.Contains([]string{"a test file that is not read", "tests of Go that are not built", "a file of Node that throws"}, name) {
				integration.Only(t, "one of Python, one of Go and one of Node")
			}
			if out, err := exec.Command(c.needs[0], c.needs[1:]...).CombinedOutput(); err != nil {
				t.Skipf("%s is not to be had here: %v %s", c.needs[0], err, out)
			}
			root := lay(t, c.files)
			run := schemas.TestRun{Project: root, Changed: []string{c.changed}, Began: commit(t, root), Millis: (5 * time.Minute).Milliseconds()}
			put(t, root, c.changed, c.content)
			got := Run(t.Context(), run, World{Vars: os.Environ()})
			if fresh := strings.Join(got.New, " "); fresh != c.fresh && (c.fresh == "" || !strings.HasPrefix(fresh, c.fresh)) || (got.Exit != 0) != (c.fresh != "") {
				t.Errorf("new failures: %+v", got)
			}
			if (got.NotRun != "") != (c.notRun != "") || !strings.Contains(got.NotRun, c.notRun) || !strings.Contains(strings.Join(got.Unrun, " "), c.unrun) {
				t.Errorf("what did not run: %+v", got)
			}
		})
	}
}

// TestARunnerThatFallsIsNoFailingTest where nothing tells whether it fell before: in a
// folder without a history, or whose history git does not trust.
func TestARunnerThatFallsIsNoFailingTest(t *testing.T) {
	t.Parallel()
	root := lay(t, ".venv/bin/python=#!/bin/sh|echo~'INTERNALERROR>~OSError:~down'~>&2|exit~3| pyproject.toml cart.py test_cart.py=import~cart")
	if err := os.Chmod(filepath.Join(root, ".venv/bin/python"), 0o755); err != nil {
		t.Fatal(err)
	}
	got := Run(t.Context(), schemas.TestRun{Project: root, Changed: []string{"cart.py"}, Millis: 60_000}, World{Vars: os.Environ()})
	if got.Exit != 0 || !strings.Contains(got.NotRun, "came to no test: OSError: down") {
		t.Errorf("%+v", got)
	}
}

// TestNothingThatHoldsPytestIsAWarning, which is an error in a project that wants them
// to be: whoever holds a run gives pytest another folder for its cache.
func TestNothingThatHoldsPytestIsAWarning(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("python3", "-m", "pytest", "--version").CombinedOutput(); err != nil {
		t.Skipf("pytest is not to be had here: %v %s", err, out)
	}
	root := lay(t, "pytest.ini=[pytest]|addopts=--last-failed|filterwarnings=error| cart.py test_cart.py=import~cart|def~test_it():|~~~~pass|")
	world := World{Vars: append(os.Environ(), "PYTEST_ADDOPTS=-o cache_dir="+t.TempDir())}
	if got := Run(t.Context(), schemas.TestRun{Project: root, Changed: []string{"cart.py"}, Millis: 60_000}, world); got.Exit != 0 || got.Passed != 1 {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(filepath.Join(root, ".pytest_cache")); err == nil {
		t.Error("it left a cache in the project")
	}
}

// TestCargoMayMakeItsLock where a crate has none; the run takes it away again.
func TestCargoMayMakeItsLock(t *testing.T) {
	t.Parallel()
	root := lay(t, "a/Cargo.toml=[package]|name~=~\"one\" a/src/lib.rs stand/writ=#!/bin/sh|[~\"$3~$4\"~=~\"--make~a/Cargo.lock\"~]~&&~touch~Cargo.lock~&&~echo~'test~x~...~ok'|")
	writ := filepath.Join(root, "stand/writ")
	if err := os.Chmod(writ, 0o755); err != nil {
		t.Fatal(err)
	}
	run := schemas.TestRun{Project: root, Changed: []string{"a/src/lib.rs"}, Confine: []string{"--quiet"}, Millis: 60_000}
	if got := Run(t.Context(), run, World{Writ: writ, Vars: os.Environ()}); got.Exit != 0 || got.Passed != 1 {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(filepath.Join(root, "a/Cargo.lock")); err == nil {
		t.Error("it is still there")
	}
}

func TestWhatRunnersSayOfNoTests(t *testing.T) {
	t.Parallel()
	for said, none := range map[string]bool{
		"Ran 0 tests in 0.000s\n\nNO TESTS RAN": true, "  0 passing (1ms)": true, "no tests found": true, "?   \tm/a\t[no test files]": true, "# tests 0": true,
		"ok  \tm/a\t0.2s [no tests to run]": true, "There are no tests to run": true, "built": false, "": false,
		"  0 passing\n  3 passing": false, "?   \tm/a\t[no test files]\nok  \tm/b\t0.02s": false, "Ran 0 tests\nRan 2 tests": false, "Tests: 0 failed, 4 passed": false,
	} {
		if got := noTest.MatchString(said) && !someTest.MatchString(said); got != none {
			t.Errorf("%q: %v", said, got)
		}
	}
}

// TestANewTestFileIsNotInTheBase: what the base lacks keeps nothing from being run
// there, and its failure is new even where it ends the runner.
func TestANewTestFileIsNotInTheBase(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		needs                    []string
		files, changed, content  string
		added, test, known, news string
	}{
		"pytest": {
			[]string{"python3", "-m", "pytest", "--version"},
			"pyproject.toml cart.py=def~total():|~~~~return~1| test_cart.py=from~cart~import~total|def~test_old():|~~~~assert~total()==2|",
			"cart.py", "def total():\n    return 1\ndef mean():\n    return 0\n",
			"test_mean.py", "from cart import mean\ndef test_mean():\n    assert mean() == 1\n", "test_cart.test_old", "test_mean.test_mean",
		},
		"node": {
			[]string{"node", "--version"},
			"package.json={} cart.js=exports.total=()=>1| cart.test.js=const~test=require('node:test'),assert=require('node:assert'),{total}=require('./cart')|test('old',()=>assert.equal(total(),2))|",
			"cart.js", "exports.total=()=>1;exports.mean=()=>0\n",
			"mean.test.js", "const test=require('node:test'),assert=require('node:assert'),{mean}=require('./cart')\ntest('mean',()=>assert.equal(mean(),1))\n", "old", "mean",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if out, err := exec.Command(c.needs[0], c.needs[1:]...).CombinedOutput(); err != nil {
				t.Skipf("%s is not to be had here: %v %s", name, err, out)
			}
			root := lay(t, c.files)
			run := schemas.TestRun{ID: "r", Project: root, Changed: []string{c.changed}, Began: commit(t, root), Millis: time.Minute.Milliseconds()}
			put(t, root, c.changed, c.content)
			put(t, root, c.added, c.test)
			got := Run(t.Context(), run, World{Vars: os.Environ()})
			if got.Exit == 0 || strings.Join(got.New, " ") != c.news || strings.Join(got.Known, " ") != c.known || got.Uncompared != "" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestACommittedChangeIsStillNew: the base is what was there before the session,
// not what the agent has committed since.
func TestACommittedChangeIsStillNew(t *testing.T) {
	t.Parallel()
	root := lay(t, "check=exit~0|")
	began := commit(t, root)
	head, err := exec.Command("git", "-C", root, "rev-parse", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	change := func(text, date string) {
		put(t, root, "check", "echo "+text+"; exit 1\n")
		for _, args := range [][]string{{"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "after"}} {
			c := exec.Command("git", append([]string{"-C", root}, args...)...)
			if date != "" {
				c.Env = append(os.Environ(), "GIT_COMMITTER_DATE="+date)
			}
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%s", out)
			}
		}
	}
	change("broken", "")
	run := schemas.TestRun{Command: "sh check", Project: root, Changed: []string{"check"}, Began: began, Millis: 60_000}
	if got := Run(t.Context(), run, World{Vars: os.Environ()}); got.Exit != 1 || len(got.New) != 1 || got.Base == "" {
		t.Errorf("%+v", got)
	}
	// A commit says of itself when it was made.
	change("broken again", "2001-01-01T00:00:00Z")
	run.Head = strings.TrimSpace(string(head))
	if got := Run(t.Context(), run, World{Vars: os.Environ()}); got.Exit != 1 || len(got.New) != 1 || got.Base != run.Head {
		t.Errorf("with a date before the session: %+v", got)
	}
	run.Head = schemas.NoHead
	if got := Run(t.Context(), run, World{Vars: os.Environ()}); got.Exit != 1 || len(got.New) != 1 || got.Uncompared == "" {
		t.Errorf("in a repository that had no commit: %+v", got)
	}
}

// TestWhatFailsWithoutTheChangeTooShowsNothing, where one command says it of all.
func TestWhatFailsWithoutTheChangeTooShowsNothing(t *testing.T) {
	t.Parallel()
	root := lay(t, "a.c check=echo~no~compiler;exit~1| Makefile=test:|")
	run := schemas.TestRun{Command: "sh check", Project: root, Changed: []string{"a.c"}, Began: commit(t, root), Millis: 60_000}
	if got := Run(t.Context(), run, World{Vars: os.Environ()}); got.Exit != 0 || !strings.Contains(got.NotRun, "fails without this session's changes too: no compiler") {
		t.Errorf("%+v", got)
	}
}

func TestAllTestsRunOnceATurn(t *testing.T) {
	t.Parallel()
	root := lay(t, "package.json={\"scripts\":{\"test\":\"touch~ran\"}} a.js")
	run := schemas.TestRun{Project: root, Changed: []string{"a.js"}, Millis: 60_000}
	if got := Run(t.Context(), run, World{Vars: os.Environ()}); !got.Whole || got.Left || got.Exit != 0 {
		t.Errorf("first: %+v", got)
	}
	run.Chosen = true
	if got := Run(t.Context(), run, World{Vars: os.Environ()}); got.Whole || !got.Left || got.Command != "" {
		t.Errorf("again: %+v", got)
	}
}

// TestABaseUsesWhatIsInstalledAndNotTheChange: packages of a workspace lead to the
// base's own, others to where they are installed.
func TestABaseUsesWhatIsInstalledAndNotTheChange(t *testing.T) {
	t.Parallel()
	root := lay(t, "packages/a/index.js=old node_modules/left/index.js=installed .venv/bin/python=x")
	if err := os.Symlink("../packages/a", filepath.Join(root, "node_modules", "a")); err != nil {
		t.Fatal(err)
	}
	b := base{root: t.TempDir()}
	put(t, b.root, "packages/a/index.js", "base")
	if err := b.furnish(place{root: root, dir: "packages/a"}); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"node_modules/a/index.js": "base", "node_modules/left/index.js": "installed", ".venv/bin/python": "x"} {
		if got, err := os.ReadFile(filepath.Join(b.root, file)); string(got) != want {
			t.Errorf("%s: %q %v, want %q", file, got, err, want)
		}
	}
}
