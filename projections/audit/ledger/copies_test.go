package ledger

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/blockfile"
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
// or at its place, where that was restored and the other one moved away. Something may be
// done to it between, before it starts.
func (a *archiving) copied(t *testing.T, restored bool, between func(b *archiving)) *archiving {
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
	if between != nil {
		between(b)
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
			b := a.copied(t, restored, nil)
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
			if _, err := RepairArchive(b.file("streams"), b.file("restored.json"), b.file("archive"), "", false); err != nil {
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

// TestARepairBeforeTheFirstStartSparesOthers: what was restored and not yet started is
// another log than the one whose segments it reads.
func TestARepairBeforeTheFirstStartSparesOthers(t *testing.T) {
	a, _ := archivedOutside(t)
	path, _ := a.segment(t)
	backup := t.TempDir()
	must(t, os.Rename(path, filepath.Join(backup, filepath.Base(path))))
	must(t, os.WriteFile(path, []byte("its disk fails"), 0o600))
	b := a.copied(t, true, func(b *archiving) {
		done, err := RepairArchive(b.file("streams"), b.file("restored.json"), b.file("archive"), backup, false)
		if err != nil || len(done) != 1 || done[0].How != blockfile.Restored {
			t.Errorf("%+v, %v", done, err)
		}
	})
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "its disk fails" {
		t.Errorf("the first log's segment was written: %v", err)
	}
	b.holds(t, nil)
}

// TestCopiesAtOnePathShareNoSegment: two machines may have a log at the same path, of which
// one is a copy, and one folder for segments.
func TestCopiesAtOnePathShareNoSegment(t *testing.T) {
	a, cold := newArchiving(t), t.TempDir()
	a.session(t, "said", 30, true)
	b := a.copied(t, false, nil)
	own, err := ownFolder(t.Context(), a.conn, a.file("streams"))
	must(t, err)
	for text, log := range map[string]*archiving{"one": a, "two": b} {
		log.archiver.Settings.To, log.archiver.Store = cold, log.file("streams")
		log.session(t, text, 40, true)
	}
	if n := a.run(t); n != 69 {
		t.Errorf("%d left", n)
	}
	path, _ := a.segment(t)
	if !strings.HasSuffix(filepath.Dir(path), own) {
		t.Errorf("it lies in %s", path)
	}
	// The other one's first segment is to have the same name.
	other, err := ownFolder(t.Context(), b.conn, b.file("streams"))
	must(t, err)
	there := filepath.Join(cold, b.audit.key.signer.Name()+other, filepath.Base(path))
	raw, err := os.ReadFile(path)
	must(t, err)
	must(t, os.MkdirAll(filepath.Dir(there), 0o700))
	must(t, os.WriteFile(there, raw, 0o600))
	if n := b.run(t); n != 69 {
		t.Errorf("%d left of the other", n)
	}
	if now, err := os.ReadFile(there); err != nil || !bytes.Equal(now, raw) {
		t.Errorf("what lay there was written anew, %v", err)
	}
	if second, _ := b.segment(t); filepath.Dir(second) != filepath.Dir(there) || second == there {
		t.Errorf("its segment is %s", second)
	}
	b.holds(t, nil)
}
