package turn

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine"
	"github.com/writbus/writ/enforcement/confine/worktree"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/schemas"
)

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestWhatToolsWriteWhileAJobIsComparedIsTheirs: a tool may report between the look
// at the tree and its end, and its write then shows in the look after that one.
func TestWhatToolsWriteWhileAJobIsComparedIsTheirs(t *testing.T) {
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "a.go"), "package a\n")
	command := "make &"
	at := turn{Call: host.Call{Session: "s1", ToolUseID: "t1", Shell: &command}, project: project.Project{Root: root}}
	tree, err := worktree.ReadTree(worktree.TreeOptions{Root: root}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var left leftRunning
	left.keep(at, tree)
	one := left.bySession["s1"]
	reads := one.tree
	look := func(tools ...func()) (changes []worktree.Change) {
		t.Helper()
		before := left.look(one)
		tools[0]()
		changes, next, err := one.tree.Changes()
		for _, tool := range tools[1:] {
			tool()
		}
		changes, _, err = left.looked(one, before, changes, next, err)
		if err != nil {
			t.Fatal(err)
		}
		return changes
	}
	put := func(name string) func() {
		return func() { writeFile(t, filepath.Join(root, name), "package a\n") }
	}
	wrote := func(names ...string) func() { return func() { left.wrote("s1", names) } }
	if got := look(put("b.go"), wrote("b.go"), put("c.go"), wrote("c.go")); len(got) != 0 {
		t.Errorf("what a tool wrote meanwhile counts as the job's: %+v", got)
	}
	if got := look(put("d.go")); len(got) != 1 || got[0].Path != "d.go" {
		t.Errorf("what a tool reported late, or what the job did, is mistaken: %+v", got)
	}
	// A look that fails forgets nothing of whose writes are whose.
	left.keep(at, reads)
	left.wrote("s1", []string{"d.go"})
	if err := os.Rename(root, root+"-gone"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := left.compare("s1", false); err == nil {
		t.Error("a tree that is gone was compared")
	}
	if err := os.Rename(root+"-gone", root); err != nil {
		t.Fatal(err)
	}
	changes, by, err := left.compare("s1", true)
	if err != nil || by == nil || len(changes) != 2 || changes[0].Path != "b.go" || changes[1].Path != "c.go" {
		t.Errorf("after a look that failed: %+v, %v", changes, err)
	}
	if changes, by, err := left.compare("s1", true); err != nil || by != nil || len(changes) != 0 {
		t.Errorf("told twice: %+v, %v", changes, err)
	}
}

// fullLog is sessions over a log that has no room, as long as it says so.
type fullLog struct {
	Sessions
	full  bool
	state map[string]enforcement.State
	acts  []string
}

var errFull = errors.New("no room")

func (f *fullLog) Act(_ context.Context, id string, _ schemas.Actor, _ string, decide func(enforcement.State) (enforcement.Decision, error), _ ...string) (enforcement.Decision, enforcement.State, error) {
	if f.full {
		return enforcement.Decision{}, enforcement.State{}, errFull
	}
	d, err := decide(f.state[id])
	for _, p := range d.Record {
		f.acts = append(f.acts, id+" "+string(p.EventType()))
	}
	return d, f.state[id], err
}

func (f *fullLog) Workspace(context.Context, project.Project, string, enforcement.State) enforcement.Workspace {
	return enforcement.Workspace{}
}

// TestWhatALogHadNoRoomForIsRecordedLater: what a command did is not forgotten where
// the log cannot take it when the command ends.
func TestWhatALogHadNoRoomForIsRecordedLater(t *testing.T) {
	log := &fullLog{full: true, state: map[string]enforcement.State{"s1": {Mode: enforcement.ModeWork, Work: enforcement.Work{Phase: enforcement.PhasePlanning}}}}
	a := afterwards{sessions: log}
	at := turn{Call: host.Call{Session: "s1", ToolUseID: "t1", Kind: host.AfterTool}, project: project.Project{Root: "/p"}}
	changes := []enforcement.TreeChange{{Target: schemas.Target{Path: "/p/a.go", Rel: "a.go", Class: enforcement.ClassCode}, Change: confine.Changed}}
	for _, session := range []string{"s1", "s1/worker", "other"} {
		if _, err := a.check(t.Context(), at, session, nil, changes); !errors.Is(err, errFull) {
			t.Fatal(err)
		}
	}
	if _, err := a.sinceEnded(t.Context(), at, "s1", nil); !errors.Is(err, errFull) {
		t.Errorf("a log without room: %v", err)
	}
	log.full = false
	log.state["s1/worker"], log.state["other"] = log.state["s1"], log.state["s1"]
	d, err := a.sinceEnded(t.Context(), at, "s1", nil)
	if err != nil || len(log.acts) == 0 || log.acts[0] != "s1 write.unapproved" {
		t.Errorf("recorded %q, %v", log.acts, err)
	}
	if d.Notice == "" || d.Context == "" {
		t.Errorf("told %+v", d)
	}
	own, workers, others := 0, 0, 0
	for _, act := range log.acts {
		switch act {
		case "s1 write.unapproved":
			own++
		case "s1/worker write.unapproved":
			workers++
		case "other write.unapproved":
			others++
		}
	}
	if own != 1 || workers != 1 || others != 0 {
		t.Errorf("recorded %q", log.acts)
	}
	log.acts = nil
	if _, err := a.sinceEnded(t.Context(), at, "s1", nil); err != nil || len(log.acts) > 0 {
		t.Errorf("recorded twice: %q, %v", log.acts, err)
	}
}
