package search

import "encoding/binary"

// sound says whether a segment that was read can be searched: every offset is
// within its list, dictionary and paths ascend, postings name documents and
// chunks that are there. It counts which documents hold each term.
func (s *segment) sound() bool {
	if !ascending(s.textEnds, len(s.text)) || !ascending(s.postEnds, len(s.postings)) || !ascending(s.forwardEnds, len(s.forward)) {
		return false
	}
	for i := 1; i < len(s.docs); i++ {
		if s.docs[i-1].Path >= s.docs[i].Path {
			return false
		}
	}
	for i := 1; i < len(s.textEnds); i++ {
		if s.term(i-1) >= s.term(i) {
			return false
		}
	}
	s.holding = make([]uint32, len(s.textEnds))
	sum := 0
	for t := range s.textEnds {
		n, ok := s.soundList(s.list(t))
		if !ok {
			return false
		}
		s.holding[t] = uint32(n)
		sum += n
	}
	for doc := range s.docs {
		n, ok := s.soundForward(doc)
		if !ok {
			return false
		}
		sum -= n
	}
	return sum == 0
}

func ascending(ends []uint32, size int) bool {
	last := uint32(0)
	for _, end := range ends {
		if end < last {
			return false
		}
		last = end
	}
	return int(last) == size
}

// soundList counts a term's postings.
func (s *segment) soundList(b []byte) (docs int, ok bool) {
	doc := -1
	for len(b) > 0 {
		gap, n := binary.Uvarint(b)
		if n <= 0 || gap == 0 || gap > uint64(len(s.docs)-1-doc) {
			return 0, false
		}
		doc += int(gap)
		if b, ok = soundPayload(b[n:], uint64(s.first[doc+1]-s.first[doc])); !ok {
			return 0, false
		}
		docs++
	}
	return docs, true
}

// soundPayload reads where a term stands in a document of so many chunks.
func soundPayload(b []byte, chunks uint64) (rest []byte, ok bool) {
	if len(b) == 0 {
		return nil, false
	}
	head := b[0]
	b = b[1:]
	for mask := head & 15; mask != 0; mask &= mask - 1 {
		if len(b) == 0 {
			return nil, false
		}
		b = b[1:]
	}
	number := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 || n > 5 || v > 1<<32-1 {
			ok = false
			return 0
		}
		b = b[n:]
		return v
	}
	ok = true
	left := uint64(head >> 4)
	if left == manyChunks {
		left = number()
	}
	several := left > 1
	often, size := uint64(0), uint64(0)
	if several {
		often, size = number(), number()
	}
	before := uint64(len(b))
	for chunk := uint64(0); left > 0 && ok; left-- {
		delta := number()
		times := uint64(1)
		if delta&1 != 0 {
			times = number()
		}
		often -= times
		if chunk += delta >> 1; chunk >= chunks {
			return nil, false
		}
	}
	return b, ok && (!several || often == 0 && before-uint64(len(b)) == size)
}

// soundForward counts a document's terms.
func (s *segment) soundForward(doc int) (terms int, ok bool) {
	from := uint32(0)
	if doc > 0 {
		from = s.forwardEnds[doc-1]
	}
	term := -1
	for b := s.forward[from:s.forwardEnds[doc]]; len(b) > 0; terms++ {
		gap, n := binary.Uvarint(b)
		if n <= 0 || gap == 0 || gap > uint64(len(s.textEnds)-1-term) {
			return 0, false
		}
		term += int(gap)
		b = b[n:]
	}
	return terms, true
}
