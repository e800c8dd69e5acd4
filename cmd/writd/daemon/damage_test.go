package daemon

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/schemas"
)

// TestNoteOfLostRecordsIsNotBelieved where the records are there: a note that a
// flipped bit changed would have the log say that sound records are lost.
func TestNoteOfLostRecordsIsNotBelieved(t *testing.T) {
	data, project := t.TempDir(), newProject(t, "mode: work\n")
	w := start(t, data, project)
	w.prompt("look")
	before := w.history("s1")
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(config.Layout{Root: data}.Log(), "lost.json"), `[{"stream": "WRIT_SESSIONS", "first": 1, "last": 2}]`)
	for range 2 { // told each time
		w = start(t, data, project)
		s, err := call[schemas.Status](w, w.admin, schemas.SvcStatus, struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(s.Warnings, func(line string) bool {
			return strings.Contains(line, "records 1 to 2") && strings.Contains(line, "writ repair")
		}) {
			t.Errorf("warnings: %q", s.Warnings)
		}
		if after := w.history("s1"); len(after) != len(before) {
			t.Errorf("%d of %d events are left", len(after), len(before))
		}
		if err := w.stop(); err != nil {
			t.Fatal(err)
		}
	}
}
