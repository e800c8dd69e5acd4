package search

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/vector"
)

// segment is a part of the index: documents by path, and for each term where it
// stands. Immutable.
type segment struct {
	docs   []document
	chunks []chunk
	first  []int32 // per document, its first chunk; one more at the end

	// The dictionary: terms one after the other, ascending.
	text     string
	textEnds []uint32
	// Per term, where its postings end and how many documents they are.
	postings []byte
	postEnds []uint32
	holding  []uint32

	// Per document, its terms: gaps between ascending places, from −1.
	forward     []byte
	forwardEnds []uint32

	codes *vector.Codes // per chunk; nil without an embedder
	sums  sums

	// What finish derives of the above.
	lengths [NumFields][]uint32 // per document, terms of each field
	ofChunk []uint32            // per chunk, terms: candidates have many
	size    int                 // memory that it takes without codes, bytes
	kept    Kept                // where its lists are outside the heap, nil where they are in it
}

// sums are what averages come from.
type sums struct {
	docs, chunks int
	having       [NumFields]int
	length       [NumFields]int
	chunkLength  int
	text         int64 // bytes of the documents
}

func (s *sums) add(d *document, chunks []chunk, sign int) {
	s.docs += sign
	s.chunks += sign * len(chunks)
	s.text += int64(sign) * d.Size
	for f, n := range d.lengths {
		if n > 0 {
			s.having[f] += sign
			s.length[f] += sign * int(n)
		}
	}
	for i := range chunks {
		s.chunkLength += sign * int(chunks[i].length)
	}
}

func (s *segment) chunksOf(doc int32) []chunk { return s.chunks[s.first[doc]:s.first[doc+1]] }

func (s *segment) term(i int) string {
	from := uint32(0)
	if i > 0 {
		from = s.textEnds[i-1]
	}
	return s.text[from:s.textEnds[i]]
}

// find returns a term's place.
func (s *segment) find(term string) (int, bool) {
	low, high := 0, len(s.textEnds)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if s.term(mid) < term {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < len(s.textEnds) && s.term(low) == term
}

// list returns a term's postings.
func (s *segment) list(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = s.postEnds[i-1]
	}
	return s.postings[from:s.postEnds[i]]
}

// termsOf calls f with the place of each term of a document.
func (s *segment) termsOf(doc int32, f func(term uint32)) {
	at, end := 0, int(s.forwardEnds[doc])
	if doc > 0 {
		at = int(s.forwardEnds[doc-1])
	}
	place := ^uint32(0)
	for at < end {
		var gap uint32
		gap, at = varint(s.forward, at)
		place += gap
		f(place)
	}
}

// place finds a document by its path.
func (s *segment) place(path string) (int32, bool) {
	at, ok := slices.BinarySearchFunc(s.docs, path, func(d document, path string) int { return strings.Compare(d.Path, path) })
	return int32(at), ok
}

// newSegment makes a segment of entries, which it puts in order of their paths. No
// two have the same path.
func newSegment(entries []*Entry) *segment {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b *Entry) int { return strings.Compare(a.doc.Path, b.doc.Path) })
	s := &segment{docs: make([]document, len(entries)), first: make([]int32, 1, len(entries)+1)}
	s.fill(entries, s.dictionary(entries))
	chunks := 0
	for _, e := range entries {
		chunks += len(e.chunks)
	}
	if chunks > 0 {
		s.chunks = make([]chunk, 0, chunks)
	}
	for i, e := range entries {
		s.docs[i] = e.doc
		s.chunks = append(s.chunks, e.chunks...)
		s.first = append(s.first, int32(len(s.chunks)))
		s.sums.add(&e.doc, e.chunks, 1)
	}
	s.pack()
	s.vectors(entries)
	s.finish()
	return s
}

// pack copies the texts of documents and chunks into one, which takes less
// memory, and less of the garbage collector's time, than each by itself.
func (s *segment) pack() {
	size := 0
	s.eachText(func(t string) { size += len(t) })
	var all strings.Builder
	all.Grow(size)
	s.eachText(func(t string) { all.WriteString(t) })
	rest := all.String()
	own := func(t *string) { *t, rest = rest[:len(*t)], rest[len(*t):] }
	for i := range s.docs {
		d := &s.docs[i]
		d.Tags, d.References = slices.Clone(d.Tags), slices.Clone(d.References) // the entry has the others
		d.eachText(own)
		chunks := s.chunksOf(int32(i))
		for j := range chunks {
			own(&chunks[j].heading)
			own(&chunks[j].symbols)
		}
	}
}

// dictionary makes the dictionary of all terms of the entries, and returns the
// place of each term of each lexicon.
func (s *segment) dictionary(entries []*Entry) map[*lexicon][]uint32 {
	places := map[*lexicon][]uint32{}
	for _, e := range entries {
		if places[e.of] == nil {
			places[e.of] = make([]uint32, e.of.len())
		}
	}
	if len(places) == 1 {
		s.ownDictionary(entries, places[entries[0].of])
		return places
	}
	byName := map[string]uint32{}
	var names []string
	for _, e := range entries {
		own := places[e.of]
		for _, t := range e.terms {
			if own[t] != 0 {
				continue
			}
			n, known := byName[e.of.term(t)]
			if !known {
				names = append(names, e.of.term(t))
				n = uint32(len(names))
				byName[e.of.term(t)] = n
			}
			own[t] = n // from 1, in the order in which they are met
		}
	}
	sorted := s.order(names)
	for _, own := range places {
		for t, n := range own {
			own[t] = sorted[n]
		}
	}
	return places
}

// ownDictionary makes the dictionary of entries of one lexicon, whose terms are
// all different.
func (s *segment) ownDictionary(entries []*Entry, places []uint32) {
	n := 0
	for _, e := range entries {
		for _, t := range e.terms {
			if places[t] == 0 {
				n++
				places[t] = uint32(n)
			}
		}
	}
	names := make([]string, n)
	for t, place := range places {
		if place > 0 {
			names[place-1] = entries[0].of.term(int32(t))
		}
	}
	sorted := s.order(names)
	for t, n := range places {
		places[t] = sorted[n]
	}
}

// order writes the dictionary of names, and returns the place of each, counted
// from 1.
func (s *segment) order(names []string) []uint32 {
	type named struct {
		key uint64
		met uint32
	}
	order, size := make([]named, len(names)), 0
	for i, name := range names {
		order[i] = named{keyOfTerm(name), uint32(i)}
		size += len(name)
	}
	slices.SortFunc(order, func(a, b named) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return strings.Compare(names[a.met], names[b.met])
	})
	places := make([]uint32, len(names)+1)
	var text strings.Builder
	text.Grow(size)
	s.textEnds = make([]uint32, len(names))
	for place, n := range order {
		places[n.met+1] = uint32(place)
		text.WriteString(names[n.met])
		s.textEnds[place] = uint32(text.Len())
	}
	s.text = text.String()
	return places
}

// keyOfTerm orders terms by their first 8 bytes.
func keyOfTerm(term string) uint64 {
	var buffer [8]byte
	copy(buffer[:], term)
	return binary.BigEndian.Uint64(buffer[:])
}

// fill distributes the entries' postings to their terms: first it measures, then
// it copies.
func (s *segment) fill(entries []*Entry, places map[*lexicon][]uint32) {
	sizes := make([]uint32, len(s.textEnds))
	last := slices.Repeat([]int32{-1}, len(s.textEnds))
	s.holding = make([]uint32, len(s.textEnds))
	all := 0
	for doc, e := range entries {
		own, from := places[e.of], uint32(0)
		all += len(e.terms)
		for i, t := range e.terms {
			place := own[t]
			sizes[place] += e.ends[i] - from + uvarintLen(uint32(int32(doc)-last[place]))
			from = e.ends[i]
			last[place] = int32(doc)
			s.holding[place]++
		}
	}
	s.postEnds = make([]uint32, len(sizes))
	sum, held := uint32(0), uint32(0)
	begin := make([]uint32, len(sizes)) // of each term, the first of its documents
	for i, n := range sizes {
		s.postEnds[i], begin[i] = sum, held // where the next goes, until all are there
		sum += n
		held += s.holding[i]
		last[i] = -1
	}
	s.postings = make([]byte, sum)
	docs := make([]int32, all)
	for doc, e := range entries {
		own, from := places[e.of], uint32(0)
		for i, t := range e.terms {
			place := own[t]
			to := s.postEnds[place]
			to += uint32(binary.PutUvarint(s.postings[to:], uint64(int32(doc)-last[place])))
			to += uint32(copy(s.postings[to:], e.posts[from:e.ends[i]]))
			from = e.ends[i]
			s.postEnds[place], last[place] = to, int32(doc)
			docs[begin[place]] = int32(doc)
			begin[place]++
		}
	}
	s.transpose(docs)
}

// transpose lists each document's terms from those of each term's documents.
func (s *segment) transpose(docs []int32) {
	before := slices.Repeat([]uint32{^uint32(0)}, len(s.docs))
	s.forwardEnds = make([]uint32, len(s.docs))
	walk := func(f func(doc int32, gap uint32)) {
		at := 0
		for t, n := range s.holding {
			for _, doc := range docs[at : at+int(n)] {
				f(doc, uint32(t)-before[doc])
				before[doc] = uint32(t)
			}
			at += int(n)
		}
	}
	walk(func(doc int32, gap uint32) { s.forwardEnds[doc] += uvarintLen(gap) })
	sum := uint32(0)
	for doc, n := range s.forwardEnds {
		s.forwardEnds[doc], before[doc] = sum, ^uint32(0)
		sum += n
	}
	s.forward = make([]byte, sum)
	walk(func(doc int32, gap uint32) {
		s.forwardEnds[doc] += uint32(binary.PutUvarint(s.forward[s.forwardEnds[doc]:], uint64(gap)))
	})
}

func uvarintLen(v uint32) uint32 {
	n := uint32(1)
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// vectors gathers the entries' codes; chunks without any are similar to nothing.
func (s *segment) vectors(entries []*Entry) {
	for _, e := range entries {
		if e.codes != nil {
			s.codes = vector.NewCodes(e.codes.Dim(), len(s.chunks))
			break
		}
	}
	if s.codes == nil {
		return
	}
	for _, e := range entries {
		if e.codes != nil && e.codes.Dim() == s.codes.Dim() {
			s.codes.AppendFrom(e.codes, 0, e.codes.Len())
			continue
		}
		for range e.chunks {
			s.codes.Append(nil)
		}
	}
}

// finish derives from a segment that is whole what searches look up often.
func (s *segment) finish() {
	for f := range s.lengths {
		s.lengths[f] = make([]uint32, len(s.docs))
		for doc := range s.docs {
			s.lengths[f][doc] = s.docs[doc].lengths[f]
		}
	}
	s.ofChunk = make([]uint32, len(s.chunks))
	for i := range s.chunks {
		s.ofChunk[i] = s.chunks[i].length
	}
	s.size = s.bytes()
}

// bytes is the memory that the segment takes without codes, texts of documents
// included.
func (s *segment) bytes() int {
	n := len(s.text) + 4*(len(s.textEnds)+len(s.postEnds)+len(s.holding)+len(s.forwardEnds)+len(s.first)) +
		len(s.postings) + len(s.forward) + 4*int(NumFields)*len(s.docs) + 4*len(s.chunks)
	for i := range s.docs {
		d := &s.docs[i]
		n += documentBytes + len(d.Path) + len(d.Title) + len(d.Summary) + len(d.Hash) + len(d.stem) + len(d.dirs)
		for _, list := range [][]string{d.Tags, d.References} {
			for _, t := range list {
				n += 16 + len(t)
			}
		}
	}
	for i := range s.chunks {
		n += chunkBytes + len(s.chunks[i].heading) + len(s.chunks[i].symbols)
	}
	return n
}
