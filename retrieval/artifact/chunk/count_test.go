package chunk

import (
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
	"pgregory.net/rapid"
)

func TestCountIsTheEncodings(t *testing.T) {
	reference := codec.NewCl100kBase()
	counter := NewCounter()
	compare := func(t interface {
		Helper()
		Fatalf(string, ...any)
	}, text string,
	) {
		t.Helper()
		want, err := reference.Count(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got := counter.Count(text); got != want {
			t.Fatalf("%q has %d tokens, want %d", text, got, want)
		}
	}
	for _, text := range []string{
		"", "a", "don't", "DON'T", "we'll've", "'", "'s", "x'", "  x", " \n\n  x", "\tfoo", "1234567", "a  \r\n\r\n b", "} \n\n", "日本語 テスト", "\u00a0x", "\u2028\u2028x", "x ", "  ", "½²", "'ſ", "'K",
	} {
		compare(t, text)
	}
	pieces := rapid.SampledFrom([]string{
		" ", "\n", "\r", "\t", "a", "Zz", "é", "'", "'s", "'LL", "12", "½", "{", "()", "/*", "\u00a0", "\u2028", "日", "😀", "_", "the", "func", "\u0301",
		"abcdefg", " Identifi", "\tAbcdefghijklmno", ".supercalifragilistic", "expialidocious", "\x00", "    ", "----", "\v", ",",
	})
	rapid.Check(t, func(t *rapid.T) {
		compare(t, strings.Join(rapid.SliceOfN(pieces, 0, 30).Draw(t, "pieces"), ""))
	})
}

func TestALongPieceIsNeverCountedTooLow(t *testing.T) {
	for _, text := range []string{strings.Repeat("a", 3000), strings.Repeat("=", 1000) + "\n", strings.Repeat("é", 200)} {
		want, err := codec.NewCl100kBase().Count(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := NewCounter().Count(text); got < want || got > len(text) {
			t.Errorf("%.10q… has %d tokens, want %d to %d", text, got, want, len(text))
		}
	}
}

func FuzzPieces(f *testing.F) {
	for _, seed := range []string{"", "don't stop\n\n  now 12345 {}\n", "\xff\xfe", "  \u2028x", "a b1 (c) ,\nd \x00\x00 getUserName(ofAnyone)\n\t\tand a rather long text"} {
		f.Add(seed)
	}
	c := NewCounter()
	f.Fuzz(func(t *testing.T, text string) {
		sum := 0
		for at := 0; at < len(text); {
			n := pieceLen(text[at:])
			if n <= 0 || at+n > len(text) {
				t.Fatalf("a piece of %d bytes at %d of %d", n, at, len(text))
			}
			sum += c.piece(text[at : at+n])
			at += n
		}
		if n := c.Count(text); n != sum {
			t.Fatalf("%q has %d tokens, its pieces %d", text, n, sum)
		}
		checkCuts(t, text)
	})
}
