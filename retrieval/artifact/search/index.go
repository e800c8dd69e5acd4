package search

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

const (
	documentBytes = int(unsafe.Sizeof(document{}))
	chunkBytes    = int(unsafe.Sizeof(chunk{}))
)

// Index is a snapshot of the documents of one project. It never changes;
// [Index.Update] makes another one, which shares what is the same.
type Index struct {
	views    []*view
	sums     sums
	embedder Embedder
	scratch  *sync.Pool // of *scratch
	version  uint64
}

// view is a segment without the documents that are gone from it, and what
// scores need of all segments.
type view struct {
	*segment
	dead   []uint64          // a bit for each document; nil for none
	left   int               // living documents
	lost   sums              // of the dead ones
	gone   map[uint32]uint32 // terms of dead documents: how many fewer hold them
	number int               // its place among the index's views
	doc0   int32             // the first document's number in the index
	chunk0 int32             // the first chunk's
	scales *scales           // of the index
}

func (v *view) isDead(doc int32) bool {
	return v.dead != nil && v.dead[doc>>6]&(1<<(doc&63)) != 0
}

// holdingNow is how many living documents hold a term.
func (v *view) holdingNow(term int) int {
	return int(v.holding[term] - v.gone[uint32(term)])
}

// New makes an index of entries with distinct paths; of several with the same
// one, the last counts. The embedder is the one that made their vectors, nil
// without; queries are embedded with it.
func New(entries []*Entry, e Embedder) *Index {
	return (&Index{embedder: e}).Update(entries, nil)
}

// mostMerged is how many documents an update merges at most, so that a single
// changed file is found at once; [Index.Tidied] merges more.
const mostMerged = 2048

// Update returns the index with entries put in place of those with the same
// paths, and without the removed paths. Unknown ones are fine. The receiver
// stays as it is.
func (ix *Index) Update(put []*Entry, removed []string) *Index {
	var parts []*Part
	if len(put) > 0 {
		parts = append(parts, NewPart(put))
	}
	return ix.Put(parts, removed)
}

// Put is [Index.Update] with parts of distinct paths.
func (ix *Index) Put(parts []*Part, removed []string) *Index {
	defer runtime.KeepAlive(ix)
	next := &Index{embedder: ix.embedder, version: ix.version + 1}
	drop := slices.Clone(removed)
	for _, p := range parts {
		for i := range p.docs {
			drop = append(drop, p.docs[i].Path)
		}
	}
	for _, v := range ix.views {
		if v = v.without(drop); v.left > 0 {
			next.views = append(next.views, v)
		}
	}
	for _, s := range grouped(parts) {
		if len(s.docs) > 0 {
			next.views = append(next.views, &view{segment: s, left: len(s.docs)})
		}
	}
	next.tidy()
	next.prepare()
	return next
}

func distinct(entries []*Entry) []*Entry {
	last := make(map[string]int, len(entries))
	for i, e := range entries {
		last[e.doc.Path] = i
	}
	if len(last) == len(entries) {
		return entries
	}
	var out []*Entry
	for i, e := range entries {
		if last[e.doc.Path] == i {
			out = append(out, e)
		}
	}
	return out
}

// without returns a copy of the view in which the documents of the paths are
// dead, or the view itself.
func (v *view) without(paths []string) *view {
	out := v
	for _, path := range paths {
		doc, ok := v.place(path)
		if !ok || out.isDead(doc) {
			continue
		}
		if out == v {
			out = &view{segment: v.segment, left: v.left, lost: v.lost, gone: make(map[uint32]uint32, len(v.gone)), dead: make([]uint64, (len(v.docs)+63)/64)}
			copy(out.dead, v.dead)
			for t, n := range v.gone {
				out.gone[t] = n
			}
		}
		out.left--
		out.dead[doc>>6] |= 1 << (doc & 63)
		out.lost.add(&v.docs[doc], v.chunksOf(doc), 1)
		v.termsOf(doc, func(t uint32) { out.gone[t]++ })
	}
	return out
}

// tidy merges the last segments while that is little work: afterwards each small
// one is less than half the one before.
func (ix *Index) tidy() {
	for {
		n := len(ix.views)
		if n < 2 || 2*ix.views[n-1].left < ix.views[n-2].left || ix.views[n-1].left+ix.views[n-2].left > mostMerged {
			break
		}
		s := merge(ix.views[n-2:])
		ix.views = append(slices.Clone(ix.views[:n-2]), &view{segment: s, left: len(s.docs)})
	}
}

// Compact returns the same index in one segment without dead documents: that
// which [New] makes of the same entries. It takes about a second for a hundred
// thousand documents, and the memory of another index.
func (ix *Index) Compact() *Index {
	defer runtime.KeepAlive(ix)
	if len(ix.views) <= 1 && (len(ix.views) == 0 || ix.views[0].left == len(ix.views[0].docs)) {
		return ix
	}
	next := &Index{embedder: ix.embedder, version: ix.version}
	if s := merge(ix.views); len(s.docs) > 0 {
		next.views = []*view{{segment: s, left: len(s.docs)}}
	}
	next.prepare()
	return next
}

// Tidied returns the same index with more than so many small segments put
// together, and without the dead documents of segments that consist of them to
// a quarter: searching gets slower with either. It is the index itself where
// there is nothing to do.
func (ix *Index) Tidied(most int) *Index {
	defer runtime.KeepAlive(ix)
	var views, small []*view
	changed := false
	for _, v := range ix.views {
		switch dead := len(v.docs) - v.left; {
		case v.left < MostJoined/2:
			small = append(small, v)
			changed = changed || 4*dead > len(v.docs)
		case 4*dead > len(v.docs):
			changed = true
			views = append(views, mergedView(v))
		default:
			views = append(views, v)
		}
	}
	if len(small) > most {
		changed = true
		for len(small) > 0 {
			n, docs := 0, 0
			for n < len(small) && (n == 0 || docs+small[n].left <= MostJoined) {
				docs += small[n].left
				n++
			}
			views = append(views, mergedView(small[:n]...))
			small = small[n:]
		}
	}
	if !changed {
		return ix
	}
	for _, v := range small {
		if 4*(len(v.docs)-v.left) > len(v.docs) {
			v = mergedView(v)
		}
		views = append(views, v)
	}
	next := &Index{embedder: ix.embedder, version: ix.version, views: views}
	next.prepare()
	return next
}

func mergedView(views ...*view) *view {
	s := merge(views)
	return &view{segment: s, left: len(s.docs)}
}

// prepare numbers the documents and computes what scores need, from sums: it
// costs what there are segments.
func (ix *Index) prepare() {
	var docs, chunks int32
	for i, v := range ix.views {
		v = &view{segment: v.segment, dead: v.dead, left: v.left, lost: v.lost, gone: v.gone, number: i, doc0: docs, chunk0: chunks}
		ix.views[i] = v
		docs += int32(len(v.docs))
		chunks += int32(len(v.chunks))
		ix.sums.plus(v.segment.sums, 1)
		ix.sums.plus(v.lost, -1)
	}
	all := ix.sums.scales()
	for _, v := range ix.views {
		v.scales = all
	}
	ix.scratch = &sync.Pool{New: func() any { return &scratch{scores: make([]float64, docs)} }}
}

func (s *sums) plus(o sums, sign int) {
	s.docs += sign * o.docs
	s.chunks += sign * o.chunks
	s.chunkLength += sign * o.chunkLength
	s.text += int64(sign) * o.text
	for f := range s.having {
		s.having[f] += sign * o.having[f]
		s.length[f] += sign * o.length[f]
	}
}

// Len is the number of documents.
func (ix *Index) Len() int { return ix.sums.docs }

// Chunks is the number of chunks.
func (ix *Index) Chunks() int { return ix.sums.chunks }

// TextBytes is the size of the documents on disk.
func (ix *Index) TextBytes() int64 { return ix.sums.text }

// Bytes is about the memory that the index takes.
func (ix *Index) Bytes() int {
	n := 0
	for _, v := range ix.views {
		n += v.size + 8*len(v.dead) + 16*len(v.gone)
		if v.codes != nil {
			n += v.codes.Bytes()
		}
	}
	return n
}

// Embedder names the embedder of the chunks; "" is words alone.
func (ix *Index) Embedder() string {
	if ix.embedder == nil {
		return ""
	}
	return ix.embedder.Name()
}

// Version grows with every update; compacting keeps it.
func (ix *Index) Version() uint64 { return ix.version }

// Has tells whether a path is indexed.
func (ix *Index) Has(path string) bool {
	_, _, ok := ix.at(path)
	return ok
}

func (ix *Index) at(path string) (*view, int32, bool) {
	for _, v := range ix.views {
		if doc, ok := v.place(path); ok && !v.isDead(doc) {
			return v, doc, true
		}
	}
	return nil, 0, false
}

// File returns all chunks of a path as hits, in the order of their lines, each
// of the highest score: they were asked for by name. There are none of a path
// that is not indexed.
func (ix *Index) File(path string) []Hit {
	v, doc, ok := ix.at(path)
	if !ok {
		return nil
	}
	var hits []Hit
	for chunk := v.first[doc]; chunk < v.first[doc+1]; chunk++ {
		hits = append(hits, v.hit(doc, chunk, 1))
	}
	return hits
}

func (v *view) hit(doc, at int32, score float64) Hit {
	c := &v.chunks[at]
	h := Hit{
		Document: &v.docs[doc].Document, Chunk: int(at - v.first[doc]), Lines: [2]int{int(c.lines[0]), int(c.lines[1])},
		Heading: c.heading, Tokens: int(c.tokens), Score: score,
	}
	if c.symbols != "" {
		h.Symbols = strings.Split(strings.TrimSuffix(c.symbols, "\n"), "\n")
	}
	return h
}
