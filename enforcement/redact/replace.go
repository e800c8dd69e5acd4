package redact

import (
	"cmp"
	"slices"
)

// Span is a secret within a text.
type Span struct {
	Start, End int    // in bytes
	Kind       string // of what it is a secret: github-token, private-key, …
}

// Mark is what stands in the place of a secret of a kind.
func Mark(kind string) string { return "[redacted:" + kind + "]" }

// redactRounds bounds how often a redacted text is searched again.
const redactRounds = 16

// Replace returns the input with every secret that find names replaced by its
// mark, and the kinds in the order of the text, one for each replaced stretch;
// overlapping secrets are one stretch with the kind of the first. What is left
// is searched again, since taking one secret out can bare another. An input
// without secrets is returned as it is.
func Replace(input []byte, find func([]byte) []Span) (redacted []byte, kinds []string) {
	for range redactRounds {
		spans := find(input)
		if len(spans) == 0 {
			break
		}
		var more []string
		if input, more = replaceOnce(input, spans); len(more) == 0 {
			break
		}
		kinds = append(kinds, more...)
	}
	return input, kinds
}

func replaceOnce(input []byte, spans []Span) (out []byte, kinds []string) {
	spans = slices.Clone(spans)
	slices.SortStableFunc(spans, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	at := 0
	for _, s := range spans {
		start, end := max(s.Start, 0), min(s.End, len(input))
		switch {
		case end <= start, end <= at:
			continue
		case start < at:
			at = end // goes beyond the one before: the same stretch
			continue
		}
		out = append(out, input[at:start]...)
		out = append(out, Mark(s.Kind)...)
		kinds = append(kinds, s.Kind)
		at = end
	}
	if len(kinds) == 0 {
		return input, nil
	}
	return append(out, input[at:]...), kinds
}
