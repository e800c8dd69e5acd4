package search

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/bm25"
)

// mostTerms bounds the work of a query made of a pasted log: the rarest known
// terms count, the rest say little.
const mostTerms = 64

// question is a query's text, resolved against an index.
type question struct {
	terms   []asked
	written []string // the words as they are written; stop words left out
	joined  []bool   // whether no blank parts a word from the one before
	behind  []bool   // whether no other word does
	words   []string // the same in lower case and without underscores
	seen    map[string]bool
	asked   float64 // idf of all words, those that the index does not hold included
	// alike are, by the name of a file as documents keep it, the idf of the word that
	// is all of it; identifiers those that the query asks for by name.
	alike       map[string]float64
	identifiers map[string]bool
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
	q := question{seen: map[string]bool{}, identifiers: map[string]bool{}, alike: map[string]float64{}}
	before := 0
	for word, at := nextWord(text, 0); word != ""; word, at = nextWord(text, at) {
		terms := expand(word)
		between := text[before : at-len(word)]
		joined := before > 0 && !strings.ContainsAny(between, " \t\r\n,;()")
		if len(terms) > 0 || joined || word == strings.TrimSpace(text) { // a name may be one letter
			q.words = append(q.words, wholeOf(word))
			q.written = append(q.written, word)
			q.joined = append(q.joined, joined)
			q.behind = append(q.behind, strings.TrimSpace(between) == "")
			before = at
		}
		for _, t := range terms {
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
	q.nameFiles()
	return q
}

// ask adds a term of a word to the question. An identifier may be written
// without its humps: then its stem is unknown, and what is kept whole is not.
func (ix *Index) ask(q *question, t term, whole string) {
	q.seen[t.text] = true
	a, df, _ := ix.look(t.text)
	if b, n, _ := ix.look(whole); df == 0 && !t.whole && n > 0 {
		if q.seen[whole] {
			return
		}
		q.seen[whole] = true
		a, df = b, n
	}
	a.whole = t.whole
	if !t.whole {
		q.asked += bm25.IDF(ix.sums.docs, df)
	}
	if df > 0 {
		a.idf = bm25.IDF(ix.sums.docs, df)
		q.terms = append(q.terms, a)
	}
}

// look finds a term in every view, how many living documents hold it, and
// whether any term begins with it.
func (ix *Index) look(text string) (a asked, df int, begins bool) {
	a = asked{text: text, place: make([]int32, len(ix.views))}
	for i, v := range ix.views {
		a.place[i] = -1
		at, ok := v.find(text)
		if ok {
			a.place[i] = int32(at)
			df += v.holdingNow(at)
		}
		begins = begins || ok || at < len(v.textEnds) && strings.HasPrefix(v.term(at), text)
	}
	return a, df, begins
}

// scratch is the memory a search works in; the scores are zero between searches.
type scratch struct {
	scores []float64 // per document
	admits []bool    // per document, only with a filter
	lists  []walked
	marks  []mark
	sums   []float32 // of the candidates' chunks, three of each
	best   []scored
}

// walked is a term's list of postings that was walked in one view, and where
// its marks are.
type walked struct {
	view     *view
	term     int
	idf      float64
	cover    float64 // idf of a word, 0 of an identifier in one piece, whose parts count
	from, to int
}

// mark is a place in a list of postings, and the last document before it.
type mark struct{ doc, at int32 }

// markEvery is how many postings lie between marks: fewer cost the walk more,
// more cost looking a document up more.
const markEvery = 16

func (r *scratch) empty() {
	clear(r.scores)
	r.lists, r.marks, r.sums, r.best = r.lists[:0], r.marks[:0], r.sums[:0], r.best[:0]
}

// addUp adds what each term adds to the scores of documents by BM25F. idf is over documents that hold t in any field, avg(field)
// over documents that have the field.
func (s *searching) addUp() {
	for _, t := range s.terms {
		for i, v := range s.ix.views {
			if t.place[i] >= 0 {
				s.addList(v, int(t.place[i]), &t)
			}
		}
	}
}

func (s *searching) addList(v *view, term int, t *asked) {
	b, r, idf, cover := v.list(term), s.scratch, t.idf, t.idf
	if t.whole {
		cover = 0
	}
	scores := r.scores[v.doc0 : int(v.doc0)+len(v.docs)]
	content, norms := v.lengths[Content], &v.scales.fields
	all := v.dead == nil && !s.filtered
	from := len(r.marks)
	doc, left := int32(-1), 0
	for at := 0; at < len(b); {
		if left--; left < 0 {
			r.marks = append(r.marks, mark{doc, int32(at)})
			left = markEvery - 1
		}
		gap, next := varint(b, at)
		doc += int32(gap)
		head := b[next]
		next++
		var f float64
		if head&(1<<Content-1) != 0 {
			for field := Title; field < Content; field++ {
				if head&(1<<field) != 0 {
					f += Boosts[field] * float64(b[next]) / float64(norms[field].of(v.lengths[field][doc]))
					next++
				}
			}
		}
		var often uint32
		often, at = inChunks(b, next, uint32(head>>4))
		if !all && !s.admits(v, doc) {
			continue
		}
		if often > 0 {
			f += Boosts[Content] * float64(often) / float64(norms[Content].of(content[doc]))
		}
		scores[doc] += bm25.Score(idf, f)
	}
	r.lists = append(r.lists, walked{v, term, idf, cover, from, len(r.marks)})
}

// addChunks adds what each term adds to the candidates' chunks: BM25 of their
// text, with the documents' idf.
func (s *searching) addChunks() (order [][]int32) {
	order = s.roomForChunks()
	for _, l := range s.scratch.lists {
		b, marks := l.view.list(l.term), s.scratch.marks[l.from:l.to]
		weight := float32(l.idf * (bm25.K1 + 1))
		p := reading{b: b, doc: -1}
		for _, i := range order[l.view.number] {
			c := &s.pool[i]
			for ; len(marks) > 0 && marks[0].doc < c.doc; marks = marks[1:] {
				if marks[0].doc > p.doc {
					p.doc, p.next = marks[0].doc, int(marks[0].at)
				}
			}
			if p.to(c.doc) {
				c.add(b, p.payload, weight, float32(l.cover))
			}
		}
	}
	return order
}

// add adds what a term adds to the chunks, where its payload begins.
func (c *candidate) add(b []byte, at int, weight, cover float32) {
	lengths, norms, k := c.view.ofChunk[c.view.first[c.doc]:c.view.first[c.doc+1]], &c.view.scales.chunks, float32(bm25.K1)
	for w := walkChunks(b, at); w.next(); {
		tf := float32(w.times)
		c.sums[w.chunk] += weight * tf / (tf + float32(k*norms.of(lengths[w.chunk])))
		c.covered[w.chunk] += cover
	}
}

// roomForChunks gives every candidate sums for its chunks, and lists the
// candidates of each view in the order of their documents.
func (s *searching) roomForChunks() (order [][]int32) {
	chunks, at := 0, 0
	for i := range s.pool {
		chunks += s.pool[i].chunks()
	}
	s.scratch.sums = slices.Grow(s.scratch.sums[:0], 3*chunks)[:3*chunks]
	clear(s.scratch.sums)
	order = make([][]int32, len(s.ix.views))
	for i := range s.pool {
		c := &s.pool[i]
		n := c.chunks()
		c.sums, c.named, c.covered = s.scratch.sums[at:at+n:at+n], s.scratch.sums[at+n:at+2*n:at+2*n], s.scratch.sums[at+2*n:at+3*n:at+3*n]
		at += 3 * n
		order[c.view.number] = append(order[c.view.number], int32(i))
	}
	for _, of := range order {
		slices.SortFunc(of, func(a, b int32) int { return int(s.pool[a].doc - s.pool[b].doc) })
	}
	return order
}

func (s *searching) admits(v *view, doc int32) bool {
	if s.filtered {
		return s.scratch.admits[v.doc0+doc]
	}
	return !v.isDead(doc)
}

// applyFilter decides about every document, before anything is ranked.
func (s *searching) applyFilter(keep func(*document) bool) {
	if keep == nil {
		return
	}
	s.filtered = true
	if s.scratch.admits == nil {
		s.scratch.admits = make([]bool, len(s.scratch.scores))
	}
	for _, v := range s.ix.views {
		for doc := range v.docs {
			s.scratch.admits[v.doc0+int32(doc)] = !v.isDead(int32(doc)) && keep(&v.docs[doc])
		}
	}
}

// scored is a document and its score.
type scored struct {
	score float64
	view  int32
	doc   int32
}

// best returns the k best documents by their sums, best first; k is at least 1.
func (s *searching) best(k int) []candidate {
	top, bar := s.scratch.best[:0], math.SmallestNonzeroFloat64 // what a document needs at least
	for i, v := range s.ix.views {
		for doc, score := range s.scratch.scores[v.doc0 : int(v.doc0)+len(v.docs)] {
			if score < bar || v.first[doc] == v.first[doc+1] { // one without chunks has nothing to show
				continue
			}
			if top = s.place(top, k, scored{score, int32(i), int32(doc)}); len(top) == k {
				bar = top[k-1].score
			}
		}
	}
	s.scratch.best = top
	if len(top) == 0 {
		return nil
	}
	pool := make([]candidate, len(top), len(top)+mostDefining)
	for i, at := range top {
		pool[i] = candidate{view: s.ix.views[at.view], doc: at.doc, words: at.score, score: at.score}
	}
	return pool
}

// place puts a document in its place among the k best.
func (s *searching) place(top []scored, k int, d scored) []scored {
	at, end := 0, len(top)
	for at < end {
		if mid := int(uint(at+end) >> 1); s.worse(d, top[mid]) {
			at = mid + 1
		} else {
			end = mid
		}
	}
	if at == k {
		return top
	}
	if len(top) < k {
		top = append(top, scored{})
	}
	copy(top[at+1:], top[at:])
	top[at] = d
	return top
}

func (s *searching) worse(a, b scored) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	return s.ix.views[a.view].docs[a.doc].Path > s.ix.views[b.view].docs[b.doc].Path
}

// before orders by score; ties by path, which no history of the index changes.
func before(a, b *candidate) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	return a.document().Path < b.document().Path
}
