package search

import "github.com/writbus/writ/retrieval/bm25"

// scales turn the lengths of texts into what their words are divided by.
type scales struct {
	fields [NumFields]scale // of documents
	chunks scale
}

// scale is that of one kind of text. It is made anew with every snapshot, as the
// average moves, and so it must not cost what there are documents.
type scale struct {
	average float64
	short   []float32 // of the lengths that most texts have
}

// How long the texts are whose norms are looked up; the others' are computed.
const (
	shortField   = 64
	shortContent = 2048
	shortChunk   = 768 // a chunk has at most 512 tokens, of which few are two terms
)

func newScale(average float64, short int) scale {
	s := scale{average, make([]float32, short)}
	for length := range s.short {
		s.short[length] = norm(uint32(length), average)
	}
	return s
}

// of is the norm of a text: 1 − b + b·length/average.
func (s *scale) of(length uint32) float32 {
	if int(length) < len(s.short) {
		return s.short[length]
	}
	return norm(length, s.average)
}

// scales are those of the averages that the sums give.
func (s *sums) scales() *scales {
	out := &scales{chunks: newScale(float64(s.chunkLength)/float64(max(s.chunks, 1)), shortChunk)}
	for f := range out.fields {
		short := shortField
		if Field(f) == Content {
			short = shortContent
		}
		out.fields[f] = newScale(float64(s.length[f])/float64(max(s.having[f], 1)), short)
	}
	return out
}

func norm(length uint32, average float64) float32 {
	return float32(bm25.Norm(float64(length), average))
}
