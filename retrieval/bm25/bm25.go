// Package bm25 is the formula of BM25 and BM25F (Robertson and Zaragoza, "The
// Probabilistic Relevance Framework: BM25 and Beyond", 2009), for the indexes
// that keep frequencies in their own ways: retrieval/lexical those of rules and
// observations, retrieval/artifact/search those of files.
//
// The score of document d for query q is
//
//	Σ over distinct terms t of q: Score(IDF(t), f)
//	f = Σ over fields: boost · tf(t,field,d) / Norm(len(field,d), avg(field))
//
// which boosts and normalises frequencies by field, adds them and saturates them
// once, so that a word's second field adds less than another word. With one
// field at boost 1 it is BM25. It keeps no postings.
package bm25

import "math"

// K1 saturates repetition in a document and K3 in a query, B weighs the length of
// a field against its average.
const (
	K1 = 1.2
	B  = 0.75
	K3 = 8
)

// IDF is ln(1 + (n − df + 0.5)/(df + 0.5)) of a term that df of n documents hold:
// the form of Robertson and Spärck Jones kept above zero, as Lucene does it.
func IDF(n, df int) float64 {
	return math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5))
}

// Norm is what frequencies in a field of a length are divided by. An average
// below one term counts as one.
func Norm(length, average float64) float64 { return 1 - B + float64(B*length/max(average, 1)) }

// Score is what a term adds to a document that holds it with a frequency.
func Score(idf, frequency float64) float64 { return idf * frequency * (K1 + 1) / (frequency + K1) }

// QueryWeight is what a term counts that stands n times in a query, 1 for once:
// (K3 + 1) · n / (K3 + n).
func QueryWeight(n int) float64 { return (K3 + 1) * float64(n) / (K3 + float64(n)) }
