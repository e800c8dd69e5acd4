// Package vector is the meaning side of retrieval: nearest documents by the
// cosine of their views. A document has several views (its title and
// statement, each trigger or symptom, the whole text); the best one counts.
//
// [Exact] scans every view. It is exact, needs no build, has no recall to lose,
// and is the faster choice up to about ten thousand views.
//
// Guarantees: an index never changes after it is built and may be searched from
// any number of goroutines; results are sorted, ties by document number; a
// filter is applied while the best are chosen. It does not embed texts.
package vector
