package lexical

import (
	"cmp"
	"slices"
	"sync"

	"github.com/writbus/writ/retrieval/bm25"
)

// maxQueryTerms bounds the work of a query made of a pasted log: the rarest
// known terms count, the rest say little.
const maxQueryTerms = 128

// Match is a document that holds at least one term of the query.
type Match struct {
	Doc   int32
	Score float64 // BM25F
}

// Query is a text resolved against one index.
type Query struct {
	index *Index
	terms []queryTerm
	pairs []queryPair
	seen  []uint64 // hashes of pairs
	mass  float64  // idf of all parts, known or not
	most  float64  // the same, each as often as it counts
	known int
	words int
}

type queryTerm struct {
	text        string
	aside       bool // is not one of the query's words
	distinctive bool // is distinctive: it ranks, and proves nothing
	list        *postings
	first       int     // its first place in the text
	weight      float64 // what it counts, by how often the text holds it
}

// Most is more than the score of any document: what one would have that held
// nothing but each of the query's words without end.
func (q Query) Most() float64 { return q.most * (bm25.K1 + 1) }

// queryPair is two terms that stand beside each other in the query, and in some
// document.
type queryPair struct {
	first, second string
	weight        float64 // the pair's idf and what pairs weigh
	list          []posted
}

// pairImpact is what a pair adds to a document that holds it.
func (ix *Index) pairImpact(pair *queryPair, p posted) float64 {
	return bm25.Score(pair.weight, ix.pairs.frequency(p))
}

// paired is what a pair adds to a document, 0 if the document does not hold it.
func (q Query) paired(pair *queryPair, doc int32) float64 {
	at, found := slices.BinarySearchFunc(pair.list, doc, func(p posted, doc int32) int { return cmp.Compare(p.doc(), doc) })
	if !found {
		return 0
	}
	return q.index.pairImpact(pair, pair.list[at])
}

// Resolve analyses a text and looks its distinct terms up, and the pairs of them
// that stand beside each other, where pairs, what one weighs beside a term, is
// not 0. A term that the text repeats counts [bm25.QueryWeight], a pair once.
func (ix *Index) Resolve(text string, pairs float64) Query {
	var q Query
	ix.ResolveInto(&q, text, pairs)
	return q
}

// ResolveInto is [Index.Resolve] into the memory of a query that is not needed
// any more.
func (ix *Index) ResolveInto(q *Query, text string, pairs float64) {
	*q = Query{index: ix, terms: q.terms[:0], pairs: q.pairs[:0], seen: q.seen[:0]}
	r := resolvings.Get().(*resolving)
	defer resolvings.Put(r)
	terms := Analyse(text)
	places := slices.Grow(r.places[:0], len(terms))[:len(terms)] // of the terms, −1 of those that the index does not know
	counts := slices.Grow(r.counts[:0], len(terms))[:len(terms)] // of the terms where they come first, else 0
	clear(counts)
	r.places, r.counts = places, counts
	seen := newSet(len(terms))
	for i, term := range terms {
		if first := seen.first(terms[:i], term.Text); first >= 0 {
			places[i] = places[first]
			counts[first]++
			continue
		}
		counts[i] = 1
		if !term.aside() {
			q.words++
		}
		at, ok := ix.terms[term.Text]
		if places[i] = at; !ok {
			places[i] = -1
		}
		if ok && ix.lists[at].from < ix.lists[at].to {
			q.terms = append(q.terms, queryTerm{text: term.Text, aside: term.aside(), distinctive: term.Distinctive, list: &ix.lists[at], first: i})
		}
	}
	q.weigh(terms, places, counts)
	q.known = len(q.terms)
	if len(q.terms) > maxQueryTerms {
		slices.SortStableFunc(q.terms, func(a, b queryTerm) int {
			return cmp.Or(cmp.Compare(b.list.idf, a.list.idf), cmp.Compare(a.text, b.text))
		})
		q.terms = q.terms[:maxQueryTerms]
	}
	if pairs != 0 && len(ix.pairs.list) > 0 {
		q.pair(terms, places, pairs)
	}
}

// weigh tells what the query's terms count.
func (q *Query) weigh(terms []Term, places []int32, counts []int) {
	for i, n := range counts {
		if n == 0 || terms[i].aside() {
			continue
		}
		idf := q.index.unknown
		if at := places[i]; at >= 0 && q.index.lists[at].from < q.index.lists[at].to {
			idf = q.index.lists[at].idf
		}
		q.mass += idf
		q.most += float64(bm25.QueryWeight(n) * idf)
	}
	for i := range q.terms {
		q.terms[i].weight = bm25.QueryWeight(counts[q.terms[i].first])
	}
}

// resolving is the memory of a query's terms, before they are looked up.
type resolving struct {
	places []int32
	counts []int
}

var resolvings = sync.Pool{New: func() any { return new(resolving) }}

// pair looks up the pairs of the query's terms, as many as of terms at most.
func (q *Query) pair(terms []Term, places []int32, weight float64) {
	ix := q.index
	var previous uint64 // the hash of the term before
	before := ""        // "" where it is none that the index knows
	for i, term := range terms {
		if term.Whole {
			continue
		}
		if places[i] < 0 {
			before = ""
			continue
		}
		hash := ix.hashes[places[i]]
		if both := hashPair(previous, hash); before != "" && len(q.pairs) < maxQueryTerms && !slices.Contains(q.seen, both) {
			if list := ix.pairs.find(both); len(list) > 0 {
				q.seen = append(q.seen, both)
				q.pairs = append(q.pairs, queryPair{first: before, second: term.Text, weight: weight * bm25.IDF(ix.size, len(list)), list: list})
			}
		}
		before, previous = term.Text, hash
	}
}

// set tells where terms came first: for a few, looking at them is quicker than
// hashing.
type set map[string]int

const fewTerms = 24

func newSet(terms int) set {
	if terms <= fewTerms {
		return nil
	}
	return make(set, terms)
}

// first is the place of the text among the earlier terms, −1 where it comes now.
func (s set) first(earlier []Term, text string) int {
	if s == nil {
		return slices.IndexFunc(earlier, func(t Term) bool { return t.Text == text })
	}
	if at, known := s[text]; known {
		return at
	}
	s[text] = len(earlier)
	return -1
}

// Known is the number of the query's distinct terms that the index holds.
func (q Query) Known() int { return q.known }

// Words is the number of the query's distinct words, known or not: wholes and what only tells rules apart are none.
func (q Query) Words() int { return q.words }

// Matched is how many of them a document holds.
func (q Query) Matched(doc int32) int {
	n := 0
	for _, term := range q.terms {
		if !term.aside && q.index.impact(term.list, doc) > 0 {
			n++
		}
	}
	return n
}

// Rarest is the idf of a word that no document holds: the most a word can weigh.
func (ix *Index) Rarest() float64 { return ix.unknown }

// Once is the idf of a word that one document holds.
func (ix *Index) Once() float64 { return bm25.IDF(ix.size, 1) }

// Search returns the k best documents that keep admits, best first, ties by
// number, with their scores of BM25F (package bm25), each term times its weight in
// the query: idf is over documents that
// hold a term in any field, averages over documents that have the field. Pairs
// add the same sum over the distinct pairs of q, times what a pair weighs. A nil
// keep admits everything.
func (ix *Index) Search(q Query, k int, keep func(doc int32) bool) []Match {
	if len(q.terms) == 0 || k <= 0 {
		return nil
	}
	acc := ix.scratch.Get().(*accumulator)
	defer ix.scratch.Put(acc)
	for _, term := range q.terms {
		acc.add(ix.docs[term.list.from:term.list.to], ix.impacts[term.list.from:term.list.to], term.weight)
	}
	ix.addPairs(acc, q.pairs)
	return acc.best(k, keep)
}

// addPairs adds to documents that have scores already: who holds a pair holds
// its terms.
func (ix *Index) addPairs(acc *accumulator, pairs []queryPair) {
	for i := range pairs {
		for _, p := range pairs[i].list {
			acc.scores[p.doc()] += ix.pairImpact(&pairs[i], p)
		}
	}
}

// Contribution is what one term of a query, or two with a space between, adds to one document's score.
type Contribution struct {
	Term  string
	Score float64
}

// Explain lists the terms that make up a document's score, largest first.
func (q Query) Explain(doc int32) []Contribution {
	var parts []Contribution
	for _, term := range q.terms {
		if score := term.weight * q.index.impact(term.list, doc); score > 0 {
			parts = append(parts, Contribution{term.text, score})
		}
	}
	for i := range q.pairs {
		if score := q.paired(&q.pairs[i], doc); score > 0 {
			parts = append(parts, Contribution{q.pairs[i].first + " " + q.pairs[i].second, score})
		}
	}
	slices.SortFunc(parts, func(a, b Contribution) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Term, b.Term))
	})
	return parts
}

// Score is the score of one document, which Search may have left out.
func (q Query) Score(doc int32) float64 {
	var score float64
	for _, term := range q.terms {
		score += float64(term.weight * q.index.impact(term.list, doc))
	}
	for i := range q.pairs {
		score += q.paired(&q.pairs[i], doc)
	}
	return score
}

// Judge says what the query's words prove of a document with a score.
//
// The proof is how much of the score says that the query is about what the
// document is about: all but what stop words that were kept, pairs, and words
// said again add. The coverage is the share, 0 to 1, of the query's idf mass that the document
// holds; wholes do not count, since their parts do.
func (q Query) Judge(doc int32, score float64) (proof, coverage float64) {
	var held float64
	for i := range q.terms {
		term := &q.terms[i]
		if term.aside && !term.distinctive && term.weight == 1 {
			continue
		}
		impact := q.index.impact(term.list, doc)
		score -= float64((term.weight - 1) * impact)
		if impact > 0 && !term.aside {
			held += term.list.idf
		}
		if term.distinctive {
			score -= impact
		}
	}
	for i := range q.pairs {
		score -= q.paired(&q.pairs[i], doc)
	}
	if q.mass > 0 {
		coverage = min(held/q.mass, 1)
	}
	return max(score, 0), coverage
}

// accumulator sums scores per document; all are zero between searches.
type accumulator struct{ scores []float64 }

func (a *accumulator) add(docs []int32, impacts []float64, weight float64) {
	scores, impacts := a.scores, impacts[:len(docs)]
	for i, doc := range docs {
		scores[doc] += float64(weight * impacts[i])
	}
}

// best empties the accumulator into the k best matches.
func (a *accumulator) best(k int, keep func(int32) bool) []Match {
	top := make([]Match, 0, min(k, len(a.scores)))
	worst := 0.0 // what a score must surpass: of equals the first stays
	for doc, score := range a.scores {
		if score <= worst || keep != nil && !keep(int32(doc)) {
			continue
		}
		if top = insert(top, k, Match{int32(doc), score}); len(top) == k {
			worst = top[k-1].Score
		}
	}
	clear(a.scores)
	return top
}

// insert puts a match in its place among the k best, which it is one of.
func insert(top []Match, k int, m Match) []Match {
	if len(top) == k {
		top = top[:k-1]
	}
	at := len(top)
	top = append(top, m)
	for ; at > 0 && before(m, top[at-1]); at-- {
		top[at] = top[at-1]
	}
	top[at] = m
	return top
}

func before(a, b Match) bool { return a.Score > b.Score || a.Score == b.Score && a.Doc < b.Doc }

// Without judges the query against a document that lacks some of its words: the
// proof it would have among these documents if the counts were taken out of one
// of its fields. The statistics of the index stay as they are.
func (ix *Index) Without(q Query, fields Fields, field Field, counts []Count) (proof float64) {
	fields[field] = subtract(fields[field], counts)
	for _, term := range q.terms {
		if term.distinctive {
			continue
		}
		var frequency float64
		for f, own := range fields {
			if n := count(own, term.text); n > 0 {
				norm := bm25.Norm(length(own), ix.averages[f])
				frequency += Boosts[f] * float64(n) / norm
			}
		}
		if frequency > 0 {
			proof += bm25.Score(term.list.idf, frequency)
		}
	}
	return proof
}

func count(counts []Count, term string) uint32 {
	if at, ok := slices.BinarySearchFunc(counts, Count{Term: term}, byTerm); ok {
		return counts[at].N
	}
	return 0
}

func subtract(from, counts []Count) []Count {
	var left []Count
	for _, c := range from {
		if n := count(counts, c.Term); n < c.N {
			left = append(left, Count{Term: c.Term, N: c.N - n})
		}
	}
	return left
}
