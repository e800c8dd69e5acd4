package turn

import (
	"context"
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
