package search

import (
	"cmp"
	"slices"
	"strings"
)

// mostTerms bounds the work of a query made of a pasted log: the rarest known
// terms count, the rest say little.
const mostTerms = 64

// question is a query's text, resolved against an index.
type question struct {
	terms []asked
	words []string // as they are written, in lower case and without underscores; stop words left out
	plain []string // their terms
	seen  map[string]bool
}

// asked is a term of a query that the index holds.
type asked struct {
	text  string
	whole bool
	idf   float64
	place []int32 // per view, −1 where it is not
}

// resolve analyses a text. A term counts once, however often the text repeats
// it (k3 = 0).
func (ix *Index) resolve(text string) question {
	q := question{seen: map[string]bool{}}
	for word, at := nextWord(text, 0); word != ""; word, at = nextWord(text, at) {
		terms := expand(word)
		if len(terms) > 0 {
			q.words = append(q.words, wholeOf(word))
		}
		for _, t := range terms {
			if !t.whole {
				q.plain = append(q.plain, t.text)
			}
			if !q.seen[t.text] {
				ix.ask(&q, t, wholeOf(word))
			}
		}
	}
	if len(q.terms) > mostTerms {
		slices.SortStableFunc(q.terms, func(a, b asked) int {
			return cmp.Or(cmp.Compare(b.idf, a.idf), strings.Compare(a.text, b.text))
		})
		q.terms = q.terms[:mostTerms]
	}
	return q
}

// ask adds a term of a word to the question. An identifier may be written
// without its humps: then its stem is unknown, and what is kept whole is not.
func (ix *Index) ask(q *question, t term, whole string) {
	q.seen[t.text] = true
	a, df := ix.look(t.text)
	if b, n := ix.look(whole); df == 0 && !t.whole && n > 0 {
		if q.seen[whole] {
			return
		}
		q.seen[whole] = true
		a, df = b, n
	}
	a.whole = t.whole
	if df > 0 {
		a.idf = idf(ix.sums.docs, df)
		q.terms = append(q.terms, a)
	}
}

// look finds a term in every view, and how many living documents hold it.
func (ix *Index) look(text string) (a asked, df int) {
	a = asked{text: text, place: make([]int32, len(ix.views))}
	for i, v := range ix.views {
		a.place[i] = -1
		if at, ok := v.find(text); ok {
			a.place[i] = int32(at)
			df += v.holdingNow(at)
		}
	}
	return a, df
}

// room is the memory a search works in, all zero between searches.
type room struct {
	scores []float64 // per document
	chunks []float32 // per chunk
	names  []float32 // per chunk: what it declares or is headed with
	admits []bool    // per document, only with a filter
}

func newRoom(docs, chunks int) *room {
	return &room{scores: make([]float64, docs), chunks: make([]float32, chunks), names: make([]float32, chunks)}
}

func (r *room) empty() {
	clear(r.scores)
	clear(r.chunks)
	clear(r.names)
}

// addUp adds what each term adds to the scores of documents and of chunks. That
// of a document is
//
//	Σ over distinct terms t of q: idf(t) · f·(K1+1) / (f + K1)
//	f = Σ over fields: boost · tf(t,field,d) / (1 − B + B·len(field,d)/avg(field))
//
// which is BM25F: frequencies are boosted and normalised by field, added, and
// saturated once. idf is over documents that hold t in any field, avg(field)
// over documents that have the field. That of a chunk is BM25 of its text, with
// the documents' idf.
func (s *searching) addUp() {
	for _, t := range s.terms {
		for i, v := range s.ix.views {
			if t.place[i] >= 0 {
				s.addList(v, int(t.place[i]), t.idf)
			}
		}
	}
}

func (s *searching) addList(v *view, term int, idf float64) {
	b := v.list(term)
	scores, chunks := s.room.scores[v.doc0:], s.room.chunks[v.chunk0:]
	weight, k := float32(idf*(K1+1)), float32(K1)
	doc := int32(-1)
	for at := 0; at < len(b); {
		var gap uint32
		gap, at = varint(b, at)
		doc += int32(gap)
		if !s.admits(v, doc) {
			at = skipPayload(b, at)
			continue
		}
		head := b[at]
		at++
		var f float64
		for field := Title; field < Content; field++ {
			if head&(1<<field) != 0 {
				f += Boosts[field] * float64(b[at]) / float64(v.norms[field][doc])
				at++
			}
		}
		n := uint32(head >> 4)
		if n == manyChunks {
			n, at = varint(b, at)
		}
		all, chunk := uint32(0), uint32(v.first[doc])
		for ; n > 0; n-- {
			var x uint32
			x, at = varint(b, at)
			chunk += x >> 1
			tf := uint32(1)
			if x&1 != 0 {
				tf, at = varint(b, at)
			}
			all += tf
			c := float32(tf)
			chunks[chunk] += weight * c / (c + float32(k*v.byChunk[chunk]))
		}
		if all > 0 {
			f += Boosts[Content] * float64(all) / float64(v.norms[Content][doc])
		}
		scores[doc] += idf * f * (K1 + 1) / (f + K1)
	}
}

func (s *searching) admits(v *view, doc int32) bool {
	if s.filtered {
		return s.room.admits[v.doc0+doc]
	}
	return !v.isDead(doc)
}

// applyFilter decides about every document, before anything is ranked.
func (s *searching) applyFilter(keep func(*document) bool) {
	if keep == nil {
		return
	}
	s.filtered = true
	if s.room.admits == nil {
		s.room.admits = make([]bool, len(s.room.scores))
	}
	for _, v := range s.ix.views {
		for doc := range v.docs {
			s.room.admits[v.doc0+int32(doc)] = !v.isDead(int32(doc)) && keep(&v.docs[doc])
		}
	}
}

// best returns the k best documents by their sums, best first.
func (s *searching) best(k int) []candidate {
	var top []candidate
	for _, v := range s.ix.views {
		for doc, score := range s.room.scores[v.doc0 : int(v.doc0)+len(v.docs)] {
			if score > 0 && v.first[doc] < v.first[doc+1] { // one without chunks has nothing to show
				top = insert(top, k, candidate{view: v, doc: int32(doc), words: score, score: score})
			}
		}
	}
	return top
}

// insert puts a candidate in its place among the k best.
func insert(top []candidate, k int, c candidate) []candidate {
	if len(top) == k {
		if k == 0 || !before(&c, &top[k-1]) {
			return top
		}
		top = top[:k-1]
	}
	at := len(top)
	top = append(top, c)
	for ; at > 0 && before(&c, &top[at-1]); at-- {
		top[at] = top[at-1]
	}
	top[at] = c
	return top
}

// before orders by score; ties by path, which no history of the index changes.
func before(a, b *candidate) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	return a.document().Path < b.document().Path
}
