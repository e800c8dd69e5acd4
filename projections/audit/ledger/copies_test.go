package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// archivedOutside is a log with a segment in a folder outside of it.
func archivedOutside(t *testing.T) (a *archiving, cold string) {
	t.Helper()
	a, cold = newArchiving(t), t.TempDir()
	a.archiver.Settings.To = cold
	a.session(t, "said", 30, true)
	a.session(t, "other", 30, true)
	if n := a.run(t); n != 59 {
		t.Fatalf("%d left", n)
	}
	return a, cold
}

// copied is a log that goes on from the folder of another, which is stopped: elsewhere,
// or at its place, where that was restored and the other one moved away.
func (a *archiving) copied(t *testing.T, restored bool) *archiving {
	t.Helper()
	a.stop()
	a.stop = func() {}
	b := &archiving{dir: t.TempDir(), now: a.now, ctx: a.ctx}
	must(t, os.CopyFS(b.dir, os.DirFS(a.dir)))
	secrets, err := filepath.Glob(b.file("credentials/*"))
	must(t, err)
	for _, name := range secrets {
		must(t, os.Chmod(name, 0o600))
	}
	if restored {
		a.dir, b.dir = b.dir, a.dir
		must(t, NoteRestore(b.file("restored.json"), schemas.LogRestored{Backup: time.Now(), Manifest: "0123456789abcdef", Restored: time.Now()}))
	}
	for _, log := range []*archiving{a, b} {
		log.open(t)
		t.Cleanup(func() { log.stop() })
	}
	must(t, b.audit.Acknowledge(t.Context(), b.file("restored.json"), b.log))
	return b
}

// TestCopiesShareNoSegment: what a copy of a log forgets, writes or repairs changes
// nothing of what the other one has.
func TestCopiesShareNoSegment(t *testing.T) {
	for name, restored := range map[string]bool{"a copy elsewhere": false, "restored at its place": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, cold := archivedOutside(t)
			was := a.holds(t, nil)
			b := a.copied(t, restored)
			b.holds(t, was)
			b.forget(t, "said")
			b.again(t)
			if _, texts := b.segment(t); strings.Count(texts, "what was said") != 29*20 {
				t.Errorf("the copy has what it forgot")
			}
			if _, texts := a.segment(t); strings.Count(texts, "what was said") != 58*20 {
				t.Errorf("the other one lost what the copy forgot")
			}
			bus.ArchiveOf(a.conn).Relax()
			a.holds(t, was)
			for text, log := range map[string]*archiving{"one": a, "two": b} {
				log.archiver.Settings.To = cold
				log.session(t, text, 40, true)
				if n := log.run(t); n < 40 {
					t.Errorf("%s, %d left", text, n)
				}
			}
			path, _ := b.segment(t)
			flip(t, path)
			b.stop()
			if _, err := RepairArchive(b.file("streams"), b.file("archive"), "", false); err != nil {
				t.Error(err)
			}
			b.open(t)
			bus.ArchiveOf(a.conn).Relax()
			a.audit.Seal(t.Context())
			a.archiver.look(t.Context())
			if _, texts := a.segment(t); strings.Count(texts, "what was said") != 58*20 || len(a.archiver.Problems()) > 0 {
				t.Errorf("then %v", a.archiver.Problems())
			}
			a.holds(t, nil)
			if found, err := filepath.Glob(filepath.Join(cold, "*", "*.zst")); err != nil || len(found) != 3 {
				t.Errorf("%v, %v", found, err)
			}
		})
	}
}
