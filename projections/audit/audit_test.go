package audit

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

// memoryView is a view and its own snapshot.
type memoryView map[string][]byte

func (m memoryView) Get(key []byte) ([]byte, bool, error) { v, ok := m[string(key)]; return v, ok, nil }

func (m memoryView) Set(key, value []byte) error {
	m[string(key)] = bytes.Clone(value)
	return nil
}
func (m memoryView) Delete(key []byte) error      { delete(m, string(key)); return nil }
func (memoryView) Position(schemas.Stream) uint64 { return 0 }
func (memoryView) Version() int                   { return 1 }
func (memoryView) Close() error                   { return nil }
func (m memoryView) Scan(prefix []byte) iter.Seq2[projections.Entry, error] {
	return func(yield func(projections.Entry, error) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if strings.HasPrefix(k, string(prefix)) && !yield(projections.Entry{Key: []byte(k), Value: m[k]}, nil) {
				return
			}
		}
	}
}

func recordAt(s schemas.Stream, seq uint64, id, body string) schemas.Record {
	return schemas.Record{Stream: s, Seq: seq, Message: schemas.Message{
		Subject: "writ.session.s1.tool.decided",
		Header:  schemas.Header{"ce-id": {id}, "Nats-Msg-Id": {id}, "ce-type": {"tool.decided"}},
		Body:    []byte(body),
	}}
}

// uuidAt is an id of version 7 of a millisecond.
func uuidAt(millis, more int) string {
	var u uuid.UUID
	for i := range 6 {
		u[i] = byte(millis >> (8 * (5 - i)))
	}
	u[6], u[8], u[14], u[15] = 0x70, 0x80, byte(more>>8), byte(more)
	return u.String()
}

// feed applies records in batches of the sizes given, over and over.
func feed(t interface {
	Helper()
	Fatal(args ...any)
}, view memoryView, records []schemas.Record, sizes ...int,
) {
	t.Helper()
	p := New(nil)
	for i := 0; len(records) > 0; i++ {
		n := min(max(sizes[i%len(sizes)], 1), len(records))
		if i%3 == 1 {
			p.Continue()
		} else {
			p.Begin()
		}
		for _, r := range records[:n] {
			if err := p.ApplyRecord(view, r); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Flush(view); err != nil {
			t.Fatal(err)
		}
		records = records[n:]
	}
}

func someRecords(n int, first uint64) []schemas.Record {
	records := make([]schemas.Record, n)
	for i := range records {
		records[i] = recordAt(schemas.StreamSessions, first+uint64(i), uuidAt(1000+i/3, i), fmt.Sprintf(`{"n":%d}`, i))
	}
	return records
}

// TestTheTreeIsThatOfRFC6962 compares roots and proofs with those of tlog's own
// storage, across the borders of tiles.
func TestTheTreeIsThatOfRFC6962(t *testing.T) {
	const n = 1500
	records, view := someRecords(n, 1), memoryView{}
	feed(t, view, records, 1, 255, 256, 3)
	tree, err := OpenTree(view, schemas.StreamSessions)
	if err != nil || tree.Size() != n || tree.First() != 1 {
		t.Fatalf("the tree has %d records from %d: %v", tree.Size(), tree.First(), err)
	}
	var stored []tlog.Hash
	own := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		var out []tlog.Hash
		for _, i := range indexes {
			out = append(out, stored[i])
		}
		return out, nil
	})
	var edge evidence.Frontier
	for i, r := range records {
		leaf := new(evidence.Hasher).Leaf(r.Message)
		more, err := tlog.StoredHashesForRecordHash(int64(i), leaf, own)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, more...)
		edge.Add(leaf)
		if i%97 != 0 && i != n-1 && i != 255 && i != 256 {
			continue
		}
		want, err := tlog.TreeHash(int64(i+1), own)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tree.Root(int64(i + 1))
		if err != nil || got != want || edge.Root() != want {
			t.Fatalf("root of %d: %v, %v, tlog says %v (%v)", i+1, got, edge.Root(), want, err)
		}
		proof, err := tree.Include(n, r.Seq)
		if err != nil {
			t.Fatal(err)
		}
		root, _ := tree.Root(n)
		if err := tlog.CheckRecord(proof, n, root, int64(i), leaf); err != nil {
			t.Fatalf("inclusion of %d: %v", i, err)
		}
		between, err := tree.Extend(n, int64(i+1))
		if err != nil {
			t.Fatal(err)
		}
		if err := tlog.CheckTree(between, n, root, int64(i+1), want); err != nil {
			t.Fatalf("consistency from %d: %v", i+1, err)
		}
	}
}

// TestTheViewIsTheSameWhateverTheBatches is the rule of every view.
func TestTheViewIsTheSameWhateverTheBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, first := rapid.IntRange(0, 700).Draw(t, "records"), uint64(rapid.IntRange(1, 5).Draw(t, "first"))
		records := someRecords(n, first)
		once, apart := memoryView{}, memoryView{}
		feed(t, once, records, n+1)
		feed(t, apart, records, rapid.SliceOfN(rapid.IntRange(1, 300), 1, 6).Draw(t, "batches")...)
		if !maps.EqualFunc(once, apart, bytes.Equal) {
			t.Fatal("the views differ")
		}
		tree, err := OpenTree(once, schemas.StreamSessions)
		if err != nil || tree.Size() != int64(n) {
			t.Fatalf("%d records in the tree: %v", tree.Size(), err)
		}
		at := 0
		for l, err := range tree.Leaves(0) {
			if err != nil || l.Seq != records[at].Seq || l.ID != records[at].ID() {
				t.Fatalf("leaf %d is %d %q: %v", at, l.Seq, l.ID, err)
			}
			at++
		}
		if at != n {
			t.Fatalf("%d leaves of %d", at, n)
		}
	})
}

func TestStreamsHaveTreesOfTheirOwn(t *testing.T) {
	view := memoryView{}
	feed(t, view, []schemas.Record{
		recordAt(schemas.StreamSessions, 1, "a", "1"), recordAt(schemas.StreamRules, 1, "b", "2"),
		recordAt(schemas.StreamSessions, 2, "c", "3"),
	}, 2, 1)
	for s, want := range map[schemas.Stream]int64{schemas.StreamSessions: 2, schemas.StreamRules: 1, schemas.StreamMemory: 0} {
		tree, err := OpenTree(view, s)
		if err != nil || tree.Size() != want {
			t.Errorf("%s has %d records: %v", s, tree.Size(), err)
		}
	}
}

func TestAGapStopsTheTree(t *testing.T) {
	p, view := New(nil), memoryView{}
	if err := p.ApplyRecord(view, recordAt(schemas.StreamSessions, 5, "a", "")); err != nil {
		t.Fatal(err)
	}
	err := p.ApplyRecord(view, recordAt(schemas.StreamSessions, 7, "b", ""))
	if err == nil || !strings.Contains(err.Error(), "WRIT_SESSIONS 7 came after 5") {
		t.Fatalf("a gap gives %v", err)
	}
}

func TestFind(t *testing.T) {
	records := someRecords(2000, 11)
	records[700] = recordAt(schemas.StreamSessions, 711, "quarantine-WRIT_RULES-3", "x")
	records[701] = recordAt(schemas.StreamSessions, 712, uuidAt(1, 1), "long before its neighbours")
	records[702] = recordAt(schemas.StreamSessions, 713, "", "no id")
	view := memoryView{}
	feed(t, view, records, 100)
	tree, err := OpenTree(view, schemas.StreamSessions)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 1, 255, 256, 257, 700, 701, 1999} {
		for _, id := range []string{records[i].ID(), records[i].ID() + "/2"} {
			if seq, err := tree.Find(id, true); err != nil || seq != records[i].Seq {
				t.Errorf("%s is at %d, not %d: %v", id, seq, records[i].Seq, err)
			}
		}
	}
	for _, id := range []string{"nobody", uuidAt(1500, 9999)} {
		if seq, err := tree.Find(id, true); err == nil {
			t.Errorf("%q was found at %d", id, seq)
		}
	}
}

func FuzzIDs(f *testing.F) {
	f.Add("019f0a3e-0000-7000-8000-000000000001")
	f.Add("019F0A3E-0000-7000-8000-000000000001")
	f.Add("")
	f.Add("a/1")
	f.Fuzz(func(t *testing.T, id string) {
		page := appendID(appendID(nil, id), "next")
		got, rest, err := nextID(page)
		if err != nil || got != id && len(id) < uuidText {
			t.Fatalf("%q came back as %q: %v", id, got, err)
		}
		if next, _, err := nextID(rest); err != nil || next != "next" {
			t.Fatalf("after %q came %q: %v", id, next, err)
		}
		for cut := range page {
			if _, _, err := nextID(page[:cut]); err == nil && cut < len(page)-len(rest) {
				t.Fatalf("%d bytes of an id were read", cut)
			}
		}
	})
}

func BenchmarkApply(b *testing.B) {
	p, view := New(nil), memoryView{}
	record := recordAt(schemas.StreamSessions, 0, uuidAt(1, 1), strings.Repeat("x", 500))
	for b.Loop() {
		record.Seq++
		if err := p.ApplyRecord(view, record); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkProve(b *testing.B) {
	view := memoryView{}
	feed(b, view, someRecords(200_000, 1), 5000)
	i := 0
	for b.Loop() {
		tree, err := OpenTree(view, schemas.StreamSessions)
		if err != nil {
			b.Fatal(err)
		}
		i += 7919
		if _, err := tree.Include(tree.Size(), uint64(i%200_000)+1); err != nil {
			b.Fatal(err)
		}
	}
}
