package backup_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/backup"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// folder is a data folder with a running log.
type folder struct {
	root, backups string
	server        *embedded.Server
	conn          *bus.Conn
}

func open(t *testing.T, root string) *folder {
	t.Helper()
	creds, err := embedded.LoadOrCreateCredentials(filepath.Join(root, "credentials"))
	must(t, err)
	server, err := embedded.Start(t.Context(), embedded.Options{Dir: filepath.Join(root, "streams"), Users: creds.Users(), Durability: embedded.Interval})
	must(t, err)
	t.Cleanup(func() { _ = server.Shutdown(context.Background()) })
	own := creds[embedded.RoleDaemon]
	conn, err := bus.Connect(t.Context(), bus.Options{Dial: server.Dial, User: own.User, Password: own.Password, Timeout: time.Minute})
	must(t, err)
	t.Cleanup(conn.Close)
	must(t, conn.EnsureStreams(t.Context(), bus.Retention{}))
	return &folder{root: root, backups: filepath.Join(t.TempDir(), "backups"), server: server, conn: conn}
}

func newFolder(t *testing.T) *folder {
	f := open(t, filepath.Join(t.TempDir(), "home"))
	for name, content := range map[string]string{
		"config.yaml": "port: 0\n", "memory.keys": "keys", "audit/sessions.checkpoints": "signed\n",
		"views/made": "again", "run/endpoint.json": "{}",
	} {
		path := filepath.Join(f.root, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return f
}

func (f *folder) source() backup.Source {
	return backup.Source{
		Root: f.root, Writ: "test", DataFormat: 1, Log: "streams", Evidence: "audit", Leave: []string{"views*", "run"},
		Now: time.Now, Cut: func() (*embedded.Cut, error) { defer f.conn.Hold()(); return f.server.Cut() },
	}
}

func (f *folder) create(t *testing.T) backup.Backup {
	t.Helper()
	b, err := backup.Create(t.Context(), f.backups, f.source())
	must(t, err)
	return b
}

func (f *folder) stop(t *testing.T) {
	t.Helper()
	f.conn.Close()
	must(t, f.server.Shutdown(t.Context()))
}

// pair appends a prompt, and then an observation of it.
func (f *folder) pair(ctx context.Context, id string) error {
	w := f.conn.Writer(bus.WriterOptions{})
	if _, err := bus.Record(ctx, w, bustest.Event("s", id, strings.Repeat("a prompt ", 50))); err != nil {
		return err
	}
	later := bustest.Event("", "later-"+id, "")
	later.Aggregate, later.Data = schemas.Memory("m"), schemas.ObservationRecorded{ObservationID: id}
	_, err := bus.Record(ctx, w, later)
	return err
}

// ids are those of a stream's records, by sequence.
func (f *folder) ids(t *testing.T, s schemas.Stream) map[string]uint64 {
	t.Helper()
	all := map[string]uint64{}
	must(t, f.conn.Follow(t.Context(), s, 0, bus.FollowOptions{UntilEnd: true}, func(batch []schemas.Record) error {
		for _, r := range batch {
			all[r.ID()] = r.Seq
		}
		return nil
	}))
	return all
}

// TestBackupUnderLoad: with writers all the while, a backup has every fact that
// was acknowledged before it began, ends where its manifest says, and has no
// record without the one that was written before it to another stream.
func TestBackupUnderLoad(t *testing.T) {
	f := newFolder(t)
	must(t, f.pair(t.Context(), "first"))
	f.stop(t)
	f = open(t, f.root) // a stop leaves an index of the records, older than what follows
	const writers, before, after = 4, 100, 300
	var acked sync.Map
	var done atomic.Int64
	begin, written := make(chan struct{}), make(chan error, writers)
	for w := range writers {
		go func() {
			for i := 0; done.Load() < after || i == 0; i++ {
				id := fmt.Sprintf("%d-%d", w, i)
				if err := f.pair(context.WithoutCancel(t.Context()), id); err != nil {
					written <- err
					return
				}
				acked.Store(id, true)
				if done.Add(1) == before {
					close(begin)
				}
			}
			written <- nil
		}()
	}
	<-begin
	ledger := map[any]any{}
	acked.Range(func(k, v any) bool { ledger[k] = v; return true })
	b := f.create(t)
	for range writers {
		must(t, <-written)
	}
	if !slices.ContainsFunc(b.Files, func(f backup.File) bool { return strings.HasSuffix(f.Name, "WRIT_SESSIONS/msgs/index.db") }) {
		t.Error("the index of the records is not in the backup")
	}
	f.stop(t)
	must(t, os.RemoveAll(f.root))

	_, err := backup.Restore(t.Context(), b.Dir, f.root, 1, nil)
	must(t, err)
	g := open(t, f.root)
	if found := g.server.Findings(); len(found) > 0 {
		t.Fatalf("the restored store: %v", found)
	}
	prompts, observations := g.ids(t, schemas.StreamSessions), g.ids(t, schemas.StreamMemory)
	for id := range ledger {
		if prompts[id.(string)] == 0 || observations["later-"+id.(string)] == 0 {
			t.Errorf("%s was acknowledged before the backup and is not in it", id)
		}
	}
	for id := range maps.Keys(observations) {
		if prompts[strings.TrimPrefix(id, "later-")] == 0 {
			t.Errorf("%s is in the backup without what was written before it", id)
		}
	}
	for s, n := range map[schemas.Stream]int{schemas.StreamSessions: len(prompts), schemas.StreamMemory: len(observations)} {
		if have := b.Streams[string(s)]; have.Last != uint64(n) || have.Records() != uint64(n) {
			t.Errorf("%s has %d records, and the manifest says %+v", s, n, have)
		}
	}
	must(t, g.pair(t.Context(), "afterwards"))
}

func TestBackupHasWhatTheLogNeedsAndNoView(t *testing.T) {
	f := newFolder(t)
	b := f.create(t)
	for name, want := range map[string]bool{
		"config.yaml": true, "memory.keys": true, "audit/sessions.checkpoints": true, "credentials/daemon.json": true,
		"streams/marks.json": true, "views/made": false, "run/endpoint.json": false,
	} {
		info, err := os.Stat(filepath.Join(b.Dir, "data", name))
		if (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v", name, info.Mode())
		}
	}
	if info, err := os.Stat(b.Dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the backup: %v, %v", info, err)
	}
}

// TestOneFlippedByte: whichever file it is in, it is told and nothing is written.
func TestOneFlippedByte(t *testing.T) {
	f := newFolder(t)
	must(t, f.pair(t.Context(), "one"))
	b := f.create(t)
	to := filepath.Join(t.TempDir(), "to")
	tried := 0
	must(t, filepath.WalkDir(b.Dir, func(path string, e os.DirEntry, err error) error {
		content, readErr := os.ReadFile(path)
		if err != nil || e.IsDir() || readErr != nil || len(content) == 0 {
			return err
		}
		for _, at := range []int{0, len(content) / 2, len(content) - 1} {
			content[at] ^= 1
			must(t, os.WriteFile(path, content, 0o600))
			refused(t, b.Dir, to, filepath.Base(path))
			content[at] ^= 1
			tried++
		}
		must(t, os.Remove(path))
		refused(t, b.Dir, to, filepath.Base(path))
		return os.WriteFile(path, content, 0o600)
	}))
	if tried < 30 {
		t.Fatalf("only %d bytes were flipped", tried)
	}
	_, err := backup.Restore(t.Context(), b.Dir, to, 1, nil)
	must(t, err)
}

func refused(t *testing.T, dir, to, name string) {
	t.Helper()
	_, err := backup.Restore(t.Context(), dir, to, 1, nil)
	if !errors.Is(err, backup.ErrBad) || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "copied") {
		t.Errorf("%s: got %v, want ErrBad that names it", name, err)
	}
	if left, _ := os.ReadDir(filepath.Dir(to)); len(left) > 0 {
		t.Fatalf("%s: %v was written", name, left)
	}
}

// TestUnfinishedBackupIsNone: what a killed backup leaves, at its begin and at
// its end, is never restored, and the next one removes it.
func TestUnfinishedBackupIsNone(t *testing.T) {
	f := newFolder(t)
	s := f.source()
	cut := s.Cut
	s.Cut = func() (*embedded.Cut, error) {
		left, err := filepath.Glob(filepath.Join(f.backups, ".*"))
		must(t, err)
		if len(left) != 1 {
			t.Fatalf("in the midst of a backup there are %v", left)
		}
		must(t, os.CopyFS(filepath.Join(f.backups, filepath.Base(left[0])+"killed"), os.DirFS(left[0])))
		if _, err := backup.Find(f.backups); !errors.Is(err, backup.ErrBad) {
			t.Errorf("an unfinished backup was found: %v", err)
		}
		if _, err := backup.Restore(t.Context(), left[0], filepath.Join(t.TempDir(), "to"), 1, nil); !errors.Is(err, backup.ErrBad) {
			t.Errorf("an unfinished backup was restored: %v", err)
		}
		return cut()
	}
	first, err := backup.Create(t.Context(), f.backups, s)
	must(t, err)
	left, err := filepath.Glob(filepath.Join(f.backups, ".*killed"))
	must(t, err)
	must(t, os.CopyFS(left[0]+"late", os.DirFS(first.Dir))) // before its last rename
	if found, err := backup.Find(f.backups); err != nil || found != first.Dir {
		t.Errorf("found %s, %v", found, err)
	}
	second := f.create(t)
	entries, err := os.ReadDir(f.backups)
	must(t, err)
	if len(entries) != 2 || entries[1].Name() != filepath.Base(second.Dir) {
		t.Errorf("there are %v", entries)
	}
}

// TestFailedBackupLeavesNothing: neither does one that was called off.
func TestFailedBackupLeavesNothing(t *testing.T) {
	f := newFolder(t)
	ctx, cancel := context.WithCancel(t.Context())
	s := f.source()
	cut := s.Cut
	s.Cut = func() (*embedded.Cut, error) { cancel(); return cut() }
	if _, err := backup.Create(ctx, f.backups, s); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if left, err := os.ReadDir(f.backups); err != nil || len(left) > 0 {
		t.Errorf("%v, %v were left", left, err)
	}
}

func TestPruneKeepsTheNewestAndWhatIsNotIts(t *testing.T) {
	f, other := newFolder(t), newFolder(t)
	other.backups = f.backups
	elses := other.create(t)
	s := f.source()
	var made []backup.Backup
	for i := range 3 {
		s.Now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC) }
		b, err := backup.Create(t.Context(), f.backups, s)
		must(t, err)
		made = append(made, b)
	}
	must(t, os.WriteFile(filepath.Join(made[1].Dir, "manifest.sha256"), []byte("damaged"), 0o600))
	must(t, os.Mkdir(filepath.Join(f.backups, "20000102T030405.000Z"), 0o700)) // of somebody else
	removed, err := backup.Prune(f.backups, f.root, 1)
	must(t, err)
	if len(removed) != 1 || removed[0] != made[0].Dir {
		t.Errorf("removed %v", removed)
	}
	all, err := backup.List(f.backups)
	must(t, err)
	if len(all) != 2 || all[0].Dir != made[2].Dir || all[1].Dir != elses.Dir {
		t.Errorf("there are %v", all)
	}
}

func TestPlacesThatAreRefused(t *testing.T) {
	f := newFolder(t)
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(f.root, link))
	for _, dir := range []string{f.root, filepath.Join(f.root, "deep", "er"), filepath.Join(link, "deep")} {
		if _, err := backup.Create(t.Context(), dir, f.source()); !errors.Is(err, backup.ErrPlace) {
			t.Errorf("%s: got %v", dir, err)
		}
	}
	b := f.create(t)
	if _, err := backup.Restore(t.Context(), b.Dir, f.root, 1, nil); !errors.Is(err, backup.ErrPlace) {
		t.Errorf("over a data folder: got %v", err)
	}
	if _, err := backup.Restore(t.Context(), b.Dir, t.TempDir(), 0, nil); !errors.Is(err, backup.ErrBad) {
		t.Errorf("of a newer format: got %v", err)
	}
}
