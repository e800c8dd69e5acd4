package search

import (
	"fmt"
	"runtime"

	"github.com/writbus/writ/retrieval/vector"
)

// candidate is a document on its way to a hit.
type candidate struct {
	view  *view
	doc   int32
	score float64 // what candidates are ordered by

	words       float64 // BM25F of the document
	chunk       int32   // the best one, within the view
	chunkWords  float64 // BM25 of that
	coherence   float64 // of the next two
	stem, dirs  float64
	symbolChunk int32 // −1 for none
	exact       bool  // declares, or is named like, an identifier of the query
	spelled     bool  // as the query writes it
	both        bool  // declares it and is named like it
	plain       float64
	names       float64
	namesChunk  int32
	penalty     float64
	cosine      float64  // of the nearest chunk, −1 without vectors
	meaning     float64  // with a share of the next two
	meaningRank int      // from 1; 0 without vectors
	copies      []string // paths of candidates with the same bytes

	sums    []float32 // per chunk, BM25 of its words
	named   []float32 // per chunk, what it declares or is headed with
	covered []float32 // per chunk, idf of the query's words that it holds
}

// number is the document's number in the index.
func (c *candidate) number() int32 { return c.view.doc0 + c.doc }

func (c *candidate) chunks() int { return int(c.view.first[c.doc+1] - c.view.first[c.doc]) }

func (c *candidate) document() *document { return &c.view.docs[c.doc] }

// searching is one search.
type searching struct {
	question
	ix       *Index
	query    Query
	scratch  *scratch
	filtered bool
	vector   []float32
	asks     vector.Question
	pool     []candidate
	answer   Answer
	at       int64
	cosines  []float32
}

// Search finds documents. An error wraps [ErrMethod], [glob.ErrGlob] or
// [ErrNoEmbedder], or is the embedder's, whose failure leaves [TwoStage] with
// words alone and is the answer's problem.
func (ix *Index) Search(q Query) (Answer, error) {
	return ix.searchWith(q, nil)
}

// searchWith is Search with a cache, or nil.
func (ix *Index) searchWith(q Query, cached *Cache) (a Answer, err error) {
	defer runtime.KeepAlive(ix)
	err = Guarded(func() (err error) {
		a, err = ix.find(q, cached)
		return err
	})
	return a, err
}

func (ix *Index) find(q Query, cached *Cache) (Answer, error) {
	method, err := ParseMethod(string(q.Method))
	if err != nil {
		return Answer{}, err
	}
	keep, err := q.Filter.compile()
	if err != nil {
		return Answer{}, err
	}
	q = q.filled(method)
	s := &searching{ix: ix, query: q, answer: Answer{Method: method}}
	s.tick()
	s.question = ix.resolve(q.Text)
	if method != BM25 {
		if err := s.embed(cached); err != nil && method == Semantic {
			return Answer{}, err
		} else if err != nil {
			s.answer.Problem = err.Error()
		}
	}
	if method == Semantic && ix.embedder == nil {
		return Answer{}, fmt.Errorf("%w", ErrNoEmbedder)
	}
	s.stage("analyse", len(s.terms))
	s.scratch = ix.scratch.Get().(*scratch)
	defer func() {
		s.scratch.empty()
		ix.scratch.Put(s.scratch)
	}()
	s.applyFilter(keep)
	switch method {
	case BM25:
		s.lexical(max(q.Pool, q.Limit))
		s.byWords()
	case Semantic:
		if s.vector != nil {
			s.nearest(q.Limit)
		}
	case TwoStage:
		s.lexical(q.Pool)
		s.rank()
	}
	s.emit()
	s.stage("rank", len(s.answer.Hits))
	return s.answer, nil
}

func (q Query) filled(m Method) Query {
	q.Method = m
	if q.Pool <= 0 {
		q.Pool = DefaultPool
	}
	if q.Limit <= 0 {
		q.Limit = DefaultLimit
	}
	if q.PerFile <= 0 {
		q.PerFile = DefaultPerFile
	}
	return q
}

func (s *searching) tick() {
	if s.query.Clock != nil {
		s.at = s.query.Clock()
	}
}

func (s *searching) stage(name string, candidates int) {
	from := s.at
	s.tick()
	s.answer.Stages = append(s.answer.Stages, Stage{Name: name, Candidates: candidates, Nanos: s.at - from})
}

// embed turns the text into a vector, if the index has any to compare with.
func (s *searching) embed(cached *Cache) error {
	if s.ix.embedder == nil {
		return nil
	}
	v, err := cached.embed(s.ix, s.query.Text)
	if err != nil {
		return fmt.Errorf("search: embed the query with %s: %w", s.ix.embedder.Name(), err)
	}
	if s.asks.Ask(v) {
		s.vector = v
		s.answer.Embedder = s.ix.embedder.Name()
	}
	return nil
}

func (s *searching) lexical(k int) {
	s.addUp()
	s.pool = s.best(k)
	s.stage("bm25", len(s.pool))
}

// byWords makes the candidates' order that of their words.
func (s *searching) byWords() {
	s.addChunks()
	for i := range s.pool {
		c := &s.pool[i]
		c.penalty, c.cosine, c.symbolChunk = 1, -1, -1
		c.chunk, c.chunkWords, c.coherence = c.bestChunk()
	}
}

// nearest fills the pool with the documents whose best chunks are nearest.
func (s *searching) nearest(k int) {
	for _, v := range s.ix.views {
		for doc := range v.docs {
			if !s.admits(v, int32(doc)) {
				continue
			}
			c := candidate{view: v, doc: int32(doc), penalty: 1, symbolChunk: -1}
			if s.compare(&c); c.cosine > -1 {
				c.score = c.cosine
				s.pool = append(s.pool, c)
			}
		}
	}
	s.sort()
	s.pool = s.pool[:min(k, len(s.pool))]
	for i := range s.pool {
		s.pool[i].meaningRank = i + 1
	}
	s.stage("semantic", len(s.pool))
}

// compare sets the candidate's cosine and nearest chunk.
func (s *searching) compare(c *candidate) {
	from, to := int(c.view.first[c.doc]), int(c.view.first[c.doc+1])
	c.cosine, c.chunk = -1, int32(from)
	if s.vector == nil || c.view.codes == nil || from == to {
		return
	}
	if cap(s.cosines) < to-from {
		s.cosines = make([]float32, to-from)
	}
	s.cosines = s.cosines[:to-from]
	c.view.codes.Cosines(s.cosines, &s.asks, from)
	var top [3]float32
	for i, x := range s.cosines {
		switch {
		case i == 0 || x > top[0]:
			top = [3]float32{x, top[0], top[1]}
			c.chunk = int32(from + i)
		case x > top[1]:
			top[1], top[2] = x, top[1]
		case x > top[2]:
			top[2] = x
		}
	}
	c.cosine = float64(top[0])
	c.meaning = c.cosine + s.weights().Around*(float64(top[1])+float64(top[2]))
}
