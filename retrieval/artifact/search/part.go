package search

// Part is a run of documents, indexed by themselves: of what a large index is
// put together, so that the entries of few documents are in memory at once.
// Immutable.
type Part struct{ *segment }

// NewPart makes a part of entries with distinct paths.
func NewPart(entries []*Entry) *Part { return &Part{newSegment(distinct(entries))} }

// Len is the number of documents.
func (p *Part) Len() int { return len(p.docs) }

// MostJoined bounds the documents of the segments that parts are put together
// to: joining takes the memory of a segment for a moment, and several are
// searched about as fast as one.
const MostJoined = 4 << 10

// Join makes one part of several with distinct paths.
func Join(parts []*Part) *Part {
	if len(parts) == 1 {
		return parts[0]
	}
	var views []*view
	for _, p := range parts {
		views = append(views, &view{segment: p.segment, left: p.Len()})
	}
	return &Part{merge(views)}
}

// grouped joins parts to segments.
func grouped(parts []*Part) (all []*segment) {
	for len(parts) > 0 {
		n, docs := 1, parts[0].Len()
		for n < len(parts) && docs+parts[n].Len() <= MostJoined {
			docs += parts[n].Len()
			n++
		}
		all = append(all, Join(parts[:n]).segment)
		parts = parts[n:]
	}
	return all
}

// appendCodes appends the codes of some chunks of another segment; without any
// of this dimension they are similar to nothing.
func (s *segment) appendCodes(from *segment, first, end int) {
	if from.codes != nil && from.codes.Dim() == s.codes.Dim() {
		s.codes.AppendFrom(from.codes, first, end)
		return
	}
	for range end - first {
		s.codes.Append(nil)
	}
}
