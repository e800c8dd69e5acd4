package sharedmemory

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/writbus/writ/observer/observation/scope"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

type memory struct{ Memory }

func (memory) Accepted(_ context.Context, id, in string) (schemas.MemoryItem, error) {
	return schemas.MemoryItem{ObservationID: id, Scope: in, Text: "tests run with -count=1", Time: time.Now()}, nil
}

func (memory) Clean(text string) string { return text }

type machine struct {
	*Service
	t           *testing.T
	key, person string
}

func (m *machine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// newMachine is one with scopes of its own.
func newMachine(t *testing.T, scopes ...string) *machine {
	m := &machine{Service: &Service{Options: Options{Folder: t.TempDir(), Memory: memory{}, Now: time.Now, Persons: func(context.Context) []string { return nil }}}, t: t}
	var err error
	m.kept, err = load(m.Folder)
	m.must(err)
	m.must(m.kept.save(m.Folder))
	m.key, err = evidence.NewKey("ann")
	m.must(err)
	_, m.person, err = evidence.ReadKey(m.key)
	m.must(err)
	for _, name := range scopes {
		r := schemas.ScopeRequest{Act: schemas.ScopeNew, Name: name, Person: m.person}
		for range 3 {
			reply, err := m.change(t.Context(), r)
			m.must(err)
			r.Signed, err = scope.Sign(reply.Sign, m.key)
			m.must(err)
			if len(reply.Sign) == 0 {
				break
			}
		}
	}
	return m
}

// draft is what is to be signed to share something.
func (m *machine) draft(name string) ([]schemas.ScopeToSign, error) {
	reply, err := m.share(m.t.Context(), schemas.ScopeRequest{Name: name, ID: "o1", From: "/p", Person: m.person})
	return reply.Sign, err
}

// TestARestoreIsReadScopeByScope: a folder that has nothing of what this machine shared with
// a scope does not say what that was.
func TestARestoreIsReadScopeByScope(t *testing.T) {
	m := newMachine(t, "one", "two")
	draft, err := m.draft("one")
	m.must(err)
	signed, err := scope.Sign(draft, m.key)
	m.must(err)
	m.restores++
	empty, had := t.TempDir(), t.TempDir()
	m.must(os.WriteFile(filepath.Join(had, "record"+Extension), signed[0], 0o600))
	for _, c := range []struct {
		folder   string
		one, two bool
	}{{"", false, false}, {empty, false, false}, {had, true, false}} {
		if c.folder != "" {
			_, err := m.readIn(t.Context(), schemas.ScopeRequest{Dir: c.folder})
			m.must(err)
		}
		for name, may := range map[string]bool{"one": c.one, "two": c.two} {
			if _, err := m.draft(name); (err == nil) != may {
				t.Errorf("after %q something is shared with %s: %v", c.folder, name, err)
			}
		}
	}
	again, err := load(m.Folder)
	if err != nil || again.Scopes["one"].Restores != 1 || again.Scopes["two"].Restores != 0 {
		t.Errorf("it is not kept: %v", err)
	}
}

// TestATombstoneThatCouldNotBeKeptIsTakenAgain: until it is, the record is still here, and a
// retry takes it out.
func TestATombstoneThatCouldNotBeKeptIsTakenAgain(t *testing.T) {
	m := newMachine(t, "one")
	draft, err := m.draft("one")
	m.must(err)
	signed, err := scope.Sign(draft, m.key)
	m.must(err)
	k := m.kept.Scopes["one"]
	k.mine[1] = mine{Number: 1, Record: signed[0], Tombstone: signed[1]}
	path := mineFile(m.Folder, "one", 1)
	m.must(os.MkdirAll(path, 0o700)) // no file can be there
	if err := m.take(t.Context(), signed[1]); err == nil {
		t.Fatal("it was kept")
	}
	m.must(os.Remove(path))
	m.must(m.take(t.Context(), signed[1]))
	all, err := own(m.Folder, "one")
	if one, is := all[1]; err != nil || !is || one.Record != nil || k.mine[1].Record != nil {
		t.Errorf("the record is here: %+v, %v", all, err)
	}
}
