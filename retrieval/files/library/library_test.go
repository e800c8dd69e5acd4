package library

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/writbus/writ/retrieval/files"
	"github.com/writbus/writ/schemas"
)

// TestABuildCountsBeforeTheProjectIsOpen: while the log is still being read, an
// update that was asked for is one that runs, and it waits for its project.
func TestABuildCountsBeforeTheProjectIsOpen(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.md"), []byte("# A\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := New(Options{Lean: func() func() { return func() {} }, Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	p := &project{id: root, opened: make(chan struct{})}
	var end context.CancelFunc
	l.running, end = context.WithCancel(t.Context())
	done := l.begin(p, files.Update{})
	p.mu.Lock()
	if p.building != done {
		t.Error("no update runs")
	}
	p.mu.Unlock()
	select {
	case <-done:
		t.Error("it ended before the project was open")
	default:
	}
	var err error
	p.Project, err = files.Open(files.Options{Root: root, Now: time.Now, Workers: 1, Record: func(context.Context, []schemas.Payload) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	close(p.opened)
	<-done
	if status := p.status(); status.State != "ready" || status.Documents != 1 {
		t.Errorf("%+v", status)
	}
	end()
	l.wait.Wait()

	l.running = t.Context()
	closed := &project{id: root, opened: make(chan struct{}), closed: errors.New("no")}
	done = l.begin(closed, files.Update{})
	close(closed.opened)
	<-done
	if l.wait.Wait(); closed.building != nil || closed.exists {
		t.Errorf("a project that cannot be opened was updated: %+v", closed)
	}
}

func TestFilesAreLookedAtAsOftenAsThatIsCheap(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		took, since time.Duration
		due         bool
	}{
		"not known yet":         {0, 400 * time.Millisecond, false},
		"not known, long ago":   {0, 3 * time.Second, true},
		"a small project":       {time.Millisecond, 21 * time.Millisecond, true},
		"a small one, just now": {time.Millisecond, 19 * time.Millisecond, false},
		"a large project":       {time.Second, time.Second, true},
		"a large one, just now": {time.Second, 400 * time.Millisecond, false},
	} {
		p := &project{comparing: c.took, checked: at}
		if now := at.Add(c.since); p.due(now) != c.due {
			t.Errorf("%s: due %t, wanted %t", name, !c.due, c.due)
		}
	}
}
