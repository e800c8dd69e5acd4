package search

import (
	"strings"

	"github.com/writbus/writ/retrieval/artifact"
)

// Marks begin the dictionary's entries for what a chunk declares or is headed
// with; no word of a text contains them.
const (
	symbolMark = "\x01" // a declared name, whole
	partMark   = "\x02" // a word of a declared name or of a heading
)

// names calls f with the place of every entry of a chunk: its declared names,
// each whole and by its last part, then the words of these and of its heading.
func (a *Analyser) names(c *artifact.Chunk, f func(int32)) {
	for _, name := range c.Symbols {
		a.symbol(name, f)
	}
	for _, name := range c.Symbols {
		a.parts(name, f)
	}
	a.parts(lastHeading(c.Heading), f)
}

// lastHeading is the innermost of the headings above a chunk.
func lastHeading(heading string) string {
	return heading[strings.LastIndex(heading, " > ")+1:]
}

// symbol calls f with the places of a declared name: of the whole with its
// qualifier, and of the last part of a qualified one.
func (a *Analyser) symbol(name string, f func(int32)) {
	key, last, parts := append(a.key[:0], symbolMark...), 0, 0
	for word, at := nextWord(name, 0); word != ""; word, at = nextWord(name, at) {
		last = len(key)
		key = appendWhole(key, word)
		parts++
	}
	a.key = key
	if parts == 0 || len(name) > 2*longestTerm {
		return
	}
	f(a.placeOf(key))
	if parts > 1 {
		f(a.placeOf(append(key[:len(symbolMark)], key[last:]...)))
	}
}

// parts calls f with the places of a text's words as parts of a name.
func (a *Analyser) parts(text string, f func(int32)) {
	part := func(place int32) {
		if a.partOf[place] < 0 {
			a.partOf[place] = a.placeOf(append(append(a.key[:0], partMark...), a.of.term(place)...))
		}
		f(a.partOf[place])
	}
	for word, at := nextWord(text, 0); word != ""; word, at = nextWord(text, at) {
		if place := a.lookUp(word); place >= 0 {
			part(place)
		} else if place != nothing {
			for _, at := range a.words.list(place) {
				part(at)
			}
		}
	}
}

func (a *Analyser) placeOf(key []byte) int32 {
	a.key = key
	return a.place(asText(key))
}
