package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestRepositoryTellsWhatIsAtStake acts on a real repository with a remote and
// compares what is found with what git was told.
func TestRepositoryTellsWhatIsAtStake(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Parallel()
	base := t.TempDir()
	root := filepath.Join(base, "work")
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-c", "init.defaultBranch=main", "-c", "user.name=x", "-c", "user.email=x@x", "-c", "advice.detachedHead=false"}, args...)...)
		c.Dir = root
		c.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME="+base)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	put := func(name, content string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := func(when string, w Repository) {
		t.Helper()
		r := ReadRepository(root)
		if !slices.Equal(r.Dirty, w.Dirty) || r.Staged != w.Staged || r.Published != w.Published || r.Unknown != w.Unknown {
			t.Errorf("%s: %+v, want %+v", when, r, w)
		}
	}
	put("a.go", "package a\n")
	want("no repository", Repository{Staged: true, Unknown: true})
	git("init", "-q")
	put("sub/b.go", "package b\n")
	git("add", ".")
	want("no commit", Repository{Staged: true})
	git("commit", "-qm", "one")
	want("committed", Repository{})
	put("new.go", "package n\n")
	want("an untracked file", Repository{})
	put("sub/b.go", "package b // changed\n")
	want("a change", Repository{Dirty: []string{"sub/b.go"}})
	put("sub/b.go", "package b\n")
	want("changed back", Repository{})
	if err := os.Remove(filepath.Join(root, "a.go")); err != nil {
		t.Fatal(err)
	}
	want("a file that is gone", Repository{})
	put("a.go", "package a // staged\n")
	git("add", "a.go")
	want("staged", Repository{Staged: true})
	git("commit", "-qm", "two")
	want("committed again", Repository{})
	git("reset", "-q", "--soft", "HEAD~1")
	want("taken back into the index", Repository{Staged: true})
	git("commit", "-qm", "two again")
	git("init", "-q", "--bare", "../remote")
	git("remote", "add", "origin", "../remote")
	git("push", "-q", "-u", "origin", "main")
	want("pushed", Repository{Published: true})
	git("pack-refs", "--all")
	want("references packed", Repository{Published: true})
	git("switch", "-qc", "feature")
	git("commit", "-qm", "three", "--allow-empty")
	want("a commit of its own", Repository{})
	git("checkout", "-q", "--detach", "main")
	want("detached", Repository{Published: true})
	git("gc", "-q", "--prune=now")
	want("commits in a pack", Repository{Published: true, Staged: true})

	linked := filepath.Join(base, "linked")
	git("worktree", "add", "-q", linked, "feature")
	root = linked
	put("a.go", "package a // here\n")
	want("a linked work tree", Repository{Dirty: []string{"a.go"}, Staged: true})
}

// FuzzCachedTree reads what follows the entries of an index; nothing may panic.
func FuzzCachedTree(f *testing.F) {
	tree := append([]byte("TREE\x00\x00\x00\x19\x000 0\n"), make([]byte, 20)...)
	f.Add(tree)
	f.Add([]byte("TREE\x00\x00\x00\x06\x00-1 0\n"))
	f.Add([]byte("REUC\xff\xff\xff\xff"))
	f.Fuzz(func(_ *testing.T, raw []byte) { cachedTree(raw) })
}
