package blockfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/writbus/writ/schemas"
)

// server writes a stream's blocks as the real one does, and knows what it holds.
type server struct {
	t       *rapid.T
	dir     string
	blocks  []*written
	last    uint64
	gone    map[uint64]bool // deleted, whether still in the files or not
	holes   bool            // some were deleted from between others
	pending []byte          // of the newest block, acknowledged and not written out
}

type written struct {
	path string
	raw  []byte
	held []uint64 // sequences
}

func newServer(t *rapid.T, root string) *server {
	s := &server{t: t, dir: filepath.Join(root, filepath.FromSlash(streamsDir), string(schemas.StreamRules), blocksDir), gone: map[uint64]bool{}}
	if err := errors.Join(os.RemoveAll(root), os.MkdirAll(s.dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	s.roll()
	return s
}

func (s *server) newest() *written { return s.blocks[len(s.blocks)-1] }

func (s *server) roll() {
	s.flush(0)
	number := 1
	if len(s.blocks) > 0 {
		if _, err := fmt.Sscanf(filepath.Base(s.newest().path), "%d.blk", &number); err != nil {
			s.t.Fatal(err)
		}
		number++
	}
	s.blocks = append(s.blocks, &written{path: filepath.Join(s.dir, fmt.Sprint(number, blockEnd))})
	s.write(s.newest())
}

// write puts a block in the place of the one there was.
func (s *server) write(b *written) {
	if err := errors.Join(os.WriteFile(b.path+".tmp", b.raw, 0o600), os.Rename(b.path+".tmp", b.path)); err != nil {
		s.t.Fatal(err)
	}
}

// flush writes out what is acknowledged, but for so many bytes.
func (s *server) flush(leave int) {
	if len(s.blocks) == 0 {
		return
	}
	n := max(len(s.pending)-leave, 0)
	f, err := os.OpenFile(s.newest().path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = f.Write(s.pending[:n])
	if err := errors.Join(err, f.Close()); err != nil {
		s.t.Fatal(err)
	}
	s.newest().raw = append(s.newest().raw, s.pending[:n]...)
	s.pending = s.pending[n:]
}

func (s *server) append(size int) {
	s.last++
	b := s.newest()
	header := ""
	if s.last%3 > 0 {
		header = "NATS/1.0\r\nce-id: " + fmt.Sprint(s.last) + "\r\n\r\n"
	}
	s.pending = append(s.pending, stored(s.last, "writ.rule.a.rule.proposed", header, strings.Repeat(fmt.Sprint(s.last), size))...)
	b.held = append(b.held, s.last)
}

// rewrite is what compaction leaves of a block: what is not gone.
func (s *server) rewrite(b *written) {
	raw := b.raw
	b.raw = nil
	kept := b.held[:0]
	for _, seq := range b.held {
		_, size, err := head(raw)
		if err != nil {
			s.t.Fatal(err)
		}
		if !s.gone[seq] {
			b.raw, kept = append(b.raw, raw[:size]...), append(kept, seq)
		}
		raw = raw[size:]
	}
	b.held = kept
	s.write(b)
}

func (s *server) remove(i int) {
	if err := os.Remove(s.blocks[i].path); err != nil {
		s.t.Fatal(err)
	}
	s.blocks = slices.Delete(s.blocks, i, i+1)
}

// get is what the server answers.
func (s *server) get(seq uint64) (body string, found bool) {
	for _, b := range s.blocks {
		if slices.Contains(b.held, seq) && !s.gone[seq] {
			return strings.Repeat(fmt.Sprint(seq), s.size(b, seq)), true
		}
	}
	return "", false
}

func (s *server) size(b *written, seq uint64) int {
	raw := b.raw
	if b == s.newest() {
		raw = slices.Concat(raw, s.pending)
	}
	for {
		r, size, err := first(raw, map[string]string{})
		if err != nil {
			s.t.Fatal(err)
		}
		if r.Seq == seq {
			return len(r.Message.Body) / len(fmt.Sprint(seq))
		}
		raw = raw[size:]
	}
}

func (s *server) held() (h Held) {
	for _, b := range s.blocks {
		for _, seq := range b.held {
			if s.gone[seq] {
				continue
			}
			if h.First == 0 {
				h.First = seq
			}
			h.Last, h.Messages = seq, h.Messages+1
		}
	}
	return h
}

// TestReaderGivesWhatTheServerGives drives a stream through everything that
// happens to its files, and asks for records all the time: what a reader gives
// is what the server gives; and of files that are as they should be it gives
// everything, at the second question after they were changed.
func TestReaderGivesWhatTheServerGives(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := newServer(t, root)
		r := NewReader(root)
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				large := rapid.IntRange(0, 90).Draw(t, "large")
				for i := range rapid.IntRange(1, 90).Draw(t, "records") {
					if i == large {
						s.append(30000)
					}
					s.append(i % 40)
				}
				s.flush(rapid.SampledFrom([]int{0, 0, 1, 30, 500}).Draw(t, "not written out"))
			},
			"roll": func(*rapid.T) {
				if len(s.newest().held) > 0 {
					s.roll()
				}
			},
			"purge": func(t *rapid.T) {
				for seq := range s.last / uint64(rapid.IntRange(2, 9).Draw(t, "part")) {
					s.gone[seq+1] = true
				}
				for len(s.blocks) > 1 && s.gone[s.blocks[0].held[len(s.blocks[0].held)-1]] {
					s.remove(0)
				}
				if rapid.Bool().Draw(t, "compact") && len(s.blocks) > 1 {
					s.rewrite(s.blocks[0])
				}
			},
			"delete": func(t *rapid.T) {
				if s.last < 3 || rapid.IntRange(0, 9).Draw(t, "rarely") > 0 {
					return
				}
				s.gone[rapid.Uint64Range(1, s.last-1).Draw(t, "seq")], s.holes = true, true
				if b := s.blocks[rapid.IntRange(0, len(s.blocks)-1).Draw(t, "block")]; b != s.newest() && rapid.Bool().Draw(t, "compact") {
					s.rewrite(b)
					if len(b.held) == 0 {
						s.remove(slices.Index(s.blocks, b))
					}
				}
			},
			"": func(t *rapid.T) {
				held := s.held()
				for range 5 {
					seq := rapid.Uint64Range(0, s.last+1).Draw(t, "seq")
					want, found := s.get(seq)
					record, err := r.Record(schemas.StreamRules, seq, held)
					if err != nil && found && !s.holes && len(s.pending) == 0 {
						record, err = r.Record(schemas.StreamRules, seq, held)
						if err != nil {
							t.Fatalf("record %d of %+v is not found: %v", seq, held, err)
						}
					}
					switch {
					case err == nil && (!found || record.Seq != seq || record.Stream != schemas.StreamRules || string(record.Message.Body) != want):
						t.Fatalf("record %d is %d %.40q, the server gives %.40q, %t", seq, record.Seq, record.Message.Body, want, found)
					case err == nil && !strings.Contains(string(record.Message.Block), fmt.Sprint(": ", seq, "\r")) && seq%3 > 0:
						t.Fatalf("the header of record %d is %q", seq, record.Message.Block)
					case err != nil && !errors.Is(err, ErrUnclear):
						t.Fatal(err)
					}
				}
			},
		})
	})
}

// TestReaderBelievesNoOldTable puts another block in the place of one that a
// reader knows, with other records at other places.
func TestReaderBelievesNoOldTable(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, filepath.FromSlash(streamsDir), string(schemas.StreamRules), blocksDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	block := func(from, to uint64, body string) (raw []byte) {
		for seq := from; seq <= to; seq++ {
			raw = append(raw, stored(seq, "s", "", body)...)
		}
		return raw
	}
	path := filepath.Join(dir, "1.blk")
	put := func(raw []byte) {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	held := Held{First: 1, Last: 500, Messages: 500}
	r := NewReader(root)
	for name, raw := range map[string][]byte{
		"other places":  block(1, 500, "another, longer body"),
		"other records": block(200, 700, "body"),
		"shorter":       block(1, 100, "body"),
		"nothing":       nil,
		"zeros":         make([]byte, 20000),
	} {
		put(block(1, 500, "body"))
		r.forget(schemas.StreamRules)
		if got, err := r.Record(schemas.StreamRules, 450, held); err != nil || string(got.Message.Body) != "body" {
			t.Fatalf("%+v, %v", got, err)
		}
		put(raw)
		for range 2 {
			got, err := r.Record(schemas.StreamRules, 450, held)
			records, _ := read(raw)
			at := slices.IndexFunc(records, func(r schemas.Record) bool { return r.Seq == 450 })
			if err == nil && (at < 0 || got.Seq != 450 || !bytes.Equal(got.Message.Body, records[at].Message.Body)) || err != nil && !errors.Is(err, ErrUnclear) {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Record(schemas.StreamRules, 450, held); !errors.Is(err, ErrUnclear) {
		t.Errorf("without the file: %v", err)
	}
}

// TestReaderSeesThatABlockWasRewritten puts in the place of a block one that
// lacks its first records and ends where the old one did when it was passed.
func TestReaderSeesThatABlockWasRewritten(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, filepath.FromSlash(streamsDir), string(schemas.StreamRules), blocksDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "1.blk")
	put := func(from, to uint64) {
		var raw []byte
		for seq := from; seq <= to; seq++ {
			raw = append(raw, stored(seq, "s", "", "body")...)
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := NewReader(root)
	put(1, 40)
	if _, err := r.Record(schemas.StreamRules, 20, Held{1, 40, 40}); err != nil {
		t.Fatal(err)
	}
	put(41, 80)
	held := Held{41, 80, 40}
	_, _ = r.Record(schemas.StreamRules, 60, held)
	if got, err := r.Record(schemas.StreamRules, 60, held); err != nil || got.Seq != 60 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestReaderIsBounded asks for a record in each of more blocks than tables are
// kept of.
func TestReaderIsBounded(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, filepath.FromSlash(streamsDir), string(schemas.StreamRules), blocksDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const blocks = tablesKept + 20
	for i := range blocks {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i+1, blockEnd)), stored(uint64(i+1), "s", "", fmt.Sprint(i+1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := NewReader(root)
	for range 2 {
		for i := range uint64(blocks) {
			got, err := r.Record(schemas.StreamRules, i+1, Held{1, blocks, blocks})
			if err != nil || string(got.Message.Body) != fmt.Sprint(i+1) {
				t.Fatalf("%d: %+v, %v", i+1, got, err)
			}
		}
	}
	if len(r.tables) != tablesKept {
		t.Errorf("%d tables are kept", len(r.tables))
	}
}

// FuzzReader has a block of anything: what a reader finds in it is what reading
// it from its beginning gives.
func FuzzReader(f *testing.F) {
	f.Add(slices.Concat(stored(1, "s", "h", "b"), stored(2, "s", "", "")), uint64(2))
	f.Add(slices.Concat(stored(7, "s", "h", "b"), stored(9, "s", "", "")), uint64(9))
	f.Add(stored(1|1<<63, "s", "", ""), uint64(1))
	f.Add([]byte("cmp\x01"), uint64(0))
	root := f.TempDir()
	dir := filepath.Join(root, filepath.FromSlash(streamsDir), string(schemas.StreamRules), blocksDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte, seq uint64) {
		if err := os.WriteFile(filepath.Join(dir, "1.blk"), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := NewReader(root).Record(schemas.StreamRules, seq, Held{First: seq, Last: seq, Messages: 1})
		if err != nil {
			if !errors.Is(err, ErrUnclear) {
				t.Fatal(err)
			}
			return
		}
		records, _ := read(raw)
		at := slices.IndexFunc(records, func(r schemas.Record) bool { return r.Seq == seq })
		if at < 0 || !bytes.Equal(got.Message.Body, records[at].Message.Body) || !bytes.Equal(got.Message.Block, records[at].Message.Block) || got.Message.Subject != records[at].Message.Subject {
			t.Fatalf("record %d is %+v, among %+v", seq, got, records)
		}
	})
}

// BenchmarkReader finds records of one block of 8 MB, in random order.
func BenchmarkReader(b *testing.B) {
	root := b.TempDir()
	dir := filepath.Join(root, filepath.FromSlash(streamsDir), string(schemas.StreamRules), blocksDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	var raw []byte
	n := uint64(0)
	for len(raw) < 8<<20 {
		n++
		raw = append(raw, stored(n, "writ.memory.scope-1.observation.recorded", strings.Repeat("h", 300), strings.Repeat("b", 200))...)
	}
	if err := os.WriteFile(filepath.Join(dir, "1.blk"), raw, 0o600); err != nil {
		b.Fatal(err)
	}
	find := func(b *testing.B, r *Reader, i int) {
		if _, err := r.Record(schemas.StreamRules, uint64(i)*7919%n+1, Held{1, n, n}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("found", func(b *testing.B) {
		r := NewReader(root)
		for i := 0; b.Loop(); i++ {
			find(b, r, i)
		}
	})
	b.Run("first", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			find(b, NewReader(root), i)
		}
	})
}
