package lexical

import (
	"encoding/binary"
	"maps"
	"strings"

	"github.com/writbus/writ/retrieval/bm25"
)

// Documents are kept by the places of their terms, about three bytes a term: an
// index is filled from that, and the next one takes it over for the documents
// that have not changed.

// read numbers the terms of all documents.
func (ix *Index) read(docs Documents, previous *Index, kept func(int) int) {
	var own Fields
	var buffer []byte
	shared := false // whether ix.terms belongs to the previous index
	if previous != nil && previous.dense() {
		ix.terms, shared = previous.terms, true
	} else {
		ix.terms, previous = make(map[string]int32), nil
	}
	for doc := range ix.size {
		ix.paired[doc] = docs.Pairs(doc) // the document's own: what another index holds of it may be gone
		if previous != nil {
			if old := kept(doc); old >= 0 {
				ix.forward[doc] = previous.forward[old]
				continue
			}
		}
		docs.Fields(doc, &own)
		buffer = buffer[:0]
		for _, counts := range own {
			buffer = binary.AppendUvarint(buffer, uint64(len(counts)))
			for _, c := range counts {
				at, known := ix.terms[c.Term]
				if !known {
					if shared {
						ix.terms, shared = maps.Clone(ix.terms), false
					}
					at = int32(len(ix.terms))
					ix.terms[strings.Clone(c.Term)] = at
				}
				buffer = binary.AppendUvarint(buffer, uint64(at))
				buffer = binary.AppendUvarint(buffer, uint64(c.N))
			}
		}
		ix.forward[doc] = append(make([]byte, 0, len(buffer)), buffer...)
	}
}

// dense tells that few of the terms are of documents that are gone.
func (ix *Index) dense() bool {
	gone := 0
	for i := range ix.lists {
		if ix.lists[i].from == ix.lists[i].to {
			gone++
		}
	}
	return 8*gone <= len(ix.lists)
}

// entries walks over the terms of a document.
type entries []byte

func (e *entries) next() uint32 {
	b := *e
	if b[0] < 0x80 {
		*e = b[1:]
		return uint32(b[0])
	}
	if b[1] < 0x80 {
		*e = b[2:]
		return uint32(b[0]&0x7f) | uint32(b[1])<<7
	}
	v, n := binary.Uvarint(b)
	*e = b[n:]
	return uint32(v)
}

// count makes every term's list, long enough for its documents, and takes the
// average lengths of the fields, over the documents that have them, as Lucene
// does. Documents aside have a place on the lists, and no part in the numbers.
func (ix *Index) count(aside func(doc int) bool) {
	var sum, having [NumFields]float64
	sizes, last := make([]int32, len(ix.terms)), make([]int32, len(ix.terms)) // last is the document counted last, from 1
	counted := make([]int32, len(ix.terms))
	for doc, raw := range ix.forward {
		e, counts := entries(raw), float64(1)
		if aside(doc) {
			counts = 0
		}
		for field := range NumFields {
			n := e.next()
			if n == 0 {
				continue
			}
			having[field] += counts
			for range n {
				at := e.next()
				sum[field] += float64(counts * float64(e.next()))
				if last[at] != int32(doc)+1 {
					last[at] = int32(doc) + 1
					sizes[at]++
					counted[at] += int32(counts)
					ix.postings++
				}
			}
		}
	}
	for field := range sum {
		ix.averages[field] = sum[field] / max(having[field], 1)
	}
	ix.lists = make([]postings, len(sizes))
	at := int32(0)
	for i, n := range sizes {
		ix.lists[i] = postings{from: at, to: at, idf: bm25.IDF(ix.size, int(counted[i]))} // to is where fill puts the next document
		at += n
	}
}

// fill puts the documents' boosted, length-normalised frequencies on their
// terms' lists, and saturates them when all are there.
func (ix *Index) fill() {
	ix.docs, ix.impacts = make([]int32, ix.postings), make([]float64, ix.postings)
	docs, impacts := ix.docs, ix.impacts
	for doc, raw := range ix.forward {
		e := entries(raw)
		for field := range NumFields {
			n := e.next()
			if n == 0 {
				continue
			}
			ahead, length := e, 0.0
			for range n {
				ahead.next()
				length += float64(ahead.next())
			}
			norm := bm25.Norm(length, ix.averages[field])
			for range n {
				list := &ix.lists[e.next()]
				frequency := Boosts[field] * float64(e.next()) / norm
				// Of a term that the document has in a field before, it is the
				// last on the list.
				if at := list.to; at > list.from && docs[at-1] == int32(doc) {
					impacts[at-1] += frequency
				} else {
					docs[at], impacts[at], list.to = int32(doc), frequency, at+1
				}
			}
		}
	}
	for i := range ix.lists {
		list := &ix.lists[i]
		own := impacts[list.from:list.to]
		for p, frequency := range own {
			own[p] = bm25.Score(list.idf, frequency)
		}
	}
}
