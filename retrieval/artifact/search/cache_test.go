package search

import (
	"errors"
	"math/rand"
	"strings"
	"testing"
	"time"
)

// counting counts how often it embeds.
type counting struct {
	letterVectors
	n *int
}

func (c counting) Embed(text string) ([]float32, error) {
	*c.n++
	return c.letterVectors.Embed(text)
}

func TestCacheForgetsWithTimeAndWithTheIndex(t *testing.T) {
	n := 0
	e := counting{n: &n}
	ix := New(analysed(t, e, file("a.go", "retry payment")), e)
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	c := NewCache(func() time.Time { return now })
	ask := func(ix *Index, text string, limit int) Answer {
		t.Helper()
		a, err := c.Search(ix, Query{Text: text, Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	n = 0
	ask(ix, "retry", 1)
	if a := ask(ix, "retry", 1); n != 1 || len(a.Stages) != 1 || a.Stages[0].Name != "cache" || len(a.Hits) != 1 {
		t.Errorf("asked again: embedded %d times, stages %v", n, a.Stages)
	}
	if ask(ix, "retry", 2); n != 1 {
		t.Errorf("another limit: embedded %d times", n)
	}
	now = now.Add(answersFor)
	if a := ask(ix, "retry", 1); n != 1 || a.Stages[0].Name == "cache" {
		t.Errorf("after five minutes: embedded %d times, stages %v", n, a.Stages)
	}
	now = now.Add(embeddingsFor)
	if ask(ix, "retry", 1); n != 2 {
		t.Errorf("after half an hour: embedded %d times", n)
	}
	moved := ix.Update(analysed(t, nil, file("b.go", "retry retry")), nil)
	if a := ask(moved, "retry", 9); len(a.Hits) != 2 || n != 3 {
		t.Errorf("the index moved: %v, embedded %d times", paths(a), n)
	}
}

func TestCacheIsBounded(t *testing.T) {
	r := newRecent[int](3, time.Hour)
	now := time.Unix(0, 0)
	for i, key := range []string{"a", "b", "c", "d"} {
		r.put(key, i, now)
	}
	if _, ok := r.get("a", now); ok || r.order.Len() != 3 || len(r.byKey) != 3 {
		t.Error("the oldest stays")
	}
}

// broken is an embedder that fails once it is told to.
type broken struct {
	letterVectors
	down *bool
}

func (b broken) Embed(text string) ([]float32, error) {
	if *b.down {
		return nil, errors.New("it is away")
	}
	return b.letterVectors.Embed(text)
}

func TestAnEmbedderThatFailsLeavesWordsAndSaysSo(t *testing.T) {
	down := false
	e := broken{down: &down}
	ix := New(analysed(t, e, file("a.go", "retry payment"), file("b.go", "zebra")), e)
	c := NewCache(time.Now)
	ask := func(m Method) (Answer, error) { return c.Search(ix, Query{Text: "retry", Method: m}) }
	down = true
	for range 2 { // nothing of it is remembered
		if a, err := ask(TwoStage); err != nil || !strings.Contains(a.Problem, "letters: it is away") || a.Embedder != "" || len(a.Hits) != 1 || a.Stages[0].Name == "cache" {
			t.Errorf("%+v %v", a, err)
		}
	}
	if _, err := ask(Semantic); err == nil || !strings.Contains(err.Error(), "it is away") {
		t.Errorf("by meaning alone: %v", err)
	}
	if a, err := ask(BM25); err != nil || a.Problem != "" {
		t.Errorf("by words alone: %+v %v", a, err)
	}
	down = false
	if a, err := ask(TwoStage); err != nil || a.Problem != "" || a.Embedder != "letters" {
		t.Errorf("it is back: %+v %v", a, err)
	}
}

func TestLackingDocuments(t *testing.T) {
	e := letterVectors{}
	docs := randomDocuments(rand.New(rand.NewSource(9)), 40)
	ix := New(analysed(t, nil, docs...), e)
	chunks := 0
	for _, d := range docs {
		if len(d.Chunks) > 0 {
			chunks++
		}
	}
	if got := ix.Lacking(); len(got) != chunks {
		t.Fatalf("%d documents lack vectors, want %d", len(got), chunks)
	}
	with := ix.Update(analysed(t, e, docs[:20]...), nil)
	for _, path := range with.Lacking() {
		for _, d := range docs[:20] {
			if d.Path == path && strings.TrimSpace(d.Chunks[0].Text) != "" {
				t.Fatalf("%s has vectors and lacks them", path)
			}
		}
	}
	if n := len(with.Compact().Lacking()); n != len(with.Lacking()) {
		t.Fatalf("made one, %d lack vectors, %d before", n, len(with.Lacking()))
	}
	if n := len(New(analysed(t, nil, docs...), nil).Lacking()); n != 0 {
		t.Fatalf("without an embedder %d lack vectors", n)
	}
}
