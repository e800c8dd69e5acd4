//go:build unix

package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/writbus/writ/projections/audit"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

// TestAPlaceLeadsNowhereElse: a second place may lie where an agent writes. What it puts
// there has the daemon write or read nothing outside of it, and keeps it neither waiting
// nor from its memory.
func TestAPlaceLeadsNowhereElse(t *testing.T) {
	s := schemas.StreamSessions
	const secret = `{"user":"admin","password":"hidden"}`
	checkpoints, leaves := string(s)+evidence.CheckpointsFile, string(s)+evidence.LeavesFile
	link := func(name string) func(t *testing.T, dir, victim string) {
		return func(t *testing.T, dir, victim string) {
			t.Helper()
			must(t, os.MkdirAll(dir, 0o700))
			must(t, os.Symlink(victim, filepath.Join(dir, name)))
		}
	}
	for name, lay := range map[string]func(t *testing.T, dir, victim string){
		"a link for checkpoints": link(checkpoints),
		"a link for hashes":      link(leaves),
		"a link for the key":     link(evidence.KeyFile),
		"a link for the file":    link("file"),
		"a pipe": func(t *testing.T, dir, _ string) {
			must(t, os.MkdirAll(dir, 0o700))
			for _, name := range []string{checkpoints, "file"} {
				must(t, syscall.Mkfifo(filepath.Join(dir, name), 0o600))
			}
		},
		"a file without an end": func(t *testing.T, dir, _ string) {
			must(t, os.MkdirAll(dir, 0o700))
			for _, name := range []string{checkpoints, "file"} {
				write(t, filepath.Join(dir, name), nil)
				must(t, os.Truncate(filepath.Join(dir, name), 4<<40))
			}
		},
		"a link to the daemon's own": func(t *testing.T, dir, victim string) {
			must(t, os.Symlink(filepath.Join(filepath.Dir(victim), "own"), dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, key := t.TempDir(), newKey(t)
			victim, dir := filepath.Join(base, "credential"), filepath.Join(base, "place")
			write(t, victim, []byte(secret))
			own, err := openFolder(filepath.Join(base, "own"), key, 0o700, func(string) {})
			must(t, err)
			projector, view := audit.New(nil), treeView{kept: map[string][]byte{}}
			must(t, projector.ApplyRecord(view, schemas.Record{Stream: s, Seq: 1, Message: schemas.Message{Header: schemas.Header{"Nats-Msg-Id": {"1"}, "ce-id": {"1"}}}}))
			must(t, projector.Flush(view))
			tree, err := audit.OpenTree(view, s)
			must(t, err)
			root, err := tree.Root(1)
			must(t, err)
			c := evidence.Checkpoint{Log: key.verifier.Name(), Stream: s, Size: 1, Root: root, First: 1}
			signed, err := evidence.Sign(c, key.signer)
			must(t, err)
			lay(t, dir, victim)
			folders := &folderPlace{dir: dir, not: own, key: key, warn: func(string) {}, tree: func(_ schemas.Stream, do func(*audit.Tree) error) error { return do(tree) }}
			files := &filePlace{path: filepath.Join(dir, "file"), had: map[schemas.Stream]bool{}}
			said := make(chan string, 2)
			go func() {
				for _, p := range []place{folders, files} {
					if err := p.publish(t.Context(), sealed{c, signed}); err != nil {
						said <- err.Error()
					} else {
						said <- ""
					}
				}
			}()
			refused := 0
			for range 2 {
				select {
				case text := <-said:
					if strings.Contains(text, "hidden") {
						t.Errorf("it tells %s", text)
					}
					if text != "" {
						refused++
					}
				case <-time.After(time.Minute):
					t.Fatal("it waits")
				}
			}
			if refused == 0 {
				t.Error("nothing is said of it")
			}
			if now, err := os.ReadFile(victim); err != nil || string(now) != secret {
				t.Errorf("what the link leads to is now %q, %v", now, err)
			}
			if _, err := os.Stat(filepath.Join(base, "own", checkpoints)); err == nil {
				t.Error("the daemon's own evidence was written")
			}
		})
	}
}
