package curation

import (
	"fmt"
	"strings"
	"unicode"
)

// vaguePhrases leave it to the reader whether and how a rule applies.
var vaguePhrases = [][]string{
	{"consider"},
	{"be", "aware"},
	{"where", "appropriate"},
	{"when", "possible"},
	{"if", "necessary"},
	{"as", "needed"},
	{"try", "to"},
	{"should", "generally"},
	{"may", "want", "to"},
	{"keep", "in", "mind"},
}

// specific finds vague phrases in a field: whole words in any case, with
// nothing but white space between them.
func specific(field, text string) []Reason {
	words := wordsOf(text)
	var reasons []Reason
	for _, phrase := range vaguePhrases {
		if !contains(words, phrase) {
			continue
		}
		reasons = append(reasons, Reason{
			Check: CheckSpecificity, Field: field,
			Text: fmt.Sprintf("%s says %q: say exactly when it applies and what to do", field, strings.Join(phrase, " ")),
		})
	}
	return reasons
}

// word is a run of letters, marks, digits and underscores.
type word struct {
	text   string
	joined bool // only white space stands between it and the word before
}

func wordsOf(text string) []word {
	var words []word
	var b strings.Builder
	joined := false
	flush := func() {
		if b.Len() > 0 {
			words = append(words, word{b.String(), joined})
			b.Reset()
			joined = true
		}
	}
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Cf, r): // invisible: it neither parts words nor shows
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			b.WriteRune(r)
		case unicode.IsSpace(r):
			flush()
		default:
			flush()
			joined = false
		}
	}
	flush()
	return words
}

func contains(words []word, phrase []string) bool {
	for start := 0; start+len(phrase) <= len(words); start++ {
		matches := true
		for i, want := range phrase {
			w := words[start+i]
			if !strings.EqualFold(w.text, want) || i > 0 && !w.joined {
				matches = false
				break
			}
		}
		if matches {
			return true
		}
	}
	return false
}
