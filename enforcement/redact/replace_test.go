package redact

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// findX finds runs of X, and whatever stands between two at-signs.
func findX(text []byte) (spans []Span) {
	for i := 0; i < len(text); i++ {
		if text[i] != 'X' {
			continue
		}
		end := i
		for end < len(text) && text[end] == 'X' {
			end++
		}
		spans = append(spans, Span{i, end, "x"})
		i = end
	}
	if at := bytes.IndexByte(text, '@'); at >= 0 {
		if end := bytes.IndexByte(text[at+1:], '@'); end >= 0 {
			spans = append(spans, Span{at, at + end + 2, "at"})
		}
	}
	return spans
}

func TestRedact(t *testing.T) {
	for _, c := range []struct{ in, want, kinds string }{
		{"", "", ""},
		{"nothing", "nothing", ""},
		{"a XX b", "a [redacted:x] b", "x"},
		{"XX", "[redacted:x]", "x"},
		{"X-X", "[redacted:x]-[redacted:x]", "x x"},
		{"a @bXc@ d", "a [redacted:at] d", "at"},       // one within another
		{"@aX@X", "[redacted:at][redacted:x]", "at x"}, // side by side
		{"@@ @@", "[redacted:at] [redacted:at]", "at at"},
		{"\xff\x00X\xfe", "\xff\x00[redacted:x]\xfe", "x"},
	} {
		got, kinds := Replace([]byte(c.in), findX)
		if string(got) != c.want || strings.Join(kinds, " ") != c.kinds {
			t.Errorf("%q: got %q, %v", c.in, got, kinds)
		}
	}
	// Overlapping secrets are one stretch; spans out of bounds are cut.
	got, kinds := Replace([]byte("abcdef"), func(text []byte) []Span {
		if !bytes.HasPrefix(text, []byte("abc")) {
			return nil
		}
		return []Span{{3, 99, "b"}, {-1, 4, "a"}, {2, 2, "none"}}
	})
	if string(got) != "[redacted:a]" || !slices.Equal(kinds, []string{"a"}) {
		t.Errorf("overlapping: %q, %v", got, kinds)
	}
}

func TestRedactLeavesNoSecretAndAllElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.SampledFrom([]byte("aX@\n\x00\xff"))).Draw(t, "in")
		kept := bytes.Clone(in)
		got, kinds := Replace(in, findX)
		if !bytes.Equal(in, kept) {
			t.Fatal("the input was changed")
		}
		if len(findX(got)) > 0 && len(kinds) < redactRounds {
			t.Fatalf("%q still holds a secret", got)
		}
		if len(kinds) == 0 && !bytes.Equal(got, in) {
			t.Fatalf("%q became %q without a secret", in, got)
		}
	})
}
