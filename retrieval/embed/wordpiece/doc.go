// Package wordpiece turns texts into the token numbers of BERT's uncased and
// cased vocabularies: normalisation (control characters, spaces around Chinese
// characters, accents, letter case), splitting at spaces and punctuation, and
// greedy longest-match-first WordPiece (Devlin et al. 2019).
//
// Guarantees: the tokens that the Hugging Face tokenizers library gives for a
// BertNormalizer, a BertPreTokenizer and a WordPiece model, which tests check
// against its output (characters newer than Unicode 8, which its tables do not
// know, are classed by what Go knows of them); any bytes are a valid text; work and memory are bounded
// by the number of tokens asked for, however long the text; a [Tokenizer] may
// be used from any number of goroutines.
//
// It reads vocab.txt or tokenizer.json. Files that ask for another
// normaliser, splitter or model are refused, not approximated.
package wordpiece
