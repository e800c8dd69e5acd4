// Package redact takes secrets out of any bytes: what writes are checked for,
// and what is likely a secret by the name it is given. A mark that says of what
// kind it was stands in the place of each.
//
// Guaranteed: a key of several lines is found whole, and what lies across the
// pieces that a large text is searched in; what is redacted stays the same when
// it is redacted again. Not here: which values are redacted (package schemas
// says it, field by field), and secrets that nothing tells from other words.
package redact

import (
	"bytes"

	"github.com/writbus/writ/enforcement/check"
	"github.com/writbus/writ/schemas"
)

// window is how much text is searched at once, and
// overlap how much of it again with the next piece.
const (
	window  = check.MaxBytes
	overlap = 64 << 10
)

// shortest is the length of the shortest text with a secret in it.
const shortest = 12

// Find finds secrets in any bytes.
func Find(text []byte) (spans []Span) {
	if len(text) < shortest {
		return nil
	}
	if bytes.IndexByte(text, 0) >= 0 {
		// A text with a zero byte would pass for data that nobody looks at.
		text = bytes.ReplaceAll(text, []byte{0}, []byte{' '})
	}
	for from := 0; from < len(text); from += window - overlap {
		piece := text[from:min(from+window, len(text))]
		if found := check.Secrets("", piece, nil); len(found) > 0 {
			spans = append(spans, placed(text, piece, from, found)...)
		}
		if from+window >= len(text) {
			break
		}
	}
	for _, p := range check.Credentials(text) {
		spans = append(spans, Span(p))
	}
	return spans
}

// placed says where in the text the findings of a piece of it are.
func placed(text, piece []byte, from int, found []check.Secret) (spans []Span) {
	starts := []int{0}
	for i, c := range piece {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	for _, s := range found {
		if s.Line <= len(starts) {
			line := from + starts[s.Line-1]
			spans = append(spans, whole(text, Span{Start: line + s.Column - 1, End: line + s.EndColumn - 1, Kind: s.Kind}))
		}
	}
	return spans
}

// whole widens the finding of a PuTTY key to all of its lines, and leaves the
// delimiters around a token where they are: an annotation may need them.
func whole(text []byte, s Span) Span {
	if s.Kind == "putty-key" {
		end := bytes.Index(text[s.End:], []byte("Private-MAC:"))
		if end < 0 {
			s.End = len(text) // the key may go on to the last byte
			return s
		}
		s.End += end
		if line := bytes.IndexByte(text[s.End:], '\n'); line >= 0 {
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

// Text returns a text with every secret replaced by its mark.
func Text(text string) string {
	if len(text) < shortest {
		return text
	}
	if out, kinds := Replace([]byte(text), Find); len(kinds) > 0 {
		return string(out)
	}
	return text
}

// Payload returns an event's data without secrets, but for the fields that
// package schemas keeps as they are.
func Payload(p schemas.Payload) schemas.Payload { return schemas.Redact(p, named) }

// named redacts a text that is found under a name: what a password is called
// may be told from the name alone.
func named(name, text string) string {
	if kind := check.Named(name, text); kind != "" {
		return Mark(kind)
	}
	return Text(text)
}
