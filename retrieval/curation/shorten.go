package curation

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/writbus/writ/schemas/excerpt"
)

// continues are the words with which a new clause goes on after a comma: what
// stands before can stand alone. A comma before any other word may be one of a
// list, and a list that is cut says something else.
var continues = []string{"never", "not", "then", "so", "which"}

// limits are the words that take back part of what stands before them.
var limits = []string{"unless", "except", "but", "only", "until", "if", "otherwise", "or"}

// opens are the words of a clause that needs the one after it.
var opens = []string{"if", "when", "while", "before", "after", "with", "without", "for", "in", "on", "at", "unless", "once", "where", "first"}

// shorten cuts a text to about so many words, at the end of a clause and
// without its remarks in parentheses. A text whose first clause is longer keeps
// that clause.
func shorten(text string, words int) string {
	text = withoutRemarks(excerpt.Line(text))
	cut := len(text)
	if len(strings.Fields(text)) > words {
		for _, end := range clauseEnds(text) {
			if cut < len(text) && len(strings.Fields(text[:end])) > words {
				break
			}
			cut = end
		}
	}
	return strings.TrimRight(text[:cut], ".,;: ")
}

// clauseEnds are the places where a text may be cut, ascending: outside quotes
// and brackets, before a blank.
func clauseEnds(text string) []int {
	var ends []int
	depth, quoted := 0, rune(0)
	opened := slices.Contains(opens, firstWord(text))
	for i, r := range text {
		switch {
		case quoted != 0:
			if r == quoted {
				quoted = 0
			}
		case r == '`' || r == '"':
			quoted = r
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth--
		case depth == 0 && i > 0:
			rest, blank := strings.CutPrefix(text[i+utf8.RuneLen(r):], " ")
			if !blank {
				continue
			}
			if r == ',' && opened {
				opened = false
				continue
			}
			if endsClause(r, rest) {
				ends = append(ends, i)
			}
		}
	}
	return ends
}

func endsClause(mark rune, rest string) bool {
	next := firstWord(rest)
	if slices.Contains(limits, next) {
		return false
	}
	switch mark {
	case ';':
		return true
	case '.':
		first, _ := utf8.DecodeRuneInString(rest)
		return unicode.IsUpper(first)
	case ',':
		if next == "and" {
			next = firstWord(strings.TrimPrefix(rest, "and "))
		}
		return slices.Contains(continues, next) || len(next) > 5 && strings.HasSuffix(next, "ing")
	}
	return false
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return strings.ToLower(strings.TrimRight(word, ".,;:"))
}

// withoutRemarks takes out what stands in parentheses after a blank.
func withoutRemarks(text string) string {
	var b strings.Builder
	depth := 0
	for i, r := range text {
		switch {
		case depth > 0 && r == '(':
			depth++
		case depth > 0:
			if r == ')' {
				depth--
			}
		case r == '(' && i > 0 && text[i-1] == ' ' && strings.ContainsRune(text[i:], ')'):
			depth = 1
		default:
			b.WriteRune(r)
		}
	}
	if depth > 0 {
		return text
	}
	kept := excerpt.Line(b.String())
	for _, mark := range []string{".", ",", ";", ":"} {
		kept = strings.ReplaceAll(kept, " "+mark+" ", mark+" ")
		if s, is := strings.CutSuffix(kept, " "+mark); is {
			kept = s + mark
		}
	}
	return kept
}
