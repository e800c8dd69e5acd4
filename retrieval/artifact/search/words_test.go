package search

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
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
	})
}
