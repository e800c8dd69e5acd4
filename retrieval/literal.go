package retrieval

import (
	"strings"
	"unicode"
)

// literal finds what a text names rather than describes: the documents whose
// ids it holds, in the order of the text, and whether it names anything at all
// (an id, a quoted phrase, or nothing but a rule's title).
func (ix *Index) literal(text string) (named []int32, literal bool) {
	seen := make(map[int32]bool)
	for word := range strings.FieldsFuncSeq(text, notInID) {
		word = strings.Trim(word, "-_.")
		doc, ok := ix.ids[strings.ToLower(word)]
		if !ok || seen[doc] {
			continue
		}
		seen[doc] = true
		named = append(named, doc)
	}
	return named, len(named) > 0 || quotes(text) || ix.titles[foldName(text)]
}

func notInID(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' && r != '.'
}

// quotes tells whether the text holds a phrase of letters or digits between
// double quotes, typographic quotes or back-ticks.
func quotes(text string) bool {
	for _, pair := range [...][2]string{{`"`, `"`}, {"`", "`"}, {"“", "”"}, {"„", "“"}, {"«", "»"}} {
		_, rest, open := strings.Cut(text, pair[0])
		for open {
			var phrase string
			phrase, rest, open = strings.Cut(rest, pair[1])
			if open && strings.ContainsFunc(phrase, wordRune) {
				return true
			}
			if open {
				_, rest, open = strings.Cut(rest, pair[0])
			}
		}
	}
	return false
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
