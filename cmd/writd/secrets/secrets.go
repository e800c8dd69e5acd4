// Package secrets takes keys, tokens and private keys out of any bytes, with the
// rules that writes are checked with.
//
// Guaranteed: a key of several lines is found whole, and what lies across the
// pieces that a large text is searched in. Not here: what becomes of the place
// (observer/memory marks it), and what is no secret by its form.
package secrets

import (
	"bytes"

	"github.com/writbus/writ/enforcement/check"
	"github.com/writbus/writ/observer/memory"
)

// window is how much text is searched at once, and
// overlap how much of it again with the next piece.
const (
	window  = check.MaxBytes
	overlap = 64 << 10
)

// Find finds secrets in any bytes.
func Find(input []byte) (spans []memory.Span) {
	// A text with a zero byte would pass for data that nobody looks at.
	text := bytes.ReplaceAll(input, []byte{0}, []byte{' '})
	for from := 0; from < len(text); from += window - overlap {
		piece := text[from:min(from+window, len(text))]
		starts := []int{0}
		for i, c := range piece {
			if c == '\n' {
				starts = append(starts, i+1)
			}
		}
		for _, s := range check.Secrets("", piece, nil) {
			if s.Line > len(starts) {
				continue
			}
			line := from + starts[s.Line-1]
			spans = append(spans, whole(text, memory.Span{Start: line + s.Column - 1, End: line + s.EndColumn - 1, Kind: s.Kind}))
		}
		if from+window >= len(text) {
			break
		}
	}
	return spans
}

// whole widens the finding of a key that has several lines to all of them,
// and leaves the delimiters around a token where they are: an annotation may
// need them.
func whole(text []byte, s memory.Span) memory.Span {
	ends := map[string]string{"private-key": "-----END", "putty-key": "Private-MAC:"}
	if end := ends[s.Kind]; end != "" {
		at := bytes.Index(text[s.End:], []byte(end))
		if at < 0 {
			s.End = len(text) // the key may go on to the last byte
			return s
		}
		s.End += at + len(end)
		if closing := bytes.Index(text[s.End:], []byte("-----")); s.Kind == "private-key" && closing >= 0 {
			s.End += closing + len("-----")
		} else if line := bytes.IndexByte(text[s.End:], '\n'); line >= 0 {
			s.End += line
		} else {
			s.End = len(text)
		}
		return s
	}
	if s.Start < s.End && !alphanumeric(text[s.Start]) {
		s.Start++
	}
	if s.Start < s.End && !alphanumeric(text[s.End-1]) {
		s.End--
	}
	return s
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// Redact returns a text with every secret replaced by its mark.
func Redact(text string) string {
	out, _ := memory.Redact([]byte(text), Find)
	return string(out)
}
