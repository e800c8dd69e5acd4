package lexical

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
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
	p := &piece{strings.Clone(text), analyse(text)}
	place.Store(p)
	return append(to, p.terms...)
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
