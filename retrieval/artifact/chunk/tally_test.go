package chunk

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// checkTally compares a tally with counting the text of the lines.
func checkTally(t fataler, text string, c *Counter) {
	t.Helper()
	l := newLines(text)
	sums := newTally(l, c)
	step := 1 + l.count()/50
	for from := 0; from <= l.count(); from += step {
		for to := from; to <= l.count(); to += step {
			if got, want := sums.count(from, to), c.Count(l.cut(from, to)); got != want {
				t.Fatalf("lines %d to %d of %q have %d tokens, want %d", from, to, text, got, want)
			}
		}
	}
}

func TestATallyCountsAsCountDoes(t *testing.T) {
	c := NewCounter()
	for _, text := range []string{
		"a", "\n", "\n\n\n", "a\n\n\nb", "};\n\n\n  x\n", "  \n \n\t\n x", "\r\n\r\n", "}\r\n\r\n\r\nx", "a \n b", "'\ns\n't", "12\n345\n",
		strings.Repeat("\n", 300) + "x\n", "x" + strings.Repeat("=\n", 3), "\u2028\n\u2028\nx", "\v\n\f\nx", "!\n\n!\n\n!", " !\n\n\n !",
	} {
		checkTally(t, text, c)
	}
	pieces := rapid.SampledFrom([]string{
		" ", "\n", "\n", "\n\n", "\r\n", "\r", "\t", "a", "Zz", "é", "'", "'s", "12", "½", "{", "()", "};", "/*", "\u00a0", "\u2028", "日", "😀", "\v", "\u0301",
	})
	rapid.Check(t, func(t *rapid.T) {
		checkTally(t, strings.Join(rapid.SliceOfN(pieces, 0, 30).Draw(t, "pieces"), ""), c)
	})
}

func FuzzTally(f *testing.F) {
	for _, seed := range []string{"", "don't\n\n  stop {\n}\n\n\nnow", "\xff\n\xfe\n", "  \u2028x\n\n \n"} {
		f.Add(seed)
	}
	c := NewCounter()
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 1<<10 {
			checkTally(t, text, c)
		}
	})
}
