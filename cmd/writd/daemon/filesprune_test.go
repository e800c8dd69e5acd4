package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/writbus/writ/retrieval/files"
	"github.com/writbus/writ/schemas"
)

// TestSavedIndexesOfNoProjectAreRemoved: of projects that are gone for a week, of
// saves that were killed, and what nobody can read; nothing else.
func TestSavedIndexesOfNoProjectAreRemoved(t *testing.T) {
	data, here, moved, gone := t.TempDir(), newProject(t, "mode: conversation\n"), t.TempDir(), t.TempDir()
	w := start(t, data, here)
	for _, project := range []string{here, moved, gone} {
		put(t, filepath.Join(project, "docs/a.md"), "# Gnomes\n")
		w.build(schemas.ArtifactBuildRequest{Project: project})
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(data, "artifacts")
	saved, err := filepath.Glob(filepath.Join(folder, "*.index"))
	if err != nil || len(saved) != 3 {
		t.Fatal(saved, err)
	}
	of := map[string]string{}
	for _, file := range saved {
		root, err := files.SavedRoot(file)
		if err != nil {
			t.Fatal(err)
		}
		of[root] = file
	}
	ofHere, ofMoved, ofGone := of[resolved(t, here)], of[resolved(t, moved)], of[resolved(t, gone)]
	put(t, filepath.Join(folder, "notes.txt"), "mine")
	put(t, filepath.Join(folder, "0123.index"), "no index")
	killed := filepath.Join(folder, ".writ-0000000000000001.tmp")
	put(t, killed, "half")
	saving := filepath.Join(folder, ".writ-0000000000000002.tmp")
	put(t, saving, "half, now")
	old := time.Now().Add(-8 * 24 * time.Hour)
	for _, file := range []string{ofHere, ofGone, killed} {
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	for _, project := range []string{moved, gone} {
		if err := os.RemoveAll(project); err != nil {
			t.Fatal(err)
		}
	}
	keep := []string{ofHere, ofMoved, saving, filepath.Join(folder, "notes.txt")}
	w = start(t, data, here)
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(keep)
	if !slices.Equal(left, keep) {
		t.Errorf("left: %q, want %q", left, keep)
	}
}
