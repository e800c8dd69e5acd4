package search

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"getUserName":                "getusername get user name",
		"get_user_name":              "getusername get user name",
		"user names":                 "user name",
		"HTTPServer2Go":              "httpserver2go http server2 go",
		"the caller's don't-care":    "caller care",
		"retrying retries retried":   "retri retri retri",
		"a b 7 ab":                   "ab",
		"__init__":                   "init",
		"pkg.Name::some/path.go":     "pkg name path go",
		"naïve Größe":                "naïve größe",
		"索引 index":                   "索 引 index",
		"bad\xffbytes\xfe":           "bad byte",
		"":                           "",
		strings.Repeat("x", 65):      "",
		strings.Repeat("ab_", 20):    strings.TrimSpace(strings.Repeat("ab", 20) + strings.Repeat(" ab", 20)),
		"what does the compactor do": "compactor",
	} {
		if got := strings.Join(Words(text), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add("getUserName get_user_name 索引 \xff HTTPServer")
	f.Add("ÀÉ_ß don't ǅz")
	f.Fuzz(func(t *testing.T, text string) {
		words := Words(text)
		for _, w := range words {
			if w == "" || strings.ContainsAny(w, " \x00\x01\x02") || !utf8.ValidString(w) {
				t.Fatalf("%q has the word %q", text, w)
			}
		}
		// A word's end is not shown by what follows the blank.
		if twice := Words(text + " " + text); !slices.Equal(twice, append(slices.Clone(words), words...)) {
			t.Fatalf("%q twice: %q", text, twice)
		}
		checkPlaces(t, NewAnalyser(nil), text)
	})
}

// checkPlaces compares what an analyser sees in a text with its words.
func checkPlaces(t interface{ Fatalf(string, ...any) }, a *Analyser, text string) {
	var got []string
	for _, place := range a.placesOf(text, nil) {
		got = append(got, a.of.term(place))
	}
	if want := Words(text); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Fatalf("%q has the terms %q, want %q", text, got, want)
	}
}

func TestAnAnalyserSeesTheWords(t *testing.T) {
	a := NewAnalyser(nil)
	pieces := rapid.SampledFrom([]string{
		" ", "\n", "(", "a", "word", "getUserName", "get_user_name", "_", "x1", "12345678", "abcdefgh", "anIdentifierOfMoreThanSixteen", "é", "über", "日本語", "\u0301", "\xff", "the", "-", "'",
		strings.Repeat("y", 70), strings.Repeat(" ", 70),
	})
	rapid.Check(t, func(t *rapid.T) {
		checkPlaces(t, a, strings.Join(rapid.SliceOfN(pieces, 0, 60).Draw(t, "pieces"), ""))
	})
	for n := range 130 {
		for _, word := range []string{"ab", "éa", "aé", "日", "_"} {
			checkPlaces(t, a, strings.Repeat(".", n)+word+".more "+strings.Repeat("z", n)+word)
		}
	}
}
