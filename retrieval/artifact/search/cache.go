package search

import (
	"cmp"
	"container/list"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/writbus/writ/retrieval/vector"
)

// Sizes and lives of what a [Cache] remembers, from the specification.
const (
	cachedAnswers    = 1000
	answersFor       = 5 * time.Minute
	cachedEmbeddings = 5000
	embeddingsFor    = 30 * time.Minute
	// longestCached is the longest text that is remembered: what is asked twice
	// is short.
	longestCached = 4096
)

// Cache searches one index after another and remembers what was found and how
// texts were embedded, for as long as the index stays the same. It may be used
// from any number of goroutines. Answers must not be changed.
type Cache struct {
	now func() time.Time

	mu      sync.Mutex
	index   *Index
	answers *recent[Answer]
	vectors *recent[[]float32]
}

// NewCache returns an empty cache that takes the time from now.
func NewCache(now func() time.Time) *Cache {
	c := &Cache{now: now}
	c.drop(nil)
	return c
}

// drop forgets all; the caller holds the lock or is alone.
func (c *Cache) drop(ix *Index) {
	c.index = ix
	c.answers = newRecent[Answer](cachedAnswers, answersFor)
	c.vectors = newRecent[[]float32](cachedEmbeddings, embeddingsFor)
}

// Search is [Index.Search]. An answer that is remembered has one stage, "cache".
func (c *Cache) Search(ix *Index, q Query) (Answer, error) {
	key := q.key()
	var began int64
	if q.Clock != nil {
		began = q.Clock()
	}
	if a, ok := c.answer(ix, key); ok {
		stage := Stage{Name: "cache", Candidates: len(a.Hits)}
		if q.Clock != nil {
			stage.Nanos = q.Clock() - began
		}
		a.Stages = []Stage{stage}
		return a, nil
	}
	a, err := ix.searchWith(q, c)
	if err != nil || a.Problem != "" || len(q.Text) > longestCached {
		return a, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index == ix {
		c.answers.put(key, a, c.now())
	}
	return a, nil
}

func (c *Cache) answer(ix *Index, key string) (Answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index != ix {
		c.drop(ix)
	}
	return c.answers.get(key, c.now())
}

// embed is the index's embedder with a memory; a nil cache has none.
func (c *Cache) embed(ix *Index, text string) ([]float32, error) {
	if c == nil || len(text) > longestCached {
		return vector.OfQuery(ix.embedder, text)
	}
	c.mu.Lock()
	var v []float32
	known := c.index == ix
	if known {
		v, known = c.vectors.get(text, c.now())
	}
	c.mu.Unlock()
	if known {
		return v, nil
	}
	v, err := vector.OfQuery(ix.embedder, text)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index == ix {
		c.vectors.put(text, v, c.now())
	}
	return v, nil
}

// key tells queries apart that may have different answers.
func (q Query) key() string {
	q = q.filled(q.Method)
	q.Method = cmp.Or(q.Method, TwoStage)
	w := DefaultWeights
	if q.Weights != nil {
		w = *q.Weights
	}
	return fmt.Sprintf("%q %s %q %q %t %q %q %d %d %d %g %g %t %v", q.Text, q.Method, q.Filter.Types, q.Filter.Tags, q.Filter.Untagged, q.Filter.Phases, q.Filter.Paths,
		q.Pool, q.Limit, q.PerFile, q.MinScore, q.MinShare, q.Explain, w)
}

// recent remembers the values used last, each for a while.
type recent[T any] struct {
	size  int
	life  time.Duration
	order *list.List // of *remembered[T], the last used first
	byKey map[string]*list.Element
}

type remembered[T any] struct {
	key   string
	value T
	since time.Time
}

func newRecent[T any](size int, life time.Duration) *recent[T] {
	return &recent[T]{size: size, life: life, order: list.New(), byKey: map[string]*list.Element{}}
}

func (r *recent[T]) get(key string, now time.Time) (value T, ok bool) {
	at, ok := r.byKey[key]
	if !ok {
		return value, false
	}
	kept := at.Value.(*remembered[T])
	if now.Sub(kept.since) >= r.life {
		r.remove(at)
		return value, false
	}
	r.order.MoveToFront(at)
	return kept.value, true
}

func (r *recent[T]) put(key string, value T, now time.Time) {
	if at, ok := r.byKey[key]; ok {
		r.remove(at)
	}
	key = strings.Clone(key)
	r.byKey[key] = r.order.PushFront(&remembered[T]{key, value, now})
	for r.order.Len() > r.size {
		r.remove(r.order.Back())
	}
}

func (r *recent[T]) remove(at *list.Element) {
	delete(r.byKey, at.Value.(*remembered[T]).key)
	r.order.Remove(at)
}
