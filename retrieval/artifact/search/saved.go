package search

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/retrieval/vector"
)

// ErrSaved is returned for bytes that are no saved index of this format.
var ErrSaved = errors.New("search: not a saved index")

// savedFormat is the first byte of a saved index. Whoever changes what is
// written, or what an analyser makes of a document, counts it up.
const savedFormat = 1

// Save writes the index, whose segments are made one. The same documents give
// the same bytes.
func (ix *Index) Save(to io.Writer) error {
	ix = ix.Compact()
	s := &segment{first: []int32{0}}
	if len(ix.views) > 0 {
		s = ix.views[0].segment
	}
	w := &writer{to: bufio.NewWriterSize(to, 1<<16)}
	w.number(savedFormat)
	w.text(ix.Embedder())
	w.segment(s)
	return cmp.Or(w.err, w.to.Flush())
}

// writer writes numbers and texts until something fails.
type writer struct {
	to   *bufio.Writer
	room [binary.MaxVarintLen64]byte
	err  error
}

func (w *writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.to.Write(b)
	}
}

func (w *writer) number(n uint64) { w.write(w.room[:binary.PutUvarint(w.room[:], n)]) }

func (w *writer) text(s string) {
	w.number(uint64(len(s)))
	w.raw(s)
}

func (w *writer) raw(s string) {
	if w.err == nil {
		_, w.err = w.to.WriteString(s)
	}
}

func (w *writer) bytes(b []byte) {
	w.number(uint64(len(b)))
	w.write(b)
}

// gaps writes ascending numbers.
func (w *writer) gaps(ends []uint32) {
	last := uint32(0)
	for _, n := range ends {
		w.number(uint64(n - last))
		last = n
	}
}

func (w *writer) segment(s *segment) {
	w.number(uint64(len(s.docs)))
	w.number(uint64(len(s.textEnds)))
	// All texts stand together, so that they are read as one.
	sum := 0
	s.eachText(func(t string) { sum += len(t) })
	w.number(uint64(sum))
	s.eachText(w.raw)
	for i := range s.docs {
		w.document(&s.docs[i], s.chunksOf(int32(i)))
	}
	w.text(s.text)
	w.gaps(s.textEnds)
	w.bytes(s.postings)
	w.gaps(s.postEnds)
	w.bytes(s.forward)
	w.gaps(s.forwardEnds)
	if s.codes == nil {
		w.number(0)
		return
	}
	w.number(uint64(s.codes.Dim()))
	row := make([]byte, s.codes.Dim()+4)
	for i := range s.codes.Len() {
		codes, scale := s.codes.Row(i)
		for at, c := range codes {
			row[at] = byte(c)
		}
		binary.LittleEndian.PutUint32(row[len(codes):], math.Float32bits(scale))
		w.write(row)
	}
}

// eachText calls f with the texts of documents and chunks, in the order in which
// they are written.
func (s *segment) eachText(f func(string)) {
	for i := range s.docs {
		d := s.docs[i] // readers have the other one
		d.eachText(func(t *string) { f(*t) })
		for j := range s.chunksOf(int32(i)) {
			c := &s.chunks[int(s.first[i])+j]
			f(c.heading)
			f(c.symbols)
		}
	}
}

func (d *document) eachText(f func(*string)) {
	kind := string(d.Type)
	for _, t := range []*string{&d.Path, &kind, &d.Title, &d.Summary, &d.Phase, &d.Language, &d.Hash, &d.stem, &d.dirs} {
		f(t)
	}
	d.Type = artifact.Type(kind)
	for _, list := range [][]string{d.Tags, d.References} {
		for i := range list {
			f(&list[i])
		}
	}
}

// document writes what is known of a document, and the lengths of its texts.
func (w *writer) document(d *document, chunks []chunk) {
	w.number(uint64(len(d.Tags)))
	w.number(uint64(len(d.References)))
	own := *d // readers have the other one
	own.eachText(func(t *string) { w.number(uint64(len(*t))) })
	w.number(uint64(d.Size))
	w.bytes(timeBytes(d.ModTime))
	flags := uint64(d.kinds) << 1
	if d.Generated {
		flags |= 1
	}
	w.number(flags)
	for _, n := range d.lengths {
		w.number(uint64(n))
	}
	w.number(uint64(len(chunks)))
	for i := range chunks {
		c := &chunks[i]
		for _, n := range []int{int(c.lines[0]), int(c.lines[1]), len(c.heading), len(c.symbols), int(c.length), int(c.tokens)} {
			w.number(uint64(n))
		}
	}
}

// timeBytes are empty for no time.
func timeBytes(t time.Time) []byte {
	if t.IsZero() {
		return nil
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(t.UnixNano()))
}

// Load reads what [Index.Save] wrote. The embedder has to be the one whose
// vectors were saved. Bytes that are no saved index of this format and embedder
// give [ErrSaved], never an index that cannot be searched.
func Load(saved []byte, e Embedder) (*Index, error) {
	r := &source{rest: saved}
	if format := r.number(); r.bad || format != savedFormat {
		return nil, fmt.Errorf("%w: its format is %d, this is %d", ErrSaved, format, savedFormat)
	}
	ix := &Index{embedder: e, version: 1}
	if by := r.text(); by != ix.Embedder() {
		return nil, fmt.Errorf("%w: its embedder is %q, this is %q", ErrSaved, by, ix.Embedder())
	}
	s := r.segment()
	if r.bad || len(r.rest) > 0 || !s.sound() {
		return nil, fmt.Errorf("%w: it does not fit together", ErrSaved)
	}
	if len(s.docs) > 0 {
		ix.views = []*view{{segment: s, left: len(s.docs)}}
	}
	ix.prepare()
	return ix, nil
}

// source reads numbers and texts; it is bad from where something is missing.
type source struct {
	rest []byte
	bad  bool
}

func (r *source) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// length reads a number of things of which each takes so many bytes at least.
func (r *source) length(each int) int {
	n := r.number()
	if n > uint64(len(r.rest)/max(each, 1)) {
		r.bad, r.rest = true, nil
		return 0
	}
	return int(n)
}

func (r *source) small() uint32 {
	n := r.number()
	if n > math.MaxInt32 {
		r.bad = true
	}
	return uint32(n)
}

func (r *source) bytes() []byte { return r.take(r.length(1)) }

func (r *source) take(n int) []byte {
	if n > len(r.rest) {
		r.bad, r.rest = true, nil
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *source) text() string { return string(r.bytes()) }

func (r *source) gaps(n int) []uint32 {
	ends, sum := make([]uint32, n), uint64(0)
	for i := range ends {
		sum += uint64(r.small())
		ends[i] = uint32(sum)
	}
	if sum > math.MaxUint32 {
		r.bad = true
	}
	return ends
}

func (r *source) segment() *segment {
	docs := r.length(16)
	terms := r.length(2)
	texts := r.text()
	s := &segment{docs: make([]document, docs), first: make([]int32, 1, docs+1)}
	for i := range s.docs {
		if r.bad {
			return s
		}
		texts = r.document(s, &s.docs[i], texts)
		s.sums.add(&s.docs[i], s.chunksOf(int32(i)), 1)
	}
	r.bad = r.bad || texts != ""
	s.text = r.text()
	s.textEnds = r.gaps(terms)
	s.postings = append([]byte(nil), r.bytes()...)
	s.postEnds = r.gaps(terms)
	s.forward = append([]byte(nil), r.bytes()...)
	s.forwardEnds = r.gaps(docs)
	dim := r.number()
	if dim == 0 || r.bad {
		return s
	}
	if dim > uint64(len(r.rest)) || len(s.chunks)*(int(dim)+4) != len(r.rest) {
		r.bad = true
		return s
	}
	s.codes = vector.NewCodes(int(dim), len(s.chunks))
	row := make([]int8, dim)
	for range s.chunks {
		b := r.take(int(dim) + 4)
		for i := range row {
			row[i] = int8(b[i])
		}
		r.bad = s.codes.AppendRow(row, math.Float32frombits(binary.LittleEndian.Uint32(b[dim:]))) != nil || r.bad
	}
	return s
}

// document reads one document, whose texts are the next ones, and returns those
// that are left.
func (r *source) document(s *segment, d *document, texts string) string {
	next := func(n int) string {
		if n > len(texts) {
			r.bad, texts = true, ""
			return ""
		}
		t := texts[:n]
		texts = texts[n:]
		return t
	}
	if n := r.length(1); n > 0 {
		d.Tags = make([]string, n)
	}
	if n := r.length(1); n > 0 {
		d.References = make([]string, n)
	}
	d.eachText(func(t *string) { *t = next(int(r.small())) })
	d.Size = int64(r.number())
	if b := r.bytes(); len(b) == 8 {
		d.ModTime = time.Unix(0, int64(binary.LittleEndian.Uint64(b))).UTC()
	}
	flags := r.number()
	d.Generated, d.kinds = flags&1 != 0, kind(flags>>1)
	for f := range d.lengths {
		d.lengths[f] = r.small()
	}
	for range r.length(6) {
		c := chunk{lines: [2]int32{int32(r.small()), int32(r.small())}}
		c.heading, c.symbols = next(int(r.small())), next(int(r.small()))
		c.length, c.tokens = r.small(), r.small()
		s.chunks = append(s.chunks, c)
	}
	s.first = append(s.first, int32(len(s.chunks)))
	return texts
}
