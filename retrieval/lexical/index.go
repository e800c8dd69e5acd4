package lexical

import (
	"sync"

	"github.com/writbus/writ/retrieval/bm25"
)

// Index is a flat inverted index: for every term the documents that hold it
// and, computed once, what the term adds to each one's score. Immutable.
type Index struct {
	size     int
	terms    map[string]int32 // term to its place in lists
	lists    []postings
	docs     []int32   // of all lists
	impacts  []float64 // beside docs: what the term adds to the document's score
	forward  [][]byte  // per document: for each field the number of its terms, then the place and the count of each
	paired   []Pairs   // per document
	pairs    pairIndex
	hashes   []uint64  // of the terms, by place
	scratch  sync.Pool // of *accumulator
	unknown  float64   // the idf of a term no document holds
	averages [NumFields]float64
	postings int
}

// postings are where the documents of one term are, ascending.
type postings struct {
	idf      float64
	from, to int32
}

// Documents are what an index is built of.
type Documents interface {
	// Fields reads a document's terms into memory that may be used again.
	Fields(doc int, into *Fields)
	// Pairs are those of its terms that stand beside each other.
	Pairs(doc int) Pairs
	// Aside says that a document is found without a part in what is known of all:
	// how rare a term is, and how long a field.
	Aside(doc int) bool
}

// Unpaired reads the terms of documents whose pairs are not wanted.
type Unpaired func(doc int, into *Fields)

// Fields reads a document's terms.
func (u Unpaired) Fields(doc int, into *Fields) { u(doc, into) }

// Pairs are none.
func (Unpaired) Pairs(int) Pairs { return "" }

// Aside is none.
func (Unpaired) Aside(int) bool { return false }

// Collect indexes n documents, which are read one after the other. Where
// previous is given, kept names the document of that index which had the same
// fields and pairs, −1 for none: it is not read. What is searched does not depend
// on it.
func Collect(n int, docs Documents, previous *Index, kept func(doc int) int) *Index {
	ix := &Index{size: n, forward: make([][]byte, n), paired: make([]Pairs, n)}
	ix.scratch.New = func() any { return &accumulator{scores: make([]float64, ix.size)} }
	ix.unknown = bm25.IDF(n, 0)
	ix.read(docs, previous, kept)
	ix.count(docs.Aside)
	ix.fill()
	ix.pair()
	return ix
}

// impact returns what a term adds to a document, 0 if the document does not hold
// it.
func (ix *Index) impact(list *postings, doc int32) float64 {
	docs := ix.docs[list.from:list.to]
	if len(docs) == 0 {
		return 0
	}
	// Halving without a branch: no processor would predict it.
	at := 0
	for n := len(docs); n > 1; {
		half := n / 2
		next := at
		if docs[at+half] <= doc {
			next = at + half
		}
		at = next
		n -= half
	}
	if docs[at] != doc {
		return 0
	}
	return ix.impacts[int(list.from)+at]
}

// Len is the number of documents.
func (ix *Index) Len() int { return ix.size }
