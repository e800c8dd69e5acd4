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
	forward  [][]byte  // per document; see encode
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
	return Collect(len(docs), func(doc int, into *Fields) { *into = docs[doc] }, nil, nil)
}

// Collect indexes n documents whose fields are read one after the other, into
// memory that may be used again. Where previous is given, kept names the
// document of that index which had the same fields, −1 for none: it is not read.
// What is searched does not depend on it.
func Collect(n int, fields func(doc int, into *Fields), previous *Index, kept func(doc int) int) *Index {
	ix := &Index{size: n, forward: make([][]byte, n)}
	ix.scratch.New = func() any { return &accumulator{scores: make([]float64, ix.size)} }
	ix.unknown = idf(n, 0)
	ix.read(fields, previous, kept)
	ix.count()
	ix.fill()
	return ix
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

// idf is ln(1 + (n − df + 0.5)/(df + 0.5)): the form of Robertson and Spärck
// Jones kept above zero, as Lucene does it.
func idf(n, df int) float64 {
	return math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5))
}

// Len is the number of documents.
func (ix *Index) Len() int { return ix.size }

// Postings is the number of term and document pairs.
func (ix *Index) Postings() int { return ix.postings }
