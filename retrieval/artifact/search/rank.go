package search

import (
	"slices"
	"strings"
)

// Weights say how much each signal of a two-stage search counts. Those of words
// are in the unit of BM25: what a word that is matched once adds is about its
// idf. Every signal of words is a sum over the words that a document matches, so
// that a longer query never takes anything from a document.
type Weights struct {
	Words     float64 // BM25F of the document
	Chunk     float64 // BM25 of the best chunk
	Coherence float64 // of the next two chunks
	Stem      float64 // idf of words in the file's name
	Dirs      float64 // idf of words in its folders
	Prefix    float64 // share of it for a word that the name abbreviates
	Whole     float64 // more of it, for the share of the name that is matched
	Names     float64 // idf of words in what a chunk declares or is headed with
	Meaning   float64 // of the best sum in the pool, for the first by meaning
	Around    float64 // share of the next two chunks' cosines in the rank by meaning
	Fade      float64 // the rank by meaning that gets half of it
	Cosine    float64 // of the best sum in the pool, for the nearest; none for the farthest
	// Exact is of the best sum in the pool, for a file that declares an identifier of
	// the query as it is written, or is called it: with 1, no other file is before it.
	Exact float64
	Both  float64 // more of it for one that declares it and is called it
	Plain float64 // idf of a word that is all of a file's name
	// Factors of the sum for files that the query does not ask for.
	Test, Example, Generated, Compat, Changes, Docs, Surface float64
	// Again is the factor of each further chunk of a file.
	Again float64
}

// DefaultWeights were chosen on judged queries over 31 projects in 19 languages
// and on the tuning half of older ones; see DESIGN.md.
var DefaultWeights = Weights{
	Words: 1, Chunk: 0.4, Coherence: 0.1, Stem: 0.7, Prefix: 0.6, Whole: 1.2, Plain: 0.54, Dirs: 0.48, Names: 0.4, Exact: 1, Both: 0.3,
	Meaning: 0.5, Around: 0.36, Fade: 10, Cosine: 0.25,
	Test: 0.5, Example: 0.6, Generated: 0.7, Compat: 0.6, Changes: 0.6, Docs: 0.75, Surface: 0.75, Again: 0.5,
}

// mostDefining bounds the documents that a declared name may bring up.
const mostDefining = 16

// rank orders the pool by words, meaning and signals.
func (s *searching) rank() {
	w := s.weights()
	declared := s.declarations(s.names())
	s.addNames(s.addChunks())
	asked := asksFor(s.written)
	for i := range s.pool {
		c := &s.pool[i]
		d := c.document()
		s.compare(c)
		nearest := c.chunk
		if asked&kindTest == 0 {
			c.discountTests(float32(w.Test))
		}
		c.chunk, c.chunkWords, c.coherence = c.bestChunk()
		if c.chunkWords == 0 {
			c.chunk = nearest
		}
		c.stem, c.dirs = s.pathWords(d, w)
		c.names, c.namesChunk = c.bestNames()
		c.symbolChunk = -1
		if name, ok := declared[c.number()]; ok {
			c.symbolChunk, c.exact, c.spelled = name.chunk, name.exact, name.spelled
		}
		c.plain, c.both = s.alike[d.stem], c.exact && s.identifiers[d.stem]
		if s.identifiers[d.stem] {
			c.exact, c.spelled = true, true
		}
		c.penalty = penalty(w, d.kinds&^asked)
		c.score = w.Words*c.words + w.Chunk*c.chunkWords + w.Coherence*c.coherence + w.Stem*c.stem + w.Dirs*c.dirs + w.Names*c.names + w.Plain*c.plain
	}
	s.fuse(w)
	s.raiseExact(w)
	for i := range s.pool {
		s.pool[i].score *= s.pool[i].penalty
	}
	s.sort()
}

func (s *searching) weights() Weights {
	if s.query.Weights != nil {
		return *s.query.Weights
	}
	return DefaultWeights
}

func (s *searching) sort() {
	slices.SortFunc(s.pool, func(a, b candidate) int {
		if before(&a, &b) {
			return -1
		}
		return 1
	})
}

// fuse adds the ranks by meaning inside the pool to the sums.
func (s *searching) fuse(w Weights) {
	if s.vector == nil {
		return
	}
	most := 0.0
	order := make([]int, len(s.pool))
	for i := range s.pool {
		order[i] = i
		most = max(most, s.pool[i].score)
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &s.pool[a], &s.pool[b]
		if x.meaning != y.meaning {
			if x.meaning > y.meaning {
				return -1
			}
			return 1
		}
		return strings.Compare(x.document().Path, y.document().Path)
	})
	far, near := 0.0, 0.0
	for n, i := range order {
		if s.pool[i].cosine > -1 {
			if far = s.pool[i].meaning; n == 0 {
				near = far
			}
		}
	}
	for rank, i := range order {
		c := &s.pool[i]
		if c.cosine <= -1 {
			continue
		}
		c.meaningRank = rank + 1
		c.score += w.Meaning * most * w.Fade / (w.Fade + float64(rank))
		if near > far {
			c.score += w.Cosine * most * (c.meaning - far) / (near - far)
		}
	}
	s.stage("semantic", len(s.pool))
}

// raiseExact adds to the sums of files that an identifier of the query names, half as
// much to those that write it otherwise where any writes it so, and more where a file
// both declares it and is called it.
func (s *searching) raiseExact(w Weights) {
	most, otherwise := 0.0, w.Exact
	for i := range s.pool {
		c := &s.pool[i]
		most = max(most, c.score)
		if c.spelled {
			otherwise = w.Exact / 2
		}
	}
	for i := range s.pool {
		switch c := &s.pool[i]; {
		case c.both:
			c.score += (w.Exact + w.Both) * most
		case c.spelled:
			c.score += w.Exact * most
		case c.exact:
			c.score += otherwise * most
		}
	}
}

// discountTests lets chunks count less that declare tests beside the code, as the
// chunks of a file of tests do.
func (c *candidate) discountTests(factor float32) {
	for i := range c.sums {
		name, _, _ := strings.Cut(c.view.chunks[int(c.view.first[c.doc])+i].symbols, "\n")
		if strings.HasPrefix(name, "test_") || name == "tests" || name == "test" {
			c.sums[i] *= factor
			c.named[i] *= factor
		}
	}
}

// bestChunk is the candidate's best chunk by words, within its view, its sum,
// and that of the next two.
func (c *candidate) bestChunk() (chunk int32, words, next float64) {
	from := c.view.first[c.doc]
	chunk = from
	var top [3]float32
	for i, sum := range c.sums {
		switch {
		case sum > top[0]:
			top = [3]float32{sum, top[0], top[1]}
			chunk = from + int32(i)
		case sum > top[1]:
			top[1], top[2] = sum, top[1]
		case sum > top[2]:
			top[2] = sum
		}
	}
	return chunk, float64(top[0]), float64(top[1]) + float64(top[2])
}

// pathWords are the weights of the query's words that stand in a file's name,
// whole or abbreviated, and in its folders. The name counts more the more of it
// is matched.
func (s *searching) pathWords(d *document, w Weights) (stem, dirs float64) {
	matched, all := 0, 0
	for part := range strings.FieldsSeq(d.stem) {
		all++
		best := 0.0
		for i := range s.terms {
			switch t := &s.terms[i]; {
			case t.whole:
			case t.text == part:
				best = max(best, t.idf)
			case len(part) >= shortestPrefix && strings.HasPrefix(t.text, part), len(t.text) >= shortestPrefix && strings.HasPrefix(part, t.text):
				best = max(best, w.Prefix*t.idf)
			}
		}
		if best > 0 {
			matched++
			stem += best
		}
	}
	if matched > 0 {
		stem += w.Whole * stem * float64(matched) / float64(all)
	}
	for i := range s.terms {
		if t := &s.terms[i]; !t.whole && holdsWord(d.dirs, t.text) {
			dirs += t.idf
		}
	}
	return stem, dirs
}

// shortestPrefix is the shortest word that may abbreviate another in a file's
// name: "arith" is arithmetic.
const shortestPrefix = 3

// holdsWord tells whether a list of words, each followed by a blank, has one.
func holdsWord(list, word string) bool {
	for from := 0; ; {
		at := strings.Index(list[from:], word)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(word)
		if (at == 0 || list[at-1] == ' ') && list[end] == ' ' {
			return true
		}
		from = at + 1
	}
}

// penalty is the factor for what a file is and the query does not ask for.
func penalty(w Weights, kinds kind) float64 {
	p := 1.0
	for _, k := range [...]struct {
		kind
		factor float64
	}{{kindTest, w.Test}, {kindExample, w.Example}, {kindGenerated, w.Generated}, {kindCompat, w.Compat}, {kindChanges, w.Changes}, {kindDocs, w.Docs}, {kindSurface, w.Surface}} {
		if kinds&k.kind != 0 {
			p = min(p, k.factor)
		}
	}
	return p
}
