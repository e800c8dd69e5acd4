package retrieval

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/writbus/writ/retrieval/lexical"
	"github.com/writbus/writ/retrieval/vector"
	"github.com/writbus/writ/schemas/excerpt"
	"github.com/writbus/writ/schemas/language"
)

var (
	// ErrDuplicateRule is returned by [NewIndex] when two documents share an id,
	// in any letter case.
	ErrDuplicateRule = errors.New("retrieval: two rules with one id")
	// ErrNoID is returned by [NewIndex] for a document without an id.
	ErrNoID = errors.New("retrieval: a rule without an id")
)

// VectorIndex finds the documents nearest to a vector; see [vector.Index].
type VectorIndex interface {
	// Nearest are the k best that keep admits; a nil keep admits everything.
	Nearest(query []float32, k int, keep func(doc int32) bool) []vector.Match
	// Cosines writes each document's cosine, 0 if it has none; those that Nearest
	// told are not asked for.
	Cosines(query []float32, docs []int32, out []float64)
}

// Options are what an index is built with, besides its documents. The zero
// value searches by words alone.
type Options struct {
	Embedder Embedder // nil: words alone, and every answer says so
	// EmbedderProblem is why the configured embedder could not load, if it
	// could not; every answer repeats it.
	EmbedderProblem  string
	Vectors          func([]vector.View) (VectorIndex, error) // nil: [vector.New]
	VectorCandidates int                                      // 0 is the profile's
	Profiles         []Profile                                // before the built-in ones
	DefaultProfile   string                                   // "" is the embedder's, lexical without one
	// Confidence is the graduated ratio of a rule's outcomes, 0 to 1, which
	// replaces its stated confidence; false if it has none. Asked at each query;
	// nil is none. Must be safe for concurrent use.
	Confidence func(ruleID string) (float64, bool)
	// Previous is an index of mostly the same documents, whose parts are taken
	// over where they are the same; nil is none. It makes building quicker and
	// nothing else: the answers do not depend on it, and the new index does not
	// keep it.
	Previous *Index
	Clock    func() int64 // nanoseconds, monotonic; nil leaves all durations 0
	BuiltAt  string       // passed through to answers
}

// Index is an immutable snapshot that answers queries.
type Index struct {
	opt     Options
	docs    []Document // by id
	ids     map[string]int32
	titles  map[string]bool // folded, for exact names
	kinds   []kind
	words   *lexical.Index
	vectors VectorIndex
	graph   graph
	// abstractions of each member
	abstractions map[int32][]int32
	related      []atomic.Pointer[piece] // rendered RELATED lines, filled on first use
	band         Block
	info         Info
	embedder     string
	own          Profile   // fitted on the embedder
	asides       bool      // there are nodes that can be found, and that no prompt is given
	scratch      sync.Pool // of *scratch

	calibration calibration
	decision    Decision                // what is given
	fitted      bool                    // on the embedder
	lines       []atomic.Pointer[piece] // one line of each rule, filled on first use
}

// kind is what filters and ranking look at, for every candidate.
type kind struct {
	domain      string // folded
	node        string // folded type
	retrievable bool   // of a type that can be found, or always on, and neither superseded nor contradicting the mandatory band
	given       bool   // of a type that goes with a prompt, or always on
	always      bool   // in the band: ranked with the rest, and named where it wins
	provisional bool
	subject     string  // technology that a project has or has not, "" for none
	severity    float64 // priors
	confidence  float64
}

// NewIndex builds a snapshot. The order of docs does not matter. Always-on
// rules that the band has no room for are retrieved like others;
// [Index.Mandatory] names them.
func NewIndex(docs []Document, opt Options) (*Index, error) {
	docs = sortedByID(docs)
	ix := &Index{
		opt: opt, docs: docs, ids: make(map[string]int32, len(docs)), titles: make(map[string]bool, len(docs)),
		kinds: make([]kind, len(docs)), related: make([]atomic.Pointer[piece], len(docs)), lines: make([]atomic.Pointer[piece], len(docs)), embedder: EmbedderNone,
	}
	ix.scratch.New = func() any { return newScratch(len(docs)) }
	folded, err := ix.identify()
	if err != nil {
		return nil, err
	}
	ix.graph = newGraph(docs, ix.ids)
	ix.abstractions = abstractionsOf(docs, ix.ids, &ix.graph)
	ix.band = renderBand(ix.bandDocuments(), BandBudget)
	ix.classify()

	// Documents that are never retrieved leave no terms, so that they shape
	// neither candidates nor term statistics.
	for i := range docs {
		if ix.kinds[i].retrievable {
			ix.titles[foldName(docs[i].Rule.Title)] = true
			ix.info.Rules++
		}
	}
	delete(ix.titles, "")
	ix.opt.Previous = nil
	if err := ix.fill(cmp.Or(opt.Previous, &Index{}), folded); err != nil {
		return nil, err
	}
	ix.own = ix.embedderProfile()
	ix.decision, ix.fitted = decisionFor(ix.embedder)
	ix.calibrate()
	ix.info.Version, ix.info.BuiltAt = ix.fingerprint(), opt.BuiltAt
	return ix, nil
}

// texts are the documents as their words are indexed: those that are not
// retrieved have none.
type texts struct{ *Index }

func (t texts) Fields(doc int, into *lexical.Fields) {
	if t.kinds[doc].retrievable {
		t.docs[doc].wording().unpack(into)
		return
	}
	for field := range into {
		into[field] = into[field][:0]
	}
}

func (t texts) Aside(doc int) bool { return !t.kinds[doc].given }

func (t texts) Pairs(doc int) lexical.Pairs {
	if t.kinds[doc].retrievable && t.kinds[doc].given {
		return t.docs[doc].wording().pairs
	}
	return ""
}

// identify numbers the documents by their ids, which it returns folded.
func (ix *Index) identify() (folded []string, err error) {
	folded = make([]string, len(ix.docs))
	for i := range ix.docs {
		id := fold(ix.docs[i].Rule.ID)
		if id == "" {
			return nil, fmt.Errorf("%w: title %q", ErrNoID, ix.docs[i].Rule.Title)
		}
		if other, taken := ix.ids[id]; taken {
			return nil, fmt.Errorf("%w: %s and %s", ErrDuplicateRule, ix.docs[other].Rule.ID, ix.docs[i].Rule.ID)
		}
		folded[i], ix.ids[id] = id, int32(i)
	}
	return folded, nil
}

// sortedByID is a sorted copy.
func sortedByID(docs []Document) []Document {
	places := make([]int, len(docs)) // documents are large to move
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return cmp.Compare(docs[a].Rule.ID, docs[b].Rule.ID) })
	sorted := make([]Document, len(docs))
	for i, place := range places {
		sorted[i] = docs[place]
	}
	return sorted
}

// classify fills kinds.
func (ix *Index) classify() {
	for i := range ix.docs {
		doc := &ix.docs[i]
		always := doc.AlwaysOn() && !slices.Contains(ix.band.Overflow, doc.Rule.ID)
		ix.kinds[i] = kind{
			domain: fold(doc.Rule.Domain), node: fold(doc.Type), provisional: provisional(doc.Rule),
			subject:  language.SubjectOf(doc.Rule.Domain, doc.Rule.Tags),
			severity: severity(doc.Rule), confidence: confidence(doc.Rule),
			always:      always && !ix.graph.superseded(int32(i)),
			given:       doc.AlwaysOn() || doc.Rule.Type.Retrievable(),
			retrievable: (doc.AlwaysOn() || doc.Rule.Type.Findable()) && !ix.graph.superseded(int32(i)) && (always || !ix.contradictsBand(int32(i))),
		}
		ix.asides = ix.asides || ix.kinds[i].retrievable && !ix.kinds[i].given
	}
}

// contradictsBand tells whether a mandatory rule, which always reaches the
// agent, conflicts with the document.
func (ix *Index) contradictsBand(doc int32) bool {
	return slices.ContainsFunc(ix.graph.conflicts[doc], func(other int32) bool {
		return ix.docs[other].AlwaysOn() && !ix.graph.superseded(other)
	})
}

func (ix *Index) bandDocuments() []*Document {
	var band []*Document
	for i := range ix.docs {
		if ix.docs[i].AlwaysOn() && !ix.graph.superseded(int32(i)) {
			band = append(band, &ix.docs[i])
		}
	}
	return band
}

// embed indexes the vectors of the retrievable documents, which all have them.
// was is what carried says of a previous index.
func (ix *Index) embed(previous *Index, was []int32) error {
	if ix.opt.Embedder == nil {
		return nil
	}
	total := 0
	for i := range ix.docs {
		if ix.kinds[i].retrievable {
			total += ix.docs[i].meaning.vectors()
		}
	}
	views := make([]vector.View, 0, total)
	for i := range ix.docs {
		if !ix.kinds[i].retrievable {
			continue
		}
		m := ix.docs[i].meaning
		for view := range m.vectors() {
			views = append(views, vector.View{Doc: int32(i), Vector: m.vector(view)})
		}
	}
	build := ix.opt.Vectors
	if build == nil {
		old, _ := previous.vectors.(*vector.Index)
		build = func(views []vector.View) (VectorIndex, error) {
			return vector.NewAfter(views, old, func(doc int32) int32 { return was[doc] })
		}
	}
	var err error
	if ix.vectors, err = build(views); err != nil {
		return fmt.Errorf("index %d vectors of %s: %w", len(views), ix.embedder, err)
	}
	return nil
}

// embedMissing gives those documents that are retrieved, and have no vectors of
// the embedder, theirs.
func (ix *Index) embedMissing() error {
	if ix.opt.Embedder == nil {
		return nil
	}
	ix.embedder = ix.opt.Embedder.Name()
	var missing []int
	for i := range ix.docs {
		if ix.kinds[i].retrievable && ix.docs[i].EmbeddedBy() != ix.embedder {
			missing = append(missing, i)
		}
	}
	docs, err := inParallel(len(missing), func(i int) (Document, error) { return Embed(ix.docs[missing[i]], ix.opt.Embedder) })
	if err != nil {
		return err
	}
	for i, doc := range docs {
		ix.docs[missing[i]] = doc
	}
	return nil
}

// fingerprint is the first half of a SHA-256 over everything that shapes an answer
// but the profiles and live confidence.
func (ix *Index) fingerprint() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %q\n", AnalysisVersion, ix.embedder)
	for i := range ix.docs {
		fmt.Fprintf(h, "%q ", ix.docs[i].Type)
		h.Write(ix.docs[i].wording().sum[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Info names the snapshot.
func (ix *Index) Info() Info { return ix.info }

// Embedder is the name of the embedder the index was built with, or "none".
func (ix *Index) Embedder() string { return ix.embedder }

// Mandatory is the always-on band, rendered.
func (ix *Index) Mandatory() Block { return ix.band }

// Successor is the id of a rule that takes another one's place, so that this is given
// to nobody, or "".
func (ix *Index) Successor(id string) string {
	doc, ok := ix.ids[fold(id)]
	if !ok || !ix.graph.superseded(doc) {
		return ""
	}
	return ix.docs[ix.graph.successor[doc]].Rule.ID
}

// Len is the number of documents that no other one supersedes, retrievable or not.
func (ix *Index) Len() int {
	return len(slices.DeleteFunc(slices.Clone(ix.graph.successor), func(by int32) bool { return by != none }))
}

// Document returns a rule's document by id, in any letter case.
func (ix *Index) Document(id string) (Document, bool) {
	doc, ok := ix.ids[fold(id)]
	if !ok {
		return Document{}, false
	}
	return ix.docs[doc], true
}

// Domains lists the domains of the retrievable rules, sorted, without the empty
// one. A session's domains must hold the cross-cutting ones (security, testing)
// beside its languages, or their rules are filtered out.
func (ix *Index) Domains() []string {
	var domains []string
	for _, k := range ix.kinds {
		if k.retrievable && k.domain != "" {
			domains = append(domains, k.domain)
		}
	}
	slices.Sort(domains)
	return slices.Compact(domains)
}

// fold makes ids, domains and types comparable.
func fold(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// foldName makes titles comparable: words in lower case, a full stop ignored.
func foldName(s string) string { return strings.TrimRight(strings.ToLower(excerpt.Line(s)), ".!?") }
