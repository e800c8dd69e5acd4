package library

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/retrieval/artifact/search"
	"github.com/writbus/writ/retrieval/files"
	"github.com/writbus/writ/retrieval/files/finder"
	"github.com/writbus/writ/schemas"
)

// shelf is a library without a log, with projects that are open and built.
func shelf(t *testing.T, o Options) *Library {
	t.Helper()
	o.Lean, o.Now, o.Logger = func() func() { return func() {} }, time.Now, slog.New(slog.DiscardHandler)
	o.Warn = func(text string) { t.Log(text) }
	o.Waits = Waits{Compare: 5 * time.Minute, Load: 5 * time.Minute, Answer: 5 * time.Minute}
	o.Data = t.TempDir()
	l := New(o)
	var end context.CancelFunc
	l.running, end = context.WithCancel(context.Background())
	l.saving = context.Background()
	t.Cleanup(func() { end(); l.wait.Wait() })
	return l
}

func (l *Library) shelve(t *testing.T) *project {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put(t, root, "a.md", "# Alpha\n")
	p := &project{id: root, opened: make(chan struct{}), exists: true, used: time.Now()}
	p.Project, err = files.Open(files.Options{
		Root: root, Now: time.Now, Workers: 1, Watches: l.watches, Saved: l.file(root),
		Record: func(context.Context, []schemas.Payload) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	p.finder = finder.New(p.Project, time.Now)
	if _, err := p.Update(t.Context(), files.Update{}); err != nil {
		t.Fatal(err)
	}
	close(p.opened)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.projects[root] = p
	return p
}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func has(p *project, path string) bool {
	_, found := p.Current().Document(path)
	return found
}

// unwatched is a project whose files are not watched, and were looked at so
// lately that no search looks again.
func (l *Library) unwatched(t *testing.T) *project {
	p := l.shelve(t)
	p.fresh.unwatched, p.checked = "it is a test", time.Now().Add(time.Hour)
	return p
}

// TestASearchFindsWhatAnAgentWrote: what a turn tells is in the index before the
// next search, with nothing else to tell of it.
func TestASearchFindsWhatAnAgentWrote(t *testing.T) {
	l := shelf(t, Options{})
	p, other := l.unwatched(t), l.unwatched(t)
	put(t, p.id, "b.md", "# Beta\n")
	put(t, other.id, "b.md", "# Beta\n")
	l.Wrote([]string{filepath.Join(p.id, "b.md"), filepath.Join(p.id, "..", "none.md")})
	l.settle(t.Context(), p)
	l.settle(t.Context(), other)
	if !has(p, "b.md") || has(other, "b.md") {
		t.Errorf("b.md is in the index: %t; in that of the project that was told nothing: %t", has(p, "b.md"), has(other, "b.md"))
	}
	if age, _ := p.Age(); age < 0 || p.status().Index.AgeSeconds < 0 {
		t.Error("the index is younger than now")
	}
	if err := os.Remove(filepath.Join(p.id, "b.md")); err != nil {
		t.Fatal(err)
	}
	l.Wrote([]string{filepath.Join(p.id, "b.md")})
	if l.settle(t.Context(), p); has(p, "b.md") {
		t.Error("a file that an agent removed is still in the index")
	}
}

// TestFilesThatNobodyWatchesAreLookedAtBeforeASearch: also where the session
// begins.
func TestFilesThatNobodyWatchesAreLookedAtBeforeASearch(t *testing.T) {
	l := shelf(t, Options{})
	p := l.unwatched(t)
	p.checked = time.Time{}
	put(t, p.id, "b.md", "# Beta\n")
	if l.settle(t.Context(), p); !has(p, "b.md") {
		t.Error("a new file is not found")
	}
	if s := p.status(); s.Watching || s.Unwatched == "" {
		t.Errorf("the status says %+v", s)
	}
	p.checked = time.Now().Add(time.Hour)
	put(t, p.id, "c.md", "# Gamma\n")
	l.Began(p.id, true)
	p.mu.Lock()
	looking := p.fresh.looking
	p.mu.Unlock()
	if looking != nil {
		<-looking
	}
	if !has(p, "c.md") {
		t.Error("a session began, and the files were not looked over")
	}
}

// TestAnIndexThatIsUsedIsWatched: by itself, and no longer than it is kept.
func TestAnIndexThatIsUsedIsWatched(t *testing.T) {
	l := shelf(t, Options{})
	p := l.shelve(t)
	l.settle(t.Context(), p)
	if !p.isWatched() {
		t.Fatalf("%+v", p.status())
	}
	before := p.Current().Revision
	put(t, p.id, "b.md", "# Beta\n")
	for s := p.Await(t.Context(), before); !has(p, "b.md"); s = p.Await(t.Context(), s.Revision) {
		if t.Context().Err() != nil {
			t.Fatal("a new file is not found")
		}
	}
	var others []*project
	for range mostWatched {
		o := l.shelve(t)
		l.settle(t.Context(), o)
		others = append(others, o)
	}
	if p.isWatched() || !others[0].isWatched() {
		t.Error("of too many projects the one that was used first is not the one that is no longer watched")
	}
}

// TestProjectsLeaveMemoryByUse: where all together take too much, those that were
// used least lately are saved and let go.
func TestProjectsLeaveMemoryByUse(t *testing.T) {
	l := shelf(t, Options{Memory: 1})
	first, second, last := l.shelve(t), l.shelve(t), l.shelve(t)
	first.used, second.used = time.Now().Add(-time.Hour), time.Now()
	l.settle(t.Context(), first)
	l.trim(last)
	l.mu.Lock()
	_, one := l.projects[first.id]
	_, two := l.projects[second.id]
	_, three := l.projects[last.id]
	leaving := l.leaving[first.id]
	l.mu.Unlock()
	if one || !two || !three {
		t.Errorf("kept: the first %t, one that is in use %t, the last %t", one, two, three)
	}
	if leaving != nil {
		<-leaving
	}
	if _, err := os.Stat(l.file(first.id)); err != nil || first.isWatched() {
		t.Errorf("saved: %v; watched: %t", err, first.isWatched())
	}
}

// TestAProjectWithoutAnIndexGetsOne: where a session begins, it is under version
// control, and neither too small nor a folder of everything.
func TestAProjectWithoutAnIndexGetsOne(t *testing.T) {
	for name, c := range map[string]struct {
		versioned, home, index bool
		files                  int
		made                   bool
		declined               string
	}{
		"made":                    {versioned: true, index: true, files: 30, made: true},
		"switched off":            {versioned: true, files: 30},
		"without version control": {index: true, files: 30},
		"that holds the home":     {versioned: true, home: true, index: true, files: 30},
		"that needs none":         {versioned: true, index: true, files: 3, declined: "fewer than 20 files"},
	} {
		t.Run(name, func(t *testing.T) {
			l := shelf(t, Options{})
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			home := t.TempDir()
			if c.home {
				home = filepath.Join(root, "home")
			}
			t.Setenv("HOME", home)
			for i := range c.files {
				put(t, root, fmt.Sprintf("%05d.md", i), "# A\n")
			}
			if c.versioned {
				if err := os.Mkdir(filepath.Join(root, ".git"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			p := &project{id: root, opened: make(chan struct{}), used: time.Now()}
			p.Project, err = files.Open(files.Options{
				Root: root, Now: time.Now, Workers: 1, Watches: l.watches,
				Record: func(context.Context, []schemas.Payload) error { return nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			close(p.opened)
			l.projects[root] = p
			l.o.Waits.Open = 5 * time.Minute
			l.Began(root, c.index)
			for busy := true; busy; runtime.Gosched() {
				l.mu.Lock()
				busy = l.loading[root]
				l.mu.Unlock()
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			if made := p.Current() != nil; made != c.made || !strings.Contains(p.declined, c.declined) || (p.declined != "") != (c.declined != "") {
				t.Errorf("made %t, declined %q, failed %v", made, p.declined, p.failed)
			}
		})
	}
}

// TestAnIndexThatIsLostIsLetGo: the next request takes it up anew.
func TestAnIndexThatIsLostIsLetGo(t *testing.T) {
	l := shelf(t, Options{})
	p := l.shelve(t)
	err := asked(l, p, fmt.Errorf("a search: %w", search.ErrLost))
	var fault schemas.Fault
	if !errors.As(err, &fault) || fault.Code() != schemas.CodeNotReady {
		t.Errorf("who searches hears %v", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.projects[p.id] != nil {
		t.Error("an index that cannot be read is kept")
	}
}
