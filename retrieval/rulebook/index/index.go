// Package index is the index that prompts are answered from: the rules in force
// as analysed documents, their mechanical checks, what outcomes made of their
// confidence, and the full-text index beside them.
//
// It follows two views of the log, [Index.Feeds]. A query searches an immutable
// snapshot; a change of the rules builds the next one beside it and swaps, so
// that no query waits for a change. Who waits for the view "retrieval" to reach
// a position finds that position in the next snapshot.
//
// Vectors of an embedder that takes its time or may fail are made beside the
// views, by a worker; until they are there, rules are found by their words and a
// table, and answers say why. The documents of many rules are kept in a mapped file instead
// of the heap, see [Index.Pack].
//
// It decides nothing about rules and writes nothing to the log.
package index

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
	"github.com/writbus/writ/retrieval/embed/choice"
	"github.com/writbus/writ/retrieval/fulltext"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/schemas"
)

// Options are what an index is made of.
type Options struct {
	// Embedder makes the vectors, none for words alone.
	Embedder choice.Embedder
	// Folder holds what is kept beside the views: documents, vectors and the
	// full-text index.
	Folder string
	// Now is the clock; the difference of two readings is a duration.
	Now func() time.Time
	// Built is told of how many documents a new snapshot is made; nil for nobody.
	Built func(documents int)
	// Warn is told once that documents stay in the heap, and why; nil for nobody.
	Warn func(error)
	// Telemetry counts retrievals; nil for none.
	Telemetry Telemetry
}

// Telemetry is told of every retrieval.
type Telemetry interface {
	Span(ctx context.Context, name string, attributes ...string) (context.Context, func(error))
	Retrieved(ctx context.Context, embedder string, rules int, took time.Duration)
}

// spanRetrieve names the span of a retrieval, as other programs know it.
const spanRetrieve = "retrieve"

// Index holds the snapshot in use. It is safe for concurrent use.
type Index struct {
	options Options

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
	embedder choice.Embedder
	text     *fullText

	// Of an embedder whose vectors are made beside; nil otherwise.
	vectors *vectors
	running context.Context //nolint:containedctx // the life of the worker is the index's
	stop    context.CancelFunc
	worker  sync.WaitGroup
	swap    sync.Mutex
	latest  []retrieval.Document // to be embedded, guarded by swap
	working bool                 // guarded by swap
	problem atomic.Pointer[string]
}

// New returns an index without rules. It makes vectors until ctx ends or it is
// closed.
func New(ctx context.Context, o Options) *Index {
	e := o.Embedder
	running, stop := context.WithCancel(ctx)
	c := &Index{
		options: o, running: running, stop: stop, packed: packed{path: filepath.Join(o.Folder, "documents")},
		docs: map[string]retrieval.Document{}, embedder: e, text: newFullText(o.Folder),
	}
	c.graduated.Store(&map[string]float64{})
	c.checks.Store(&check.Set{})
	if e.Beside && e.Embedder != nil {
		c.vectors = newVectors(e, filepath.Join(o.Folder, "vectors"))
	}
	empty, err := c.build(nil, nil, e.Problem)
	if err != nil {
		panic("index: an empty index: " + err.Error())
	}
	c.current.Store(empty)
	return c
}

// Current is the snapshot to query.
func (c *Index) Current() *retrieval.Index { return c.current.Load() }

// Checks are the mechanical checks of the rules in force.
func (c *Index) Checks() *check.Set { return c.checks.Load() }

// Embedder is what vectors are made by.
func (c *Index) Embedder() choice.Embedder { return c.embedder }

// Feeds are the views that the index follows: the rules in force, and their
// outcomes. A view is to be run by one runtime.
func (c *Index) Feeds() (*projections.RetrievalIndex, *projections.Frequency) {
	return projections.NewRetrievalIndex(rule.Evolve, c.analyse, c.version(), c.change), projections.NewFrequency(c.graduate)
}

// Search retrieves, and tells how long it took.
func (c *Index) Search(ctx context.Context, q retrieval.Query) retrieval.Answer {
	end := func(error) {}
	if c.options.Telemetry != nil {
		_, end = c.options.Telemetry.Span(ctx, spanRetrieve)
	}
	began := c.options.Now()
	answer := c.Current().Search(q)
	took := c.options.Now().Sub(began)
	end(nil)
	if c.options.Telemetry != nil {
		c.options.Telemetry.Retrieved(ctx, answer.Embedder, len(answer.Rules), took)
	}
	return answer
}

// FullText searches the rules by query string, phrase, typing errors or prefix.
func (c *Index) FullText(ctx context.Context, r fulltext.Request) (fulltext.Result, error) {
	return c.text.search(ctx, r)
}

// Close ends the making of vectors, so that nothing is written to the folder any
// more, and releases the full-text index. Nothing may change or search any more.
func (c *Index) Close() error {
	c.stop()
	c.worker.Wait()
	return c.text.shut()
}

// change takes over what the projection of the rules tells.
func (c *Index) change(change projections.IndexChange) error {
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
			if c.docs[id], err = c.describe(rule); err != nil {
				return err
			}
		}
	}
	if err := c.publish(c.all()); err != nil {
		return err
	}
	given := c.inForce()
	c.takeChecks(given)
	c.text.follow(given, change.Rebuilt, slices.Concat(change.Put, change.Removed), change.Seq)
	c.packed.pages.Drop() // a query needs little of what an index is built of
	return nil
}

// all are the documents, in any order; the caller holds changing.
func (c *Index) all() []retrieval.Document {
	return slices.Collect(maps.Values(c.docs))
}

// publish builds the index of documents and makes it the one in use. Where
// vectors are made beside and many are missing, that is one with those of the
// embedder for the meantime first, which says so.
func (c *Index) publish(docs []retrieval.Document) error {
	with, problem := c.embedder.Embedder, c.embedder.Problem
	wait := false
	if c.vectors != nil {
		if with, problem, wait = c.vectors.complete(docs); wait {
			with = c.embedder.Meanwhile
		}
	}
	next, err := c.build(docs, with, problem)
	if err != nil {
		return err
	}
	if c.options.Built != nil {
		c.options.Built(len(docs))
	}
	c.swap.Lock()
	defer c.swap.Unlock()
	c.current.Store(next)
	c.problem.Store(&problem)
	c.latest = docs
	if wait && !c.working {
		c.working = true
		c.worker.Go(func() {
			c.vectors.work(c.running, c.toEmbed, c.embedded, func(err error) { text := err.Error(); c.problem.Store(&text) })
		})
	}
	return nil
}

// toEmbed is a copy of the documents in use.
func (c *Index) toEmbed() []retrieval.Document {
	c.swap.Lock()
	defer c.swap.Unlock()
	return slices.Clone(c.latest)
}

// embedded takes documents over that have their vectors now, unless the rules
// have changed meanwhile.
func (c *Index) embedded(docs []retrieval.Document) (current bool) {
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

// Problem is why the chosen embedder does not serve now, "" if it does.
func (c *Index) Problem() string {
	if p := c.problem.Load(); p != nil {
		return *p
	}
	return ""
}

// inForce are the documents that no other one takes the place of.
func (c *Index) inForce() map[string]retrieval.Document {
	given, now := maps.Clone(c.docs), c.Current()
	maps.DeleteFunc(given, func(id string, _ retrieval.Document) bool { return now.Successor(id) != "" })
	return given
}

// takeChecks takes over the checks of rules. One that does not compile is
// left out; rule validate names it.
func (c *Index) takeChecks(of map[string]retrieval.Document) {
	var rules []schemas.Rule
	for _, doc := range of {
		if doc.Rule.Check != nil {
			rules = append(rules, *doc.Rule)
		}
	}
	c.checks.Store(check.Deferred(rules, c.checks.Load()))
}

func (c *Index) load(change projections.IndexChange) error {
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
		return fmt.Errorf("index: analysed rules: %w", err)
	}
	for _, doc := range docs {
		c.docs[strings.Clone(doc.Rule.ID)] = doc // a key must not keep a document's memory
	}
	for rule, err := range change.Mandatory() {
		if err != nil {
			return err
		}
		if c.docs[rule.ID], err = c.describe(rule); err != nil {
			return err
		}
	}
	return nil
}

func (c *Index) put(raw []byte) error {
	doc, err := retrieval.UnmarshalDocument(raw)
	if err != nil {
		return fmt.Errorf("index: analysed rule: %w", err)
	}
	c.docs[strings.Clone(doc.Rule.ID)] = doc
	c.packed.out++
	return nil
}

// analyse is what the projection of the rules stores of each.
func (c *Index) analyse(r schemas.Rule) ([]byte, error) {
	doc, err := c.describe(r)
	if err != nil {
		return nil, err
	}
	return doc.MarshalBinary()
}

// describe analyses a rule, with its vectors where they are at hand.
func (c *Index) describe(r schemas.Rule) (retrieval.Document, error) {
	doc := retrieval.Analyse(r)
	if !c.embedsAtOnce(doc) {
		return doc, nil
	}
	return retrieval.Embed(doc, c.embedder)
}

// knowing is an embedder that has the vectors of some texts at hand.
type knowing interface{ Known(text string) bool }

// embedsAtOnce says that the view holds a document's vectors, too: where the
// embedder is quick, or has all of them at hand.
func (c *Index) embedsAtOnce(doc retrieval.Document) bool {
	if c.embedder.Embedder == nil || !c.embedder.Beside {
		return c.embedder.Embedder != nil
	}
	e, ok := c.embedder.Embedder.(knowing)
	return ok && !slices.ContainsFunc(doc.Texts(), func(text string) bool { return !e.Known(text) })
}

// version changes whenever analyse gives other bytes: with the analysis, and
// with the embedder.
func (c *Index) version() int {
	if _, some := c.embedder.Embedder.(knowing); some || c.embedder.Embedder != nil && !c.embedder.Beside {
		return retrieval.StoredVersion(c.embedder.Name())
	}
	return retrieval.StoredVersion("")
}

func (c *Index) build(docs []retrieval.Document, with retrieval.Embedder, problem string) (*retrieval.Index, error) {
	epoch := c.options.Now()
	return retrieval.NewIndex(docs, retrieval.Options{
		Previous: c.current.Load(), Embedder: with, EmbedderProblem: problem,
		Confidence: func(id string) (float64, bool) {
			ratio, graduated := (*c.graduated.Load())[id]
			return ratio, graduated
		},
		Clock:   func() int64 { return int64(c.options.Now().Sub(epoch)) },
		BuiltAt: epoch.Format(time.RFC3339),
	})
}

// graduate takes over new outcomes: a rule's ratio counts in the next query.
func (c *Index) graduate(change projections.FrequencyChange) error {
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
