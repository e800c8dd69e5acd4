package search

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/retrieval/artifact/glyph"
	"github.com/writbus/writ/retrieval/vector"
)

// Embedder turns texts into vectors, all of one dimension.
type Embedder interface {
	Name() string
	Embed(text string) ([]float32, error)
}

// Entry is a document, analysed: what an index takes in. It shares no memory
// with the text it came from.
type Entry struct {
	doc    document
	chunks []chunk
	terms  []int32 // places in the lexicon, each once
	of     *lexicon
	posts  []byte   // for each term, where it stands; see posting.go
	ends   []uint32 // of each term's in posts
	codes  *vector.Codes
}

// Path is the document's path.
func (e *Entry) Path() string { return e.doc.Path }

// document is what an index knows of a document beside its words.
type document struct {
	artifact.Document        // without chunks and symbols
	stem, dirs        string // terms of the file's name and of its folders, each followed by a blank
	kinds             kind
	lengths           [NumFields]uint32 // terms of each field
}

// chunk is a run of lines that can be a hit.
type chunk struct {
	lines   [2]int32
	heading string
	symbols string // that it declares, each followed by a line end
	length  uint32 // terms
	tokens  uint32
}

// Analyser turns documents into entries. It remembers the words it has met, so
// one should analyse many; it is for one goroutine at a time. What it remembers
// holds no pointers, so that the garbage collector need not look at it.
type Analyser struct {
	embedder Embedder
	words    dictionary
	of       *lexicon
	partOf   []int32 // by place: the place of the term as part of a name, −1 while unknown
	slots    []slot  // by place
	counts   []count // of the document's terms in its chunks
	key      []byte  // room for a lexicon's entry
	used     []int32 // places of the document
	places   []int32 // room for those of a text
	posts    []byte  // room for where they stand
}

// slot counts a term in the document that is being analysed.
type slot struct {
	fields     [Content]uint8
	head, tail int32 // its counts, from 1
}

// count says how often a term stands in a chunk.
type count struct {
	chunk, n uint32
	next     int32 // of the term's, from 1
}

// Bounds of what an analyser remembers, words: what it forgets when it is told
// that it may, and what it forgets in any case.
const (
	mostKnown  = 1 << 16
	mostWorked = 1 << 19
)

// NewAnalyser returns an analyser that embeds chunks where an embedder is
// given; nil leaves words alone.
func NewAnalyser(e Embedder) *Analyser {
	a := &Analyser{embedder: e}
	a.forget()
	return a
}

func (a *Analyser) forget() {
	*a = Analyser{embedder: a.embedder, of: newLexicon(), words: newDictionary()}
}

// Rest forgets the words that were met, if they are many. Entries that were made
// before must not be used any more: it is meant for between two parts.
func (a *Analyser) Rest() {
	if a.words.len() < mostKnown {
		return
	}
	a.words.empty()
	a.of.empty()
	a.slots, a.partOf = a.slots[:0], a.partOf[:0]
}

// Analyse makes the entry of a document. The error is the embedder's.
func (a *Analyser) Analyse(d *artifact.Document) (*Entry, error) {
	if a.words.len() > mostWorked {
		a.forget()
	}
	e := &Entry{doc: keptOf(d), chunks: make([]chunk, len(d.Chunks))}
	e.doc.lengths[Title] = a.field(Title, d.Title)
	e.doc.lengths[Tags] = a.field(Tags, strings.Join(d.Tags, " "))
	e.doc.lengths[Summary] = a.field(Summary, d.Summary)
	e.doc.lengths[Path] = a.field(Path, d.Path)
	for i := range d.Chunks {
		c := &d.Chunks[i]
		a.places = a.placesOf(c.Text, a.places[:0])
		for _, at := range a.places {
			a.inChunk(at, uint32(i))
		}
		n := uint32(len(a.places))
		a.names(c, func(at int32) { a.inChunk(at, uint32(i)) })
		e.chunks[i] = chunk{
			lines: [2]int32{int32(c.Lines[0]), int32(c.Lines[1])}, heading: strings.Clone(c.Heading),
			symbols: lines(c.Symbols), length: n, tokens: uint32(c.Tokens),
		}
		e.doc.lengths[Content] += n
	}
	a.emit(e)
	return e, a.embed(e, d)
}

// field counts the words of a field that is not content.
func (a *Analyser) field(f Field, text string) (n uint32) {
	a.each(text, func(at int32) {
		if s := a.slot(at); s.fields[f] < 255 {
			s.fields[f]++
		}
		n++
	})
	return n
}

// each calls f with the place of every term of the text.
func (a *Analyser) each(text string, f func(int32)) {
	a.places = a.placesOf(text, a.places[:0])
	for _, place := range a.places {
		f(place)
	}
}

// placesOf appends the place of every term of the text. To look all of a text up
// before anything else is done with it lets the processor fetch several words at
// once.
func (a *Analyser) placesOf(text string, to []int32) []int32 {
	var block glyph.Block
	next := 0 // where the words that were not met yet begin
	for at := 0; at < len(text); at += glyph.BlockBytes {
		if next >= at+glyph.BlockBytes {
			continue
		}
		block.Read(text, at)
		if block.Wide != 0 {
			to, next = a.slowly(text, max(next, at), at+glyph.BlockBytes, to)
			continue
		}
		bytes := block.Letter | block.Number | block.Underscore
		if next > at {
			bytes &^= 1<<(next-at) - 1
		}
		for bytes != 0 {
			from := bits.TrailingZeros64(bytes)
			n := bits.TrailingZeros64(^(bytes >> from))
			if from+n == glyph.BlockBytes { // it may go on
				to, next = a.slowly(text, at+from, at+glyph.BlockBytes, to)
				break
			}
			bytes &^= 1<<(from+n) - 1
			to = a.append(to, text, at+from, n)
		}
	}
	return to
}

// slowly appends the places of the terms of the words that begin before an end,
// character by character, and returns where the last one ends.
func (a *Analyser) slowly(text string, at, end int, to []int32) ([]int32, int) {
	for at < end {
		word, behind := nextWord(text, at)
		if word == "" || behind-len(word) >= end {
			break
		}
		to = a.append(to, text, behind-len(word), len(word))
		at = behind
	}
	return to, at
}

// append appends the places of the terms of a word.
func (a *Analyser) append(to []int32, text string, at, n int) []int32 {
	place := int32(unknown)
	if n <= 8 && at+8 <= len(text) { // most are: these are looked up as a number
		place = *a.words.findShort(eight(text[at:at+8]) & (math.MaxUint64 >> (64 - 8*n)))
	}
	if place == unknown {
		place = a.lookUp(text[at : at+n])
	}
	switch {
	case place >= 0:
		return append(to, place)
	case place == nothing:
		return to
	}
	return append(to, a.words.list(place)...)
}

// lookUp returns the place of a word's term, or where the dictionary lists
// several.
func (a *Analyser) lookUp(word string) int32 {
	if place := a.words.find(word); *place != unknown {
		return *place
	}
	// Words that are met in others are remembered by themselves, too.
	var buffer [8][2]int
	parts := partsOf(word, buffer[:0])
	var few [8]int32
	places := few[:0]
	switch {
	case len(parts) == 1 && parts[0] == [2]int{0, len(word)}:
		if a.key = appendNormal(a.key[:0], word); len(a.key) > 0 {
			places = append(places, a.place(asText(a.key)))
		}
	default:
		if len(parts) > 1 {
			a.key = appendWhole(a.key[:0], word)
			places = append(places, a.place(asText(a.key)))
		}
		for _, p := range parts {
			if place := a.lookUp(word[p[0]:p[1]]); place >= 0 {
				places = append(places, place)
			}
		}
	}
	place := a.words.several(places)
	*a.words.find(word) = place
	return place
}

func (a *Analyser) place(text string) int32 {
	at := a.of.place(text)
	if int(at) == len(a.slots) {
		a.slots, a.partOf = append(a.slots, slot{}), append(a.partOf, -1)
	}
	return at
}

// slot returns a term's counts, which belong to the document from then on.
func (a *Analyser) slot(at int32) *slot {
	s := &a.slots[at]
	if s.fields == [Content]uint8{} && s.head == 0 {
		a.used = append(a.used, at)
	}
	return s
}

func (a *Analyser) inChunk(at int32, chunk uint32) {
	s := a.slot(at)
	if s.head > 0 {
		if last := &a.counts[s.tail-1]; last.chunk == chunk {
			last.n++
			return
		}
	}
	a.counts = append(a.counts, count{chunk, 1, 0})
	n := int32(len(a.counts))
	if s.head == 0 {
		s.head = n
	} else {
		a.counts[s.tail-1].next = n
	}
	s.tail = n
}

// emit writes the counts to the entry, and clears them.
func (a *Analyser) emit(e *Entry) {
	e.terms, e.of = slices.Clone(a.used), a.of
	e.ends = make([]uint32, len(a.used))
	posts := a.posts[:0]
	for i, at := range a.used {
		posts = a.post(posts, &a.slots[at])
		e.ends[i] = uint32(len(posts))
		a.slots[at] = slot{}
	}
	e.posts = slices.Clone(posts)
	a.posts, a.used, a.counts = posts, a.used[:0], a.counts[:0]
}

// post writes where a term stands; posting.go reads it.
func (a *Analyser) post(b []byte, s *slot) []byte {
	head, n, often, size, last := len(b), 0, uint32(0), uint32(0), uint32(0)
	for at := s.head; at > 0; {
		c := &a.counts[at-1]
		n, often = n+1, often+c.n
		if size += uvarintLen((c.chunk - last) << 1); c.n > 1 {
			size += uvarintLen(c.n)
		}
		last, at = c.chunk, c.next
	}
	b = append(b, byte(min(n, manyChunks))<<4)
	for f, n := range s.fields {
		if n > 0 {
			b[head] |= 1 << f
			b = append(b, n)
		}
	}
	if n >= manyChunks {
		b = binary.AppendUvarint(b, uint64(n))
	}
	if n > 1 {
		b = binary.AppendUvarint(b, uint64(often))
		b = binary.AppendUvarint(b, uint64(size))
	}
	last = 0
	for at := s.head; at > 0; {
		c := &a.counts[at-1]
		delta := (c.chunk - last) << 1
		last, at = c.chunk, c.next
		if c.n > 1 {
			b = binary.AppendUvarint(b, uint64(delta|1))
			b = binary.AppendUvarint(b, uint64(c.n))
		} else {
			b = binary.AppendUvarint(b, uint64(delta))
		}
	}
	return b
}

// embed adds a vector for each chunk: of where it stands and what it says.
func (a *Analyser) embed(e *Entry, d *artifact.Document) error {
	if a.embedder == nil {
		return nil
	}
	for i := range d.Chunks {
		v, err := a.embedder.Embed(meaning(d, &d.Chunks[i]))
		if err != nil {
			return err
		}
		if e.codes == nil {
			e.codes = vector.NewCodes(len(v), len(d.Chunks))
		}
		e.codes.Append(v)
	}
	return nil
}

func lines(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return strings.Join(list, "\n") + "\n"
}
