package embedded

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestCutFileIsPutBack: what the server says before it ends a file at a damaged
// record has the file copied, and no append is taken until it is whole again, which
// a later start sees to where this one is killed.
func TestCutFileIsPutBack(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "jetstream", "$G", "streams", "WRIT_RULES", "msgs", "1.blk")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Dir(file), 0o700))
	was := bytes.Repeat([]byte("record"), 100)
	must(os.WriteFile(file, was, 0o600))
	s := &Server{options: Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}, log: newLogger(slog.New(slog.DiscardHandler))}
	s.ended = &ended{store: dir, find: s.find}
	s.log.beforeCut = s.ended.before
	s.log.Warnf("Filestore [$G > WRIT_RULES] indexCacheBuf corrupt record state in %s: dlen %d slen %d index %d rl %d lbuf %d", file, 1, 2, 3, 4, 5)
	if s.Health() == nil {
		t.Error("an append would be taken")
	}
	must(os.Truncate(file, 200))
	must(s.ended.alone(func() error { t.Error("a file that was ended is written to"); return nil }))
	s.ended = &ended{store: dir, find: s.find}
	must(s.ended.putBack())
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, was) {
		t.Errorf("%d of %d bytes are there, %v", len(now), len(was), err)
	}

	must(s.ended.before(file))
	must(os.WriteFile(file, []byte("recordrecordanother"), 0o600))
	must(s.ended.putBack())
	if now, err := os.ReadFile(file); err != nil || string(now) != "recordrecordanother" {
		t.Errorf("what was appended since is gone: %q, %v", now, err)
	}
	found := s.Findings()
	if len(found) != 1 || !errors.Is(found[0].Err, ErrLogDamaged) || found[0].Stream != "WRIT_RULES" {
		t.Errorf("told: %v", found)
	}
	kept, err := filepath.Glob(filepath.Join(dir, "damaged", "*.blk"))
	must(err)
	if len(kept) != 1 {
		t.Fatalf("kept: %v", kept)
	}
	if had, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(had, was) {
		t.Errorf("the file as it was is not kept: %v", err)
	}
	if left, err := os.ReadDir(s.ended.copies()); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestKnownCountsEachRecordOnce: holes may have records in common.
func TestKnownCountsEachRecordOnce(t *testing.T) {
	holes := []Hole{{Stream: "S", First: 5, Last: 9}, {Stream: "S", First: 5, Last: 5}, {Stream: "T", First: 1, Last: 99}, {Stream: "S", First: 8, Last: 12}}
	if n := known(holes, "S", 1, 100); n != 8 {
		t.Errorf("%d records, want 8", n)
	}
	if n := known(holes, "S", 7, 10); n != 4 {
		t.Errorf("%d records, want 4", n)
	}
}

// TestMarksAreChecked: a flipped bit is told, whichever it is.
func TestMarksAreChecked(t *testing.T) {
	dir := t.TempDir()
	m := marks{Streams: map[string]mark{"S": {First: 1, Last: 200}}}
	body, err := m.encode()
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(body) - 1 { // the last byte ends the line
		for bit := range 8 {
			flipped := bytes.Clone(body)
			flipped[i] ^= 1 << bit
			if err := os.WriteFile(filepath.Join(dir, marksName), flipped, 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := readMarks(dir); err == nil && got.Streams["S"] != m.Streams["S"] {
				t.Errorf("bit %d of byte %d: %s is taken for %+v", bit, i, flipped, got)
			}
		}
	}
}

// TestAnOlderLookTakesNoMarkBack notes ends that were looked at before records were let
// go, after that was noted: as the two may meet, and a start would then take what left
// for damage.
func TestAnOlderLookTakesNoMarkBack(t *testing.T) {
	s := &Server{options: Options{Dir: t.TempDir()}}
	older := marks{Streams: map[string]mark{"S": {First: 1, Last: 200}}}
	s.letGo = map[string]uint64{"S": 100}
	if err := s.writeMarks(older); err != nil {
		t.Fatal(err)
	}
	if got, err := readMarks(s.options.Dir); err != nil || got.Streams["S"] != (mark{First: 100, Last: 200}) {
		t.Errorf("noted is %+v, %v", got, err)
	}
}

// TestASweepRefusesNobody has a server that starts try a folder whose holder removes
// what killed ones left there: the folder is in use, and no worse.
func TestASweepRefusesNobody(t *testing.T) {
	dir, done := t.TempDir(), make(chan struct{})
	var sweeper sync.WaitGroup
	sweeper.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				removeProbes(dir)
			}
		}
	})
	for range 300 {
		if err := prepareDir(dir); err != nil {
			t.Error(err)
			break
		}
	}
	close(done)
	sweeper.Wait()
}

// TestALongFindingHidesNoOther tells of what was found beside something that a server
// had very much to say about.
func TestALongFindingHidesNoOther(t *testing.T) {
	file := filepath.Join(t.TempDir(), "damage")
	found := []Finding{{Err: errors.New(strings.Repeat("x", 70<<10))}, {Err: errors.New("another")}}
	lines, err := KeepFindings(file, found, time.Unix(0, 0))
	if err != nil || len(lines) != 2 || !strings.HasSuffix(lines[1], "another") {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}
