package turn

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/schemas"
)

func (f *fullLog) Peek(_ context.Context, id string) (enforcement.State, error) {
	return f.state[id], nil
}

// TestARunShowsNothingOfCodeThatChangedMeanwhile: tests that passed in the
// background passed for the code that they ran with.
func TestARunShowsNothingOfCodeThatChangedMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(root string, s *enforcement.State)
		shows     bool
	}{
		"nothing changed":      {func(string, *enforcement.State) {}, true},
		"a file that was read": {func(root string, _ *enforcement.State) { writeFile(t, filepath.Join(root, "a.go"), "package b\n") }, false},
		"another file": {func(root string, s *enforcement.State) {
			writeFile(t, filepath.Join(root, "b.go"), "package a\n")
			s.Written = append(s.Written, "b.go")
		}, false},
	} {
		root := t.TempDir()
		writeFile(t, filepath.Join(root, "a.go"), "package a\n")
		state := enforcement.State{Mode: enforcement.ModeWork, Work: enforcement.Work{Phase: enforcement.PhaseImplementation}, Written: []string{"a.go"}}
		log := &fullLog{state: map[string]enforcement.State{"s1": state}}
		runs := testRuns{sessions: log, now: time.Now}
		at := turn{Call: host.Call{Session: "s1", Kind: host.Stop}, project: project.Project{Root: root}}
		run := pendingRun{TestRun: schemas.TestRun{ID: "r1", Files: []schemas.TestFile{{Path: "a_test.go"}}}, until: time.Now().Add(time.Hour), written: statesOf(at, state.Written)}
		if !runs.begin("s1", run, time.Now()) {
			t.Fatal("a run is under way")
		}
		c.meanwhile(root, &state)
		log.state["s1"] = state
		raw, err := json.Marshal(schemas.TestResult{ID: "r1", Files: []schemas.TestFileResult{{Path: "a_test.go", Passed: 1}}})
		if err != nil {
			t.Fatal(err)
		}
		got := runs.reported(t.Context(), at, schemas.Header{schemas.HookHeaderTests: {base64.StdEncoding.EncodeToString(raw)}})
		if got == nil || (len(got.seen) == 1) != c.shows {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestATurnEndsWithTestsOfItsOwn: those of an earlier turn, which go on in the
// background, stand for them only while the files are as they were.
func TestATurnEndsWithTestsOfItsOwn(t *testing.T) {
	root, now := t.TempDir(), time.Now()
	writeFile(t, filepath.Join(root, "a.go"), "package a\n")
	runs := testRuns{now: func() time.Time { return now }}
	at := turn{Call: host.Call{Session: "s1", Kind: host.Stop}, project: project.Project{Root: root}}
	run := func(id string) pendingRun {
		return pendingRun{TestRun: schemas.TestRun{ID: id}, until: now.Add(time.Hour), files: []string{"a.go"}, were: statesOf(at, []string{"a.go"})}
	}
	underWay := func(waited, behind bool) {
		t.Helper()
		if w, b := runs.underWay(at); w != waited || b != behind {
			t.Errorf("waited for %v, in the background %v", w, b)
		}
	}
	if !runs.begin("s1", run("r1"), now) {
		t.Fatal("a run is under way")
	}
	underWay(true, false)
	if runs.begin("s1", run("r2"), now) {
		t.Error("the same end of a turn, told twice, runs the tests twice")
	}
	if _, asked := runs.end("s1", schemas.TestResult{ID: "r1", Behind: true}); !asked {
		t.Fatal("r1 is not known")
	}
	underWay(false, true)
	if runs.begin("s1", run("r3"), now) {
		t.Error("what the run in the background shows is run once more")
	}
	writeFile(t, filepath.Join(root, "a.go"), "package b\n")
	underWay(false, false)
	if !runs.begin("s1", run("r4"), now) {
		t.Error("a changed file is not tested while an earlier run goes on")
	}
	underWay(true, false)
	for _, id := range []string{"r4", "r1"} {
		if _, asked := runs.end("s1", schemas.TestResult{ID: id}); !asked {
			t.Errorf("the result of %s is not taken", id)
		}
	}
	underWay(false, false)
	for range 3 * keptRuns {
		id := rand.Text()
		more := run(id)
		more.files = []string{id}
		if !runs.begin("s1", more, now) {
			t.Fatal("not begun")
		}
		runs.end("s1", schemas.TestResult{ID: id, Behind: true})
	}
	if kept := len(runs.bySession["s1"]); kept != keptRuns {
		t.Errorf("%d runs are kept", kept)
	}
	now = now.Add(2 * time.Hour)
	runs.begin("s2", run("r5"), now)
	if len(runs.bySession) != 1 {
		t.Errorf("%d sessions are kept", len(runs.bySession))
	}
}
