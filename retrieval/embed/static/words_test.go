package static

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func wordsOf(text string) []string {
	var w Words
	var words []string
	w.Reset(text)
	for word := w.Next(); word != nil; word = w.Next() {
		words = append(words, string(word))
	}
	return words
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{" \t\n.,;", ""},
		{"Close the file", "close the file"},
		{"readAllBytes", "read all byte"},
		{"HTTPServer", "http server"},
		{"parseURL", "pars url"},
		{"URL", "url"},
		{"snake_case_name", "snake case name"},
		{"GO-ERR-001", "go err 001"},
		{"errors.Is(err, io.EOF)", "error is err io eof"},
		{"x86_64 utf8Decoder SHA256", "x86 64 utf8 decoder sha256"},
		{"the user's query", "the user queri"},
		{"USER'S", "user"},
		{"don't can’t it's", "dont cant it"},
		{"'quoted' rock 'n' roll' x'", "quot rock n roll x"},
		{"in 2024 or 1234567", "in 2024 or"},
		{"Größe ÄRGER", "größe ärger"},
		{"a\xff\xfeword", "a word"},
		{strings.Repeat("x", maxWordBytes) + " kept", strings.Repeat("x", maxWordBytes) + " kept"},
		{strings.Repeat("x", maxWordBytes+1) + " kept", "kept"},
		{strings.Repeat("é", maxWordBytes) + " kept", "kept"},
	} {
		if got := strings.Join(wordsOf(c.text), " "); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// The examples of Porter's paper for steps 1 and 5a, after both.
func TestStem(t *testing.T) {
	for _, line := range []string{
		"caresses caress ponies poni caress caress cats cat feed feed agreed agre plastered plaster bled bled motoring motor sing sing",
		"conflated conflat troubled troubl sized size hopping hop tanned tan falling fall hissing hiss fizzed fizz failing fail filing file",
		"happy happi sky sky crying cry probate probat rate rate cease ceas used us use use",
		"cached cach cache cach handles handl handled handl handle handl closing close close close",
		"is is utf8s utf8s größes größes",
	} {
		words := strings.Fields(line)
		for i := 0; i < len(words); i += 2 {
			if got := string(stem([]byte(words[i]))); got != words[i+1] {
				t.Errorf("%s: got %s, want %s", words[i], got, words[i+1])
			}
		}
	}
}

func TestAppendGrams(t *testing.T) {
	count := func(word string) int { return len(AppendGrams(nil, []byte(word), 64)) }
	for word, want := range map[string]int{"a": 1, "ab": 1, "abc": 2, "abcdef": 5, strings.Repeat("x", maxWordBytes): maxWordBytes - 1} {
		if got := count(word); got != want {
			t.Errorf("%s has %d n-grams, not %d", word, got, want)
		}
	}
	// Persisted: rows of shipped tables are found by these numbers.
	if got, want := AppendGrams(nil, []byte("mutex"), 8192), []int32{5426, 4953, 1228, 1165}; !slices.Equal(got, want) {
		t.Errorf("the buckets of mutex are %v, not %v", got, want)
	}
	near, far := AppendGrams(nil, []byte("deserialise"), 8192), AppendGrams(nil, []byte("deserialiser"), 8192)
	shared := 0
	for _, b := range near {
		if slices.Contains(far, b) {
			shared++
		}
	}
	if shared < len(near)-1 {
		t.Errorf("deserialise and deserialiser share only %d n-grams", shared)
	}
}

func FuzzWords(f *testing.F) {
	for _, seed := range []string{
		"errors.Is(err, io.EOF)", "HTTPServer'S", "''", "a'", "'s", "x’s’s", "\xff'\x00", "日本語 Ǆ ſ İ", "-", "1a1A11111",
		strings.Repeat("aB", 60), strings.Repeat("é'", 50), "ing ed sed bleeding",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words := wordsOf(text)
		for _, word := range words {
			if word == "" || len(word) > maxWordBytes || !utf8.ValidString(word) || strings.ContainsAny(word, " ._-'’") {
				t.Fatalf("%q gave the word %q", text, word)
			}
			if n := len(AppendGrams(nil, []byte(word), 8)); n < 1 || n > maxWordBytes {
				t.Fatalf("%q has %d n-grams", word, n)
			}
		}
		if again := wordsOf(text); !slices.Equal(words, again) {
			t.Fatalf("%q gave %q, then %q", text, words, again)
		}
	})
}
