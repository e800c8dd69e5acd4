package backup_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
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
	"github.com/writbus/writ/test/integration"
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
		Root: f.root, Host: "here", Identity: "writ-1", Instance: "i-1", Writ: "test", DataFormat: 1, Log: "streams", Evidence: "audit", Leave: []string{"views*", "run"},
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
// record without the one that was written before it to another stream. The folder is
// then destroyed, and what was restored goes on. WRIT_BACKUP_ROUNDS sets how often,
// by turns from a folder and from an object store, WRIT_BACKUP_SEED when.
func TestBackupUnderLoad(t *testing.T) {
	rounds, seed := fromEnv(t, "WRIT_BACKUP_ROUNDS", integration.Rounds(1, 3)), fromEnv(t, "WRIT_BACKUP_SEED", 1)
	random := rand.New(rand.NewPCG(uint64(seed), 0)) //nolint:gosec // chooses moments
	f := newFolder(t)
	must(t, f.pair(t.Context(), "first"))
	f.stop(t)
	f = open(t, f.root) // a stop leaves an index of the records, older than what follows
	backups, store := f.backups, objectStore(t, "load")
	ledger := map[string]bool{"first": true}
	for round := range rounds {
		begin := make(chan struct{})
		acked, written := f.load(t, fmt.Sprint(round), 50+random.IntN(100), begin)
		<-begin
		acked.Range(func(k, _ any) bool { ledger[k.(string)] = true; return true })
		var b backup.Backup
		var err error
		if f.backups = backups; round%2 == 0 {
			b = f.create(t)
		} else {
			b, err = store.Create(t.Context(), f.source())
			must(t, err)
		}
		must(t, written())
		f.stop(t)
		must(t, os.RemoveAll(f.root))
		dir := b.Dir
		if round%2 == 1 {
			dir, err = store.Fetch(t.Context(), t.TempDir(), time.Time{})
			must(t, err)
		}
		_, err = backup.Restore(t.Context(), dir, f.root, 1, nil)
		must(t, err)
		f = open(t, f.root)
		f.holds(t, ledger, b)
		for id := range f.ids(t, schemas.StreamMemory) {
			ledger[strings.TrimPrefix(id, "later-")] = true // was written meanwhile, and is there from now on
		}
	}
	t.Logf("seed %d, %d rounds, %d facts", seed, rounds, len(ledger))
	must(t, f.pair(t.Context(), "afterwards"))
}

// load writes until a number of facts was acknowledged and more were; begin is
// closed when they are. It returns what was acknowledged, and who waits for the end.
func (f *folder) load(t *testing.T, name string, before int, begin chan struct{}) (acked *sync.Map, ended func() error) {
	const writers = 4
	var done atomic.Int64
	acked = &sync.Map{}
	written := make(chan error, writers)
	for w := range writers {
		go func() {
			for i := 0; done.Load() < int64(3*before) || i == 0; i++ {
				id := fmt.Sprintf("%s-%d-%d", name, w, i)
				if err := f.pair(context.WithoutCancel(t.Context()), id); err != nil {
					written <- err
					return
				}
				acked.Store(id, true)
				if done.Add(1) == int64(before) {
					close(begin)
				}
			}
			written <- nil
		}()
	}
	return acked, func() (err error) {
		for range writers {
			err = errors.Join(err, <-written)
		}
		return err
	}
}

// holds wants the facts of a ledger in a restored folder, and nothing that the
// manifest does not say.
func (f *folder) holds(t *testing.T, ledger map[string]bool, b backup.Backup) {
	t.Helper()
	if found := f.server.Findings(); len(found) > 0 {
		t.Fatalf("the restored store: %v", found)
	}
	prompts, observations := f.ids(t, schemas.StreamSessions), f.ids(t, schemas.StreamMemory)
	for id := range ledger {
		if prompts[id] == 0 || observations["later-"+id] == 0 {
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
}

func fromEnv(t *testing.T, name string, otherwise int) int {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
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
	removed, err := backup.Prune(f.backups, f.source(), 1)
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

// TestMachinesShareAPlace: the backups of a log in a container are one row, whatever
// the container's name is; those of another log at the same path are another's, and
// what another machine has not finished stays.
func TestMachinesShareAPlace(t *testing.T) {
	f := newFolder(t)
	here, there := f.source(), f.source()
	there.Identity, there.Instance = "writ-2", "i-2"
	first, err := backup.Create(t.Context(), f.backups, here)
	must(t, err)
	there.Cut = func() (*embedded.Cut, error) {
		begun, err := filepath.Glob(filepath.Join(f.backups, ".unfinished-*"))
		if err != nil || len(begun) != 1 {
			t.Fatalf("begun are %v, %v", begun, err)
		}
		here.Host = "a-container-later"
		second, err := backup.Create(t.Context(), f.backups, here) // meanwhile
		must(t, err)
		if _, err := os.Stat(begun[0]); err != nil || second.Written > second.Bytes()/2 {
			t.Errorf("%v; it wrote %d of %d bytes", err, second.Written, second.Bytes())
		}
		return f.source().Cut()
	}
	elses, err := backup.Create(t.Context(), f.backups, there)
	must(t, err)
	removed, err := backup.Prune(f.backups, here, 1)
	if err != nil || len(removed) != 1 || removed[0] != first.Dir {
		t.Errorf("removed %v, %v", removed, err)
	}
	if found, err := backup.Find(f.backups); !errors.Is(err, backup.ErrBad) {
		t.Errorf("found %s of two logs, %v", found, err)
	}
	must(t, os.RemoveAll(elses.Dir))
	if _, err := backup.Find(f.backups); err != nil {
		t.Error(err)
	}
}

// TestCopiesPruneTheirOwn: a log that goes on from a backup at the same path of another
// machine removes none of the first one's backups, and those from before folders had
// names are anybody's.
func TestCopiesPruneTheirOwn(t *testing.T) {
	f := newFolder(t)
	earlier, first, second := f.source(), f.source(), f.source()
	earlier.Identity, earlier.Instance, second.Host, second.Instance = "", "", "there", "i-2"
	var made []string
	for _, from := range []backup.Source{earlier, first, second, second} {
		one, err := backup.Create(t.Context(), f.backups, from)
		must(t, err)
		made = append(made, one.Dir)
	}
	removed, err := backup.Prune(f.backups, second, 1)
	if err != nil || !slices.Equal(removed, made[2:3]) {
		t.Errorf("the copy removed %v of %v, %v", removed, made, err)
	}
	removed, err = backup.Prune(f.backups, first, 1)
	if err != nil || !slices.Equal(removed, made[:1]) {
		t.Errorf("the first removed %v of %v, %v", removed, made, err)
	}
	must(t, errors.Join(os.RemoveAll(made[1]), os.RemoveAll(made[3])))
	again, err := backup.Create(t.Context(), f.backups, earlier)
	must(t, err)
	if found, err := backup.Find(f.backups); err != nil || found != again.Dir {
		t.Errorf("found %s, %v", found, err)
	}
}

// TestClockThatWentBack: what was written last is the newest backup, not the first to
// be removed.
func TestClockThatWentBack(t *testing.T) {
	f := newFolder(t)
	source := f.source()
	old, err := backup.Create(t.Context(), f.backups, source)
	must(t, err)
	source.Now = func() time.Time { return time.Now().Add(-1000 * time.Hour) }
	made, err := backup.Create(t.Context(), f.backups, source)
	must(t, err)
	removed, err := backup.Prune(f.backups, f.source(), 1)
	if err != nil || len(removed) != 1 || removed[0] != old.Dir {
		t.Errorf("removed %v, %v; the one before was %s", removed, err, old.Dir)
	}
	if found, err := backup.Find(f.backups); err != nil || found != made.Dir {
		t.Errorf("found %s, %v; written last was %s", found, err, made.Dir)
	}
}

// TestSecondBackupWritesOnlyWhatIsNew, and a file of the first that is damaged by
// then is not taken from it.
func TestSecondBackupWritesOnlyWhatIsNew(t *testing.T) {
	f := newFolder(t)
	must(t, os.WriteFile(filepath.Join(f.root, "large"), []byte(strings.Repeat("large", 1<<20)), 0o600))
	must(t, os.WriteFile(filepath.Join(f.root, "rots"), []byte(strings.Repeat("rots", 1<<20)), 0o600))
	first := f.create(t)
	must(t, f.pair(t.Context(), "one"))
	old := filepath.Join(backup.Content(first.Dir), "rots")
	must(t, os.WriteFile(old, []byte(strings.Repeat("rott", 1<<20)), 0o600))
	second := f.create(t)
	if first.Written != first.Bytes() || second.Written < 4<<20 || second.Written > 5<<20 {
		t.Errorf("the first wrote %d of %d bytes, the second %d of %d", first.Written, first.Bytes(), second.Written, second.Bytes())
	}
	_, err := backup.Check(second.Dir)
	must(t, err)
	must(t, os.RemoveAll(first.Dir))
	to := filepath.Join(t.TempDir(), "to")
	_, err = backup.Restore(t.Context(), second.Dir, to, 1, nil)
	must(t, err)
	if got, err := os.ReadFile(filepath.Join(to, "rots")); err != nil || !strings.HasPrefix(string(got), "rotsrots") {
		t.Errorf("%.10s, %v", got, err)
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

func TestFoldersOfAnyNameAreSwept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "backups[1")
	other := filepath.Join(filepath.Dir(dir), "backups1")
	for _, name := range []string{dir + "/.unfinished-x-1/a", dir + "/2026", other + "/.unfinished-x-2"} {
		must(t, os.MkdirAll(name, 0o700))
	}
	must(t, backup.Sweep(dir, ".unfinished-x-"))
	for name, stays := range map[string]bool{dir + "/.unfinished-x-1": false, dir + "/2026": true, other + "/.unfinished-x-2": true} {
		if _, err := os.Stat(name); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAPlaceOfSeveralDataFolders restores none of them unnamed, and each that is named.
func TestAPlaceOfSeveralDataFolders(t *testing.T) {
	f, other := newFolder(t), newFolder(t)
	other.backups = f.backups
	ours, theirs := f.create(t), other.create(t)
	if found, err := backup.Find(f.backups); !errors.Is(err, backup.ErrBad) || !strings.Contains(err.Error(), ours.Dir) || !strings.Contains(err.Error(), theirs.Dir) {
		t.Errorf("found %s, %v", found, err)
	}
	for _, b := range []backup.Backup{ours, theirs} {
		if found, err := backup.Find(b.Dir); err != nil || found != b.Dir {
			t.Errorf("found %s, %v, want %s", found, err, b.Dir)
		}
	}
	s := newS3(t)
	for _, one := range []*folder{f, other} {
		b, err := s.open(t, "both").Create(t.Context(), one.source())
		must(t, err)
		if one == other {
			if dir, err := s.open(t, "both").Fetch(t.Context(), t.TempDir(), time.Time{}); !errors.Is(err, backup.ErrBad) {
				t.Errorf("fetched %s, %v", dir, err)
			}
		}
		for _, prefix := range []string{path.Dir(b.Dir), b.Dir} {
			dir, err := s.open(t, prefix).Fetch(t.Context(), t.TempDir(), time.Time{})
			must(t, err)
			m, err := backup.Check(dir)
			must(t, err)
			if m.DataDir != one.root {
				t.Errorf("%s is of %s, want %s", prefix, m.DataDir, one.root)
			}
		}
	}
}

// TestAFileThatGoesWhileItIsCopied is in the backup, or is not: a copy goes on.
func TestAFileThatGoesWhileItIsCopied(t *testing.T) {
	f := newFolder(t)
	gone := filepath.Join(f.root, "goes")
	must(t, os.WriteFile(gone, []byte("a while"), 0o600))
	_, err := f.source().Copy(t.Context(), func(name string, write func(io.Writer) error) (backup.File, error) {
		if name == "goes" {
			must(t, os.Remove(gone))
		}
		return backup.File{Name: name}, write(io.Discard)
	})
	must(t, err)
}
