package search

import (
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

// TestAWordLeadsToItsTerms takes words past the room for those met lately.
func TestAWordLeadsToItsTerms(t *testing.T) {
	a := NewAnalyser(nil)
	var words []string
	for _, word := range []string{"a", "ab", "the", "getUserName", "get_user_name", "aVeryLongIdentifierIndeed", "ähnlich", strings.Repeat("x", 65)} {
		for _, tail := range []string{"", "s", "Of", "_2"} {
			words = append(words, word+tail)
		}
	}
	for range 2 {
		for _, word := range words {
			var got []string
			a.each(word, func(s *slot) {
				for at := range a.slots {
					if s == &a.slots[at] {
						got = append(got, a.terms[at])
					}
				}
			})
			if want := Words(word); strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("%q has the terms %q, want %q", word, got, want)
			}
		}
		clear(a.lately[:len(a.lately)/2])
	}
}
