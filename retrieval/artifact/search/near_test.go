package search

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAKeyIsOfOneWord(t *testing.T) {
	words := rapid.StringMatching(`[ab_\x{0}é]{1,20}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := words.Draw(t, "a"), words.Draw(t, "b")
		if len(a) > nearBytes || len(b) > nearBytes {
			return
		}
		if keyOf(a) == keyOf(b) && a != b {
			t.Fatalf("%q and %q have one key", a, b)
		}
	})
}

// TestAWordLeadsToItsTerms meets enough words for the tables to grow, and most
// of them twice.
func TestAWordLeadsToItsTerms(t *testing.T) {
	a := NewAnalyser(nil)
	var words []string
	for _, word := range []string{"a", "ab", "the", "getUserName", "get_user_name", "aVeryLongIdentifierIndeed", "ähnlich", strings.Repeat("x", 65)} {
		words = append(words, word, word+"s", word+"Of", word+"_2")
	}
	for i := range 3000 {
		words = append(words, fmt.Sprintf("w%d", i), fmt.Sprintf("some%dOther%dLongerWords", i, i%7))
	}
	for range 2 {
		for _, word := range words {
			var got []string
			a.each(word, func(at int32) { got = append(got, a.of.term(at)) })
			if want := Words(word); strings.Join(got, " ") != strings.Join(want, " ") {
				t.Fatalf("%q has the terms %q, want %q", word, got, want)
			}
		}
	}
	seen := map[string]bool{}
	for place := range int32(a.of.len()) {
		if term := a.of.term(place); seen[term] || a.of.place(term) != place {
			t.Fatalf("%q has two places", term)
		} else {
			seen[term] = true
		}
	}
}
