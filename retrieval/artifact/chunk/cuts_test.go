package chunk

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// checkCuts compares cuts with cutting piece by piece.
func checkCuts(t fataler, text string) {
	t.Helper()
	cuts := cutsOf(text, nil)
	has := func(at int) bool { return cuts[at/64]>>(at%64)&1 != 0 }
	for at := 0; at < len(text); {
		end := at + pieceLen(text[at:])
		if !has(at) {
			t.Fatalf("the piece at %d of %q is missing", at, text)
		}
		for at++; at < end; at++ {
			if has(at) {
				t.Fatalf("no piece begins at %d of %q", at, text)
			}
		}
	}
	for at := len(text); at < 64*len(cuts); at++ {
		if has(at) {
			t.Fatalf("a piece begins at %d, behind %q", at, text)
		}
	}
}

// awkward are texts of which many pieces lie over the borders of what is cut at
// once, or depend on what stands behind one.
var awkward = []string{
	" ", "  ", "   ", "\n", "\r\n", " \n", "\n\n", "\t", "\v", "\f", "a", "word", "Zz", "'", "''", "'s", "'S", "'ll", "'LL", "'re", "'r", "'st", "'s'", " '", "_", "(", ")", "};", "...", "=====", " (", " ((",
	"1", "12", "123", "1234", "1234567890", "é", "日本", "😀", "\u00a0", "\u2028", "½", "\u0301", "\x00", "\xff", "0x1f",
}

func TestCutsAreThoseOfThePattern(t *testing.T) {
	for _, text := range awkward {
		for _, before := range awkward {
			for _, n := range []int{0, 60, 61, 62, 63, 64, 127} {
				checkCuts(t, strings.Repeat("x", n)+before+text)
				checkCuts(t, strings.Repeat(" ", n)+before+text+"a")
			}
			checkCuts(t, strings.Repeat(before+text, 40))
		}
	}
	pieces := rapid.SampledFrom(awkward)
	rapid.Check(t, func(t *rapid.T) {
		checkCuts(t, strings.Join(rapid.SliceOfN(pieces, 0, 120).Draw(t, "pieces"), ""))
	})
}

func FuzzCuts(f *testing.F) {
	for _, seed := range []string{
		"", "don't stop\n\n  now 12345 {}\n", "\xff\xfe", "  \u2028x", "a b1 (c) ,\nd \x00\x00 getUserName(ofAnyone)\n\t\tand a rather long text",
		strings.Repeat("0123456789", 20) + "é" + strings.Repeat("'starts'", 30), strings.Repeat(" ", 70) + "\n" + strings.Repeat(" ", 70) + "x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { checkCuts(t, text) })
}
