package lexical

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/blevesearch/go-porterstemmer"
)

// No word of UAX #29 and no hyphenated run reaches across white space, so a
// text's terms are those of its pieces between white space, one after the other.
// Most pieces were met before: prompts and rules share their words.

const (
	// keptPieces is how many pieces are remembered at most: some 400 KB.
	keptPieces = 4096
	// longestPiece is the longest that is remembered, in bytes. Longer ones are
	// paths and data, which hardly come back.
	longestPiece = 40
)

// piece is text between white space, and its terms, which nobody may change.
type piece struct {
	text  string
	terms []Term
	own   [1]Term // where terms are, of a plain word
}

// memory remembers pieces, each at the place that its hash names. A newcomer
// takes the place of the one before it.
type memory struct {
	seed   maphash.Seed
	places [keptPieces]atomic.Pointer[piece]
}

var remembered = &memory{seed: maphash.MakeSeed()}

// terms appends those of a piece.
func (m *memory) terms(to []Term, text string) []Term {
	if len(text) > longestPiece {
		return append(to, analyse(text)...)
	}
	place := &m.places[maphash.String(m.seed, text)%keptPieces]
	if p := place.Load(); p != nil && p.text == text {
		return append(to, p.terms...)
	}
	p := &piece{text: strings.Clone(text)}
	if word, ok := plainWord(p.text); ok {
		p.terms = appendPlain(p.own[:0], word)
	} else {
		p.terms = analyse(p.text)
	}
	place.Store(p)
	return append(to, p.terms...)
}

// plainWord is what a piece is but for the punctuation around it, if that is one
// word of ASCII letters and digits that nothing cuts.
func plainWord(piece string) (word string, ok bool) {
	for piece != "" && around[piece[0]] {
		piece = piece[1:]
	}
	for piece != "" && around[piece[len(piece)-1]] {
		piece = piece[:len(piece)-1]
	}
	for i := 0; i < len(piece); i++ {
		if c := piece[i]; !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || i == 0 && 'A' <= c && c <= 'Z') {
			return "", false
		}
	}
	return piece, piece != ""
}

// around are the bytes that part words wherever they stand at the end of one:
// visible ASCII but letters, digits and '_'.
var around = func() (is [256]bool) {
	for c := '!'; c <= '~'; c++ {
		is[c] = c != '_' && !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9')
	}
	return is
}()

// appendPlain adds the term of a plain word, which is what [analyse] finds in it.
func appendPlain(terms []Term, word string) []Term {
	if c := word[0]; 'A' <= c && c <= 'Z' {
		word = string(c+'a'-'A') + word[1:]
	}
	if stopWords()[word] {
		return terms
	}
	var runes [longestPiece]rune
	for i := range len(word) {
		runes[i] = rune(word[i])
	}
	stemmed := porterstemmer.StemWithoutLowerCasing(runes[:len(word)])
	var bytes [longestPiece]byte
	for i, r := range stemmed {
		bytes[i] = byte(r)
	}
	stem := bytes[:len(stemmed)]
	switch {
	case len(stem) == 0:
		return terms
	case strings.HasPrefix(word, string(stem)): // the usual end; it needs no memory of its own
		word = word[:len(stem)]
	default:
		word = string(stem)
	}
	return append(terms, Term{Text: word, Distinctive: distinctiveStems()[word]})
}

// cutPiece takes the first piece off a text; of one without, both are empty.
func cutPiece(text string) (first, rest string) {
	start := 0
	for start < len(text) && isSpace(text[start]) {
		start++
	}
	end := start
	for end < len(text) && !isSpace(text[end]) {
		end++
	}
	return text[start:end], text[end:]
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
