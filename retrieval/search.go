package retrieval

import (
	"slices"

	"github.com/writbus/writ/retrieval/lexical"
	"github.com/writbus/writ/retrieval/querytranslation"
	"github.com/writbus/writ/retrieval/vector"
)

const (
	bm25Candidates   = 50
	vectorCandidates = 40
	graphCandidates  = 50
	seedCount        = 3
)

// The names of the stages, in order.
const (
	StageAnalyse = "analyse"
	StageBM25    = "bm25"
	StageVector  = "vector"
	StageGraph   = "graph"
	StageRank    = "rank"
	StageRender  = "render"
)

// stages is how many there are.
const stages = 6

// candidate is a document on its way through the pipeline.
type candidate struct {
	doc         int32
	bm25        float64
	cosine      float64
	severity    float64
	confidence  float64
	graph       float64
	lift        float64 // proximity times the chance of the seed it is near
	ranks       Ranks
	score       float64
	probability float64
	coverage    float64 // told when it is judged
	judged      bool
	evidence    evidence // of those that are judged, where vectors are
	compared    bool     // its cosine is known
	tier        string
	first       float64 // chance by a matter of the text of which it is the likeliest
	pinned      int     // place among the ids the text names, from 1; 0 is not named
	leftOut     []string
}

// search is one query under way.
type search struct {
	*scratch
	ix      *Index
	q       Query
	answer  Answer
	profile Profile
	text    string
	ids     []int32        // of documents that the text names
	shown   map[int32]bool // the reader has them in full
	noted   map[int32]bool // the reader has a line of them
	vector  []float32
	keep    func(int32) bool
	// firstPass is the order of pass one, as places in pool.
	firstPass []int
	subject   float64
	top       float64 // the best cosine of the pool
	task      float64 // how much the text reads like a task
	form      form
	languages map[string]bool // of the project and the files at hand
	subjects  map[string]bool // technologies of theirs
	named     map[string]bool // languages and frameworks that the text names
	names     lexical.Query   // the words that name technologies
	spoken    map[string]bool // of technologies, as far as asked: the text names them
	whole     *search         // of the text that this one is a matter of
	firsts    int             // rules that are the likeliest of a matter
	started   int64
	lap       int64
}

// Search answers a query. It is a function of the index, the query and what
// [Options].Confidence answers; only the durations come from the clock.
func (ix *Index) Search(q Query) Answer {
	s := search{ix: ix, q: q, scratch: ix.scratch.Get().(*scratch)}
	defer ix.release(s.scratch)
	s.started = s.now()
	s.lap = s.started
	s.answer = Answer{
		Rules: []Hit{}, Tier: TierNothing, Embedder: ix.embedder, Problem: ix.opt.EmbedderProblem, Index: ix.info,
		Encoding: Encoding, Budget: budget(q.BudgetTokens), Stages: make([]Stage, 0, stages),
	}
	s.answer.Mode = mode(s.answer.Budget)
	s.text = Order(queryText(q.Text))
	s.find()
	if s.text == "" {
		return s.answer
	}
	chosen := s.abstract(s.rank())
	s.render(chosen)
	return s.answer
}

// find gathers the candidates.
func (s *search) find() {
	s.analyse()
	if s.text == "" {
		return
	}
	s.lexical()
	s.vectors()
	s.passOne()
	s.neighbours()
}

// analyse resolves the text and fixes filter and profile.
func (s *search) analyse() {
	if s.text != "" {
		s.ids, s.answer.Literal = s.ix.literal(s.text)
		for _, id := range s.q.Also {
			if doc, known := s.ix.ids[fold(id)]; known && !slices.Contains(s.ids, doc) && !slices.ContainsFunc(s.q.Shown, func(shown string) bool { return fold(shown) == fold(id) }) {
				s.ids = append(s.ids, doc)
			}
		}
		s.text = querytranslation.English(s.text, s.ix.holds)
		s.embed()
	}
	s.profile = s.ix.profile(s.q.Profile, s.answer.Embedder != EmbedderNone)
	s.answer.Profile = s.profile.Name
	s.ix.words.ResolveInto(&s.words, s.text, s.profile.Pairs) // of no text too: the scratch was another query's
	if s.answer.Literal {
		s.profile = s.profile.literal()
	}
	s.keep = s.filter()
	s.shown, s.noted = s.ix.documents(s.q.Shown), s.ix.documents(s.q.Named)
	s.done(StageAnalyse, s.words.Known())
}

// holds says whether any rule has a word.
func (ix *Index) holds(word string) bool {
	q := ix.words.Resolve(word, 0)
	return q.Known() > 0
}

// embed computes the text's vector; without one the answer says why and goes on
// by words.
func (s *search) embed() {
	if s.ix.opt.Embedder == nil {
		return
	}
	if e, ok := s.ix.opt.Embedder.(intoEmbedder); ok {
		s.embedded = slices.Grow(s.embedded[:0], e.Dim())[:e.Dim()]
		e.EmbedInto(s.embedded, s.text)
		s.vector = s.embedded
		return
	}
	v, err := vector.OfQuery(s.ix.opt.Embedder, s.text)
	if err != nil {
		s.answer.Problem = s.answer.Embedder + " did not embed the query: " + err.Error()
		s.answer.Embedder = EmbedderNone
		return
	}
	s.vector = v
}

// intoEmbedder is an [Embedder] that never fails and needs no memory of its own:
// it writes what Embed returns.
type intoEmbedder interface {
	EmbedInto(v []float32, text string)
	Dim() int
}

// filter is the first stage. Nodes that no prompt is given are found by queries
// that ask for them, or for their type. It runs inside the candidate searches, which know
// no other documents than those that can be retrieved, and is nil where it admits
// all of them.
func (s *search) filter() func(int32) bool {
	ix := s.ix
	domains, nodes := foldSet(s.q.Domains), foldSet(s.q.NodeTypes)
	out := ix.documents(s.q.Exclude)
	all := !ix.asides || s.q.Beside
	if all && len(domains)+len(nodes)+len(out) == 0 {
		return nil
	}
	return func(doc int32) bool {
		k := &ix.kinds[doc]
		return (all || k.given || nodes[k.node]) && (len(domains) == 0 || k.domain == "" || domains[k.domain]) &&
			(len(nodes) == 0 || nodes[k.node]) && (len(out) == 0 || !out[doc])
	}
}

// documents are those of some ids.
func (ix *Index) documents(ids []string) map[int32]bool {
	if len(ids) == 0 {
		return nil
	}
	docs := make(map[int32]bool, len(ids))
	for _, id := range ids {
		if doc, ok := ix.ids[fold(id)]; ok {
			docs[doc] = true
		}
	}
	return docs
}

// admits tells whether a document that was not found by a candidate search may
// be in the answer.
func (s *search) admits(doc int32) bool {
	return s.ix.kinds[doc].retrievable && (s.keep == nil || s.keep(doc))
}

func foldSet(names []string) map[string]bool {
	if len(names) == 0 {
		return nil
	}
	set := make(map[string]bool, len(names))
	for _, name := range names {
		if name = fold(name); name != "" {
			set[name] = true
		}
	}
	return set
}

// lexical fills the pool with the best by words and with the named documents.
func (s *search) lexical() {
	for i, m := range s.ix.words.Search(s.words, bm25Candidates, s.keep) {
		if s.ix.kinds[m.Doc].retrievable {
			c := s.candidate(m.Doc)
			c.bm25, c.ranks.BM25 = m.Score, i+1
		}
	}
	for _, doc := range s.ids {
		if !s.admits(doc) {
			continue
		}
		c := s.candidate(doc)
		c.pinned = 1 + slices.Index(s.ids, doc)
		if c.ranks.BM25 == 0 {
			c.bm25 = s.words.Score(doc)
		}
	}
	s.done(StageBM25, len(s.pool))
}

// vectors adds the nearest by meaning and tells every candidate's cosine.
func (s *search) vectors() {
	if s.vector != nil {
		k := s.ix.opt.VectorCandidates
		if k <= 0 {
			k = s.profile.Candidates
		}
		if k <= 0 {
			k = vectorCandidates
		}
		for i, m := range s.ix.vectors.Nearest(s.vector, k, s.keep) {
			if s.ix.kinds[m.Doc].retrievable {
				c := s.candidate(m.Doc)
				c.ranks.Vector, c.cosine, c.compared = i+1, m.Cosine, true
			}
		}
		s.cosines(0)
	}
	s.done(StageVector, len(s.pool))
}

// cosines fills those of the pool from a place on that are not known yet.
func (s *search) cosines(from int) {
	if s.vector == nil {
		return
	}
	s.docs = s.docs[:0]
	for i := range s.pool[from:] {
		if c := &s.pool[from+i]; !c.compared {
			s.docs = append(s.docs, c.doc)
		}
	}
	if len(s.docs) == 0 {
		return
	}
	s.numbers = slices.Grow(s.numbers[:0], len(s.docs))[:len(s.docs)]
	s.ix.vectors.Cosines(s.vector, s.docs, s.numbers)
	next := 0
	for i := range s.pool[from:] {
		if c := &s.pool[from+i]; !c.compared {
			c.cosine, c.compared = s.numbers[next], true
			next++
		}
	}
}

// neighbours adds what lies near the three best rules a person stands behind,
// and tells every candidate how near it is.
func (s *search) neighbours() {
	seeds := make([]int32, 0, seedCount)
	for _, at := range s.firstPass {
		c := &s.pool[at]
		if len(seeds) == seedCount {
			break
		}
		if !s.ix.kinds[c.doc].provisional {
			seeds = append(seeds, c.doc)
		}
	}
	added, known := 0, len(s.pool)
	s.near = s.ix.graph.neighbours(s.near[:0], seeds)
	for _, n := range s.near {
		if s.places[n.doc] == 0 {
			if added == graphCandidates || !s.admits(n.doc) {
				continue
			}
			added++
		}
		c := s.candidate(n.doc)
		c.graph = max(c.graph, n.proximity)
		c.lift = max(c.lift, n.proximity*s.pool[s.places[seeds[n.seed]]-1].probability)
	}
	s.cosines(known)
	s.done(StageGraph, len(s.pool))
}

// candidate returns the document's place in the pool, made if need be. The
// pointer holds until the next new candidate.
func (s *search) candidate(doc int32) *candidate {
	if at := s.places[doc]; at > 0 {
		return &s.pool[at-1]
	}
	k := &s.ix.kinds[doc]
	c := candidate{doc: doc, severity: k.severity, confidence: k.confidence}
	if s.ix.opt.Confidence != nil {
		if ratio, graduated := s.ix.opt.Confidence(s.ix.docs[doc].Rule.ID); graduated {
			c.confidence = min(max(ratio, 0), 1)
		}
	}
	s.pool = append(s.pool, c)
	s.places[doc] = int32(len(s.pool))
	return &s.pool[len(s.pool)-1]
}

func (s *search) now() int64 {
	if s.ix.opt.Clock == nil {
		return 0
	}
	return s.ix.opt.Clock()
}

// done closes a stage.
func (s *search) done(stage string, candidates int) {
	now := s.now()
	nanos := now - s.lap
	s.lap = now
	s.answer.Stages = append(s.answer.Stages, Stage{Name: stage, Candidates: candidates, Nanos: nanos})
	l := &s.answer.Latency
	inOrder := [stages]*float64{&l.Analyse, &l.BM25, &l.Vector, &l.Graph, &l.Rank, &l.Render}
	*inOrder[len(s.answer.Stages)-1] = float64(nanos) / 1000
	l.Total = float64(now-s.started) / 1000
}
