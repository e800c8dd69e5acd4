package lexical

import (
	"cmp"
	"math"
	"slices"
	"sync"
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
	known int
	words int
}

type queryTerm struct {
	text  string
	aside bool // is not one of the query's words
	tells bool // is telling: it ranks, and proves nothing
	place uint32
	list  *postings
}

// queryPair is two terms that stand beside each other in the query, and in some
// document.
type queryPair struct {
	first, second string
	weight        float64 // the pair's idf and what pairs weigh
	list          []posted
}

// pairImpact is what a pair adds to a document that holds it.
func (ix *Index) pairImpact(pair *queryPair, p posted) float64 {
	f := ix.pairs.frequency(p)
	return pair.weight * f * (K1 + 1) / (f + K1)
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
// not 0. Either counts once, however often the text repeats it (k3 = 0).
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
	terms := appendTerms(r.terms[:0], text)
	places := slices.Grow(r.places[:0], len(terms))[:len(terms)] // of the terms, −1 of those that the index does not know
	r.terms, r.places = terms, places
	seen := newSet(len(terms))
	for i, term := range terms {
		if first := seen.first(terms[:i], term.Text); first >= 0 {
			places[i] = places[first]
			continue
		}
		if !term.aside() {
			q.words++
		}
		at, ok := ix.terms[term.Text]
		if places[i] = at; !ok {
			places[i] = -1
		}
		if !ok || ix.lists[at].from == ix.lists[at].to {
			if !term.aside() {
				q.mass += ix.unknown
			}
			continue
		}
		list := &ix.lists[at]
		if !term.aside() {
			q.mass += list.idf
		}
		q.terms = append(q.terms, queryTerm{text: term.Text, aside: term.aside(), tells: term.Telling, place: uint32(at), list: list})
	}
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

// resolving is the memory of a query's terms, before they are looked up.
type resolving struct {
	terms  []Term
	places []int32
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
				q.pairs = append(q.pairs, queryPair{first: before, second: term.Text, weight: weight * idf(ix.size, len(list)), list: list})
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

// Search returns the k best documents that keep admits, best first, ties by
// number. The score of document d for query q is
//
//	Σ over distinct terms t of q: idf(t) · f·(K1+1) / (f + K1)
//	f = Σ over fields: boost · tf(t,field,d) / (1 − B + B·len(field,d)/avg(field))
//
// which is BM25F: frequencies are boosted and normalised by field, added, and
// saturated once, so that a word's second field adds less than another word.
// idf is over documents that hold t in any field, avg(field) over documents
// that have the field. With one field at boost 1 it is textbook BM25. Pairs add
// the same sum over the distinct pairs of q, times what a pair weighs. A nil keep
// admits everything.
func (ix *Index) Search(q Query, k int, keep func(doc int32) bool) []Match {
	if len(q.terms) == 0 || k <= 0 {
		return nil
	}
	acc := ix.scratch.Get().(*accumulator)
	defer ix.scratch.Put(acc)
	postings := 0
	for _, term := range q.terms {
		postings += int(term.list.to - term.list.from)
	}
	if postings*sparse < ix.size {
		for _, term := range q.terms {
			acc.addSparse(ix.docs[term.list.from:term.list.to], ix.impacts[term.list.from:term.list.to])
		}
		ix.addPairs(acc, q.pairs)
		return acc.bestTouched(k, keep)
	}
	for _, term := range q.terms {
		acc.add(ix.docs[term.list.from:term.list.to], ix.impacts[term.list.from:term.list.to])
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
		if score := q.index.impact(term.list, doc); score > 0 {
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
		score += q.index.impact(term.list, doc)
	}
	for i := range q.pairs {
		score += q.paired(&q.pairs[i], doc)
	}
	return score
}

// Proof is how much of a document's score says that the query is about what the
// document is about: all but what stop words that were kept, and pairs, add.
func (q Query) Proof(doc int32, score float64) float64 {
	for _, term := range q.terms {
		if term.tells {
			score -= q.index.impact(term.list, doc)
		}
	}
	for i := range q.pairs {
		score -= q.paired(&q.pairs[i], doc)
	}
	return max(score, 0)
}

// Coverage is the share, 0 to 1, of the query's idf mass that a document holds.
// Wholes do not count: their parts do.
func (q Query) Coverage(doc int32) float64 {
	if q.mass == 0 {
		return 0
	}
	var has [maxQueryTerms]bool
	q.heldBy(doc, &has)
	var held float64
	for i, term := range q.terms {
		if has[i] && !term.aside {
			held += term.list.idf
		}
	}
	return min(held/q.mass, 1)
}

// readBytes is up to how many bytes it is quicker to read a document's terms
// than to look for it on the terms' lists.
const readBytes = 256

// heldBy marks the terms that a document holds.
func (q Query) heldBy(doc int32, has *[maxQueryTerms]bool) {
	if raw := q.index.forward[doc]; len(raw) <= readBytes {
		for e := entries(raw); len(e) > 0; {
			for range e.next() {
				place, n := e.next(), e.next()
				for i := range q.terms {
					if q.terms[i].place == place && n > 0 {
						has[i] = true
					}
				}
			}
		}
		return
	}
	for i, term := range q.terms {
		has[i] = q.index.impact(term.list, doc) > 0
	}
}

// sparse is how many documents may be passed over for the price of remembering
// one that is touched, which no processor predicts.
const sparse = 8

// accumulator sums scores per document; all are zero between searches. Where a
// query touches few documents it remembers which, so that clearing costs no more
// than searching did.
type accumulator struct {
	scores  []float64
	touched []int32
	peaks   []float64
	at      []int32  // places of documents that are judged on a list
	places  []uint16 // of documents that are judged, from 1; made when the first are
}

func (a *accumulator) add(docs []int32, impacts []float64) {
	scores, impacts := a.scores, impacts[:len(docs)]
	for i, doc := range docs {
		scores[doc] += impacts[i]
	}
}

func (a *accumulator) addSparse(docs []int32, impacts []float64) {
	for i, doc := range docs {
		score := a.scores[doc]
		if score == 0 {
			a.touched = append(a.touched, doc)
		}
		a.scores[doc] = score + impacts[i]
	}
}

// best empties the accumulator into the k best matches: those above a bar that
// as many runs reach as are wanted, and where a filter leaves too few of these,
// those above a lower one.
func (a *accumulator) best(k int, keep func(int32) bool) []Match {
	top := make([]Match, 0, min(k, len(a.scores)))
	run := 1
	if len(a.scores) > singly {
		run = (max(len(a.scores)/mostRuns, leastRun) + 7) / 8 * 8 // the kernel takes eight at a time
	}
	a.peak(run)
	many := k
	if keep != nil {
		many *= filtered
	}
	for below := math.Inf(1); len(top) < k && below > 0; many *= lowered {
		bar := a.reached(many)
		top = a.between(bar, below, top, k, run, keep)
		below = bar
	}
	clear(a.scores)
	return top
}

// between adds those of the k best whose scores are at least a bar, above zero,
// and below another; what top holds is not below that.
func (a *accumulator) between(bar, below float64, top []Match, k, run int, keep func(int32) bool) []Match {
	worst := 0.0 // what a score must surpass: of equals the first stays
	for i, peak := range a.peaks {
		if peak < bar || peak <= worst {
			continue
		}
		first := i * run
		for at, score := range a.scores[first:min(first+run, len(a.scores))] {
			if doc := int32(first + at); score < bar || score <= worst || score >= below || keep != nil && !keep(doc) {
				continue
			} else if top = insert(top, k, Match{doc, score}); len(top) == k {
				worst = top[k-1].Score
			}
		}
	}
	return top
}

const (
	// mostRuns is about how many runs of documents are looked at, of each of
	// which the highest score is taken first: hardly any run is looked at twice.
	mostRuns = 2048
	leastRun = 40
	// singly is up to how many documents runs are of one: a bar is then so near
	// that hardly a score is looked at in vain.
	singly = 1024
	// filtered is how many documents are expected to be looked at for one that a
	// filter admits, and lowered how many times more runs reach the next bar.
	filtered = 3
	lowered  = 8
)

// peak fills the highest score of each run.
func (a *accumulator) peak(run int) {
	whole := len(a.scores) / run
	a.peaks = slices.Grow(a.peaks[:0], whole+1)[:whole]
	peaksOf(a.peaks, a.scores, run)
	if rest := a.scores[whole*run:]; len(rest) > 0 {
		a.peaks = a.peaks[:whole+1]
		peaksPortable(a.peaks[whole:], rest, len(rest))
	}
}

// reached is a score that at least k documents reach, 0 if it finds none.
func (a *accumulator) reached(k int) float64 {
	var highest float64
	for _, peak := range a.peaks {
		highest = max(highest, peak)
	}
	if highest == 0 {
		return 0
	}
	const buckets = 256
	var counts [buckets]int
	scale := (buckets - 1) / highest
	for _, peak := range a.peaks {
		counts[int(peak*scale)]++
	}
	bucket := buckets - 1
	for ; bucket > 0 && k > counts[bucket]; bucket-- {
		k -= counts[bucket]
	}
	return float64(bucket) / scale * (1 - 1e-9) // rounding must not lose the least of the bucket
}

// bestTouched is best after addSparse.
func (a *accumulator) bestTouched(k int, keep func(int32) bool) []Match {
	top := make([]Match, 0, min(k, len(a.touched)))
	for _, doc := range a.touched {
		m := Match{Doc: doc, Score: a.scores[doc]}
		a.scores[doc] = 0
		if len(top) == k && !before(m, top[k-1]) || keep != nil && !keep(doc) {
			continue
		}
		top = insert(top, k, m)
	}
	a.touched = a.touched[:0]
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
		if term.tells {
			continue
		}
		var frequency float64
		for f, own := range fields {
			if n := count(own, term.text); n > 0 {
				norm := 1 - B + float64(B*length(own)/max(ix.averages[f], 1))
				frequency += Boosts[f] * float64(n) / norm
			}
		}
		if frequency > 0 {
			proof += term.list.idf * frequency * (K1 + 1) / (frequency + K1)
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
