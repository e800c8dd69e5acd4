package index

import (
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/embed/choice"
	"github.com/writbus/writ/retrieval/embed/static"
)

// gated is an embedder that answers once it is let, and may fail.
type gated struct {
	retrieval.Embedder
	ready  chan struct{}
	asked  atomic.Int64
	broken atomic.Bool
}

func (g *gated) Name() string { return "gated@1" }

func (g *gated) Embed(text string) ([]float32, error) {
	<-g.ready
	g.asked.Add(1)
	if g.broken.Load() {
		return nil, errors.New("out of order")
	}
	return g.Embedder.Embed(text)
}

func gatedEmbedder(t *testing.T) *gated {
	e, err := static.Default()
	if err != nil {
		t.Fatal(err)
	}
	return &gated{Embedder: e, ready: make(chan struct{})}
}

func someDocuments(t *testing.T, n int) []retrieval.Document {
	files, err := corpus.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	var docs []retrieval.Document
	for _, f := range files {
		if d := retrieval.Analyse(f.Rule); len(docs) < n && !d.AlwaysOn() && f.Rule.Type.Retrievable() {
			docs = append(docs, d)
		}
	}
	return docs
}

// TestVectorsAreMadeBeside: an embedder that takes its time keeps nobody
// waiting and says so, serves when it is done, and at the next start at once.
func TestVectorsAreMadeBeside(t *testing.T) {
	g, dir := gatedEmbedder(t), t.TempDir()
	open := func() *Index {
		return New(t.Context(), Options{Embedder: choice.Embedder{Embedder: g, Beside: true}, Folder: dir, Now: time.Now})
	}
	c := open()
	if err := c.publish(someDocuments(t, 12)); err != nil {
		t.Fatal(err)
	}
	a := c.Current().Search(retrieval.Query{Text: "x"})
	if a.Embedder != "none" || !strings.Contains(a.Problem, "12 of 12") || !strings.Contains(c.Problem(), "12 of 12") {
		t.Errorf("before: %s %q", a.Embedder, a.Problem)
	}
	// The rules change while the worker is at it: what it made is not enough.
	if err := c.publish(someDocuments(t, 20)); err != nil {
		t.Fatal(err)
	}
	close(g.ready)
	for c.Current().Embedder() == "none" {
		runtime.Gosched()
	}
	if n := c.Current().Len(); n != 20 || c.Problem() != "" {
		t.Errorf("after: %d rules, %q", n, c.Problem())
	}
	before := g.asked.Load()
	c = open()
	if err := c.publish(someDocuments(t, 20)); err != nil {
		t.Fatal(err)
	}
	if c.Current().Embedder() != "gated@1" || g.asked.Load() != before {
		t.Errorf("the next start: %s, %d texts embedded again", c.Current().Embedder(), g.asked.Load()-before)
	}
	// A few new ones are found by meaning as soon as the change is done.
	if err := c.publish(someDocuments(t, 20+vectorsAtOnce)); err != nil {
		t.Fatal(err)
	}
	if c.Current().Embedder() != "gated@1" || g.asked.Load() == before {
		t.Errorf("new rules: %s", c.Current().Embedder())
	}
}

// TestCloseWaitsForTheWorker: what makes vectors writes nothing to the folder
// once Close has returned.
func TestCloseWaitsForTheWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gatedEmbedder(t)
		c := New(t.Context(), Options{Embedder: choice.Embedder{Embedder: g, Beside: true}, Folder: t.TempDir(), Now: time.Now})
		if err := c.publish(someDocuments(t, 12)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the worker waits in the embedder
		closed := false
		go func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			closed = true
		}()
		synctest.Wait()
		if closed {
			t.Error("closed while the worker was embedding")
		}
		close(g.ready)
		synctest.Wait()
		if !closed {
			t.Error("not closed although the worker has nothing to wait for")
		}
	})
}

// knowingHalf has the vectors of every second rule at hand.
type knowingHalf struct {
	*gated
	texts map[string]bool
}

func (k knowingHalf) Known(text string) bool { return k.texts[text] }

func (k knowingHalf) Embed(text string) ([]float32, error) {
	if k.texts[text] {
		return k.gated.Embedder.Embed(text)
	}
	return k.gated.Embed(text)
}

// TestATableStandsInMeanwhile: until all vectors are made, rules are found by
// those of another embedder, which nobody waits for; the view stores those that
// are at hand.
func TestATableStandsInMeanwhile(t *testing.T) {
	table, err := static.Default()
	if err != nil {
		t.Fatal(err)
	}
	docs := someDocuments(t, 12)
	k := knowingHalf{gatedEmbedder(t), map[string]bool{}}
	for i := 0; i < len(docs); i += 2 {
		for _, text := range docs[i].Texts() {
			k.texts[text] = true
		}
	}
	c := New(t.Context(), Options{Embedder: choice.Embedder{Embedder: k, Beside: true, Meanwhile: table}, Folder: t.TempDir(), Now: time.Now})
	for i, doc := range docs {
		raw, err := c.analyse(*doc.Rule)
		if err != nil {
			t.Fatal(err)
		}
		if docs[i], err = retrieval.UnmarshalDocument(raw); err != nil || (docs[i].EmbeddedBy() == k.Name()) != (i%2 == 0) {
			t.Fatalf("rule %d is stored with the vectors of %q (%v)", i, docs[i].EmbeddedBy(), err)
		}
	}
	if err := c.publish(docs); err != nil {
		t.Fatal(err)
	}
	a := c.Current().Search(retrieval.Query{Text: docs[1].Rule.Title})
	if a.Embedder != table.Name() || !strings.Contains(a.Problem, "6 of 12") || !strings.Contains(a.Problem, table.Name()) {
		t.Errorf("before: %s %q", a.Embedder, a.Problem)
	}
	close(k.ready)
	for c.Current().Embedder() != k.Name() {
		runtime.Gosched()
	}
	if c.Problem() != "" {
		t.Errorf("after: %q", c.Problem())
	}
}

func TestAnEmbedderThatFailsIsNamed(t *testing.T) {
	g, dir := gatedEmbedder(t), t.TempDir()
	close(g.ready)
	g.broken.Store(true)
	c := New(t.Context(), Options{Embedder: choice.Embedder{Embedder: g, Beside: true}, Folder: dir, Now: time.Now})
	if err := c.publish(someDocuments(t, 2)); err != nil {
		t.Fatal(err)
	}
	if a := c.Current().Search(retrieval.Query{Text: "x"}); a.Embedder != "none" || !strings.Contains(a.Problem, "out of order") || !strings.Contains(c.Problem(), "out of order") {
		t.Errorf("%s %q %q", a.Embedder, a.Problem, c.Problem())
	}
}
