package daemon

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/writbus/writ/enforcement/check"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
)

// corpusIndex holds the search index in use. Queries read an immutable
// snapshot; a change of the rules builds the next one beside it and swaps.
type corpusIndex struct {
	current atomic.Pointer[retrieval.Index]
	// graduated holds the ratio of the rules whose outcomes replace their
	// stated confidence. The map is never changed, only replaced.
	graduated atomic.Pointer[map[string]float64]
	// checks are the mechanical checks of the rules in force.
	checks atomic.Pointer[check.Set]
	// changing is held while documents change.
	changing sync.Mutex
	docs     map[string]retrieval.Document // guarded by changing
	packed   packed                        // likewise
	embedder embedder
	text     *fullText
	curator  *curator
	now      func() time.Time

	// Of an embedder whose vectors are made beside; nil otherwise.
	vectors *vectors
	running context.Context //nolint:containedctx // the life of the worker is the daemon's
	swap    sync.Mutex
	latest  []retrieval.Document // to be embedded, guarded by swap
	working bool                 // guarded by swap
	problem atomic.Pointer[string]
}

func newCorpusIndex(ctx context.Context, e embedder, folder string, text *fullText, now func() time.Time) *corpusIndex {
	c := &corpusIndex{running: ctx, packed: packed{path: filepath.Join(folder, "documents")}, docs: map[string]retrieval.Document{}, embedder: e, text: text, curator: newCurator(e.Embedder), now: now}
	c.graduated.Store(&map[string]float64{})
	c.checks.Store(&check.Set{})
	if e.beside && e.Embedder != nil {
		c.vectors = newVectors(e.Embedder, filepath.Join(folder, "vectors"))
	}
	empty, err := c.build(nil, nil, e.problem)
	if err != nil {
		panic("daemon: an empty index: " + err.Error())
	}
	c.current.Store(empty)
	return c
}

// index is the snapshot to query.
func (c *corpusIndex) index() *retrieval.Index { return c.current.Load() }

// change takes over what the projection of the rules tells.
func (c *corpusIndex) change(change projections.IndexChange) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	if change.Rebuilt {
		if err := c.load(change); err != nil {
			return err
		}
	}
	for _, id := range change.Removed {
		delete(c.docs, id)
	}
	for _, id := range change.Put {
		raw, found, err := change.Document(id)
		if err != nil {
			return err
		}
		if found {
			if err := c.put(raw); err != nil {
				return err
			}
			continue
		}
		rule, found, err := change.Rule(id)
		if err != nil {
			return err
		}
		if found {
			c.docs[id] = retrieval.Analyse(rule)
		}
	}
	c.takeChecks()
	if err := c.publish(c.all()); err != nil {
		return err
	}
	c.text.follow(c.docs, change.Rebuilt, slices.Concat(change.Put, change.Removed), change.Seq)
	c.packed.pages.Drop() // a query needs little of what an index is built of
	return nil
}

// all are the documents, in any order; the caller holds changing.
func (c *corpusIndex) all() []retrieval.Document {
	docs := make([]retrieval.Document, 0, len(c.docs))
	for _, doc := range c.docs {
		docs = append(docs, doc)
	}
	return docs
}

// publish builds the index of documents and makes it the one in use. Where
// vectors are made beside and many are missing, that is one without vectors
// first, which says so.
func (c *corpusIndex) publish(docs []retrieval.Document) error {
	with, problem := c.embedder.Embedder, c.embedder.problem
	wait := false
	if c.vectors != nil {
		with, problem, wait = c.vectors.complete(docs)
	}
	next, err := c.build(docs, with, problem)
	if err != nil {
		return err
	}
	trimHeap(len(docs))
	c.swap.Lock()
	defer c.swap.Unlock()
	c.current.Store(next)
	c.problem.Store(&problem)
	c.latest = docs
	if wait && !c.working {
		c.working = true
		go c.vectors.work(c.running, c.toEmbed, c.embedded, func(err error) { text := err.Error(); c.problem.Store(&text) })
	}
	return nil
}

// toEmbed is a copy of the documents in use.
func (c *corpusIndex) toEmbed() []retrieval.Document {
	c.swap.Lock()
	defer c.swap.Unlock()
	return slices.Clone(c.latest)
}

// embedded takes documents over that have their vectors now, unless the rules
// have changed meanwhile.
func (c *corpusIndex) embedded(docs []retrieval.Document) (current bool) {
	next, err := c.build(docs, c.embedder.Embedder, "")
	c.swap.Lock()
	defer c.swap.Unlock()
	if err == nil && !sameDocuments(docs, c.latest) {
		return false
	}
	c.working = false
	var problem string
	if err != nil {
		problem = err.Error()
	}
	c.problem.Store(&problem) // first: who finds the embedder in use finds no trouble
	if err == nil {
		c.current.Store(next)
	}
	return true
}

func sameDocuments(a, b []retrieval.Document) bool {
	return slices.EqualFunc(a, b, func(a, b retrieval.Document) bool { return a.Rule.ID == b.Rule.ID && a.Sum() == b.Sum() })
}

// trouble is why the chosen embedder does not serve now, "" if it does.
func (c *corpusIndex) trouble() string {
	if p := c.problem.Load(); p != nil {
		return *p
	}
	return ""
}

// takeChecks takes over the checks of the rules. One that does not compile is
// left out; rule validate names it.
func (c *corpusIndex) takeChecks() {
	var rules []schemas.Rule
	for _, doc := range c.docs {
		if doc.Rule.Check != nil {
			rules = append(rules, *doc.Rule)
		}
	}
	c.checks.Store(check.Deferred(rules, c.checks.Load()))
}

func (c *corpusIndex) load(change projections.IndexChange) error {
	clear(c.docs)
	docs, found, err := c.packed.documents(change)
	if err == nil && !found {
		docs, err = retrieval.DecodeDocuments(func(yield func([]byte, error) bool) {
			for doc, err := range change.Documents() {
				if !yield(doc.Bytes, err) {
					return
				}
			}
		})
		c.packed.in, c.packed.out = 0, len(docs)
	}
	if err != nil {
		return fmt.Errorf("daemon: analysed rules: %w", err)
	}
	for _, doc := range docs {
		c.docs[strings.Clone(doc.Rule.ID)] = doc // a key must not keep a document's memory
	}
	for rule, err := range change.Mandatory() {
		if err != nil {
			return err
		}
		c.docs[rule.ID] = retrieval.Analyse(rule)
	}
	return nil
}

func (c *corpusIndex) put(raw []byte) error {
	doc, err := retrieval.UnmarshalDocument(raw)
	if err != nil {
		return fmt.Errorf("daemon: analysed rule: %w", err)
	}
	c.docs[strings.Clone(doc.Rule.ID)] = doc
	c.packed.out++
	return nil
}

// analyse is what the projection of the rules stores of each.
func (c *corpusIndex) analyse(r schemas.Rule) ([]byte, error) {
	doc, err := c.embedder.analyse(r)
	if err != nil {
		return nil, err
	}
	return doc.MarshalBinary()
}

func (c *corpusIndex) build(docs []retrieval.Document, with retrieval.Embedder, problem string) (*retrieval.Index, error) {
	epoch := c.now()
	return retrieval.NewIndex(docs, retrieval.Options{
		Previous: c.current.Load(), Embedder: with, EmbedderProblem: problem,
		Confidence: func(id string) (float64, bool) {
			ratio, graduated := (*c.graduated.Load())[id]
			return ratio, graduated
		},
		Clock:   func() int64 { return int64(time.Since(epoch)) },
		BuiltAt: epoch.Format(time.RFC3339),
	})
}

// graduate takes over new outcomes: a rule's ratio counts in the next query.
func (c *corpusIndex) graduate(change projections.FrequencyChange) error {
	next := map[string]float64{}
	if !change.Rebuilt {
		maps.Copy(next, *c.graduated.Load())
	}
	for _, o := range change.Outcomes {
		if g := o.Graduate(""); g.Graduated {
			next[o.Rule] = g.Weight
		} else {
			delete(next, o.Rule)
		}
	}
	c.graduated.Store(&next)
	return nil
}
