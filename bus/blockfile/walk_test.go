package blockfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// stored is a record as the server stores it in a block.
func stored(t *testing.T, index int, seq uint64) []byte {
	t.Helper()
	b, err := newBlock("S", index, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	subject, body := "s.a", fmt.Sprintf("record %d", seq)
	raw := make([]byte, headSize, headSize+len(subject)+len(body)+sumSize)
	binary.LittleEndian.PutUint32(raw, uint32(cap(raw)))
	binary.LittleEndian.PutUint64(raw[4:], seq)
	binary.LittleEndian.PutUint64(raw[12:], seq*1000)
	binary.LittleEndian.PutUint16(raw[20:], uint16(len(subject)))
	raw = append(append(append(raw, subject...), body...), make([]byte, sumSize)...)
	return b.adopt(raw)
}

func records(t *testing.T, index int, first, last uint64) (all []byte) {
	t.Helper()
	for seq := first; seq <= last; seq++ {
		all = append(all, stored(t, index, seq)...)
	}
	return all
}

func mark(t *testing.T, index int, seq uint64) []byte {
	t.Helper()
	b, err := newBlock("S", index, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return b.erasure(seq, 1)
}

func put(t *testing.T, dir string, index int, parts ...[]byte) {
	t.Helper()
	err := os.MkdirAll(filepath.Join(dir, "msgs"), 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "msgs", fmt.Sprintf("%d.blk", index)), bytes.Join(parts, nil), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func step(t *testing.T, w *Walk) bool {
	t.Helper()
	_, more, err := w.Step()
	if err != nil {
		t.Fatal(err)
	}
	return more
}

func found(all []Damage) (lines []string) {
	for _, d := range all {
		line := d.String()
		if d.Erased {
			line += ", erased"
		}
		lines = append(lines, line)
	}
	return lines
}

// TestWalkBesideAServer: what is added to a file after it was read is no damage
// once the next file is begun, in the walk that read it and in one that goes on
// where an earlier one was.
func TestWalkBesideAServer(t *testing.T) {
	half := stored(t, 1, 6)[:20]
	for _, torn := range [][]byte{nil, half} {
		dir := t.TempDir()
		put(t, dir, 1, records(t, 1, 1, 5), torn)
		w := NewWalk(dir, "S", Range{})
		step(t, w)
		block, last := w.At()
		later := NewWalk(dir, "S", Range{})
		later.Resume(block, last)
		put(t, dir, 1, records(t, 1, 1, 9))
		put(t, dir, 2, records(t, 2, 10, 12))
		for _, walk := range []*Walk{w, later} {
			for step(t, walk) {
			}
			if all := walk.Finish(); slices.ContainsFunc(all, func(d Damage) bool { return d.Records() > 0 }) {
				t.Errorf("torn %d: %v", len(torn), found(all))
			}
			if _, last := walk.At(); last != 12 {
				t.Errorf("read up to %d", last)
			}
		}
	}
}

// TestDamageBesideAMark: bytes that are damaged beside the mark of an erased record
// are records of their own.
func TestDamageBesideAMark(t *testing.T) {
	wrong := func(seq uint64) []byte {
		raw := stored(t, 1, seq)
		raw[headSize+5] ^= 0x10
		return raw
	}
	for name, c := range map[string]struct {
		parts [][]byte
		want  []string
	}{
		"behind":      {[][]byte{records(t, 1, 1, 2), mark(t, 1, 5), wrong(6), records(t, 1, 7, 8)}, []string{"records 3 to 5 of S, erased", "record 6 of S"}},
		"before":      {[][]byte{records(t, 1, 1, 2), wrong(3), mark(t, 1, 4), records(t, 1, 5, 8)}, []string{"record 3 of S", "record 4 of S, erased"}},
		"between two": {[][]byte{mark(t, 1, 2), wrong(3), mark(t, 1, 4), records(t, 1, 5, 8)}, []string{"records 1 to 2 of S, erased", "record 3 of S", "record 4 of S, erased"}},
		"two marks":   {[][]byte{records(t, 1, 1, 2), mark(t, 1, 5), mark(t, 1, 6), records(t, 1, 7, 8)}, []string{"records 3 to 5 of S, erased", "record 6 of S, erased"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, 1, c.parts...)
			all, err := Examine(dir, "S", Range{First: 1, Last: 8})
			if got := found(all); err != nil || !slices.Equal(got, c.want) {
				t.Fatalf("got %v, %v; want %v", got, err, c.want)
			}
			done, err := Repair(Options{Dir: dir, Stream: "S", Known: Range{1, 8}, Keep: t.TempDir(), Leave: func(d Damage) bool { return d.Erased }})
			if err != nil {
				t.Fatal(err)
			}
			for _, out := range done {
				if out.How != Mended {
					t.Errorf("%s: %s", out.Damage, out.How)
				}
			}
		})
	}
}

// TestRestoreBesideAMark: the record before the damage, by which a backup of another
// log is told, may be behind an erased one.
func TestRestoreBesideAMark(t *testing.T) {
	dir, backup := t.TempDir(), t.TempDir()
	put(t, dir, 1, records(t, 1, 1, 2), mark(t, 1, 3), bytes.Repeat([]byte{0xa5}, 90), records(t, 1, 6, 8))
	put(t, backup, 1, records(t, 1, 1, 8))
	done, err := Repair(Options{Dir: dir, Stream: "S", Known: Range{1, 8}, Keep: t.TempDir(), From: backup, Leave: func(d Damage) bool { return d.Erased }})
	if err != nil || len(done) != 1 || done[0].How != Restored || done[0].First != 4 || done[0].Last != 5 {
		t.Fatalf("%+v, %v", done, err)
	}
}

// TestMendInPlaceOfAFileThatWasEnded: nothing is written behind the end that the
// server gave the file while the wrong byte was looked for.
func TestMendInPlaceOfAFileThatWasEnded(t *testing.T) {
	dir := t.TempDir()
	sound := records(t, 1, 1, 3)
	bad := bytes.Clone(sound)
	bad[len(bad)-sumSize-1] ^= 0x10
	put(t, dir, 1, bad)
	all, err := Examine(dir, "S", Range{First: 1, Last: 3})
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", found(all), err)
	}
	path := filepath.Join(dir, "msgs", "1.blk")
	for _, c := range []struct {
		alone func(func() error) error
		done  bool
		want  []byte
	}{
		{func(func() error) error { return nil }, false, bad},
		{func(write func() error) error { return write() }, true, sound},
		{func(write func() error) error { put(t, dir, 1, bad[:all[0].From]); return write() }, false, bad[:all[0].From]},
	} {
		put(t, dir, 1, bad)
		done, err := MendInPlace(dir, t.TempDir(), all[0], c.alone)
		if now, readErr := os.ReadFile(path); err != nil || readErr != nil || done != c.done || !bytes.Equal(now, c.want) {
			t.Errorf("done %v, %v; the file has %d bytes, want %d", done, err, len(now), len(c.want))
		}
	}
}
