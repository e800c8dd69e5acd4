package evidence

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"github.com/writbus/writ/schemas"
)

func newKey(t testing.TB) (note.Signer, note.Verifier) {
	t.Helper()
	secret, public, err := note.GenerateKey(rand.Reader, "writ-0011223344556677")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := ParseKey(public + "\n")
	if err != nil {
		t.Fatal(err)
	}
	return signer, verifier
}

// TestTheLeafIsWhatItIsSaidToBe pins the bytes: a proof made today must hold
// for good.
func TestTheLeafIsWhatItIsSaidToBe(t *testing.T) {
	m := schemas.Message{
		Subject: "writ.session.s.tool.decided",
		Header:  schemas.Header{"ce-type": {"tool.decided"}, "a": {"2", "1"}, "Nats-Expected-Stream": {"WRIT_SESSIONS"}},
		Body:    []byte(`{}`),
	}
	want := "writ.leaf.v1\n" + "\x1bwrit.session.s.tool.decided" + "\x03" + "\x01a\x012" + "\x01a\x011" + "\x07ce-type\x0ctool.decided" + "\x02{}"
	if got := string(new(Hasher).appendLeaf(nil, m)); got != want {
		t.Errorf("the leaf is\n%q, not\n%q", got, want)
	}
	if got := new(Hasher).Leaf(m); got != tlog.RecordHash([]byte(want)) {
		t.Error("its hash is not that of RFC 6962")
	}
	m.Header, m.Block = nil, []byte("NATS/1.0\r\nce-type: tool.decided\r\nNats-Expected-Stream: WRIT_SESSIONS\r\na:2\r\na: 1\r\n\r\n")
	if got := string(new(Hasher).appendLeaf(nil, m)); got != want {
		t.Errorf("with an unparsed header the leaf is\n%q", got)
	}
}

// TestEveryByteCounts flips each bit of what a reader is told.
func TestEveryByteCounts(t *testing.T) {
	m := schemas.Message{Subject: "writ.rule.R.rule.edited", Header: schemas.Header{"ce-id": {"1"}, "x": {""}}, Body: []byte("body")}
	seen := map[Hash]string{new(Hasher).Leaf(m): "nothing"}
	try := func(what string, m schemas.Message) {
		h := new(Hasher).Leaf(m)
		if also, same := seen[h]; same {
			t.Errorf("%s and %s have one hash", what, also)
		}
		seen[h] = what
	}
	for bit := range 8 * len(m.Body) {
		changed := m
		changed.Body = bytes.Clone(m.Body)
		changed.Body[bit/8] ^= 1 << (bit % 8)
		try(fmt.Sprint("body bit ", bit), changed)
	}
	for name, header := range map[string]schemas.Header{
		"no header": {}, "one less": {"ce-id": {"1"}}, "another name": {"ce-id": {"1"}, "y": {""}},
		"moved between": {"ce-id": {""}, "x": {"1"}}, "twice": {"ce-id": {"1", "1"}, "x": {""}}, "longer": {"ce-id": {"1x"}, "": {""}},
	} {
		changed := m
		changed.Header = header
		try(name, changed)
	}
	changed := m
	changed.Subject, changed.Body = m.Subject+"b", []byte("ody")
	try("a byte moved from body to subject", changed)
}

func TestCheckpointsAreSignedAndRead(t *testing.T) {
	signer, key := newKey(t)
	c := Checkpoint{Log: signer.Name(), Stream: schemas.StreamRules, Size: 3, Root: Hash{1}, First: 1, Time: time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)}
	signed, err := Sign(c, signer)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Open(signed, key); err != nil || got != c {
		t.Fatalf("it reads %+v: %v", got, err)
	}
	_, stranger := newKey(t)
	if _, err := Open(signed, stranger); !errors.Is(err, ErrSignature) {
		t.Errorf("with another key of that name: %v", err)
	}
	for i := range signed {
		flipped := bytes.Clone(signed)
		flipped[i] ^= 1
		if got, err := Open(flipped, key); err == nil {
			t.Errorf("byte %d flipped: taken as %+v", i, got)
		}
	}
	for _, text := range []string{"", "\n\n\n", strings.Replace(c.Text(), "\n3\n", "\n03\n", 1), strings.Replace(c.Text(), "first 1", "first 0", 1), strings.Replace(c.Text(), "RULES", "OTHER", 1), c.Text() + "more\n"} {
		if _, err := ParseCheckpoint(text); !errors.Is(err, ErrCheckpoint) {
			t.Errorf("%q is taken: %v", text, err)
		}
	}
}

func FuzzCheckpoint(f *testing.F) {
	f.Add(Checkpoint{Log: "writ-1", Stream: schemas.StreamRules, Size: 3, First: 1}.Text())
	f.Add("writ-1/WRIT_SESSIONS\n1\nAAAA\nfirst 1\ntime now\n")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := ParseCheckpoint(text); err == nil && c.Text() != text {
			t.Errorf("%q reads as %q", text, c.Text())
		}
	})
}

func FuzzKeptFiles(f *testing.F) {
	f.Add([]byte("a\n\n— b c\n\nd\n\n— b c\n"), "12 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= id")
	f.Add([]byte("— \n\n"), `1 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= "an id"`)
	f.Fuzz(func(t *testing.T, text []byte, line string) {
		all, rest := SplitCheckpoints(text)
		size := len(rest)
		for _, k := range all {
			size += len(k.Signed) + 1
		}
		if size != len(text) {
			t.Errorf("%q: %d bytes came back of %d", text, size, len(text))
		}
		leaf, err := ParseLeafLine([]byte(line))
		if err != nil {
			return
		}
		again, err := ParseLeafLine(bytes.TrimSuffix(AppendLeafLine(nil, leaf), []byte("\n")))
		if err != nil || again != leaf {
			t.Errorf("%q reads as %+v, then %+v: %v", line, leaf, again, err)
		}
	})
}

// kept is a stream with what was signed of it.
type kept struct {
	records     []schemas.Record
	leaves      []Leaf
	checkpoints []Checkpoint
}

// newKept signs after every so many records.
func newKept(n, every int) kept {
	var k kept
	var edge Frontier
	for i := range n {
		r := schemas.Record{Stream: schemas.StreamSessions, Seq: uint64(i + 1), Message: schemas.Message{
			Subject: "s", Header: schemas.Header{"ce-id": {fmt.Sprint("e", i+1)}}, Body: []byte(fmt.Sprint(i)),
		}}
		k.records = append(k.records, r)
		l := Leaf{Seq: r.Seq, Hash: new(Hasher).Leaf(r.Message), ID: r.ID()}
		k.leaves = append(k.leaves, l)
		edge.Add(l.Hash)
		if (i+1)%every == 0 || i == n-1 {
			k.checkpoints = append(k.checkpoints, Checkpoint{Log: "l", Stream: schemas.StreamSessions, Size: edge.Size(), Root: edge.Root(), First: 1, Time: time.Unix(int64(i), 0).UTC()})
		}
	}
	return k
}

func (k kept) check(records []schemas.Record, leaves []Leaf) Report {
	var list *LeafReader
	if leaves != nil {
		var text []byte
		for _, l := range leaves {
			text = AppendLeafLine(text, l)
		}
		list = NewLeafReader(bytes.NewReader(text))
	}
	c := NewCheck(schemas.StreamSessions, k.checkpoints, list)
	for _, r := range records {
		c.Record(r, new(Hasher).Leaf(r.Message))
	}
	return c.Finish()
}

func altered(r schemas.Record, body string) schemas.Record {
	r.Message.Body = []byte(body)
	return r
}

func renumbered(records ...schemas.Record) []schemas.Record {
	for i := range records {
		records[i].Seq = uint64(i + 1)
	}
	return records
}

func TestCheckNamesWhatWasChanged(t *testing.T) {
	k := newKept(10, 4)
	r := func(from, to int) []schemas.Record { return slices.Clone(k.records[from-1 : to]) }
	foreign := schemas.Record{Seq: 99, Message: schemas.Message{Subject: "s", Header: schemas.Header{"ce-id": {"x"}}, Body: []byte("forged")}}
	cut := k.records[4]
	cut.Message.Header = schemas.Header{"ce-id": {"other"}}
	for name, c := range map[string]struct {
		records  []schemas.Record
		want     []Finding
		unsigned uint64
	}{
		"nothing":                  {r(1, 10), nil, 0},
		"a later record":           {append(r(1, 10), schemas.Record{Seq: 11, Message: foreign.Message}), nil, 1},
		"a flipped byte":           {slices.Concat(r(1, 4), []schemas.Record{altered(k.records[4], "5")}, r(6, 10)), []Finding{{Altered, 5, 0, "e5"}}, 0},
		"a changed id":             {slices.Concat(r(1, 4), []schemas.Record{cut}, r(6, 10)), []Finding{{Altered, 5, 0, "e5"}}, 0},
		"a removed one":            {slices.Concat(r(1, 4), r(6, 10)), []Finding{{Removed, 5, 0, "e5"}}, 0},
		"removed, others moved up": {renumbered(slices.Concat(r(1, 4), r(6, 10))...), []Finding{{Removed, 5, 0, "e5"}}, 0},
		"the first":                {r(2, 10), []Finding{{Removed, 1, 0, "e1"}}, 0},
		"the last":                 {r(1, 9), []Finding{{Removed, 10, 0, "e10"}}, 0},
		"inserted":                 {renumbered(slices.Concat(r(1, 4), []schemas.Record{foreign}, r(5, 10))...), []Finding{{Inserted, 5, 0, "x"}}, 0},
		"two changed places":       {renumbered(slices.Concat(r(1, 3), r(5, 5), r(4, 4), r(6, 10))...), []Finding{{Moved, 4, 5, "e5"}}, 0},
		"one moved far":            {renumbered(slices.Concat(r(2, 9), r(1, 1), r(10, 10))...), []Finding{{Moved, 9, 1, "e1"}}, 0},
		"several at once":          {renumbered(slices.Concat(r(1, 1), r(3, 4), []schemas.Record{altered(k.records[4], "5"), foreign}, r(6, 10))...), []Finding{{Removed, 2, 0, "e2"}, {Altered, 4, 0, "e5"}, {Inserted, 5, 0, "x"}}, 0},
		"everything":               {nil, allRemoved(k.leaves), 0},
	} {
		report := k.check(c.records, k.leaves)
		if !slices.Equal(report.Findings, c.want) || report.Unsigned != c.unsigned || len(report.Problems) > 0 {
			t.Errorf("%s: %+v, not %+v and %d unsigned", name, report, c.want, c.unsigned)
		}
		if report.OK() != (c.want == nil) {
			t.Errorf("%s: OK is %v", name, report.OK())
		}
		// Without the hashes a change is found, only not named.
		if bare := k.check(c.records, nil); bare.OK() != (c.want == nil) {
			t.Errorf("%s, without kept hashes: %+v", name, bare)
		}
	}
}

func allRemoved(leaves []Leaf) (all []Finding) {
	for _, l := range leaves {
		all = append(all, Finding{Removed, l.Seq, 0, l.ID})
	}
	return all
}

// TestCheckSeesThatTheListWasChangedToo is the attacker who changes the log and
// the hashes, and cannot sign.
func TestCheckSeesThatTheListWasChangedToo(t *testing.T) {
	k := newKept(10, 4)
	records := slices.Clone(k.records)
	records[5] = altered(records[5], "other")
	leaves := slices.Clone(k.leaves)
	leaves[5].Hash = new(Hasher).Leaf(records[5].Message)
	report := k.check(records, leaves)
	if report.OK() || report.Signed != 4 || !strings.Contains(strings.Join(report.Problems, " "), "5 to 8") {
		t.Errorf("%+v", report)
	}
	if report := k.check(k.records, leaves); report.OK() {
		t.Errorf("a list that was changed by itself: %+v", report)
	}
	if report := k.check(k.records, k.leaves[:7]); !report.OK() || report.Signed != 10 {
		t.Errorf("a list that is short: %+v", report)
	}
}

// TestNoChangeIsMissed changes streams at random.
func TestNoChangeIsMissed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "records")
		k := newKept(n, rapid.IntRange(1, 9).Draw(t, "every"))
		records := slices.Clone(k.records)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			if len(records) == 0 {
				break
			}
			at := rapid.IntRange(0, len(records)-1).Draw(t, "at")
			switch rapid.SampledFrom([]string{"alter", "remove", "insert", "swap"}).Draw(t, "change") {
			case "alter":
				records[at] = altered(records[at], "changed "+fmt.Sprint(rapid.Byte().Draw(t, "to")))
			case "remove":
				records = slices.Delete(records, at, at+1)
			case "insert":
				records = slices.Insert(records, at, schemas.Record{Message: schemas.Message{Subject: "forged"}})
			case "swap":
				to := rapid.IntRange(0, len(records)-1).Draw(t, "to")
				records[at], records[to] = records[to], records[at]
			}
		}
		renumbered(records...)
		same := slices.EqualFunc(records[:min(n, len(records))], k.records, func(a, b schemas.Record) bool {
			return new(Hasher).Leaf(a.Message) == new(Hasher).Leaf(b.Message)
		})
		for _, leaves := range [][]Leaf{k.leaves, nil} {
			if report := k.check(records, leaves); report.OK() != same {
				t.Fatalf("the same: %v; found: %+v", same, report)
			}
		}
	})
}

func TestProofs(t *testing.T) {
	signer, key := newKey(t)
	k := newKept(9, 4)
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(at []int64) (out []tlog.Hash, err error) {
		for _, i := range at {
			out = append(out, stored[i])
		}
		return out, nil
	})
	for i, r := range k.records {
		more, err := tlog.StoredHashesForRecordHash(int64(i), new(Hasher).Leaf(r.Message), reader)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, more...)
	}
	sign := func(c Checkpoint) string {
		c.Log = signer.Name()
		signed, err := Sign(c, signer)
		if err != nil {
			t.Fatal(err)
		}
		return string(signed)
	}
	include, _ := tlog.ProveRecord(9, 4, reader)
	r := k.records[4]
	inclusion := Proof{Kind: KindInclusion, Checkpoint: sign(k.checkpoints[2]), Hashes: include, Record: &Record{Stream: r.Stream, Seq: r.Seq, Subject: "s", Header: r.Message.Header, Body: r.Message.Body}}
	extend, _ := tlog.ProveTree(9, 4, reader)
	consistency := Proof{Kind: KindConsistency, Earlier: sign(k.checkpoints[0]), Checkpoint: sign(k.checkpoints[2]), Hashes: extend}
	for _, p := range []Proof{inclusion, consistency} {
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		read, err := ReadProof(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := read.Verify(key); err != nil {
			t.Errorf("%s: %v", p.Kind, err)
		}
	}
	for name, spoil := range map[string]func(*Proof){
		"another body":       func(p *Proof) { p.Record.Body = []byte("x") },
		"another sequence":   func(p *Proof) { p.Record.Seq++ },
		"sequence 0":         func(p *Proof) { p.Record.Seq = 0 },
		"beyond":             func(p *Proof) { p.Record.Seq = 10 },
		"another stream":     func(p *Proof) { p.Record.Stream = schemas.StreamRules },
		"one hash less":      func(p *Proof) { p.Hashes = p.Hashes[1:] },
		"one hash more":      func(p *Proof) { p.Hashes = append(p.Hashes, Hash{}) },
		"another checkpoint": func(p *Proof) { p.Checkpoint = sign(k.checkpoints[1]) },
		"no checkpoint":      func(p *Proof) { p.Checkpoint = "" },
		"no record":          func(p *Proof) { p.Record = nil },
	} {
		spoiled := inclusion
		record := *inclusion.Record
		spoiled.Record, spoiled.Hashes = &record, slices.Clone(inclusion.Hashes)
		spoil(&spoiled)
		if _, err := spoiled.Verify(key); err == nil {
			t.Errorf("%s: it holds", name)
		}
	}
	consistency.Checkpoint, consistency.Earlier = consistency.Earlier, consistency.Checkpoint
	if _, err := consistency.Verify(key); !errors.Is(err, ErrProof) {
		t.Errorf("turned round: %v", err)
	}
}

func FuzzProof(f *testing.F) {
	f.Add([]byte(`{"kind":"writ.inclusion.v1","checkpoint":"","hashes":[],"record":{"stream":"WRIT_RULES","seq":1,"subject":"","body":""}}`))
	f.Add([]byte(`{"kind":"writ.consistency.v1","checkpoint":"","earlier":"","hashes":[]}`))
	_, key := newKey(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ReadProof(text)
		if err != nil {
			return
		}
		if _, err := p.Verify(key); err == nil {
			t.Errorf("%q is proven with a key that signed nothing", text)
		}
	})
}

// TestHasherKeepsLittleRoom after a message that was large, and hashes it as any
// other.
func TestHasherKeepsLittleRoom(t *testing.T) {
	large := schemas.Message{Subject: "s", Body: bytes.Repeat([]byte("x"), 4<<20)}
	small := schemas.Message{Subject: "s", Body: []byte("x")}
	var h, fresh Hasher
	h.Leaf(large)
	if again := h.Leaf(large); again != fresh.Leaf(large) {
		t.Error("a large message has another hash the second time")
	}
	if h.Leaf(small) != (&Hasher{}).Leaf(small) {
		t.Error("a small message has another hash behind a large one")
	}
	if n := testing.AllocsPerRun(10, func() { h.Leaf(large) }); n == 0 {
		t.Error("room for the large message is kept")
	}
	if n := testing.AllocsPerRun(10, func() { h.Leaf(small) }); n > 0 {
		t.Errorf("no room for a small message is kept: %v", n)
	}
}
