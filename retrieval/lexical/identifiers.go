package lexical

import (
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
	bleveunicode "github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
)

// identifiers is a Bleve tokenizer: Unicode words (UAX #29), and for each word
// or hyphenated run of words with inner structure (snake_case, camelCase,
// pkg.Name, GO-ERR-001) the whole as a keyword token followed by its parts.
type identifiers struct{}

// Tokenize splits text; see the type.
func (identifiers) Tokenize(text []byte) analysis.TokenStream {
	words := bleveunicode.NewUnicodeTokenizer().Tokenize(text)
	out := make(analysis.TokenStream, 0, len(words)+len(words)/4)
	for i := 0; i < len(words); {
		end := hyphenated(text, words, i)
		if end-i > 1 {
			out = append(out, whole(text, words[i].Start, words[end-1].End, words[i].Position))
		}
		for ; i < end; i++ {
			out = appendWord(out, text, words[i])
		}
	}
	return out
}

// hyphenated returns the end of the run of words from i that single hyphens
// join.
func hyphenated(text []byte, words analysis.TokenStream, i int) int {
	end := i + 1
	for end < len(words) {
		gap := words[end-1].End
		if words[end].Start != gap+1 || text[gap] != '-' {
			break
		}
		end++
	}
	return end
}

// appendWord appends the word, and before it its whole form if it has parts.
func appendWord(out analysis.TokenStream, text []byte, word *analysis.Token) analysis.TokenStream {
	if word.Type == analysis.Ideographic {
		return append(out, word)
	}
	cuts := cutIdentifier(text[word.Start:word.End])
	if len(cuts) < 2 {
		return append(out, word)
	}
	out = append(out, whole(text, word.Start, word.End, word.Position))
	for _, cut := range cuts {
		out = append(out, &analysis.Token{
			Start: word.Start + cut.start, End: word.Start + cut.end,
			Term:     append([]byte(nil), text[word.Start+cut.start:word.Start+cut.end]...),
			Position: word.Position, Type: word.Type,
		})
	}
	return out
}

func whole(text []byte, start, end, position int) *analysis.Token {
	return &analysis.Token{
		Start: start, End: end, Position: position, KeyWord: true,
		Term: append([]byte(nil), text[start:end]...), Type: analysis.AlphaNumeric,
	}
}

type span struct{ start, end int }

// cutIdentifier cuts a word at '_', '.', ':' and at humps: before an upper-case
// letter that follows a lower-case letter or digit, and before the last
// upper-case letter of a run that a lower-case one follows (HTTPServer is HTTP
// and Server). Apostrophes do not cut: "don't" is one word.
func cutIdentifier(word []byte) []span {
	var cuts []span
	start := 0
	var before, last rune // the two runes before this one
	lastAt := 0
	flush := func(end int) {
		if end > start {
			cuts = append(cuts, span{start, end})
		}
		start = end
	}
	for at := 0; at < len(word); {
		r, size := utf8.DecodeRune(word[at:])
		switch {
		case r == '_' || r == '.' || r == ':':
			flush(at)
			start = at + size
		case unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsDigit(last)):
			flush(at)
		case unicode.IsLower(r) && unicode.IsUpper(last) && unicode.IsUpper(before):
			flush(lastAt)
		}
		before, last, lastAt = last, r, at
		at += size
	}
	flush(len(word))
	return cuts
}
