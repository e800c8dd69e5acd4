package lexical

import (
	"math"
	"slices"
	"sync"
)

// The parameters of BM25 and BM25F (Robertson and Zaragoza, "The Probabilistic
// Relevance Framework: BM25 and Beyond", 2009): K1 saturates repetition, B
// weighs the length of a field against its average.
const (
	K1 = 1.2
	B  = 0.75
)

// Index is a flat inverted index: for every term the documents that hold it
// and, computed once, what the term adds to each one's score. Immutable.
type Index struct {
	size     int
	terms    map[string]int32 // term to its place in lists
	lists    []postings
	scratch  sync.Pool // of *accumulator
	unknown  float64   // the idf of a term no document holds
	averages [NumFields]float64
	postings int
}

// postings are the documents of one term, ascending.
type postings struct {
	idf     float64
	docs    []int32
	impacts []float64 // what the term adds to the document's score
}

// New indexes the documents; a document's number is its place in docs.
func New(docs []Fields) *Index {
	ix := &Index{size: len(docs), terms: make(map[string]int32)}
	ix.scratch.New = func() any { return &accumulator{scores: make([]float64, ix.size)} }
	ix.unknown = idf(len(docs), 0)
	ix.averages = averageLengths(docs)
	ix.fill(docs, ix.number(docs))
	for i := range ix.lists {
		list := &ix.lists[i]
		list.idf = idf(len(docs), len(list.docs))
		for p, frequency := range list.impacts {
			list.impacts[p] = list.idf * frequency * (K1 + 1) / (frequency + K1)
		}
	}
	return ix
}

// number makes every term's list, long enough for its documents, and returns the
// places of all terms of all fields of all documents, in this order.
func (ix *Index) number(docs []Fields) []int32 {
	total := 0
	for doc := range docs {
		for _, counts := range docs[doc] {
			total += len(counts)
		}
	}
	places := make([]int32, 0, total)
	var sizes, last []int32 // per term: how many documents, and the one counted last
	for doc := range docs {
		for _, counts := range docs[doc] {
			for _, c := range counts {
				at, ok := ix.terms[c.Term]
				if !ok {
					at = int32(len(sizes))
					ix.terms[c.Term] = at
					sizes, last = append(sizes, 0), append(last, -1)
				}
				if last[at] != int32(doc) {
					last[at] = int32(doc)
					sizes[at]++
					ix.postings++
				}
				places = append(places, at)
			}
		}
	}
	ix.lists = make([]postings, len(sizes))
	numbers, impacts := make([]int32, ix.postings), make([]float64, ix.postings)
	for at, n := range sizes {
		ix.lists[at] = postings{docs: numbers[:0:n], impacts: impacts[:0:n]}
		numbers, impacts = numbers[n:], impacts[n:]
	}
	return places
}

// fill puts the documents' boosted, length-normalised frequencies on their
// terms' lists; New saturates them when all are there.
func (ix *Index) fill(docs []Fields, places []int32) {
	for doc := range docs {
		for field, counts := range docs[doc] {
			if len(counts) == 0 {
				continue
			}
			norm := 1 - B + float64(B*length(counts)/ix.averages[field])
			for i, c := range counts {
				ix.lists[places[i]].add(int32(doc), Boosts[field]*float64(c.N)/norm)
			}
			places = places[len(counts):]
		}
	}
}

// add sums a document's fields: its number can only be the last one.
func (p *postings) add(doc int32, frequency float64) {
	if n := len(p.docs); n > 0 && p.docs[n-1] == doc {
		p.impacts[n-1] += frequency
		return
	}
	p.docs = append(p.docs, doc)
	p.impacts = append(p.impacts, frequency)
}

// impact returns what the term adds to a document, 0 if it does not hold it.
func (p *postings) impact(doc int32) float64 {
	if at, ok := slices.BinarySearch(p.docs, doc); ok {
		return p.impacts[at]
	}
	return 0
}

// averageLengths are over the documents that have the field, as Lucene counts.
func averageLengths(docs []Fields) [NumFields]float64 {
	var sum, having [NumFields]float64
	for doc := range docs {
		for field, counts := range docs[doc] {
			if len(counts) > 0 {
				sum[field] += length(counts)
				having[field]++
			}
		}
	}
	for field := range sum {
		sum[field] /= max(having[field], 1)
	}
	return sum
}

// idf is ln(1 + (n − df + 0.5)/(df + 0.5)): the form of Robertson and Spärck
// Jones kept above zero, as Lucene does it.
func idf(n, df int) float64 {
	return math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5))
}

// Len is the number of documents.
func (ix *Index) Len() int { return ix.size }

// Postings is the number of term and document pairs.
func (ix *Index) Postings() int { return ix.postings }
