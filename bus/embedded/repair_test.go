package embedded_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/blockfile"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas"
)

// wreck makes every record unreadable that holds a byte of a range, beyond what a
// checksum can mend.
func wreck(t *testing.T, file string, from, n int) {
	t.Helper()
	body, err := os.ReadFile(file)
	must(t, err)
	copy(body[from:], bytes.Repeat([]byte{0xa5}, n))
	must(t, os.WriteFile(file, body, 0o600))
}

// readIDs are the ids of a stream's records by sequence, as a follower gets them.
func readIDs(t *testing.T, c *bus.Conn, s schemas.Stream) (map[uint64]string, error) {
	t.Helper()
	all := map[uint64]string{}
	err := c.Follow(t.Context(), s, 0, bus.FollowOptions{UntilEnd: true}, func(batch []schemas.Record) error {
		for _, r := range batch {
			all[r.Seq] = r.ID()
		}
		return nil
	})
	return all, err
}

// giveUp records what a repair gave up, as the daemon does.
func giveUp(t *testing.T, s *store, c *bus.Conn) {
	t.Helper()
	holes, err := embedded.Holes(s.options.Dir)
	must(t, err)
	for _, h := range holes {
		lost := schemas.RecordsLost{Stream: schemas.Stream(h.Stream), First: h.First, Last: h.Last}
		for range h.Last - h.First + 1 {
			lost.Leaves = append(lost.Leaves, schemas.LostLeaf{SHA256: make([]byte, 32)})
		}
		_, err := bus.Record(t.Context(), c.Writer(bus.WriterOptions{}), schemas.Event{
			ID: fmt.Sprint("lost-", h.First), Aggregate: schemas.LostRecords(), Actor: schemas.Writ("test"), Data: lost,
		})
		must(t, err)
	}
}

// TestWreckedRecords: whatever a range of bytes is overwritten, and whether the
// index is there or not, no record outside of it is lost, a repair without a backup
// lets readers pass, one with a backup brings all back, and appends go on behind.
func TestWreckedRecords(t *testing.T) {
	const block = "WRIT_SESSIONS/msgs/1.blk"
	for _, c := range []struct {
		name  string
		at    func(size int) (from, n int)
		index bool // stays
		lost  int  // at most
	}{
		{"in the middle", func(size int) (int, int) { return size / 2, 40 }, true, 2},
		{"in the middle, index missing", func(size int) (int, int) { return size / 2, 40 }, false, 2},
		{"the first", func(int) (int, int) { return 0, 60 }, false, 1},
		{"several", func(size int) (int, int) { return size / 3, 3000 }, false, 10},
		{"the last", func(size int) (int, int) { return size - 60, 50 }, false, 1},
		{"all but the last", func(size int) (int, int) { return 0, size - 400 }, false, filled - 1},
	} {
		for _, from := range []string{"", "backup"} {
			t.Run(c.name+" "+from, func(t *testing.T) {
				s := newStore(t)
				s.options.Durability = embedded.PowerLoss
				streams := s.fill()
				backup := ""
				if from != "" {
					backup = filepath.Join(t.TempDir(), "store")
					must(t, os.CopyFS(backup, os.DirFS(s.options.Dir)))
				}
				info, err := os.Stat(filepath.Join(streams, block))
				must(t, err)
				at, n := c.at(int(info.Size()))
				wreck(t, filepath.Join(streams, block), at, n)
				if !c.index {
					must(t, os.Remove(filepath.Join(streams, "WRIT_SESSIONS/msgs/index.db")))
				}
				checkWrecked(t, s, backup, c.lost)
			})
		}
	}
}

func checkWrecked(t *testing.T, s *store, backup string, most int) {
	server, _ := s.start() // which must not take what is sound
	must(t, server.Shutdown(t.Context()))
	done, err := embedded.Repair(s.options.Dir, backup)
	must(t, err)
	if len(done) == 0 {
		t.Fatal("nothing was found")
	}
	want := blockfile.Lost
	if backup != "" {
		want, most = blockfile.Restored, 0
	}
	for _, out := range done {
		if out.How != want && out.How != blockfile.Removed {
			t.Errorf("%s: %s, want %s", out.Damage, out.How, want)
		}
		if _, err := os.Stat(out.Kept); err != nil {
			t.Errorf("the damaged file was not kept: %v", err)
		}
	}
	again, err := embedded.Repair(s.options.Dir, backup)
	if err != nil || len(again) > 0 {
		t.Errorf("a second repair found %v, %v", again, err)
	}
	server, conn := s.start()
	if found := server.Findings(); len(found) > 0 {
		t.Errorf("after the repair: %v", found)
	}
	giveUp(t, s, conn)
	ids, err := readIDs(t, conn, schemas.StreamSessions)
	if err != nil || len(ids) < filled-most {
		t.Errorf("%d of %d records are there: %v", len(ids), filled, err)
	}
	for seq, id := range ids {
		if id != fmt.Sprint(seq-1) {
			t.Errorf("record %d is %q", seq, id)
		}
	}
	at, err := bus.Record(t.Context(), conn.Writer(bus.WriterOptions{}), bustest.Event("s", "next", "another prompt"))
	if err != nil || at.Seq != filled+1 {
		t.Errorf("the next record is at %+v: %v", at, err)
	}
	must(t, server.Shutdown(t.Context()))
}

// TestGapIsToldAtOnce: a reader that meets a record nobody can read has the log
// looked through, and the finding names the record and the remedy.
func TestGapIsToldAtOnce(t *testing.T) {
	s := newStore(t)
	streams := s.fill()
	told := make(chan embedded.Finding, 10)
	s.options.Found = func(f embedded.Finding) { told <- f }
	wreck(t, filepath.Join(streams, "WRIT_SESSIONS/msgs/1.blk"), 30_000, 40)
	server, err := embedded.Start(t.Context(), s.options)
	must(t, err)
	t.Cleanup(func() { _ = server.Shutdown(context.Background()) })
	for _, f := range server.Findings() {
		told <- f // found at the start already
	}
	o := s.as(embedded.RoleDaemon, server)
	o.OnGap = func(schemas.Stream) { server.Look() }
	c, err := bus.Connect(t.Context(), o)
	must(t, err)
	t.Cleanup(c.Close)
	if _, err := readIDs(t, c, schemas.StreamSessions); !errors.Is(err, bus.ErrGap) {
		t.Fatalf("got %v", err)
	}
	if f := <-told; !errors.Is(f.Err, embedded.ErrLogDamaged) || f.Lost == 0 || f.Stream != "WRIT_SESSIONS" || !bytes.Contains([]byte(f.String()), []byte("writ repair")) {
		t.Errorf("told %+v", f)
	}
}

// TestOneWrongByteIsMendedWhileServing: the reading in the background puts it
// right, and readers get every record.
func TestOneWrongByteIsMendedWhileServing(t *testing.T) {
	s := newStore(t)
	streams := s.fill()
	told := make(chan embedded.Finding, 10)
	s.options.Found = func(f embedded.Finding) { told <- f }
	file := filepath.Join(streams, "WRIT_SESSIONS/msgs/1.blk")
	sound, err := os.ReadFile(file)
	must(t, err)
	bad := bytes.Clone(sound)
	bad[30_000] ^= 0x42
	server, c := s.start()
	must(t, os.WriteFile(file, bad, 0o600))
	server.Look()
	if f := <-told; !errors.Is(f.Err, embedded.ErrMended) {
		t.Fatalf("told %+v", f)
	}
	if ids, err := readIDs(t, c, schemas.StreamSessions); err != nil || len(ids) != filled {
		t.Errorf("%d records, %v", len(ids), err)
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, sound) {
		t.Errorf("the file is not what it was: %v", err)
	}
	kept, err := filepath.Glob(filepath.Join(s.options.Dir, "damaged", "*.blk"))
	must(t, err)
	if len(kept) != 1 {
		t.Fatalf("kept: %v", kept)
	}
	if had, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(had, bad) {
		t.Errorf("the damaged file was not kept as it was: %v", err)
	}
}

// TestAFileThatCannotBeReadIsTold by the reading in the background: a disk that fails
// is no sound one.
func TestAFileThatCannotBeReadIsTold(t *testing.T) {
	s := newStore(t)
	streams := s.fill()
	told := make(chan embedded.Finding, 10)
	s.options.Found = func(f embedded.Finding) { told <- f }
	server, _ := s.start()
	file := filepath.Join(streams, "WRIT_RULES/msgs/1.blk")
	must(t, os.Rename(file, file+".away"))
	must(t, os.Mkdir(file, 0o700)) // as one that the disk does not give back
	server.Look()
	f := <-told
	must(t, errors.Join(os.Remove(file), os.Rename(file+".away", file)))
	if !errors.Is(f.Err, embedded.ErrLogDamaged) || f.Stream != "WRIT_RULES" || !strings.Contains(f.String(), "Check the disk") {
		t.Errorf("told %+v", f)
	}
}

// TestLostEndIsNotGivenOutAgain: a file that ends before what was noted, or a stream that
// is gone with its folder, lost it: nobody reads over that, the next record goes behind
// it, and a backup still brings it back.
func TestLostEndIsNotGivenOutAgain(t *testing.T) {
	for name, kept := range map[string]int{"half of a file": filled / 2, "the folder": 0} {
		for _, durability := range []embedded.Durability{embedded.PowerLoss, embedded.Interval} {
			t.Run(fmt.Sprint(name, ", ", durability), func(t *testing.T) {
				s := newStore(t)
				s.options.Durability = durability
				streams := s.fill()
				backup := filepath.Join(t.TempDir(), "store")
				must(t, os.CopyFS(backup, os.DirFS(s.options.Dir)))
				if file := filepath.Join(streams, "WRIT_SESSIONS/msgs/1.blk"); kept > 0 {
					must(t, os.Truncate(file, endOfRecord(t, file, kept)))
				} else {
					must(t, os.RemoveAll(filepath.Join(streams, "WRIT_SESSIONS")))
				}
				server, conn := s.start()
				if found := server.Findings(); len(found) == 0 || !errors.Is(found[0].Err, embedded.ErrLogDamaged) || int(found[0].First) != kept+1 || found[0].Last != filled {
					t.Errorf("told %v", found)
				}
				at, err := bus.Record(t.Context(), conn.Writer(bus.WriterOptions{}), bustest.Event("s", "next", "another prompt"))
				if err != nil || at.Seq != filled+1 {
					t.Errorf("the next record is at %+v: %v", at, err)
				}
				if ids, err := readIDs(t, conn, schemas.StreamSessions); !errors.Is(err, bus.ErrGap) || len(ids) != kept {
					t.Errorf("%d records are read, and then: %v", len(ids), err)
				}
				must(t, server.Shutdown(t.Context()))
				if _, err := embedded.Repair(s.options.Dir, backup); err != nil {
					t.Fatal(err)
				}
				_, conn = s.start()
				if ids, err := readIDs(t, conn, schemas.StreamSessions); err != nil || len(ids) != filled+1 {
					t.Errorf("%d records are there, %v", len(ids), err)
				}
			})
		}
	}
}

// endOfRecord is where the nth record of a file ends.
func endOfRecord(t *testing.T, file string, n int) (at int64) {
	t.Helper()
	body, err := os.ReadFile(file)
	must(t, err)
	for range n {
		at += int64(binary.LittleEndian.Uint32(body[at:]) &^ (1 << 31))
	}
	return at
}

// TestWrongNoteOfHolesIsWrittenAnew: a repair notes what the files show.
func TestWrongNoteOfHolesIsWrittenAnew(t *testing.T) {
	s := newStore(t)
	streams := s.fill()
	wreck(t, filepath.Join(streams, "WRIT_SESSIONS/msgs/1.blk"), 30_000, 40)
	_, err := embedded.Repair(s.options.Dir, "")
	must(t, err)
	right, err := embedded.Holes(s.options.Dir)
	must(t, err)
	wrong := append([]embedded.Hole{{Stream: "WRIT_SESSIONS", First: 1, Last: 3}}, right...)
	body, err := json.Marshal(wrong)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(s.options.Dir, "lost.json"), body, 0o600))
	_, err = embedded.Repair(s.options.Dir, "")
	must(t, err)
	if now, err := embedded.Holes(s.options.Dir); err != nil || !slices.Equal(now, right) {
		t.Errorf("noted %v, %v; want %v", now, err, right)
	}
}

// TestCutKeepsWhatWasGivenUp: a copy of a log with a known hole is no damaged log, and
// goes back to a moment after the hole was known, wherever in a stream it is.
func TestCutKeepsWhatWasGivenUp(t *testing.T) {
	for _, at := range []string{"in the middle", "at the end"} {
		t.Run(at, func(t *testing.T) {
			s := newStore(t)
			file := filepath.Join(s.fill(), "WRIT_SESSIONS/msgs/1.blk")
			from := 30_000
			if at == "at the end" {
				info, err := os.Stat(file)
				must(t, err)
				from = int(info.Size()) - 60
			}
			wreck(t, file, from, 40)
			_, err := embedded.Repair(s.options.Dir, "")
			must(t, err)
			server, _ := s.start()
			cut, err := server.Cut()
			must(t, err)
			dir := t.TempDir()
			for _, part := range cut.Parts {
				path := filepath.Join(dir, filepath.FromSlash(part.Name))
				must(t, os.MkdirAll(filepath.Dir(path), 0o700))
				to, err := os.Create(path)
				must(t, err)
				must(t, errors.Join(part.Copy(to), to.Close()))
			}
			must(t, server.Shutdown(t.Context()))
			if ends, err := embedded.CutAfter(dir, time.Now()); err != nil || len(ends) > 0 {
				t.Errorf("nothing is behind this moment, and %v were cut: %v", ends, err)
			}
			s.options.Dir = dir
			copied, _ := s.start()
			if found := copied.Findings(); len(found) > 0 {
				t.Errorf("the copy is damaged: %v", found)
			}
		})
	}
}

// TestLostEndStaysTold: no repair brings it back, so none puts it away.
func TestLostEndStaysTold(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "damage.txt")
	_, err := embedded.KeepFindings(file, []embedded.Finding{{Err: fmt.Errorf("%w: a byte", embedded.ErrMended)}, {Err: fmt.Errorf("%w: S ended at 200", embedded.ErrLogTruncated)}}, time.Now())
	must(t, err)
	must(t, embedded.SettleFindings(file, dir))
	if lines, err := embedded.KeepFindings(file, nil, time.Now()); err != nil || len(lines) != 1 || !strings.Contains(lines[0], "ended at 200") {
		t.Errorf("%v, %v", lines, err)
	}
}

// TestOtherLogsBackupIsNotTakenFrom: the records of another log stand under the
// same sequences.
func TestOtherLogsBackupIsNotTakenFrom(t *testing.T) {
	for name, at := range map[string]int{"a record": 30_000, "the first record": 30} {
		t.Run(name, func(t *testing.T) {
			s, other := newStore(t), newStore(t)
			streams := s.fill()
			_ = other.fill()
			wreck(t, filepath.Join(streams, "WRIT_SESSIONS/msgs/1.blk"), at, 40)
			done, err := embedded.Repair(s.options.Dir, other.options.Dir)
			if err != nil || len(done) == 0 || done[0].How != blockfile.Lost {
				t.Errorf("got %v, %v", done, err)
			}
		})
	}
}

// TestRepairNeedsTheFolder: not beside a server, and nothing on a sound store.
func TestRepairNeedsTheFolder(t *testing.T) {
	s := newStore(t)
	s.fill()
	before := snapshot(t, s.options.Dir)
	if done, err := embedded.Repair(s.options.Dir, ""); err != nil || len(done) > 0 {
		t.Errorf("of a sound store: %v, %v", done, err)
	}
	if after := snapshot(t, s.options.Dir); before != after {
		t.Error("a repair of a sound store changed it")
	}
	s.start()
	if _, err := embedded.Repair(s.options.Dir, ""); !errors.Is(err, embedded.ErrLocked) {
		t.Errorf("beside a server: %v", err)
	}
}

func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var all bytes.Buffer
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s %x\n", path, body)
		return err
	}))
	return all.String()
}
