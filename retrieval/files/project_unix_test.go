//go:build unix

package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"
)

// asNobody calls f as a user to whom not every file is readable, and says whether
// that could not be.
func asNobody(t *testing.T, root string, f func()) (readable bool) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return false
	}
	const nobody = 65534
	if err := os.Chmod(filepath.Dir(root), 0o755); err != nil { // the test's own folder
		t.Fatal(err)
	}
	if err := seteuid(nobody); err != nil {
		t.Logf("to root every file is readable: %v", err)
		f()
		return true
	}
	defer func() {
		if err := seteuid(0); err != nil {
			t.Fatal(err)
		}
	}()
	if _, err := os.ReadDir(root); err != nil {
		t.Logf("to root every file is readable, and to nobody not even %v", err)
		readable = true
		if err := seteuid(0); err != nil {
			t.Fatal(err)
		}
	}
	f()
	return readable
}

func TestBadFilesStopNothing(t *testing.T) {
	tr, j := newTree(t), &journal{}
	tr.write("a.md", "# a\n")
	tr.write("closed/b.md", "# b\n")
	tr.write("c.md", "# c\n")
	tr.write("two\nlines.md", "# d\n")
	tr.write("\xff.md", "# e\n")
	if err := mkfifo(tr.at("pipe.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Create(tr.at("huge.md")); err != nil || f.Truncate(100<<20) != nil || f.Close() != nil {
		t.Fatal(err)
	}
	if os.Symlink(".", tr.at("loop")) != nil || os.Symlink("/etc/hosts", tr.at("out.md")) != nil || os.Symlink("nowhere", tr.at("broken.md")) != nil {
		t.Fatal("symbolic links")
	}
	if os.Chmod(tr.at("c.md"), 0) != nil || os.Chmod(tr.at("closed"), 0) != nil {
		t.Fatal("chmod")
	}
	t.Cleanup(func() { _ = os.Chmod(tr.at("closed"), 0o755) })
	p := tr.open(j, "**")
	readable := asNobody(t, tr.root, func() { update(t, p, Update{}) })
	s := p.Current()
	want := map[Reason]int{BadName: 2, Special: 1, TooLarge: 1, Link: 3, Unreadable: 2}
	documents := 1
	if readable {
		delete(want, Unreadable)
		documents = 3
	}
	if diff := cmp.Diff(want, s.Left); diff != "" || s.Len() != documents {
		t.Errorf("%d documents, %s", s.Len(), diff)
	}
	for _, problem := range s.Problems {
		if problem.Why == "" || strings.Contains(problem.Why, tr.root) {
			t.Errorf("%+v", problem)
		}
	}
	if !readable && len(s.Problems) != 4 || readable && len(s.Problems) != 2 {
		t.Errorf("%+v", s.Problems)
	}
}

// TestAFolderThatCannotBeReadEndsNoWatch: nothing in it is in the index.
func TestAFolderThatCannotBeReadEndsNoWatch(t *testing.T) {
	tr := newTree(t)
	tr.write("closed/b.md", "# b\n")
	if err := os.Chmod(tr.at("closed"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(tr.at("closed"), 0o700) })
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = watcher.Close() }()
	w := newWatch(tr.open(&journal{}), watcher, nil)
	w.entered = map[string]bool{}
	asNobody(t, tr.root, func() { w.enter(tr.at("closed")) })
	if w.refused != nil {
		t.Error(w.refused)
	}
}
