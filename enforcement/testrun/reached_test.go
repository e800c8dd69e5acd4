//go:build unix

package testrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/schemas"
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
