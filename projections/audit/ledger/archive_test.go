package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/blockfile"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/audit"
	"github.com/writbus/writ/projections/audit/verify"
	"github.com/writbus/writ/projections/pebblestore"
	"github.com/writbus/writ/schemas"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// archiving is a log with its views, its audit and an archiver.
type archiving struct {
	dir      string
	server   *embedded.Server
	conn     *bus.Conn
	log      *bus.Writer
	views    *projections.Runtime
	audit    *Auditor
	archiver *Archiver
	now      time.Time
	ctx      context.Context //nolint:containedctx // of the test
	stop     func()
	creds    embedded.Credentials
	told     []string // of segments that the log lost, at the last start
}

func newArchiving(t *testing.T) *archiving {
	a := &archiving{dir: t.TempDir(), now: time.Now(), ctx: t.Context()}
	a.open(t)
	t.Cleanup(func() { a.stop() })
	return a
}

func (a *archiving) file(name string) string { return filepath.Join(a.dir, name) }

// open starts everything on the folder, as a daemon does.
func (a *archiving) open(t *testing.T) {
	t.Helper()
	creds, err := embedded.LoadOrCreateCredentials(a.file("credentials"))
	must(t, err)
	a.creds = creds
	a.server, err = embedded.Start(t.Context(), embedded.Options{Dir: a.file("streams"), Users: creds.Users(), Durability: embedded.Interval})
	must(t, err)
	if found := a.server.Findings(); len(found) > 0 {
		t.Errorf("the store: %v", found)
	}
	own := creds[embedded.RoleDaemon]
	a.conn, err = bus.Connect(t.Context(), bus.Options{Archive: bus.NewArchive(a.file("archive")), Dial: a.server.Dial, User: own.User, Password: own.Password, Timeout: time.Minute})
	must(t, err)
	must(t, a.conn.EnsureStreams(t.Context(), bus.Retention{}))
	a.log = a.conn.Writer(bus.WriterOptions{})
	must(t, RecordLost(t.Context(), a.conn, a.log, a.file("streams"), a.file("audit"), a.file("views"), func(w string) { t.Error(w) }))
	a.told = nil
	SayAgain(t.Context(), a.conn, a.log, func(w string) { a.told = append(a.told, w) })
	must(t, EraseForgotten(t.Context(), a.conn, a.server, a.file("streams"), a.file("views"), slog.New(slog.DiscardHandler)))
	must(t, os.MkdirAll(a.file("views"), 0o700))
	store, err := pebblestore.Open(a.file("views"), pebblestore.Options{})
	must(t, err)
	prompts := projections.NewFold("prompts", 1, []schemas.Type{"prompt.submitted", "session.ended"}, func(all []string, e schemas.Event) []string { return append(all, e.ID) })
	a.views, err = projections.NewRuntime(projections.OnBus(a.conn, a.log), store, projections.Options{}, prompts,
		audit.New(func(s schemas.Stream) ([]schemas.RecordsLost, error) { return a.conn.Lost(context.Background(), s) }))
	must(t, err)
	running, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = a.views.Run(running) }()
	a.audit, err = Open(Options{
		Log: a.conn, Views: a.views, Now: time.Now, Logger: slog.New(slog.DiscardHandler), Warn: func(w string) { t.Log(w) },
		Credentials: a.file("credentials"), Evidence: a.file("audit"), Witness: a.file("witness"), Every: time.Hour, SealWithin: time.Minute,
	})
	must(t, err)
	a.archiver = NewArchiver(ArchiveOptions{
		Audit: a.audit, Log: a.conn, Writer: a.log, Server: a.server, Store: a.file("streams"), Settings: bus.ArchiveSettings{Above: 1},
		Least: 20, Busy: &sync.Mutex{}, Now: func() time.Time { return a.now }, Logger: slog.New(slog.DiscardHandler),
	})
	a.stop = func() {
		cancel()
		<-done
		a.conn.Close()
		must(t, errors.Join(a.server.Shutdown(context.Background()), store.Close()))
	}
}

// bound has the stream be archived where it has about so many bytes.
func (a *archiving) bound(most uint64) {
	o := a.archiver.ArchiveOptions
	o.Most, o.Settings = int64(most), bus.ArchiveSettings{} //nolint:gosec // small
	a.archiver = NewArchiver(o)
}

func (a *archiving) again(t *testing.T) {
	t.Helper()
	a.stop()
	a.open(t)
}

// session writes one of some records, the last of which ends it.
func (a *archiving) session(t *testing.T, id string, records int, ends bool) {
	t.Helper()
	for i := range records {
		e := bustest.Event(id, fmt.Sprintf("%s-%d", id, i), strings.Repeat("what was said ", 20))
		e.Time = a.now
		if ends && i == records-1 {
			e.Data = schemas.SessionEnded{Reason: "done"}
		}
		_, err := bus.Record(t.Context(), a.log, e)
		must(t, err)
	}
}

func (a *archiving) run(t *testing.T) uint64 {
	t.Helper()
	a.audit.Seal(t.Context())
	n, err := a.archiver.Run(t.Context())
	must(t, err)
	return n
}

// stored is the first record that the stream has.
func (a *archiving) stored(t *testing.T) uint64 {
	t.Helper()
	state, err := bus.Stored(t.Context(), a.conn, bus.ArchivedStream)
	must(t, err)
	return state.First
}

// holds compares the records of sessions up to one, by what the audit signed and by
// what views make of them anew, with what they were.
func (a *archiving) holds(t *testing.T, want []string) []string {
	t.Helper()
	a.audit.Seal(t.Context())
	reports, err := verify.Streams(t.Context(), a.conn, schemas.Streams(), []string{a.file("audit")}, nil, a.audit.key.verifier)
	must(t, err)
	for _, r := range reports {
		if !r.OK() || r.Unsigned > 0 || len(r.Lost) > 0 {
			t.Fatalf("%s: %+v", r.Stream, r)
		}
	}
	var all []string
	must(t, a.conn.Follow(t.Context(), bus.ArchivedStream, 0, bus.FollowOptions{UntilEnd: true}, func(batch []schemas.Record) error {
		for _, r := range batch {
			all = append(all, fmt.Sprint(r.Seq, r.Message))
		}
		return nil
	}))
	must(t, a.views.Await(t.Context(), bus.ArchivedStream, "prompts"))
	must(t, a.views.Read("prompts", func(r projections.Reader) error {
		for e, err := range r.Scan(nil) {
			must(t, err)
			all = append(all, fmt.Sprintf("%x %s", e.Key, e.Value))
		}
		return nil
	}))
	if want != nil {
		if diff := cmp.Diff(want, all); diff != "" {
			t.Fatal(diff)
		}
	}
	return all
}

// TestArchiveUnderLoad: while sessions go on, those that ended leave; what is read,
// what views make of it anew, and what the audit says of it stay what they were.
func TestArchiveUnderLoad(t *testing.T) {
	a := newArchiving(t)
	for i := range 10 {
		a.session(t, fmt.Sprint("old-", i), 30, true)
	}
	load, loaded := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(loaded)
		for i := 0; ; i++ {
			select {
			case <-load:
				return
			default:
				a.session(t, fmt.Sprint("live-", i), 5, i%2 == 0)
			}
		}
	}()
	for range 5 {
		a.run(t)
	}
	close(load)
	<-loaded
	if first := a.stored(t); first < 301 || len(a.archiver.Problems()) > 0 {
		t.Fatalf("the stream begins at %d: %v", first, a.archiver.Problems())
	}
	want := a.holds(t, nil)
	a.stop()
	must(t, os.RemoveAll(a.file("views")))
	a.open(t)
	a.holds(t, want)
	r, err := a.audit.prove(t.Context(), schemas.AuditProveRequest{Stream: bus.ArchivedStream, Seq: 7})
	if err != nil || len(r.Proof) == 0 {
		t.Errorf("a proof of an archived record: %v", err)
	}
}

// TestArchiveKilledAtEachStep: nothing is lost and nothing is there twice.
func TestArchiveKilledAtEachStep(t *testing.T) {
	failing := bus.NewWriter(func(context.Context, schemas.Event, []schemas.Payload, bus.Expect) (schemas.Position, error) {
		return schemas.Position{}, bus.ErrDiskFull
	}, bus.WriterOptions{})
	seal := func(t *testing.T, a *archiving, w *bus.Writer) {
		a.archiver.Writer = w
		one, err := a.archiver.next(t.Context(), false)
		must(t, err)
		if err := a.archiver.seal(t.Context(), one); (w == failing) != errors.Is(err, bus.ErrDiskFull) {
			t.Fatal(err)
		}
	}
	for step, until := range map[string]func(t *testing.T, a *archiving){
		"nothing": func(*testing.T, *archiving) {},
		"half a segment": func(t *testing.T, a *archiving) {
			seal(t, a, failing)
			must(t, os.Truncate(a.file("archive/writ_sessions-00000000000000000001.zst"), 100))
		},
		"sealed": func(t *testing.T, a *archiving) { seal(t, a, failing) },
		"told":   func(t *testing.T, a *archiving) { seal(t, a, a.log) },
		"noted": func(t *testing.T, a *archiving) {
			seal(t, a, a.log)
			must(t, a.server.LetGo(string(bus.ArchivedStream), 63))
		},
		"trimmed": func(t *testing.T, a *archiving) {
			seal(t, a, a.log)
			_, err := a.archiver.trim(t.Context())
			must(t, err)
		},
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			a := newArchiving(t)
			a.session(t, "one", 30, true)
			a.session(t, "two", 30, true)
			a.session(t, "live", 3, false)
			want := a.holds(t, nil)
			until(t, a)
			a.again(t)
			a.holds(t, want)
			a.run(t)
			if first := a.stored(t); first != 63 {
				t.Errorf("the stream begins at %d", first)
			}
			a.holds(t, want)
			must(t, os.RemoveAll(a.file("streams/marks.json")))
			a.again(t)
			a.holds(t, want)
			if _, err := bus.Record(t.Context(), a.log, bustest.Event("live", "on", "")); err != nil {
				t.Error(err)
			}
			if first := a.stored(t); first != 63 {
				t.Errorf("then the stream begins at %d", first)
			}
		})
	}
}

// TestArchiveTakesWhatIsOld: and signed, and not all, whether or not its session goes on.
func TestArchiveTakesWhatIsOld(t *testing.T) {
	a := newArchiving(t)
	a.session(t, "one", 30, true)
	a.session(t, "open", 5, false)
	if n, err := a.archiver.Run(t.Context()); n != 0 || err != nil || len(a.archiver.Problems()) > 0 {
		t.Errorf("nothing is signed, and %d left: %v", n, err)
	}
	a.archiver.Settings = bus.ArchiveSettings{After: 2 * time.Hour}
	if n := a.run(t); n != 0 {
		t.Errorf("nothing is old, and %d left", n)
	}
	a.archiver.Settings.Above = 1 << 20
	if n := a.run(t); n != 0 {
		t.Errorf("there is room, and %d left", n)
	}
	a.archiver.Settings.Above = 0
	a.now = a.now.Add(3 * time.Hour)
	if n := a.run(t); n != 34 { // the last record stays
		t.Errorf("of what is old %d left", n)
	}
	a.archiver.Least = 1
	if n := a.run(t); n != 0 {
		t.Errorf("then %d left", n)
	}
	a.holds(t, nil)
}

// TestArchiveFull: where a segment cannot be written nothing leaves, somebody is told, the
// stream takes what comes all the same, and it goes on by itself.
func TestArchiveFull(t *testing.T) {
	a := newArchiving(t)
	a.session(t, "one", 30, true)
	state, err := bus.Stored(t.Context(), a.conn, bus.ArchivedStream)
	must(t, err)
	a.bound(state.Bytes)
	a.archiver.Settings.To = a.file("cold")
	must(t, os.WriteFile(a.file("cold"), nil, 0o600)) // no folder can be there
	if _, err := a.archiver.inTurn(t.Context(), true); err == nil || !a.archiver.Stays() {
		t.Errorf("stays %v, %v", a.archiver.Stays(), err)
	}
	a.session(t, "more", 30, false)
	if told := a.archiver.Problems(); len(told) != 1 || !strings.Contains(told[0], "archive.to") || !strings.Contains(told[0], a.file("cold")) {
		t.Errorf("it is told: %v", told)
	}
	must(t, os.Remove(a.file("cold")))
	if left, err := a.archiver.inTurn(t.Context(), true); err != nil || left != 59 || len(a.archiver.Problems()) > 0 || a.archiver.Stays() {
		t.Errorf("then %d left, %v, stays %v, %v", left, a.archiver.Problems(), a.archiver.Stays(), err)
	}
	a.holds(t, nil)
}

// TestLogsShareAnArchive: what goes on from a backup has the key of the log that it was
// made of, and segments that begin where that one's do.
func TestLogsShareAnArchive(t *testing.T) {
	a, b, cold := newArchiving(t), newArchiving(t), t.TempDir()
	b.audit.key = a.audit.key
	for text, log := range map[string]*archiving{"one": a, "two": b} {
		log.archiver.Settings.To = cold
		log.session(t, text, 40, true)
		log.session(t, "live", 1, false)
		if n := log.run(t); n != 40 {
			t.Errorf("%s, %d left", text, n)
		}
	}
	for _, log := range []*archiving{a, b} {
		parts, err := bus.Archived(t.Context(), log.conn)
		must(t, err)
		records, err := bus.ArchiveOf(log.conn).Read(t.Context(), log.conn, parts[0])
		if err != nil || !strings.Contains(records[0].Message.Subject, parts[0].Sessions[0].Session) {
			t.Errorf("%v: %v", parts, err)
		}
	}
}

// TestArchiveLeavesWhatWasChanged: a record that is not the one that was signed stays
// where it is.
func TestArchiveLeavesWhatWasChanged(t *testing.T) {
	a := newArchiving(t)
	a.session(t, "one", 40, true)
	a.audit.Seal(t.Context())
	one, err := a.archiver.next(t.Context(), false)
	must(t, err)
	one.records[5].Body = append(slices.Clone(one.records[5].Body), ' ')
	if err := a.archiver.seal(t.Context(), one); !errors.Is(err, errRewritten) || !strings.Contains(err.Error(), "record 6") {
		t.Errorf("got %v", err)
	}
	if parts, err := bus.Archived(t.Context(), a.conn); len(parts) > 0 || err != nil {
		t.Errorf("%v, %v", parts, err)
	}
}

// TestMissingSegmentIsTold by the archiver, until it is there again.
func TestMissingSegmentIsTold(t *testing.T) {
	a := newArchiving(t)
	a.session(t, "one", 30, true)
	a.session(t, "two", 30, true)
	a.run(t)
	parts, err := bus.Archived(t.Context(), a.conn)
	must(t, err)
	path := bus.ArchiveOf(a.conn).Path(parts[0])
	must(t, os.Rename(path, path+".away"))
	a.archiver.look(t.Context())
	if told := a.archiver.Problems(); len(told) != 1 || !strings.Contains(told[0], path) || !strings.Contains(told[0], "writ repair --from BACKUP") {
		t.Errorf("%v", told)
	}
	must(t, os.Rename(path+".away", path))
	if a.archiver.look(t.Context()); len(a.archiver.Problems()) > 0 {
		t.Errorf("then %v", a.archiver.Problems())
	}
}

// TestForgetWhatIsArchived: the texts leave the segments too, and the audit goes on
// over what is left.
func TestForgetWhatIsArchived(t *testing.T) {
	a := newArchiving(t)
	a.session(t, "said", 30, true)
	a.session(t, "other", 30, true)
	a.run(t)
	parts, err := bus.Archived(t.Context(), a.conn)
	must(t, err)
	for step := range 2 {
		texts := 0
		for _, p := range parts {
			records, err := bus.ArchiveOf(a.conn).Stored(p)
			must(t, err)
			for _, r := range records {
				of, _, err := schemas.ParseSubject(r.Subject)
				must(t, err)
				if of.ID == "said" {
					texts += strings.Count(string(r.Body), "what was said")
				}
			}
		}
		if (texts > 0) != (step == 0) {
			t.Fatalf("in step %d the segments have %d texts", step, texts)
		}
		if step == 1 {
			break
		}
		f := Forgetting{Conn: a.conn, Log: a.log, Actor: schemas.Writ("test"), ForgetRequest: schemas.ForgetRequest{Sessions: []string{"said"}, Reason: "asked"}}
		must(t, f.Choose(t.Context()))
		if n, err := f.Record(t.Context()); n != 29 || err != nil {
			t.Fatalf("%d records, %v", n, err)
		}
		a.again(t)
	}
	a.audit.Seal(t.Context())
	reports, err := verify.Streams(t.Context(), a.conn, []schemas.Stream{bus.ArchivedStream}, []string{a.file("audit")}, nil, a.audit.key.verifier)
	if err != nil || !reports[0].OK() || reports[0].Forgotten != 29 || reports[0].Records != 60 {
		t.Errorf("%+v, %v", reports, err)
	}
}

// forget has what was said in a session forgotten, up to the next start.
func (a *archiving) forget(t *testing.T, session string) {
	t.Helper()
	f := Forgetting{Conn: a.conn, Log: a.log, Actor: schemas.Writ("test"), ForgetRequest: schemas.ForgetRequest{Sessions: []string{session}, Reason: "asked"}}
	must(t, f.Choose(t.Context()))
	_, err := f.Record(t.Context())
	must(t, err)
}

// segment is the path of the first one, and what is in it.
func (a *archiving) segment(t *testing.T) (path, texts string) {
	t.Helper()
	parts, err := bus.Archived(t.Context(), a.conn)
	must(t, err)
	stored, err := bus.ArchiveOf(a.conn).Stored(parts[0])
	must(t, err)
	for _, r := range stored {
		texts += string(r.Body)
	}
	return bus.ArchiveOf(a.conn).Path(parts[0]), texts
}

// TestOlderSegmentBringsNothingBack: a file from before something was forgotten, put in
// its place, says nothing of it to any reader, and is erased.
func TestOlderSegmentBringsNothingBack(t *testing.T) {
	a := newArchiving(t)
	a.session(t, "said", 30, true)
	a.session(t, "other", 30, false)
	a.run(t)
	path, _ := a.segment(t)
	older, err := os.ReadFile(path)
	must(t, err)
	a.forget(t, "said")
	a.again(t)
	want := a.holds(t, nil)
	must(t, os.WriteFile(path, older, 0o600))
	bus.ArchiveOf(a.conn).Relax()
	a.holds(t, want)
	for record, err := range a.conn.Tail(t.Context(), schemas.Session("said"), 0) {
		if must(t, err); strings.Contains(string(record.Message.Body), "what was said") {
			t.Fatalf("record %d is back", record.Seq)
		}
	}
	if _, texts := a.segment(t); strings.Count(texts, "what was said") != 58*20 {
		t.Fatalf("the file is no older one")
	}
	a.archiver.look(t.Context())
	if _, texts := a.segment(t); strings.Count(texts, "what was said") != 29*20 {
		t.Error("the file still has what was forgotten")
	}
	a.holds(t, want)
}

// TestForgetBesideAMissingSegment: what cannot be read now holds no start up, and is
// erased once it is there.
func TestForgetBesideAMissingSegment(t *testing.T) {
	a := newArchiving(t)
	a.session(t, "said", 30, true)
	a.session(t, "other", 30, true)
	a.run(t)
	path, _ := a.segment(t)
	a.forget(t, "said")
	must(t, os.Rename(path, path+".away"))
	a.again(t)
	must(t, os.Rename(path+".away", path))
	a.archiver.look(t.Context())
	if _, texts := a.segment(t); strings.Count(texts, "what was said") != 29*20 {
		t.Error("the file still has what was forgotten")
	}
}

// TestRepairOfSegments: each is taken from a backup, or from the stream where that has
// its records again, else given up, and then the log goes on without it. One that is not
// there is only given up where that is wanted.
func TestRepairOfSegments(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(t *testing.T, path string)
		backup bool
		giveUp bool
		stream bool
		how    blockfile.How
	}{
		"damaged, in the backup": {flip, true, false, false, blockfile.Restored},
		"missing, in the backup": {remove, true, false, false, blockfile.Restored},
		"damaged":                {flip, false, false, false, blockfile.Lost},
		"missing":                {remove, false, false, false, Missing},
		"gone for good":          {remove, false, true, false, blockfile.Lost},
		"damaged, in the stream": {flip, false, false, true, blockfile.Restored},
		"missing, in the stream": {remove, false, false, true, Missing},
		"gone, in the stream":    {remove, false, true, true, blockfile.Restored},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newArchiving(t)
			a.session(t, "one", 30, true)
			a.session(t, "two", 30, true)
			a.session(t, "live", 1, false)
			a.holds(t, nil) // signed
			a.again(t)
			msgs := filepath.Join(embedded.StreamDir(a.file("streams"), string(bus.ArchivedStream)), "msgs")
			before, err := os.ReadFile(filepath.Join(msgs, "1.blk"))
			must(t, err)
			a.run(t)
			want := a.holds(t, nil)
			path, _ := a.segment(t)
			live, err := a.conn.Get(t.Context(), bus.ArchivedStream, 61)
			must(t, err)
			backup := ""
			if c.backup {
				backup = a.file("backup")
				must(t, os.CopyFS(backup, os.DirFS(a.file("archive"))))
			}
			a.stop()
			c.damage(t, path)
			// The server leaves them in the file, or not.
			if !c.stream {
				const head = 22 // of a record, before its subject
				before = before[bytes.Index(before, []byte(live.Message.Subject))-head:]
			}
			must(t, errors.Join(os.WriteFile(filepath.Join(msgs, "1.blk"), before, 0o600), os.Remove(filepath.Join(msgs, "index.db"))))
			done, err := RepairArchive(a.file("streams"), a.file("restored.json"), a.file("archive"), backup, c.giveUp)
			if err != nil || len(done) != 1 || done[0].How != c.how || done[0].First != 1 || done[0].Last != 60 {
				t.Errorf("%+v, %v", done, err)
			}
			a.open(t)
			switch c.how {
			case blockfile.Restored:
				a.holds(t, want)
			case Missing:
				if _, err := a.conn.Get(t.Context(), bus.ArchivedStream, 5); errors.Is(err, bus.ErrArchive) == c.stream {
					t.Errorf("a record of it: %v", err)
				}
				for _, err := range a.conn.Tail(t.Context(), schemas.Session("one"), 0) {
					if errors.Is(err, bus.ErrArchive) == c.stream {
						t.Errorf("its session: %v", err)
					}
				}
			default:
				a.lacks(t, 60)
				a.again(t)
				a.lacks(t, 60)
			}
		})
	}
}

// TestSegmentsAreSaidAgain: where the log lost in which segment records are, it says so anew
// of a segment that is there. Of one that is not a person is told, nobody reads over it,
// and it comes from a backup, or is given up.
func TestSegmentsAreSaidAgain(t *testing.T) {
	for name, c := range map[string]struct {
		which  int
		away   bool
		giveUp bool
	}{
		"the first": {}, "the last": {which: 1}, "its file from a backup": {which: 1, away: true}, "its file gone": {away: true, giveUp: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newArchiving(t)
			for _, session := range []string{"one", "two"} {
				a.session(t, session, 30, true)
				a.session(t, "live", 1, false)
				a.run(t)
			}
			want, err := bus.Archived(t.Context(), a.conn)
			if must(t, err); len(want) != 2 {
				t.Fatal(want)
			}
			path, backup := bus.ArchiveOf(a.conn).Path(want[c.which]), a.file("backup")
			must(t, os.CopyFS(backup, os.DirFS(a.file("archive"))))
			a.stop()
			block := filepath.Join(embedded.StreamDir(a.file("streams"), string(schemas.StreamQuarantine)), "msgs", "1.blk")
			body, err := os.ReadFile(block)
			must(t, err)
			named := []byte(filepath.Base(path))
			if !bytes.Contains(body, named) {
				t.Fatalf("%s is not in %s", named, block)
			}
			must(t, os.WriteFile(block, bytes.ReplaceAll(body, named, bytes.ToUpper(named)), 0o600))
			if done, err := embedded.Repair(a.file("streams"), ""); err != nil || len(done) != 1 || done[0].How != blockfile.Lost {
				t.Fatalf("%+v, %v", done, err)
			}
			if c.away {
				must(t, os.Remove(path))
				a.open(t)
				err := a.conn.Follow(t.Context(), bus.ArchivedStream, 0, bus.FollowOptions{UntilEnd: true}, func([]schemas.Record) error { return nil })
				if !errors.Is(err, bus.ErrGap) || len(a.told) != 1 || !strings.Contains(a.told[0], string(named)) {
					t.Errorf("told %q; a reader: %v", a.told, err)
				}
				a.stop()
				if c.giveUp {
					backup = ""
				}
				done, err := RepairArchive(a.file("streams"), a.file("restored.json"), a.file("archive"), backup, c.giveUp)
				if err != nil || len(done) != 1 || done[0].First != want[c.which].First || done[0].Last != want[c.which].Last {
					t.Errorf("%+v, %v", done, err)
				}
			}
			a.open(t)
			got, err := bus.Archived(t.Context(), a.conn)
			must(t, err)
			if c.giveUp {
				got = slices.Concat(want[:1], got) // its records are lost, and the log goes on
			}
			if diff := cmp.Diff(want, got); diff != "" || len(a.told) > 0 {
				t.Errorf("%s; told %q", diff, a.told)
			}
			must(t, a.conn.Follow(t.Context(), bus.ArchivedStream, 0, bus.FollowOptions{UntilEnd: true}, func([]schemas.Record) error { return nil }))
		})
	}
}

// TestAFullDiskHoldsNoStart: that nothing can be said again now is told, and no reason to
// stay down; the next start says it.
func TestAFullDiskHoldsNoStart(t *testing.T) {
	a := newArchiving(t)
	a.session(t, "one", 30, true)
	a.session(t, "live", 1, false)
	a.run(t)
	want, err := bus.Archived(t.Context(), a.conn)
	must(t, err)
	a.stop()
	store := a.file("streams")
	block := filepath.Join(embedded.StreamDir(store, string(schemas.StreamQuarantine)), "msgs", "1.blk")
	body, err := os.ReadFile(block)
	must(t, err)
	named := []byte(want[0].Path)
	must(t, os.WriteFile(block, bytes.ReplaceAll(body, named, bytes.ToUpper(named)), 0o600))
	_, err = embedded.Repair(store, "")
	must(t, err)
	must(t, os.Rename(a.file("archive"), a.file("away")))
	a.open(t)
	must(t, os.Rename(a.file("away"), a.file("archive")))
	full, err := bus.Connect(t.Context(), func() bus.Options {
		own := a.creds[embedded.RoleDaemon]
		return bus.Options{Dial: a.server.Dial, User: own.User, Password: own.Password, Ready: func() error { return bus.ErrDiskFull }}
	}())
	must(t, err)
	defer full.Close()
	a.told = nil
	SayAgain(t.Context(), a.conn, full.Writer(bus.WriterOptions{}), func(w string) { a.told = append(a.told, w) })
	if len(a.told) != 1 || !strings.Contains(a.told[0], bus.ErrDiskFull.Error()) {
		t.Errorf("told %q", a.told)
	}
	a.again(t)
	if got, err := bus.Archived(t.Context(), a.conn); err != nil || len(a.told) > 0 || cmp.Diff(want, got) != "" {
		t.Errorf("%v, told %q, %v", got, a.told, err)
	}
}

// TestLostHeadIsNoSegment: what a repair gives up of the stream, or has again from a backup,
// is not looked for in the archive.
func TestLostHeadIsNoSegment(t *testing.T) {
	for name, backup := range map[string]string{"given up": "", "from a backup": "backup"} {
		t.Run(name, func(t *testing.T) {
			a := newArchiving(t)
			a.session(t, "one", 30, true)
			a.stop()
			if backup != "" {
				backup = a.file(backup)
				must(t, os.CopyFS(backup, os.DirFS(a.file("streams"))))
			}
			block := filepath.Join(embedded.StreamDir(a.file("streams"), string(bus.ArchivedStream)), "msgs", "1.blk")
			body, err := os.ReadFile(block)
			must(t, err)
			clear(body[:len(body)/3])
			must(t, os.WriteFile(block, body, 0o600))
			done, err := embedded.Repair(a.file("streams"), backup)
			if err != nil || len(done) != 1 {
				t.Errorf("%+v, %v", done, err)
			}
			if done, err = RepairArchive(a.file("streams"), a.file("restored.json"), a.file("archive"), "", true); err != nil || len(done) > 0 {
				t.Errorf("%+v, %v", done, err)
			}
			if a.open(t); len(a.told) > 0 {
				t.Errorf("told %q", a.told)
			}
		})
	}
}

func flip(t *testing.T, path string) {
	t.Helper()
	body, err := os.ReadFile(path)
	must(t, err)
	body[len(body)/2] ^= 1
	must(t, os.WriteFile(path, body, 0o600))
}

func remove(t *testing.T, path string) {
	t.Helper()
	must(t, os.Remove(path))
}

// lacks compares a log whose first records were given up with what it says of that.
func (a *archiving) lacks(t *testing.T, records uint64) {
	t.Helper()
	a.audit.Seal(t.Context())
	reports, err := verify.Streams(t.Context(), a.conn, []schemas.Stream{bus.ArchivedStream}, []string{a.file("audit")}, nil, a.audit.key.verifier)
	if r := reports[0]; err != nil || !r.OK() || len(r.Lost) != int(records) || r.Records != 1 { //nolint:gosec // a small count
		t.Errorf("%d lost, %d records, %v, %v", len(r.Lost), r.Records, r.Findings, err)
	}
	if state, err := a.conn.State(t.Context(), bus.ArchivedStream); err != nil || state.First != 1 || state.Messages != 1 {
		t.Errorf("the log: %+v, %v", state, err)
	}
	next := records + 1
	must(t, a.conn.Follow(t.Context(), bus.ArchivedStream, 0, bus.FollowOptions{UntilEnd: true}, func(batch []schemas.Record) error {
		for _, r := range batch {
			if r.Seq != next {
				t.Errorf("record %d in place of %d", r.Seq, next)
			}
			next++
		}
		return nil
	}))
	for record, err := range a.conn.Tail(t.Context(), schemas.Session("one"), 0) {
		t.Errorf("record %d of what is lost: %v", record.Seq, err)
	}
	must(t, a.views.Await(t.Context(), bus.ArchivedStream, "prompts"))
	a.archiver.look(t.Context())
	if told := a.archiver.Problems(); len(told) > 0 {
		t.Errorf("it is told: %v", told)
	}
}

// TestFillingStreamIsArchivedAtOnce: a bound may be reached within a minute.
func TestFillingStreamIsArchivedAtOnce(t *testing.T) {
	a := newArchiving(t)
	a.session(t, "one", 30, true)
	state, err := bus.Stored(t.Context(), a.conn, bus.ArchivedStream)
	must(t, err)
	for most, fills := range map[uint64]bool{0: false, 2 * state.Bytes: false, state.Bytes: true} {
		if a.archiver.Most = int64(most); a.archiver.fills(t.Context(), archiveAt) != fills { //nolint:gosec // small
			t.Errorf("with a bound of %d, %d bytes fill it: %v", most, state.Bytes, !fills)
		}
	}
}

// TestSmallBoundIsArchivedToo: before a bound that is less than a segment is met, what
// can leave does.
func TestSmallBoundIsArchivedToo(t *testing.T) {
	a := newArchiving(t)
	a.archiver.Least = archiveMost / 2
	a.session(t, "one", 30, true)
	state, err := bus.Stored(t.Context(), a.conn, bus.ArchivedStream)
	must(t, err)
	for _, c := range []struct{ filled, left uint64 }{{85, 0}, {95, 29}} { // per cent
		most := int64(state.Bytes * 100 / c.filled) //nolint:gosec // small
		a.archiver.Most, a.archiver.Settings.Above = most, most/100*archiveAt
		if n := a.run(t); n != c.left {
			t.Errorf("at %d per cent %d left", c.filled, n)
		}
	}
	a.holds(t, nil)
}
