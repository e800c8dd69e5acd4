package search

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/vector"
)

// origin says where a document of a merged segment comes from.
type origin struct {
	from *view
	doc  int32
}

// merge makes one segment of the living documents of several, whose paths
// differ. It is the segment that their entries would make.
func merge(views []*view) *segment {
	var order []origin
	for _, v := range views {
		for doc := range v.docs {
			if !v.isDead(int32(doc)) {
				order = append(order, origin{v, int32(doc)})
			}
		}
	}
	slices.SortFunc(order, func(a, b origin) int {
		return strings.Compare(a.from.docs[a.doc].Path, b.from.docs[b.doc].Path)
	})
	s := &segment{docs: make([]document, len(order)), first: make([]int32, 1, len(order)+1)}
	renumbered := map[*view][]int32{}
	for _, v := range views {
		renumbered[v] = slices.Repeat([]int32{-1}, len(v.docs))
		if v.codes != nil && s.codes == nil {
			s.codes = vector.NewCodes(v.codes.Dim(), 0)
		}
	}
	for i, o := range order {
		chunks := o.from.chunksOf(o.doc)
		s.docs[i] = o.from.docs[o.doc]
		s.chunks = append(s.chunks, chunks...)
		s.first = append(s.first, int32(len(s.chunks)))
		s.sums.add(&s.docs[i], chunks, 1)
		renumbered[o.from][o.doc] = int32(i)
		if s.codes != nil {
			s.appendCodes(o.from.segment, int(o.from.first[o.doc]), int(o.from.first[o.doc+1]))
		}
	}
	s.mergePostings(views, renumbered)
	s.mergeForward()
	s.finish()
	return s
}

// moved is a posting on its way to its place in the merged list.
type moved struct {
	doc     int32
	payload []byte
}

// mergePostings walks the dictionaries side by side.
func (s *segment) mergePostings(views []*view, renumbered map[*view][]int32) {
	next, terms := make([]int, len(views)), make([]string, len(views)) // of each view; no term is ""
	see := func(i int) {
		if terms[i] = ""; next[i] < len(views[i].textEnds) {
			terms[i] = views[i].term(next[i])
		}
	}
	for i := range views {
		see(i)
	}
	var text strings.Builder
	var list []moved
	for {
		least := ""
		for _, t := range terms {
			if t != "" && (least == "" || t < least) {
				least = t
			}
		}
		if least == "" {
			break
		}
		list = list[:0]
		for i, t := range terms {
			if t != least {
				continue
			}
			list = views[i].living(list, next[i], renumbered[views[i]])
			next[i]++
			see(i)
		}
		if len(list) == 0 {
			continue
		}
		if byDoc := func(a, b moved) int { return int(a.doc - b.doc) }; !slices.IsSortedFunc(list, byDoc) {
			slices.SortFunc(list, byDoc)
		}
		last := int32(-1)
		for _, m := range list {
			s.postings = binary.AppendUvarint(s.postings, uint64(m.doc-last))
			s.postings = append(s.postings, m.payload...)
			last = m.doc
		}
		text.WriteString(least)
		s.textEnds = append(s.textEnds, uint32(text.Len()))
		s.postEnds = append(s.postEnds, uint32(len(s.postings)))
		s.holding = append(s.holding, uint32(len(list)))
	}
	s.text, s.postings = text.String(), slices.Clip(s.postings)
}

// living appends a term's postings whose documents have a new number.
func (v *view) living(list []moved, term int, renumbered []int32) []moved {
	b := v.list(term)
	doc := int32(-1)
	for at := 0; at < len(b); {
		gap, start := varint(b, at)
		doc += int32(gap)
		end := skipPayload(b, start)
		if to := renumbered[doc]; to >= 0 {
			list = append(list, moved{to, b[start:end]})
		}
		at = end
	}
	return list
}

// mergeForward lists each document's terms from the postings.
func (s *segment) mergeForward() {
	last := slices.Repeat([]uint32{^uint32(0)}, len(s.docs))
	sizes := make([]uint32, len(s.docs))
	each := func(f func(doc int32, term uint32)) {
		for t := range s.textEnds {
			b := s.list(t)
			doc := int32(-1)
			for at := 0; at < len(b); {
				gap, start := varint(b, at)
				doc += int32(gap)
				f(doc, uint32(t))
				at = skipPayload(b, start)
			}
		}
	}
	each(func(doc int32, term uint32) {
		sizes[doc] += uvarintLen(term - last[doc])
		last[doc] = term
	})
	s.forwardEnds = make([]uint32, len(s.docs))
	sum := uint32(0)
	for doc, n := range sizes {
		s.forwardEnds[doc], last[doc] = sum, ^uint32(0) // the end is where the next goes, until all are there
		sum += n
	}
	s.forward = make([]byte, sum)
	each(func(doc int32, term uint32) {
		s.forwardEnds[doc] += uint32(binary.PutUvarint(s.forward[s.forwardEnds[doc]:], uint64(term-last[doc])))
		last[doc] = term
	})
}
