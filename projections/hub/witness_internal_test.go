package hub

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

const stream = schemas.Stream("WRIT_SESSIONS")

// teller brings batches of a log whose records are their copies.
type teller struct {
	t      *testing.T
	key    note.Signer
	public string
	epoch  uint64
	tree   evidence.Frontier
	stored []tlog.Hash
	sealed int64
}

func (l *teller) ReadHashes(at []int64) (all []tlog.Hash, err error) {
	for _, i := range at {
		all = append(all, l.stored[i])
	}
	return all, nil
}

func newKey(t *testing.T, name string) (note.Signer, string) {
	t.Helper()
	text, err := evidence.NewKey(name)
	if err != nil {
		t.Fatal(err)
	}
	key, public, err := evidence.ReadKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return key, public
}

func (l *teller) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// bring is a batch of copies with a checkpoint; change may falsify it before it is signed.
func (l *teller) bring(change func(*batch, *head, *evidence.Checkpoint), copies ...string) string {
	b := batch{From: uint64(l.tree.Size()), Before: l.sealed}
	for _, one := range copies {
		b.lines = append(b.lines, []byte(one))
		leaf := tlog.RecordHash([]byte(one))
		more, err := tlog.StoredHashesForRecordHash(l.tree.Size(), leaf, l)
		l.must(err)
		l.stored = append(l.stored, more...)
		l.tree.Add(leaf)
	}
	b.Through, b.Edge, b.Sealed = uint64(l.tree.Size()), l.tree.Edge(), l.tree.Size()
	h := head{Log: l.key.Name(), Epoch: l.epoch, Stream: stream, Size: l.tree.Size(), Root: l.tree.Root(), Through: b.Through, List: "x", Time: time.Now()}
	p := evidence.Checkpoint{Log: l.key.Name(), Stream: stream, Size: l.tree.Size(), Root: l.tree.Root(), First: 1, Time: time.Now()}
	var err error
	if l.sealed > 0 {
		b.Grown, err = tlog.ProveTree(l.tree.Size(), l.sealed, l)
		l.must(err)
	}
	l.sealed = l.tree.Size()
	if change != nil {
		change(&b, &h, &p)
	}
	if b.Head == "" {
		b.Head, err = h.sign(l.key)
		l.must(err)
	}
	if b.Checkpoint == "" {
		signed, err := evidence.Sign(p, l.key)
		l.must(err)
		b.Checkpoint = string(signed)
	}
	body, err := b.encode()
	l.must(err)
	return string(body)
}

func (l *teller) begin(member string) string {
	signed, err := signLine(beginning{Member: member, Epoch: l.epoch, Key: l.public, Why: "a test"}, l.key)
	l.must(err)
	return string(signed)
}

// TestAWitnessCosignsNothingForged brings what a compromised member could, behind what is
// honest: nothing of it is cosigned, and each is named.
func TestAWitnessCosignsNothingForged(t *testing.T) {
	t.Parallel()
	other, otherPublic := newKey(t, "other")
	batchOf := func(change func(*batch, *head, *evidence.Checkpoint)) func(*teller) (string, string) {
		return func(l *teller) (string, string) {
			return fmt.Sprintf("writ.at.m.1.%s", stream), l.bring(change, "d", "e")
		}
	}
	for what, forged := range map[string]func(*teller) (subject, body string){
		"a copy is another":        batchOf(func(b *batch, _ *head, _ *evidence.Checkpoint) { b.lines[0] = []byte("D") }),
		"a copy is missing":        batchOf(func(b *batch, _ *head, _ *evidence.Checkpoint) { b.lines = b.lines[1:] }),
		"a copy was added":         batchOf(func(b *batch, _ *head, _ *evidence.Checkpoint) { b.lines = append(b.lines, []byte("f")) }),
		"records are left out":     batchOf(func(b *batch, _ *head, _ *evidence.Checkpoint) { b.From++ }),
		"records come again":       batchOf(func(b *batch, _ *head, _ *evidence.Checkpoint) { b.From-- }),
		"through another record":   batchOf(func(b *batch, _ *head, _ *evidence.Checkpoint) { b.Through++ }),
		"through an earlier one":   batchOf(func(b *batch, h *head, _ *evidence.Checkpoint) { b.Through, h.Through = 1, 1 }),
		"a head of an epoch":       batchOf(func(_ *batch, h *head, _ *evidence.Checkpoint) { h.Epoch = 2 }),
		"a head of a stream":       batchOf(func(_ *batch, h *head, _ *evidence.Checkpoint) { h.Stream = "WRIT_RULES" }),
		"a head of a root":         batchOf(func(_ *batch, h *head, _ *evidence.Checkpoint) { h.Root[0]++ }),
		"a head of a size":         batchOf(func(_ *batch, h *head, _ *evidence.Checkpoint) { h.Size-- }),
		"a head of somebody":       batchOf(func(b *batch, h *head, _ *evidence.Checkpoint) { h.Log = "other"; b.Head, _ = h.sign(other) }),
		"no head":                  batchOf(func(b *batch, _ *head, _ *evidence.Checkpoint) { b.Head = "\n" }),
		"a checkpoint of a root":   batchOf(func(_ *batch, _ *head, p *evidence.Checkpoint) { p.Root[0]++ }),
		"a checkpoint that shrank": batchOf(func(_ *batch, _ *head, p *evidence.Checkpoint) { p.Size = 2 }),
		"a checkpoint of as many":  batchOf(func(b *batch, _ *head, p *evidence.Checkpoint) { p.Size, b.Grown = 3, nil }),
		"a checkpoint from later":  batchOf(func(_ *batch, _ *head, p *evidence.Checkpoint) { p.First = 2 }),
		"a checkpoint of a stream": batchOf(func(_ *batch, _ *head, p *evidence.Checkpoint) { p.Stream = "WRIT_RULES" }),
		"a checkpoint unsigned":    batchOf(func(b *batch, _ *head, p *evidence.Checkpoint) { b.Checkpoint = p.Text() }),
		"a checkpoint of somebody": batchOf(func(b *batch, _ *head, p *evidence.Checkpoint) {
			p.Log = "other"
			signed, _ := evidence.Sign(*p, other)
			b.Checkpoint = string(signed)
		}),
		"no proof":       batchOf(func(b *batch, _ *head, _ *evidence.Checkpoint) { b.Grown = nil }),
		"another proof":  batchOf(func(b *batch, _ *head, _ *evidence.Checkpoint) { b.Grown[0][0]++ }),
		"no batch":       func(*teller) (string, string) { return "writ.at.m.1." + string(stream), "{" },
		"empty":          func(*teller) (string, string) { return "writ.at.m.1." + string(stream), "" },
		"nothing":        func(*teller) (string, string) { return "writ.at.m.1." + string(stream), "{}" },
		"a later epoch":  func(l *teller) (string, string) { return "writ.at.m.2." + string(stream), l.bring(nil, "d") },
		"no epoch":       func(l *teller) (string, string) { return "writ.at.m.x." + string(stream), l.bring(nil, "d") },
		"no stream":      func(l *teller) (string, string) { return "writ.at.m.1.WRIT_X", l.bring(nil, "d") },
		"deeper":         func(l *teller) (string, string) { return "writ.at.m.1.x." + string(stream), l.bring(nil, "d") },
		"one more token": func(l *teller) (string, string) { return "writ.at.m.begin.x", l.begin("m") },
		"begun again":    func(l *teller) (string, string) { return "writ.at.m.begin", l.begin("m") },
		"another member": func(l *teller) (string, string) { l.epoch = 2; return "writ.at.m.begin", l.begin("n") },
		"no beginning":   func(*teller) (string, string) { return "writ.at.m.begin", "x" },
		"another key": func(l *teller) (string, string) {
			forger := teller{t: l.t, key: other, public: otherPublic, epoch: 2}
			return "writ.at.m.begin", forger.begin("m")
		},
		"another's name for a key": func(l *teller) (string, string) {
			l.epoch, l.public = 2, otherPublic
			return "writ.at.m.begin", l.begin("m")
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			l := &teller{t: t, epoch: 1}
			l.key, l.public = newKey(t, "log")
			k := cosigner{now: time.Now}
			k.key, k.public = newKey(t, "witness")
			w := witnessed{Members: map[string]*observed{}}
			k.look(&w, 1, "writ.at.m.begin", []byte(l.begin("m")))
			k.look(&w, 2, fmt.Sprintf("writ.at.m.1.%s", stream), []byte(l.bring(nil, "a", "b")))
			k.look(&w, 3, fmt.Sprintf("writ.at.m.1.%s", stream), []byte(l.bring(nil, "c")))
			m := w.Members["m"]
			if len(m.Findings) != 0 || m.Streams[stream].Copies != 3 || m.Streams[stream].Records != 3 {
				t.Fatalf("of what is honest: %+v", m)
			}
			honest, err := json.Marshal(m.Streams[stream].SeenStream)
			l.must(err)
			subject, body := forged(l)
			_, cosigned := k.look(&w, 4, subject, []byte(body))
			if len(m.Findings) != 1 || cosigned != nil {
				t.Errorf("found %v, cosigned %v", m.Findings, cosigned)
			}
			if c := m.Streams[stream]; c != nil { // none where another key began an epoch
				if now, _ := json.Marshal(c.SeenStream); string(now) != string(honest) {
					t.Errorf("cosigned is %s", now)
				}
			}
		})
	}
}

// TestAForgedEpochIsOfItsOwnKey: however far ahead, and in however many steps, another key
// names epochs, those of the log's own key count, and none of them twice.
func TestAForgedEpochIsOfItsOwnKey(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ honest, forged []uint64 }{
		"the last there is":       {[]uint64{1, 2}, []uint64{math.MaxUint64}},
		"in steps":                {[]uint64{1, 2}, []uint64{1 << 20, 2 << 20, 3 << 20}},
		"ahead of the first":      {[]uint64{0, 1}, []uint64{5, math.MaxUint64}},
		"a hub that is a new one": {[]uint64{0, 1 << 40}, []uint64{1}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			k, w := cosigner{now: time.Now}, witnessed{Members: map[string]*observed{}}
			begins := func(l *teller, epoch uint64) {
				l.epoch = epoch
				k.look(&w, 1, "writ.at.m.begin", []byte(l.begin("m")))
			}
			log, forger := &teller{t: t}, &teller{t: t}
			log.key, log.public = newKey(t, "log")
			forger.key, forger.public = newKey(t, "forged")
			begins(log, c.honest[0])
			for _, epoch := range c.forged {
				begins(forger, epoch)
			}
			begins(log, c.honest[0])
			if m := w.Members["m"]; m.Key == log.public {
				t.Errorf("epoch %d began again", c.honest[0])
			}
			begins(log, c.honest[1])
			if m := w.Members["m"]; m.Key != log.public || m.Epoch != c.honest[1] {
				t.Errorf("epoch %d of %s counts", m.Epoch, m.Key)
			}
		})
	}
}
