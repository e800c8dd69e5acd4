// Package train makes the table of the static embedder from text.
//
// Training takes pairs of a short text and the long one it belongs to (heading
// and section, commit subject and body, doc comment and code, word and gloss).
// It counts which words stand near each other (positive pointwise mutual
// information) and factorises the counts into dense rows (randomised SVD), or, given
// a [Teacher], fits the rows to the vectors a sentence encoder gives to excerpts of
// the texts and to single words (ridge regression). Then it moves the rows so that
// short texts find their long ones among the others of a batch (InfoNCE), takes a
// share of the teacher's rows back in, and quantises them.
//
// Guarantees: [Train] gives the same bytes for the same files, options and kind
// of processor, on any number of cores; it stops soon after its context ends.
// Reading is strict: a line that is no record is an error that names file and
// line.
//
// It does not write files or read a clock, and does not measure what it made:
// its tests do.
package train
