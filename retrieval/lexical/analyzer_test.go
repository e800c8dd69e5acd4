package lexical

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func texts(terms []Term) string {
	var b []string
	for _, t := range terms {
		switch {
		case t.Whole:
			b = append(b, "="+t.Text)
		case t.Distinctive:
			b = append(b, "~"+t.Text)
		default:
			b = append(b, t.Text)
		}
	}
	return strings.Join(b, " ")
}

func TestAnalyse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"The handlers were blocking", "handler block"},
		{"the user's query", "user queri"},
		{"snake_case_name", "=snake_case_name snake case name"},
		{"readAllBytes", "=readallbytes read ~all byte"},
		{"HTTPServer", "=httpserver http server"},
		{"parseURL", "=parseurl pars url"},
		{"errors.Is", "=errors.is error"},
		{"fmt.Errorf(\"%w\", err)", "=fmt.errorf fmt errorf w err"},
		{"GO-ERR-001", "=go-err-001 go err 001"},
		{"GO_ERR-001", "=go_err-001 =go_err go err 001"},
		{"a - b", "b"},
		{"error--handling", "error handl"},
		{"x86_64", "=x86_64 x86 64"},
		{"don't panic", "panic"},
		{"Never before the other one's ready, because it should not be", "never ~befor ~other on readi ~becaus ~should ~not"},
		{"Größe der Tür", "größe der tür"},
		{"日本", "日 本"},
		{"a\xff\xfeword", "word"},
		{strings.Repeat("x", maxTermBytes+1) + " kept", "kept"},
	} {
		if got := texts(Analyse(c.text)); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestCountTermsSortsAndCounts(t *testing.T) {
	got := CountTerms("retry retries", "sleep, retrying")
	if want := []Count{{"retri", 3}, {"sleep", 1}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func FuzzAnalyse(f *testing.F) {
	for _, seed := range []string{"errors.Is(err, io.EOF)", "GO-ERR-001", "a-b-c-", "-", "Ünïcödé_ǅx", "\xff\x00", "日本語 한국어", "''s", "x\u200dy", "ſſ", strings.Repeat("aB", 200), "a \u0301b\u00a0c\u2028d", "a-\nb -c", "\U0001F1E9 \U0001F1EA", "x\v\fy\x85z", "can 't", "1, 000", "(Flies, relational; \"agreed\") generalisations. S s\x27 3rd ~x# :y: a/ caresses\x7f", "Agreed ponies. hopping? sky! conflated, sized; feed"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		terms := Analyse(text)
		for _, term := range terms {
			if term.Text == "" || len(term.Text) > maxTermBytes || !utf8.ValidString(term.Text) {
				t.Fatalf("%q gave the term %q", text, term.Text)
			}
		}
		if again := Analyse(text); !slices.Equal(terms, again) {
			t.Fatalf("%q gave %v, then %v", text, terms, again)
		}
	})
}
