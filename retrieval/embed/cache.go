package embed

import (
	"container/list"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/writbus/writ/retrieval/vector"
)

// longestCached is the longest text, in bytes, whose vector is remembered: what
// is asked twice is short, and a few vast texts shall not fill the memory.
const longestCached = 4096

// Cache remembers the vectors of the texts last asked for with Embed and EmbedQuery. It is an
// [Embedder]; batches pass it by, since an index asks for each text once.
type Cache struct {
	Embedder
	size int

	mu     sync.Mutex
	recent *list.List // of *entry, the last used first
	byText map[string]*list.Element
}

type entry struct {
	text   string
	vector []float32
}

// NewCache wraps an embedder with room for size texts.
func NewCache(e Embedder, size int) *Cache {
	return &Cache{Embedder: e, size: max(size, 1), recent: list.New(), byText: map[string]*list.Element{}}
}

// Embed returns the vector of a text; the caller owns it.
func (c *Cache) Embed(text string) ([]float32, error) { return c.remember("", text, c.Embedder.Embed) }

// EmbedQuery returns the vector by which a text is asked for; the caller owns it.
func (c *Cache) EmbedQuery(text string) ([]float32, error) {
	q, differs := c.Embedder.(vector.Asker)
	if !differs {
		return c.Embed(text)
	}
	return c.remember("query\x00", text, q.EmbedQuery)
}

func (c *Cache) remember(kind, text string, embed func(string) ([]float32, error)) ([]float32, error) {
	if len(text) > longestCached {
		return embed(text)
	}
	if v, ok := c.get(kind + text); ok {
		return v, nil
	}
	v, err := embed(text)
	if err != nil {
		return nil, err
	}
	c.put(kind+text, slices.Clone(v))
	return v, nil
}

// EmbedBatch returns the vectors of many texts without remembering them.
func (c *Cache) EmbedBatch(ctx context.Context, texts []string) ([][]float32, error) {
	return c.Embedder.EmbedBatch(ctx, texts)
}

func (c *Cache) get(text string) ([]float32, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.byText[text]
	if !ok {
		return nil, false
	}
	c.recent.MoveToFront(at)
	return slices.Clone(at.Value.(*entry).vector), true
}

func (c *Cache) put(text string, v []float32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byText[text]; ok { // another goroutine was first
		return
	}
	// The text may be a part of a larger one, which it must not keep alive.
	e := &entry{text: strings.Clone(text), vector: v}
	c.byText[e.text] = c.recent.PushFront(e)
	for c.recent.Len() > c.size {
		oldest := c.recent.Back()
		delete(c.byText, oldest.Value.(*entry).text)
		c.recent.Remove(oldest)
	}
}
