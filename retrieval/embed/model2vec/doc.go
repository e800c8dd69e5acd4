// Package model2vec embeds texts with the tables that the Model2Vec library
// distils from sentence encoders: a text is the mean of its tokens' rows.
//
// Guarantees: vectors are those of that library, which a test checks, scaled to
// unit length; a text without a known token is all zeros; a [Model] may be used
// from any number of goroutines; damaged or foreign directories give errors
// that name the file.
//
// It reads directories whose tokenizer is BERT's WordPiece, as those of the
// published English models; others are refused. It does not distil.
package model2vec
