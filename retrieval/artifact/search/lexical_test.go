package search

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/writbus/writ/retrieval/bm25"
)

// TestChunksOfCandidatesAreThoseOfWholeLists walks every list from its beginning
// to its end, where the search leaps to its candidates.
func TestChunksOfCandidatesAreThoseOfWholeLists(t *testing.T) {
	r := rand.New(rand.NewSource(11))
	entries := analysed(t, nil, randomDocuments(r, 400)...)
	ix := New(entries[:300], nil).Update(entries[300:], []string{entries[7].Path(), entries[150].Path()})
	for range 50 {
		s := &searching{ix: ix, query: Query{Text: sentence(r, 6)}}
		s.question, s.scratch = ix.resolve(s.query.Text), ix.scratch.Get().(*scratch)
		s.addUp()
		s.pool = s.best(1 + r.Intn(120))
		if !slices.IsSortedFunc(s.pool, func(a, b candidate) int {
			if before(&a, &b) {
				return -1
			}
			return 1
		}) {
			t.Fatalf("%q: the candidates are not in order", s.query.Text)
		}
		s.addNames(s.addChunks())
		sums, named := wholeLists(s)
		for _, c := range s.pool {
			from, to := c.view.chunk0+c.view.first[c.doc], c.view.chunk0+c.view.first[c.doc+1]
			if !slices.Equal(c.sums, sums[from:to]) || !slices.Equal(c.named, named[from:to]) {
				t.Fatalf("%q: %s has sums %v and %v, want %v and %v", s.query.Text, c.document().Path, c.sums, c.named, sums[from:to], named[from:to])
			}
		}
		s.scratch.empty()
		ix.scratch.Put(s.scratch)
	}
}

// wholeLists are the sums of all chunks.
func wholeLists(s *searching) (sums, named []float32) {
	for _, v := range s.ix.views {
		sums, named = append(sums, make([]float32, len(v.chunks))...), append(named, make([]float32, len(v.chunks))...)
	}
	each := func(a asked, f func(v *view, chunk, times uint32)) {
		for i, v := range s.ix.views {
			if a.place[i] < 0 {
				continue
			}
			b, doc := v.list(int(a.place[i])), int32(-1)
			for at := 0; at < len(b); {
				gap, payload := varint(b, at)
				doc += int32(gap)
				w := walkChunks(b, payload)
				for w.next() {
					f(v, uint32(v.first[doc])+w.chunk, w.times)
				}
				at = w.at
			}
		}
	}
	for _, t := range s.terms {
		each(t, func(v *view, chunk, times uint32) {
			tf := float32(times)
			sums[uint32(v.chunk0)+chunk] += float32(t.idf*(bm25.K1+1)) * tf / (tf + float32(float32(bm25.K1)*v.scales.chunks.of(v.chunks[chunk].length)))
		})
		if a, n, _ := s.ix.look(partMark + t.text); n > 0 && !t.whole {
			each(a, func(v *view, chunk, _ uint32) { named[uint32(v.chunk0)+chunk] += float32(t.idf) })
		}
	}
	return sums, named
}

// TestPayloadsSayTheirSize reads payloads of every shape: passed over, walked,
// and checked as those of a saved index are.
func TestPayloadsSayTheirSize(t *testing.T) {
	r := rand.New(rand.NewSource(12))
	ix := New(analysed(t, nil, randomDocuments(r, 200)...), nil)
	several, many := 0, 0
	for _, v := range ix.views {
		for term := range v.textEnds {
			b := v.list(term)
			for at := 0; at < len(b); {
				_, payload := varint(b, at)
				w, sum, n := walkChunks(b, payload), uint32(0), 0
				for w.next() {
					sum += w.times
					n++
				}
				at = skipPayload(b, payload)
				head := b[payload]
				fields := 0
				for f := Title; f < Content; f++ {
					fields += int(head >> f & 1)
				}
				if often, end := inChunks(b, payload+1+fields, uint32(head>>4)); w.at != at || end != at || often != sum {
					t.Fatalf("%q: walked to %d, passed over to %d and %d; %d times, said to be %d", v.term(term), w.at, at, end, sum, often)
				}
				if n > 1 {
					several++
					wrong := slices.Clone(b[payload:at])
					_, begin := chunkCount(wrong, 1+fields, uint32(head>>4))
					for _, i := range []int{begin - 1, begin - 2} { // one byte each: these documents are small
						wrong[i]++
						if _, ok := soundPayload(wrong, 1<<20); ok {
							t.Fatalf("%q: a payload that says another size or sum is taken", v.term(term))
						}
						wrong[i]--
					}
				}
				if n >= manyChunks {
					many++
				}
			}
		}
	}
	if several == 0 || many == 0 {
		t.Fatalf("%d payloads of several chunks, %d of many", several, many)
	}
}
