package search

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"time"
	"unsafe"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/retrieval/vector"
)

// ErrSaved is returned for bytes that are no saved index of this format.
var ErrSaved = errors.New("search: not a saved index")

// savedFormat is the first byte of a saved index. Whoever changes what is
// written, or what an analyser makes of a document, counts it up.
const savedFormat = 4

// Save writes the index, segment by segment as it is searched. An index in one
// segment of the same documents gives the same bytes.
func (ix *Index) Save(to io.Writer) error {
	defer runtime.KeepAlive(ix)
	return Guarded(func() error { return ix.save(to) })
}

func (ix *Index) save(to io.Writer) error {
	w := &writer{to: bufio.NewWriterSize(to, 1<<16)}
	w.number(savedFormat)
	w.text(ix.Embedder())
	w.number(uint64(len(ix.views)))
	for _, v := range ix.views {
		w.segment(v.segment)
		if v.kept != nil {
			v.kept.Drop()
		}
		w.number(uint64(len(v.docs) - v.left))
		last := int32(-1)
		for doc := range int32(len(v.docs)) {
			if v.isDead(doc) {
				w.number(uint64(doc - last))
				last = doc
			}
		}
	}
	return cmp.Or(w.err, w.to.Flush())
}

// writer writes numbers and texts until something fails.
type writer struct {
	to     *bufio.Writer
	buffer [binary.MaxVarintLen64]byte
	err    error
}

func (w *writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.to.Write(b)
	}
}

func (w *writer) number(n uint64) { w.write(w.buffer[:binary.PutUvarint(w.buffer[:], n)]) }

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
	w.number(uint64(len(s.chunks)))
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

// Load reads what [Index.Save] wrote, of so many bytes. The embedder has to be
// the one whose vectors were saved. Bytes that are no saved index of this format
// and embedder give [ErrSaved], never an index that cannot be searched; an error
// of the reader is returned as it is.
func Load(saved io.Reader, size int64, e Embedder) (*Index, error) {
	r := &source{from: bufio.NewReaderSize(saved, 1<<16), left: size}
	ix := &Index{embedder: e, version: 1}
	if err := r.index(ix); r.err != nil {
		return nil, fmt.Errorf("search: read a saved index: %w", r.err)
	} else if err != nil {
		return nil, err
	}
	ix.prepare()
	return ix, nil
}

func (r *source) index(ix *Index) error {
	if format := r.number(); r.bad || format != savedFormat {
		return fmt.Errorf("%w: its format is %d, this is %d", ErrSaved, format, savedFormat)
	}
	if by := r.text(); by != ix.Embedder() {
		return fmt.Errorf("%w: its embedder is %q, this is %q", ErrSaved, by, ix.Embedder())
	}
	paths := map[string]bool{}
	for range r.length(1) {
		s := r.segment()
		if r.bad || !s.sound() {
			return fmt.Errorf("%w: it does not fit together", ErrSaved)
		}
		s.finish()
		v := r.dead(s)
		for doc := range s.docs {
			if v.isDead(int32(doc)) {
				continue
			}
			if path := s.docs[doc].Path; paths[path] {
				r.bad = true
			} else {
				paths[path] = true
			}
		}
		if v.left > 0 {
			ix.views = append(ix.views, v)
		}
	}
	if r.bad || r.left != 0 {
		return fmt.Errorf("%w: it does not fit together", ErrSaved)
	}
	return nil
}

// dead makes a view of a segment without its dead documents, which come next.
func (r *source) dead(s *segment) *view {
	v := &view{segment: s, left: len(s.docs)}
	var paths []string
	doc := -1
	for range r.length(1) {
		if doc += int(r.small()); doc < 0 || doc >= len(s.docs) {
			r.bad = true
			return v
		}
		paths = append(paths, s.docs[doc].Path)
	}
	return v.without(paths)
}

// source reads numbers and texts; it is bad from where something is missing.
type source struct {
	from *bufio.Reader
	left int64 // bytes that are still to come
	bad  bool
	err  error // of what is read from
}

func (r *source) fail() { r.bad, r.left = true, 0 }

func (r *source) number() (v uint64) {
	for shift := 0; ; shift += 7 {
		if r.left == 0 {
			r.fail()
			return 0
		}
		b, err := r.from.ReadByte()
		if err != nil {
			r.err = err
			r.fail()
			return 0
		}
		r.left--
		if shift == 63 && b > 1 {
			r.fail()
			return 0
		}
		if v |= uint64(b&0x7f) << shift; b < 0x80 {
			return v
		}
	}
}

// length reads a number of things of which each takes so many bytes at least.
func (r *source) length(each int) int {
	n := r.number()
	if n > uint64(r.left/int64(max(each, 1))) {
		r.fail()
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

// take reads so many bytes, into memory of their own.
func (r *source) take(n int) []byte {
	b := make([]byte, n)
	r.into(b)
	return b
}

func (r *source) into(b []byte) {
	if int64(len(b)) > r.left {
		r.fail()
		return
	}
	if _, err := io.ReadFull(r.from, b); err != nil {
		r.err = err
		r.fail()
		return
	}
	r.left -= int64(len(b))
}

func (r *source) text() string {
	b := r.bytes()
	return unsafe.String(unsafe.SliceData(b), len(b)) // which nobody else has
}

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
	chunks := r.length(6)
	texts := r.text()
	s := &segment{docs: make([]document, docs), first: make([]int32, 1, docs+1)}
	if chunks > 0 {
		s.chunks = make([]chunk, 0, chunks)
	}
	for i := range s.docs {
		if r.bad {
			return s
		}
		texts = r.document(s, &s.docs[i], texts)
		s.sums.add(&s.docs[i], s.chunksOf(int32(i)), 1)
	}
	r.bad = r.bad || texts != "" || len(s.chunks) != chunks
	s.text = r.text()
	s.textEnds = r.gaps(terms)
	s.postings = r.bytes()
	s.postEnds = r.gaps(terms)
	s.forward = r.bytes()
	s.forwardEnds = r.gaps(docs)
	dim := r.number()
	if dim == 0 || r.bad {
		return s
	}
	if dim > uint64(r.left) || int64(len(s.chunks)) > r.left/int64(dim+4) {
		r.fail()
		return s
	}
	s.codes = vector.NewCodes(int(dim), len(s.chunks))
	row, b := make([]int8, dim), make([]byte, dim+4)
	for range s.chunks {
		r.into(b)
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
