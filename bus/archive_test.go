package bus_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/archivefile"
	"github.com/writbus/writ/bus/blockfile"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas"
)

// archived is a log of which old records are put into segments.
type archived struct {
	*host
	folder string
	conn   *bus.Conn
}

// newArchived has a log of 8 sessions, whose records stand in turns.
func newArchived(t *testing.T, records int) *archived {
	h := newHost(t, embedded.Options{Durability: embedded.Interval})
	a := &archived{host: h, folder: filepath.Join(h.dir, "archive")}
	a.reconnect(t)
	last := map[string]uint64{}
	for i := range records {
		session := fmt.Sprintf("s.%d", i%8)
		p, err := a.conn.Append(t.Context(), bustest.Event(session, fmt.Sprintf("e-%d", i), strings.Repeat("word ", i%40)), nil, bus.LastSeq(last[session]))
		must(t, err)
		last[session] = p.Seq
	}
	return a
}

func (a *archived) reconnect(t *testing.T) {
	t.Helper()
	o := a.inProcess(embedded.RoleDaemon)
	o.Archive = bus.NewArchive(a.folder)
	a.conn = connect(t, o)
	must(t, a.conn.EnsureStreams(t.Context(), bus.Retention{}))
}

// seal puts the records after those that are archived into a segment, up to a last
// one, and returns what is to be said of it.
func (a *archived) seal(t *testing.T, last uint64) schemas.RecordsArchived {
	t.Helper()
	parts, err := bus.Archived(t.Context(), a.conn)
	must(t, err)
	p := schemas.RecordsArchived{Stream: bus.ArchivedStream, First: 1, Last: last}
	if n := len(parts); n > 0 {
		p.First = parts[n-1].Last + 1
	}
	var records []archivefile.Record
	of := map[string]uint64{}
	must(t, blockfile.Each(embedded.StreamDir(a.options.Dir, string(p.Stream)), string(p.Stream), func(seq uint64, time int64, subject string, header, body []byte) bool {
		if seq >= p.First && seq <= last {
			records = append(records, archivefile.Record{Seq: seq, Time: time, Subject: subject, Header: header, Body: body})
			aggregate, _, err := schemas.ParseSubject(subject)
			must(t, err)
			of[aggregate.ID] = seq
		}
		return seq < last
	}))
	for session, last := range of {
		p.Sessions = append(p.Sessions, schemas.ArchivedSession{Session: session, Last: last})
	}
	p.Records, p.Path = uint64(len(records)), fmt.Sprintf("%d.zst", p.First)
	p.Bytes, err = archivefile.Write(filepath.Join(a.folder, p.Path), records)
	must(t, err)
	return p
}

func (a *archived) say(t *testing.T, p schemas.RecordsArchived) {
	t.Helper()
	_, err := bus.Record(t.Context(), a.conn.Writer(bus.WriterOptions{}), schemas.Event{Aggregate: schemas.ArchivedRecords(), Actor: schemas.Writ("archive"), Data: p})
	must(t, err)
}

func (a *archived) trim(t *testing.T) uint64 {
	t.Helper()
	parts, err := bus.Archived(t.Context(), a.conn)
	must(t, err)
	must(t, a.server().LetGo(string(bus.ArchivedStream), parts[len(parts)-1].Last+1))
	n, err := bus.Trim(t.Context(), a.conn, bus.Retention{})
	must(t, err)
	return n
}

// archive does all of it.
func (a *archived) archive(t *testing.T, last uint64) {
	t.Helper()
	a.say(t, a.seal(t, last))
	a.trim(t)
}

// read is all that there is to see of the log, by every way in.
func (a *archived) read(t *testing.T) map[string]string {
	t.Helper()
	all, ctx, s := map[string]string{}, t.Context(), bus.ArchivedStream
	show := func(r schemas.Record) string {
		m := r.Message.Unfolded()
		return fmt.Sprintf("%s %d %s %v %s", r.Stream, r.Seq, m.Subject, m.Header, m.Body)
	}
	state, err := a.conn.State(ctx, s)
	must(t, err)
	all["state"] = fmt.Sprint(state.First, state.Last, state.Messages)
	for _, o := range []bus.FollowOptions{{UntilEnd: true, MaxBatch: 7}, {UntilEnd: true, Unparsed: true}} {
		for _, after := range []uint64{0, 3, state.Last / 2, state.Last - 1} {
			seq := after
			must(t, a.conn.Follow(ctx, s, after, o, func(batch []schemas.Record) error {
				if o.MaxBatch > 0 && len(batch) > o.MaxBatch {
					t.Errorf("a batch of %d", len(batch))
				}
				for _, r := range batch {
					if seq++; r.Seq != seq {
						t.Fatalf("after %d came %d", seq-1, r.Seq)
					}
					all[fmt.Sprint("follow ", o.Unparsed, after, r.Seq)] = show(r)
				}
				return nil
			}))
			if seq != state.Last {
				t.Fatalf("Follow after %d ended at %d of %d", after, seq, state.Last)
			}
		}
	}
	for seq := uint64(1); seq <= state.Last; seq++ {
		r, err := a.conn.Get(ctx, s, seq)
		must(t, err)
		all[fmt.Sprint("get ", seq)] = show(r)
		next, err := a.conn.Next(ctx, s, seq-1)
		must(t, err)
		all[fmt.Sprint("next ", seq)] = show(next)
		before, known, err := a.conn.After(ctx, s, seq)
		must(t, err)
		all[fmt.Sprint("after ", seq)] = fmt.Sprint(before, known)
	}
	for n := range 8 {
		session := schemas.Session(fmt.Sprintf("s.%d", n))
		last, err := a.conn.LastOf(ctx, session)
		must(t, err)
		all["last "+session.ID] = show(last)
		for _, after := range []uint64{0, 20, state.Last / 2} {
			for r, err := range a.conn.Tail(ctx, session, after) {
				must(t, err)
				all[fmt.Sprint("tail ", session, after)] += show(r)
			}
		}
	}
	return all
}

// TestArchivedRecordsAreReadAsBefore: by every way to read, after each step, in the
// midst of sessions and behind their ends, and where the process was killed so that
// records come back to the stream that had left it.
func TestArchivedRecordsAreReadAsBefore(t *testing.T) {
	a := newArchived(t, 200)
	want := a.read(t)
	same := func(step string) {
		t.Helper()
		if diff := cmp.Diff(want, a.read(t)); diff != "" {
			t.Fatalf("%s: %s", step, diff)
		}
	}
	p := a.seal(t, 70)
	same("sealed")
	a.say(t, p)
	same("told")
	if n := a.trim(t); n != 70 {
		t.Errorf("%d records left", n)
	}
	same("trimmed")
	if state, err := bus.Stored(t.Context(), a.conn, bus.ArchivedStream); err != nil || state.First != 71 || state.Messages != 130 {
		t.Errorf("the stream: %+v, %v", state, err)
	}
	a.say(t, p) // once more, as after a kill
	a.archive(t, 120)
	same("a second segment")
	if n := a.trim(t); n != 0 {
		t.Errorf("once more: %d records left", n)
	}
	a.stop()
	must(t, os.Remove(filepath.Join(embedded.StreamDir(a.options.Dir, string(bus.ArchivedStream)), "msgs", "index.db")))
	a.start()
	if found := a.server().Findings(); len(found) > 0 {
		t.Errorf("the store: %v", found)
	}
	a.reconnect(t)
	if state, err := bus.Stored(t.Context(), a.conn, bus.ArchivedStream); err != nil || state.First >= 121 {
		t.Errorf("no record came back, so this shows less than it is to: %+v, %v", state, err)
	}
	same("come back")
	a.trim(t)
	same("trimmed anew")
	a.archive(t, 199)
	same("all but one")
}

// TestArchiveJoinedWithinASegment: a file of the stream may bring some of a segment's
// records back.
func TestArchiveJoinedWithinASegment(t *testing.T) {
	a := newArchived(t, 0)
	for i := range 9 {
		_, err := a.conn.Append(t.Context(), bustest.Event("s", fmt.Sprint("e", i), strings.Repeat("x", 3<<20)), nil, bus.Any())
		must(t, err)
	}
	a.archive(t, 7)
	a.stop()
	must(t, os.Remove(filepath.Join(embedded.StreamDir(a.options.Dir, string(bus.ArchivedStream)), "msgs", "index.db")))
	a.start()
	a.reconnect(t)
	if state, err := bus.Stored(t.Context(), a.conn, bus.ArchivedStream); err != nil || state.First == 1 || state.First >= 8 {
		t.Fatalf("the stream: %+v, %v", state, err)
	}
	if state, err := a.conn.State(t.Context(), bus.ArchivedStream); err != nil || state.First != 1 || state.Messages != 9 {
		t.Errorf("joined: %+v, %v", state, err)
	}
	seq := uint64(0)
	must(t, a.conn.Follow(t.Context(), bus.ArchivedStream, 0, bus.FollowOptions{UntilEnd: true}, func(batch []schemas.Record) error {
		for _, r := range batch {
			if seq++; r.Seq != seq {
				t.Errorf("after %d came %d", seq-1, r.Seq)
			}
		}
		return nil
	}))
	if seq != 9 {
		t.Errorf("it ended at %d", seq)
	}
}

// TestTrimLeavesNoLimit: what comes after it pushes nothing out.
func TestTrimLeavesNoLimit(t *testing.T) {
	a := newArchived(t, 40)
	a.say(t, a.seal(t, 10))
	must(t, a.server().LetGo(string(bus.ArchivedStream), 11))
	if n, err := bus.Trim(t.Context(), a.conn, bus.Retention{}); n != 10 || err != nil {
		t.Fatalf("%d left: %v", n, err)
	}
	must(t, a.conn.EnsureStreams(t.Context(), bus.Retention{}))
	for i := range 20 {
		_, err := a.conn.Append(t.Context(), bustest.Event("new", fmt.Sprint("n", i), ""), nil, bus.Any())
		must(t, err)
	}
	if state, err := bus.Stored(t.Context(), a.conn, bus.ArchivedStream); err != nil || state.First != 11 || state.Messages != 50 {
		t.Errorf("%+v, %v", state, err)
	}
}

// TestStreamIsPutBackAfterATrim: where that failed, appends are refused, and the next
// trim has the stream take them again, though nothing more leaves.
func TestStreamIsPutBackAfterATrim(t *testing.T) {
	a := newArchived(t, 40)
	a.archive(t, 10)
	must(t, a.conn.LeaveTrimming(t.Context(), 30))
	event := bustest.Event("new", "n", "")
	if _, err := a.conn.Append(t.Context(), event, nil, bus.Any()); !errors.Is(err, bus.ErrUnavailable) || !bus.Refusing(a.conn) {
		t.Errorf("an append: %v", err)
	}
	if n := a.trim(t); n != 0 || bus.Refusing(a.conn) {
		t.Errorf("%d left", n)
	}
	_, err := a.conn.Append(t.Context(), event, nil, bus.Any())
	must(t, err)
	if state, err := bus.Stored(t.Context(), a.conn, bus.ArchivedStream); err != nil || state.First != 11 || state.Messages != 31 {
		t.Errorf("%+v, %v", state, err)
	}
}

// TestAppendToArchivedSessions: a session that is wholly archived is none that is
// new, and goes on where it ended.
func TestAppendToArchivedSessions(t *testing.T) {
	for name, again := range map[string]bool{"as it runs": false, "after a start": true} {
		t.Run(name, func(t *testing.T) {
			a := newArchived(t, 40)
			_, err := a.conn.Append(t.Context(), bustest.Event("old", "o-1", "x"), nil, bus.LastSeq(0))
			must(t, err)
			_, err = a.conn.Append(t.Context(), bustest.Event("old", "o-2", "x"), nil, bus.LastSeq(41))
			must(t, err)
			_, err = a.conn.Append(t.Context(), bustest.Event("open", "p-1", "x"), nil, bus.LastSeq(0))
			must(t, err)
			a.archive(t, 42)
			if again {
				a.reconnect(t)
			}
			for what, c := range map[string]struct {
				session, id string
				expect      uint64
			}{
				"a new session":          {"old", "new", 0},
				"behind an early record": {"old", "new", 41},
				"behind nothing":         {"old", "new", 7},
				"behind another's":       {"s.1", "new", 42},
				"one that goes on, new":  {"open", "new", 0},
			} {
				if _, err := a.conn.Append(t.Context(), bustest.Event(c.session, c.id, ""), nil, bus.LastSeq(c.expect)); !errors.Is(err, bus.ErrConflict) {
					t.Errorf("%s: %v", what, err)
				}
			}
			for id, at := range map[string]uint64{"o-1": 0, "o-2": 41} { // were stored, and nobody heard of it
				if p, err := a.conn.Append(t.Context(), bustest.Event("old", id, "x"), nil, bus.LastSeq(at)); err != nil || p.Seq != max(at, 40)+1 {
					t.Errorf("%s again: %v, %v", id, p, err)
				}
			}
			p, err := a.conn.Append(t.Context(), bustest.Event("old", "o-3", "x"), nil, bus.LastSeq(42))
			if err != nil || p.Seq != 44 {
				t.Fatalf("it goes on at %v: %v", p, err)
			}
			if p, err = a.conn.Append(t.Context(), bustest.Event("old", "o-3", "x"), nil, bus.LastSeq(42)); err != nil || p.Seq != 44 {
				t.Errorf("again: %v, %v", p, err)
			}
			if _, err = a.conn.Append(t.Context(), bustest.Event("old", "other", "x"), nil, bus.LastSeq(42)); !errors.Is(err, bus.ErrConflict) {
				t.Errorf("twice behind the same: %v", err)
			}
			var seqs []uint64
			for r, err := range a.conn.Tail(t.Context(), schemas.Session("old"), 0) {
				must(t, err)
				seqs = append(seqs, r.Seq)
			}
			if fmt.Sprint(seqs) != "[41 42 44]" {
				t.Errorf("the session is at %v", seqs)
			}
		})
	}
}

// TestFollowAcrossATrim: readers of old records go on while those leave.
func TestFollowAcrossATrim(t *testing.T) {
	t.Cleanup(bus.SetBulkLeast(1 << 40))
	a := newArchived(t, 6000) // more than the server sends ahead
	reading, goOn, once := make(chan struct{}), make(chan struct{}), sync.Once{}
	seq, done := uint64(0), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	errDone := errors.New("done")
	go func() {
		done <- a.conn.Follow(ctx, bus.ArchivedStream, 0, bus.FollowOptions{MaxBatch: 3}, func(batch []schemas.Record) error {
			for _, r := range batch {
				if seq++; r.Seq != seq {
					return fmt.Errorf("after %d came %d", seq-1, r.Seq)
				}
			}
			if seq >= 3 { // a batch may have fewer
				once.Do(func() {
					close(reading)
					<-goOn
				})
			}
			if seq == 6001 {
				return errDone
			}
			return nil
		})
	}()
	<-reading
	a.archive(t, 150)
	a.archive(t, 5990)
	close(goOn)
	_, err := a.conn.Append(t.Context(), bustest.Event("s", "last", ""), nil, bus.Any())
	must(t, err)
	if err := <-done; !errors.Is(err, errDone) {
		t.Error(err)
	}
}

// TestMissingSegmentIsNamed, by every way to read, and so is a damaged one. What needs
// none of it goes on.
func TestMissingSegmentIsNamed(t *testing.T) {
	a := newArchived(t, 60)
	a.archive(t, 30)
	path := filepath.Join(a.folder, "1.zst")
	whole, err := os.ReadFile(path)
	must(t, err)
	first, err := os.ReadFile(path)
	must(t, err)
	first[len(first)/2] ^= 4
	other, err := os.ReadFile(filepath.Join(a.folder, a.seal(t, 40).Path)) // a whole one, of other records
	must(t, err)
	records, err := archivefile.Read(path)
	must(t, err)
	_, err = archivefile.Write(path, records[:29])
	must(t, err)
	fewer, err := os.ReadFile(path)
	must(t, err)
	for what, content := range map[string][]byte{"missing": nil, "damaged": first, "another's": other, "cut off": whole[:len(whole)-1], "too few": fewer} {
		if must(t, os.WriteFile(path, content, 0o600)); content == nil {
			must(t, os.Remove(path))
		}
		a.reconnect(t)
		reads := map[string]error{}
		reads["follow"] = a.conn.Follow(t.Context(), bus.ArchivedStream, 0, bus.FollowOptions{UntilEnd: true}, func([]schemas.Record) error { return nil })
		_, reads["get"] = a.conn.Get(t.Context(), bus.ArchivedStream, 5)
		_, reads["next"] = a.conn.Next(t.Context(), bus.ArchivedStream, 5)
		for _, err := range a.conn.Tail(t.Context(), schemas.Session("s.1"), 0) {
			reads["tail"] = err
		}
		for way, err := range reads {
			if !errors.Is(err, bus.ErrArchive) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "records 1 to 30") || !strings.Contains(err.Error(), "from a backup") {
				t.Errorf("%s, %s: %v", what, way, err)
			}
		}
		for _, err := range a.conn.Tail(t.Context(), schemas.Session("s.1"), 30) {
			must(t, err)
		}
		_, err = a.conn.Append(t.Context(), bustest.Event("s.1", strings.ReplaceAll("on-"+what, " ", "-"), ""), nil, bus.Any())
		must(t, err)
	}
	must(t, os.WriteFile(path, whole, 0o600))
	a.read(t)
}

// TestTrimSparesWhatIsOnItsWay: an append of which nobody heard may still be stored
// while the stream lets go of old records; it pushes out none that is not archived. Of a
// large one, which has a connection of its own, the answer to another tells nothing.
func TestTrimSparesWhatIsOnItsWay(t *testing.T) {
	for name, large := range map[string]bool{"small": false, "large": true} {
		t.Run(name, func(t *testing.T) {
			a := newArchived(t, 40)
			a.say(t, a.seal(t, 10))
			must(t, a.server().LetGo(string(bus.ArchivedStream), 11))
			a.conn.Unanswered(large)
			if n := a.trim(t); n != 9 {
				t.Errorf("%d left with one on its way", n)
			}
			a.read(t)
			_, err := a.conn.Append(t.Context(), bustest.Event("new", "n", ""), nil, bus.Any())
			must(t, err)
			if n := a.trim(t); (n == 1) == large {
				t.Errorf("%d left once a later one was answered", n)
			}
			a.read(t)
		})
	}
}
