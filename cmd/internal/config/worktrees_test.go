package config

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/writbus/writ/enforcement/confine/worktree"
)

// TestWorkTreesBelongToTheirRepositorysGuard: linked work trees, submodules and
// their linked work trees have the guard of their repository, with its settings,
// wherever they lie.
func TestWorkTreesBelongToTheirRepositorysGuard(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	base = filepath.Join(base, "trees[1") // a name that is no pattern
	if err := os.Mkdir(base, 0o755); err != nil {
		t.Fatal(err)
	}
	at := func(names ...string) string { return filepath.Join(append([]string{base}, names...)...) }
	git := func(dir string, args ...string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		c := exec.Command("git", append([]string{"-c", "init.defaultBranch=main", "-c", "user.name=x", "-c", "user.email=x@x", "-c", "protocol.file.allow=always"}, args...)...)
		c.Dir, c.Env = dir, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	repository := func(dir string) {
		t.Helper()
		git(dir, "init", "-q")
		git(dir, "commit", "-q", "--allow-empty", "-m", "x")
	}
	repository(at("library"))
	repository(at("main"))
	git(at("main"), "submodule", "--quiet", "add", at("library"), "sub")
	git(at("main"), "commit", "-qm", "sub")
	put(t, at("main", ProjectFile), "mode: review\n")
	git(at("main"), "worktree", "add", "-q", at("linked"))
	git(at("linked"), "submodule", "--quiet", "update", "--init")
	git(at("main", "sub"), "worktree", "add", "-q", at("linkedsub"))

	repository(at("mono"))
	put(t, at("mono", "pkg", ProjectFile), "mode: review\n")
	git(at("mono"), "worktree", "add", "-q", at("linkedmono"))

	git(base, "clone", "-q", "--bare", at("library"), at("bare.git"))
	git(at("bare.git"), "worktree", "add", "-q", at("first"))
	git(at("bare.git"), "worktree", "add", "-q", at("second"))
	put(t, at("first", ProjectFile), "mode: review\n")

	repository(at("above", "repository"))
	put(t, at("above", ProjectFile), "mode: review\n")
	git(at("above", "repository"), "worktree", "add", "-q", at("linkedabove"))

	repository(at("free"))
	git(at("free"), "worktree", "add", "-q", at("linkedfree"))
	if err := os.Mkdir(at("workdir"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("main", ".git"), at("workdir", ".git")); err != nil {
		t.Fatal(err)
	}

	for dir, want := range map[string]string{
		"main/sub": "main", "linked": "linked", "linked/src/deep": "linked", "linked/sub": "linked", "linkedsub/x": "linkedsub",
		"linkedmono/pkg/src": "linkedmono/pkg", "second": "second", "linkedabove": "linkedabove", "workdir/src": "workdir",
		"linkedmono/other": "", "linkedfree": "", "free": "", "library": "",
	} {
		root, found := FindProject(at(dir))
		if want == "" {
			if found {
				t.Errorf("%s: found %s", dir, root)
			}
			continue
		}
		if root != at(want) {
			t.Errorf("%s: found %q, want %s", dir, root, at(want))
		}
		if p, err := LoadProject(root); err != nil || p.Mode != "review" {
			t.Errorf("%s: mode %q, %v", dir, p.Mode, err)
		}
	}
	// A repository that was put under guard stays so where its file is gone.
	data := t.TempDir()
	if err := Register(data, at("free")); err != nil {
		t.Fatal(err)
	}
	if root, found := FindGuarded(data, at("linkedfree")); !found || root != at("linkedfree") {
		t.Errorf("of a registered repository: %q, %v", root, found)
	}
	// A work tree that was seen stays under guard where git's file is gone from it,
	// and as long as its repository is.
	if err := RegisterShared(data, at("linked"), at("main")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(at("linked", ".git")); err != nil {
		t.Fatal(err)
	}
	if root, found := FindGuarded(data, at("linked", "src")); !found || root != at("linked") {
		t.Errorf("without git's file: %q, %v", root, found)
	}
	if err := os.RemoveAll(at("main", ".writ")); err != nil {
		t.Fatal(err)
	}
	if root, found := FindGuarded(data, at("linked", "src")); found {
		t.Errorf("held by a project that is none: %q", root)
	}
	if trees := worktree.Others(at("free")); len(trees) != 1 || trees[0] != at("linkedfree") {
		t.Errorf("the work trees of a repository: %q", trees)
	}
}

// TestAGitFolderElsewhereHidesNoGuard: git keeps no word of the tree that such a
// repository was made with, and settings that no commit has are in no other tree.
func TestAGitFolderElsewhereHidesNoGuard(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(base, name) }
	for _, args := range [][]string{
		{"init", "-q", "--separate-git-dir", at("repository"), at("main")},
		{"-C", at("main"), "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "x"},
		{"-C", at("main"), "worktree", "add", "-q", at("linked")},
		{"init", "-q", "--separate-git-dir", at("another"), at("free")},
	} {
		c := exec.Command("git", args...)
		c.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	data := t.TempDir()
	put(t, at("main/"+ProjectFile), "mode: review\n")
	if err := Register(data, at("main")); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{"linked": "linked", "linked/src/deep": "linked", "main/src": "main", "free": "", "repository": ""} {
		root, found := FindGuarded(data, at(dir))
		if found != (want != "") || found && root != at(want) {
			t.Errorf("%s: %q, %v", dir, root, found)
		}
	}
	for root, want := range map[string]string{"linked": "main", "main": "main", "free": "free"} {
		if got := SettingsRootIn(data, at(root)); got != at(want) {
			t.Errorf("the settings of %s: %s", root, got)
		}
	}
	if err := Unregister(data, at("main")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(at("main/.writ")); err != nil {
		t.Fatal(err)
	}
	if root, found := FindGuarded(data, at("linked")); found {
		t.Errorf("held by a project that is none: %q", root)
	}
}
