package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/bus"
)

// TestACutOutlivesWhatLeaves copies a moment of the log after all that can leave has left:
// a backup takes long, and nobody waits for it.
func TestACutOutlivesWhatLeaves(t *testing.T) {
	a := newArchiving(t)
	const records = 130
	must(t, a.says("one", strings.Repeat("x", 5<<10), records, true)) // 13 MB, more than a file
	cut, err := a.server.Cut()
	must(t, err)
	if left := a.run(t); left == 0 {
		t.Fatal("nothing left")
	}
	b := &archiving{dir: t.TempDir(), now: a.now, ctx: a.ctx}
	for _, part := range cut.Parts {
		path := filepath.Join(b.file("streams"), filepath.FromSlash(part.Name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		file, err := os.Create(path)
		must(t, err)
		must(t, errors.Join(part.Copy(file), file.Close()))
	}
	must(t, cut.Close())
	b.open(t)
	defer b.stop()
	if state, err := bus.Stored(t.Context(), b.conn, bus.ArchivedStream); err != nil || state.First != 1 || state.Messages != records {
		t.Errorf("it has %+v, %v", state, err)
	}
	if left, err := filepath.Glob(filepath.Join(a.file("streams"), ".probe-*")); err != nil || len(left) > 0 {
		t.Errorf("of the cut is left %v, %v", left, err)
	}
}
