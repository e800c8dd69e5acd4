package ledger

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/writbus/writ/bus"
)

// TestCutBackOfAnArchivedLog: it goes back to a moment after events were archived, and
// to none before, which it changes nothing for.
func TestCutBackOfAnArchivedLog(t *testing.T) {
	a := newArchiving(t)
	a.session(t, "one", 30, true)
	a.session(t, "live", 3, false)
	before := time.Now()
	a.run(t)
	want := a.holds(t, nil)
	after := time.Now()
	a.session(t, "later", 3, false)
	a.holds(t, nil)
	a.stop()
	must(t, os.CopyFS(a.file("copy"), os.DirFS(a.file("streams"))))
	if err := CutBack(a.file("streams"), a.file("audit"), before); !errors.Is(err, ErrMoment) || !strings.Contains(err.Error(), "archived") || !strings.Contains(err.Error(), "earlier backup") {
		t.Errorf("before: %v", err)
	}
	if diff := cmp.Diff(sizes(t, a.file("copy")), sizes(t, a.file("streams"))); diff != "" {
		t.Errorf("it changed something: %s", diff)
	}
	must(t, CutBack(a.file("streams"), a.file("audit"), after))
	must(t, os.RemoveAll(a.file("views")))
	must(t, os.Remove(a.file("witness"))) // which remembers what was signed later; see Acknowledge
	a.open(t)
	a.holds(t, want)
	a.run(t) // the records of the first file came back with it
	a.holds(t, want)
	if first := a.stored(t); first != 33 {
		t.Errorf("the stream begins at %d", first)
	}
	if state, err := a.conn.State(t.Context(), bus.ArchivedStream); err != nil || state.First != 1 || state.Last != 33 {
		t.Errorf("with the archive: %+v, %v", state, err)
	}
}

// sizes are those of the files below a folder.
func sizes(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	must(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		all[name] = info.Size()
		return err
	}))
	return all
}
