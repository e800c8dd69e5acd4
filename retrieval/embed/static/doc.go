// Package static turns texts into vectors with nothing but a table: a row for
// each of some ten thousand words, and rows for hashed n-grams that stand in
// for all other words. A text is the normalised sum of its distinct tokens'
// rows, each times the root of how often it stands there. The shipped table is
// part of the program; MODEL_CARD.md says what it was trained on and how good
// it is, NOTICE whom to credit.
//
// Guarantees: a vector is a function of the text and the table alone – sums
// are computed in integers, so that every processor gives the same bits; any
// bytes are a valid text, and one without words is all zeros; any bytes may be
// given to [Decode], which accepts only what it understands whole; an
// [Embedder] may be used from any number of goroutines; embedding an ordinary
// query allocates nothing but the vector.
//
// It does not train (the train package does), compare vectors, or read files.
package static
