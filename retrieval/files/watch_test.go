package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watched is a project that is watched until the test ends.
type watched struct {
	tree
	*journal
	project *Project
	n       int
}

func watchTree(t *testing.T, tr tree, globs ...string) *watched {
	t.Helper()
	w := &watched{tree: tr, journal: &journal{}}
	w.project = tr.open(w.journal, globs...)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.project.Watch(ctx, func(_ Built, err error) {
			if err != nil {
				t.Logf("watch: %v", err)
			}
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	w.settle(t)
	return w
}

// settle waits until the index has everything that was done so far: changes
// are told in their order, so it has it once it has one more.
func (w *watched) settle(t *testing.T) {
	t.Helper()
	w.n++
	mark := fmt.Sprintf("mark-%d.md", w.n)
	w.write(mark, mark)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	for s := w.project.Current(); ; s = w.project.Await(ctx, s.Revision) {
		if s == nil {
			s = w.project.Await(ctx, 0)
		}
		if _, found := s.Document(mark); found {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%s is not in the index", mark)
		}
	}
}

func TestWatchFollowsEditors(t *testing.T) {
	t.Parallel()
	tr := newTree(t)
	tr.write("a.md", "# one\n")
	tr.write("deep/er/b.md", "# b\n")
	w := watchTree(t, tr, "**")
	saves := map[string]func(text string){
		"in place": func(text string) { w.write("a.md", text) },
		"by a new file": func(text string) {
			w.write(".a.md.tmp", text)
			w.rename(".a.md.tmp", "a.md")
		},
		"with a backup": func(text string) {
			w.rename("a.md", "a.md~")
			w.write("a.md", text)
			w.remove("a.md~")
		},
		"in an instant, with the same length": func(text string) {
			w.write("a.md", "# xxx\n")
			w.write("a.md", text)
		},
	}
	for name, save := range saves {
		text := fmt.Sprintf("# %d\n", 1000+len(name))
		save(text)
		w.settle(t)
		if i, _ := w.project.Current().Document("a.md"); i == nil || i.Title != text[2:6] {
			t.Errorf("saved %s, the index has %+v", name, i)
		}
	}
	w.rename("deep/er", "moved/here")
	w.settle(t)
	w.write("moved/here/b.md", "# written in its new folder\n")
	w.write("deep/er/c/d.md", "# written in a new folder of the old name\n")
	w.settle(t)
	w.write("deep/er/c/d.md", "# written again\n")
	w.remove("moved")
	w.write(".gitignore", "*.log\n/secret/\n")
	w.write("secret/x.md", "# x\n")
	w.write("noise.log", "x")
	w.settle(t)
	checkFresh(t, w.project, w.journal)
	w.write(".gitignore", "")
	w.settle(t)
	if _, found := w.project.Current().Document("secret/x.md"); !found {
		t.Error("secret/x.md is not ignored any more, and not in the index")
	}
	checkFresh(t, w.project, w.journal)
}

// A project may be a folder of a repository whose rules lie in the folders above it.
func TestWatchFollowsIgnoreFilesAboveTheProject(t *testing.T) {
	t.Parallel()
	tr := newTree(t)
	tr.write("repo/.git/HEAD", "")
	tr.write("repo/packages/one/private.md", "# private\n")
	w := watchTree(t, tree{t, tr.at("repo/packages/one")}, "**")
	for _, c := range []struct {
		file, rules string
		there       bool
	}{
		{"repo/.gitignore", "private.md\n", false},
		{"repo/packages/.gitignore", "!private.md\n", true},
		{"repo/packages/.gitignore", "/one/p*\n", false},
	} {
		tr.write(c.file, c.rules)
		tr.write("repo/packages/other.md", "# of nobody's interest here\n")
		w.settle(t)
		if _, there := w.project.Current().Document("private.md"); there != c.there {
			t.Errorf("%s says %q, and private.md is there: %v", c.file, c.rules, there)
		}
		checkFresh(t, w.project, w.journal)
	}
}

// What a repository excludes for itself is not in the project's own folders, and in
// a worktree not even below them.
func TestWatchFollowsTheExclusionsOfARepository(t *testing.T) {
	t.Parallel()
	tr := newTree(t)
	tr.write("main/.git/worktrees/w/commondir", "../..\n")
	tr.write("main/.git/info/exclude", "")
	tr.write("main/private.md", "# private\n")
	tr.write("w/.git", "gitdir: ../main/.git/worktrees/w\n")
	tr.write("w/private.md", "# private\n")
	main, worktree := watchTree(t, tree{t, tr.at("main")}, "**"), watchTree(t, tree{t, tr.at("w")}, "**")
	tr.write("main/.git/info/exclude", "private.md\n")
	tr.write("main/.git/info/refs", "x\n")
	for name, w := range map[string]*watched{"the repository": main, "its worktree": worktree} {
		w.settle(t)
		s := w.project.Current()
		if _, found := s.Document("private.md"); found {
			t.Errorf("%s still has private.md", name)
		}
		checkFresh(t, w.project, w.journal)
	}
}

func TestWatchSurvivesABurst(t *testing.T) {
	t.Parallel()
	tr := newTree(t)
	w := watchTree(t, tr, "**")
	// Some 10,000 events: files are made, changed, renamed and deleted while the
	// index is brought up, faster than it can be.
	for i := range 2500 {
		name := fmt.Sprintf("d%d/%d.md", i%20, i)
		w.write(name, fmt.Sprintf("# %d\n", i))
		switch i % 4 {
		case 0:
			w.write(name, fmt.Sprintf("# %d again\n", i))
		case 1:
			w.remove(name)
		case 2:
			w.rename(name, fmt.Sprintf("d%d/r%d.md", i%20, i))
		}
		if i == 1200 {
			w.remove("d3")
		}
	}
	w.settle(t)
	checkFresh(t, w.project, w.journal)
}

func TestWatchFollowsBranches(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed: there are no branches to switch")
	}
	tr := newTree(t)
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(git, append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Dir = tr.root
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	run("init", "-q", "-b", "one")
	for i := range 60 {
		tr.write(fmt.Sprintf("p%d/f%d.go", i%6, i), fmt.Sprintf("package p\n\nfunc F%d() {}\n", i))
	}
	run("add", ".")
	run("commit", "-q", "-m", "one")
	run("switch", "-q", "-c", "two")
	run("rm", "-q", "-r", "p0", "p1")
	for i := range 60 {
		tr.write(fmt.Sprintf("q%d/g%d.go", i%5, i), "package q\n")
	}
	run("mv", "p2", "renamed")
	run("add", ".")
	run("commit", "-q", "-m", "two")
	w := watchTree(t, tr, "**/*.go", "*.md")
	for _, branch := range []string{"one", "two", "one", "two"} {
		run("switch", "-q", branch)
	}
	w.settle(t)
	checkFresh(t, w.project, w.journal)
	run("switch", "-q", "one")
	w.settle(t)
	checkFresh(t, w.project, w.journal)
}

func TestWatchLooksEverywhereWhenTheQueueRanOver(t *testing.T) {
	t.Parallel()
	tr := newTree(t)
	tr.write("a.md", "# a\n")
	p := tr.open(&journal{})
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		t.Skipf("the platform does not tell of changes: %v", err)
	}
	defer func() { _ = watcher.Close() }()
	events, lost := make(chan fsnotify.Event), make(chan error)
	watcher.Events, watcher.Errors = events, lost // what happens is not heard
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = newWatch(p, watcher, nil).run(ctx)
	}()
	s := p.Await(ctx, 0)
	tr.write("b.md", "# b\n")
	lost <- fsnotify.ErrEventOverflow
	if s = p.Await(ctx, s.Revision); s.Len() != 2 {
		t.Errorf("%d documents", s.Len())
	}
	cancel()
	<-done
}

// TestWatchEndsWhereFoldersAreTooMany: the index is up to the files then, what
// was taken is given back, and whoever searches is told to look.
func TestWatchEndsWhereFoldersAreTooMany(t *testing.T) {
	t.Parallel()
	tr := newTree(t)
	tr.write("a/a.md", "# a\n")
	tr.write("b/b.md", "# b\n")
	p := tr.open(&journal{})
	p.options.Watches = NewWatches(2)
	if err := p.Watch(t.Context(), nil); !errors.Is(err, ErrUnwatched) {
		t.Errorf("%v", err)
	}
	if p.Current() == nil || p.Current().Len() != 2 || p.options.Watches.left != 2 {
		t.Errorf("%d documents, %d of 2 places are free", p.Current().Len(), p.options.Watches.left)
	}
}

// TestWatchGivesFoldersBack: those that are gone take no place.
func TestWatchGivesFoldersBack(t *testing.T) {
	t.Parallel()
	tr := newTree(t)
	tr.write("a/b/c.md", "# c\n")
	w := watchTree(t, tr)
	watches := NewWatches(10)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := tr.open(&journal{})
	p.options.Watches = watches
	done := make(chan struct{})
	go func() { defer close(done); _ = p.Watch(ctx, nil) }()
	s := p.Await(ctx, 0)
	w.remove("a")
	for s.Len() > 1 {
		s = p.Await(ctx, s.Revision)
	}
	w.write("d/e.md", "# e\n")
	for ; s.Len() < 2; s = p.Await(ctx, s.Revision) {
	}
	watches.mu.Lock()
	left := watches.left
	watches.mu.Unlock()
	if left < 10-2 {
		t.Errorf("%d of 10 places are free with two folders", left)
	}
	cancel()
	if <-done; watches.left != 10 {
		t.Errorf("%d of 10 places are free at the end", watches.left)
	}
}
