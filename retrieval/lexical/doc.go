// Package lexical is the word side of retrieval: one analyser, built from
// Bleve's parts, and a flat, immutable BM25F index over weighted fields.
//
// Guarantees: the analyser is the same for documents and queries; an [Index]
// never changes after [Collect] and may be searched from any number of goroutines;
// the same documents in the same order give the same scores in every process;
// any bytes are a valid query. A filter is applied while the best candidates
// are chosen, so it never starves them. The scores are those of textbook BM25F
// (package bm25); a test pins them to a naive computation within 1e-6.
//
// It does not know what a rule is, read files, or persist anything.
package lexical
