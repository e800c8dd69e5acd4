package search

import (
	"encoding/binary"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/writbus/writ/retrieval/vector"
)

// Part is a run of documents, indexed by themselves: of what a large index is
// put together, so that the entries of few documents are in memory at once.
// Immutable.
type Part struct {
	*segment
	lasts []int32 // per term, the last document that holds it; nil where it was joined
}

// NewPart makes a part of entries with distinct paths. It costs least where one
// analyser made them all.
func NewPart(entries []*Entry) *Part {
	s, lasts := newSegment(distinct(entries))
	return &Part{s, lasts}
}

// Len is the number of documents.
func (p *Part) Len() int { return len(p.docs) }

// MostJoined bounds the documents of the segments that parts are put together
// to: joining takes the memory of a segment for a moment, and several are
// searched about as fast as one.
const MostJoined = 4 << 10

// Join makes one part of several with distinct paths, and takes them over. Where
// each holds the paths that follow those of the one before, that is little more
// than copying. It is not joined again.
func Join(parts []*Part, workers int) *Part {
	if followOneAnother(parts) {
		return &Part{segment: join(parts, workers)}
	}
	return &Part{segment: merge(viewsOf(parts))}
}

// grouped joins parts to segments.
func grouped(parts []*Part, workers int) (all []*segment) {
	for len(parts) > 0 {
		n, docs := 0, 0
		for n < len(parts) && (n == 0 || parts[n].lasts != nil && docs+parts[n].Len() <= MostJoined) {
			docs += parts[n].Len()
			if n++; parts[n-1].lasts == nil {
				break
			}
		}
		all = append(all, Join(parts[:n], workers).segment)
		parts = parts[n:]
	}
	return all
}

func viewsOf(parts []*Part) (views []*view) {
	for _, p := range parts {
		views = append(views, &view{segment: p.segment, left: p.Len()})
	}
	return views
}

// followOneAnother says whether the paths of each part are behind those of the
// one before.
func followOneAnother(parts []*Part) bool {
	last := ""
	for i, p := range parts {
		if p.Len() == 0 {
			continue
		}
		if i > 0 && p.docs[0].Path <= last {
			return false
		}
		last = p.docs[p.Len()-1].Path
	}
	return true
}

// join makes one segment of parts that follow one another, and takes them over:
// the one that all their entries would make.
func join(parts []*Part, workers int) *segment {
	if len(parts) == 1 {
		return parts[0].segment
	}
	j := &joining{parts: make([]*Part, len(parts)), bases: make([]int32, len(parts)), places: make([][]uint32, len(parts))}
	docs, chunks, codes := 0, 0, 0
	for i, p := range parts {
		j.bases[i] = int32(docs)
		j.places[i] = make([]uint32, len(p.textEnds))
		docs, chunks = docs+p.Len(), chunks+len(p.chunks)
		if p.codes != nil {
			codes = p.codes.Dim()
		}
	}
	s := &segment{docs: make([]document, 0, docs), first: make([]int32, 1, docs+1)}
	if chunks > 0 {
		s.chunks = make([]chunk, 0, chunks)
	}
	if codes > 0 {
		s.codes = vector.NewCodes(codes, chunks)
	}
	// What was copied of a part is let go at once: its lists are still needed.
	for i, p := range parts {
		from := int32(len(s.chunks))
		s.docs, s.chunks = append(s.docs, p.docs...), append(s.chunks, p.chunks...)
		for _, end := range p.first[1:] {
			s.first = append(s.first, from+end)
		}
		s.sums.plus(p.sums, 1)
		if s.codes != nil {
			s.appendCodes(p.segment, 0, len(p.chunks))
		}
		lists := *p.segment
		lists.docs, lists.chunks, lists.first, lists.codes = nil, nil, nil, nil
		j.parts[i] = &Part{&lists, p.lasts}
		parts[i] = nil
	}
	j.dictionary(s, workers)
	j.forward(s, workers)
	s.finish()
	return s
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

// joining is what is known of the parts while they are joined.
type joining struct {
	parts  []*Part
	bases  []int32    // of each, the number of its first document
	places [][]uint32 // of each, the new place of each of its terms
}

// stretch is a run of the joined dictionary.
type stretch struct {
	text              strings.Builder
	textEnds          []uint32
	postings          []byte // of s.postings: room for all of the stretch
	postEnds, holding []uint32
	from, to          []int // of each part, its terms
}

// dictionary walks the parts' dictionaries side by side, in stretches by
// themselves. Their postings go into one piece of memory, where those of the
// second and later ones are moved to behind the ones before at last.
func (j *joining) dictionary(s *segment, workers int) {
	all := j.stretches(workers)
	total := 0
	for _, one := range all {
		total += j.most(one)
	}
	s.postings = make([]byte, total)
	total = 0
	for _, one := range all {
		one.postings = s.postings[total : total : total+j.most(one)]
		total += j.most(one)
	}
	for _, one := range all {
		j.expect(one)
	}
	var wg sync.WaitGroup
	for _, one := range all[1:] {
		wg.Go(func() { j.walk(one) })
	}
	j.walk(all[0])
	wg.Wait()
	var text strings.Builder
	terms, size := 0, 0
	for _, one := range all {
		terms, size = terms+len(one.textEnds), size+one.text.Len()
	}
	text.Grow(size)
	s.textEnds, s.postEnds, s.holding = make([]uint32, 0, terms), make([]uint32, 0, terms), make([]uint32, 0, terms)
	posted := 0
	for _, one := range all {
		place, chars := uint32(len(s.textEnds)), uint32(text.Len())
		for i := range j.parts {
			for at := one.from[i]; at < one.to[i]; at++ {
				j.places[i][at] += place
			}
		}
		for i := range one.textEnds {
			s.textEnds, s.postEnds = append(s.textEnds, chars+one.textEnds[i]), append(s.postEnds, uint32(posted)+one.postEnds[i])
		}
		s.holding = append(s.holding, one.holding...)
		text.WriteString(one.text.String())
		posted += copy(s.postings[posted:], one.postings)
		*one = stretch{}
	}
	s.text, s.postings = text.String(), s.postings[:posted:posted]
}

// expect makes room for the terms of a stretch: parts of one project share so
// many that they have about twice as many together as the largest of them.
func (j *joining) expect(one *stretch) {
	terms, bytes := 0, 0
	for i, p := range j.parts {
		if n := one.to[i] - one.from[i]; n > terms {
			terms, bytes = n, len(p.text)*n/len(p.textEnds)
		}
	}
	one.text.Grow(2 * bytes)
	one.textEnds, one.postEnds, one.holding = make([]uint32, 0, 2*terms), make([]uint32, 0, 2*terms), make([]uint32, 0, 2*terms)
}

// mostWider is how many bytes longer the first gap of a list may get.
const mostWider = 4

// most is what the postings of a stretch take at most.
func (j *joining) most(one *stretch) (bytes int) {
	for i, p := range j.parts {
		if one.to[i] == one.from[i] {
			continue
		}
		bytes += int(p.postEnds[one.to[i]-1]) + mostWider*(one.to[i]-one.from[i])
		if one.from[i] > 0 {
			bytes -= int(p.postEnds[one.from[i]-1])
		}
	}
	return bytes
}

// stretches cuts all dictionaries at the same terms, those of the largest one.
func (j *joining) stretches(n int) (all []*stretch) {
	largest := j.parts[0]
	for _, p := range j.parts {
		if len(p.textEnds) > len(largest.textEnds) {
			largest = p
		}
	}
	from := make([]int, len(j.parts))
	for k := 1; k <= max(n, 1); k++ {
		to := make([]int, len(j.parts))
		for i, p := range j.parts {
			to[i] = len(p.textEnds)
			if k < n && len(largest.textEnds) > 0 {
				to[i], _ = p.find(largest.term(len(largest.textEnds) * k / n))
			}
		}
		all = append(all, &stretch{from: from, to: to})
		from = to
	}
	return all
}

// done is the key of a dictionary that has no more terms. No term has it: these
// are text.
const done = ^uint64(0)

// walk writes the terms of a stretch with their postings.
func (j *joining) walk(out *stretch) {
	next := append([]int(nil), out.from...)
	keys := make([]uint64, len(next)) // of the next term of each part
	see := func(i int) {
		if keys[i] = done; next[i] < out.to[i] {
			keys[i] = keyOfTerm(j.parts[i].term(next[i]))
		}
	}
	for i := range j.parts {
		see(i)
	}
	var holding []int // the parts that have the term
	for {
		least := done
		for _, key := range keys {
			least = min(least, key)
		}
		if least == done {
			return
		}
		term := ""
		holding = holding[:0]
		for i, key := range keys {
			if key != least {
				continue
			}
			t := j.parts[i].term(next[i])
			if c := strings.Compare(t, term); len(holding) == 0 || c < 0 {
				term, holding = t, append(holding[:0], i)
			} else if c == 0 {
				holding = append(holding, i)
			}
		}
		held, last := uint32(0), int32(-1)
		for _, i := range holding {
			p, at := j.parts[i], next[i]
			list := p.list(at)
			gap, payload := varint(list, 0)
			out.postings = binary.AppendUvarint(out.postings, uint64(j.bases[i]+int32(gap)-1-last))
			out.postings = append(out.postings, list[payload:]...)
			last = j.bases[i] + p.lasts[at]
			held += p.holding[at]
			j.places[i][at] = uint32(len(out.textEnds))
			next[i]++
			see(i)
		}
		out.text.WriteString(term)
		out.textEnds = append(out.textEnds, uint32(out.text.Len()))
		out.postEnds = append(out.postEnds, uint32(len(out.postings)))
		out.holding = append(out.holding, held)
	}
}

// keyOfTerm orders terms by their first 8 bytes.
func keyOfTerm(term string) uint64 {
	var buffer [8]byte
	copy(buffer[:], term)
	return binary.BigEndian.Uint64(buffer[:])
}

// forward writes the documents' terms with the new places.
func (j *joining) forward(s *segment, workers int) {
	s.forwardEnds = make([]uint32, len(s.docs))
	j.each(workers, func(i int, p *Part) {
		for doc := range p.forwardEnds {
			size, before := uint32(0), ^uint32(0)
			p.termsOf(int32(doc), func(t uint32) {
				place := j.places[i][t]
				size += uvarintLen(place - before)
				before = place
			})
			s.forwardEnds[int(j.bases[i])+doc] = size
		}
	})
	sum := uint32(0)
	for doc, size := range s.forwardEnds {
		sum += size
		s.forwardEnds[doc] = sum
	}
	s.forward = make([]byte, sum)
	j.each(workers, func(i int, p *Part) {
		at := 0
		if j.bases[i] > 0 {
			at = int(s.forwardEnds[j.bases[i]-1])
		}
		for doc := range p.forwardEnds {
			before := ^uint32(0)
			p.termsOf(int32(doc), func(t uint32) {
				place := j.places[i][t]
				at += binary.PutUvarint(s.forward[at:], uint64(place-before))
				before = place
			})
		}
	})
}

// each calls f for every part, in so many goroutines.
func (j *joining) each(workers int, f func(i int, p *Part)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(j.parts); i = int(next.Add(1)) - 1 {
			f(i, j.parts[i])
		}
	}
	var all sync.WaitGroup
	for range min(workers, len(j.parts)) - 1 {
		all.Go(work)
	}
	work()
	all.Wait()
}
