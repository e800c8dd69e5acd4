package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	porterstemmer "github.com/blevesearch/go-porterstemmer"
)

// longestTerm is the longest word, in bytes, that is indexed or searched for.
// Longer runs are encoded data.
const longestTerm = 64

// term is a word as it is indexed.
type term struct {
	text string
	// whole tells that text is an identifier in one piece; its parts follow.
	whole bool
}

// nextWord returns the first run of letters, digits and underscores at or after
// the offset, and where it ends; an empty one at the end of the text. Ideographs
// are words of one rune, since no blanks part them.
func nextWord(text string, at int) (word string, end int) {
	for at < len(text) {
		b := text[at]
		if b < utf8.RuneSelf {
			if !wordByte[b] {
				at++
				continue
			}
		} else if r, size := utf8.DecodeRuneInString(text[at:]); !wordRune(r) {
			at += size
			continue
		} else if ideograph(r) {
			return text[at : at+size], at + size
		}
		break
	}
	end = at
	for end < len(text) {
		b := text[end]
		if b < utf8.RuneSelf {
			if !wordByte[b] {
				break
			}
			end++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[end:])
		if !wordRune(r) || ideograph(r) {
			break
		}
		end += size
	}
	return text[at:end], end
}

var wordByte = func() (is [utf8.RuneSelf]bool) {
	for b := range is {
		c := byte(b)
		is[b] = c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	return is
}()

func wordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

func ideograph(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// expand returns the terms of a word: its parts at underscores and humps, in
// lower case, stemmed, without stop words; and before them, if there are
// several, the whole without underscores, so that getUserName and
// get_user_name are one.
func expand(word string) []term {
	var buffer [8][2]int
	parts := partsOf(word, buffer[:0])
	if len(parts) == 0 {
		return nil
	}
	terms := make([]term, 0, len(parts)+1)
	if len(parts) > 1 {
		terms = append(terms, term{wholeOf(word), true})
	}
	for _, p := range parts {
		if t := normal(word[p[0]:p[1]]); t != "" {
			terms = append(terms, term{t, false})
		}
	}
	return terms
}

// partsOf appends where the parts of a word begin and end; none of one that is
// too long. A part has no other part than itself.
func partsOf(word string, parts [][2]int) [][2]int {
	if len(word) > longestTerm {
		return nil
	}
	start := 0
	flush := func(end int) {
		if end > start {
			parts = append(parts, [2]int{start, end})
		}
		start = end
	}
	var before, last rune
	lastAt := 0
	for at, r := range word {
		switch {
		case r == '_':
			flush(at)
			start = at + 1
		case unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsDigit(last)):
			flush(at)
		case unicode.IsLower(r) && unicode.IsUpper(last) && unicode.IsUpper(before):
			flush(lastAt)
		}
		before, last, lastAt = last, r, at
	}
	flush(len(word))
	return parts
}

// wholeOf is the form in which an identifier is kept in one piece.
func wholeOf(word string) string { return string(appendWhole(nil, word)) }

// appendWhole appends the form in which an identifier is kept in one piece.
func appendWhole(to []byte, word string) []byte {
	from := len(to)
	for i := range len(word) {
		c := word[i]
		switch {
		case c >= utf8.RuneSelf:
			return append(to[:from], strings.ToLower(strings.ReplaceAll(word, "_", ""))...)
		case 'A' <= c && c <= 'Z':
			to = append(to, c+'a'-'A')
		case c != '_':
			to = append(to, c)
		}
	}
	return to
}

// normal is a part in lower case and stemmed; "" for what says nothing: stop
// words, and single letters and digits.
func normal(part string) string { return string(appendNormal(nil, part)) }

// appendNormal appends a part in lower case and stemmed, or nothing.
func appendNormal(to []byte, part string) []byte {
	from := len(to)
	to = appendLower(to, part)
	lower := to[from:]
	if len(lower) < 2 || stopWords[string(lower)] {
		return to[:from]
	}
	if len(lower) <= 3 || !letters(lower) {
		return to
	}
	var buffer [longestTerm]rune
	runes := buffer[:0]
	for _, c := range lower {
		runes = append(runes, rune(c))
	}
	to = to[:from]
	for _, r := range porterstemmer.StemWithoutLowerCasing(runes) {
		to = append(to, byte(r))
	}
	return to
}

func appendLower(to []byte, part string) []byte {
	from := len(to)
	for i := range len(part) {
		c := part[i]
		if c >= utf8.RuneSelf {
			return append(to[:from], strings.ToLower(part)...)
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

func letters(s []byte) bool {
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return true
}

// stopWords stand in most texts and queries and tell none apart. Both ask and
// tell: "how", "what" and "which" begin questions.
var stopWords = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`a about also am an and any are aren as at be been being but by can cannot could did didn do does
		doesn doing don for from had has have having he her here hers him his how i if in into is isn it its itself let ll me
		my no nor not of on or our ours out re shall she should shouldn so some such than that the their theirs them then
		there these they this those to too up ve very was wasn we were weren what when where which while who whom why will
		with won would wouldn you your yours`) {
		set[w] = true
	}
	return set
}()

// Words returns the terms of a text as the index sees them, in order, each as
// often as it stands there.
func Words(text string) []string {
	var out []string
	for word, at := nextWord(text, 0); word != ""; word, at = nextWord(text, at) {
		for _, t := range expand(word) {
			out = append(out, t.text)
		}
	}
	return out
}
