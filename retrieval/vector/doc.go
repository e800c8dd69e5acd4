// Package vector is the meaning side of retrieval: nearest documents by the
// cosine of their views. A document has several views (its title and
// statement, each trigger or symptom, the whole text); the best one counts.
//
// [Index] scans one byte per dimension of every view and scores the best again
// in full.
//
// Guarantees: an index never changes after it is built and may be searched from
// any number of goroutines; the same views give the same index and the same
// results, on any processor and with any number of them; results are sorted,
// ties by document number; a filter is applied while the best are chosen and
// never starves them. It does not embed texts.
package vector
