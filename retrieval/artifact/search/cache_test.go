package search

import (
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
	if searches, hits := c.Counts(); searches != 6 || hits != 1 {
		t.Errorf("%d searches, %d remembered", searches, hits)
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
