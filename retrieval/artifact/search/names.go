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

// namesOf are the entries of a chunk.
func namesOf(c *artifact.Chunk) []string {
	var keys []string
	for _, name := range c.Symbols {
		keys = append(keys, symbolKeys(name)...)
	}
	for _, t := range Words(strings.Join(c.Symbols, " ") + " " + lastHeading(c.Heading)) {
		keys = append(keys, partMark+t)
	}
	return keys
}

// lastHeading is the innermost of the headings above a chunk.
func lastHeading(heading string) string {
	return heading[strings.LastIndex(heading, " > ")+1:]
}

// symbolKeys are the entries of a declared name: the last part of a qualified
// one, and the whole with its qualifier.
func symbolKeys(name string) []string {
	var parts []string
	for word, at := nextWord(name, 0); word != ""; word, at = nextWord(name, at) {
		parts = append(parts, wholeOf(word))
	}
	if len(parts) == 0 || len(name) > 2*longestTerm {
		return nil
	}
	last := symbolMark + parts[len(parts)-1]
	if len(parts) == 1 {
		return []string{last}
	}
	return []string{symbolMark + strings.Join(parts, ""), last}
}
