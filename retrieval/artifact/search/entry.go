package search

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/artifact"
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
	terms  []int32 // places in words, each once
	words  []string
	of     *lexicon
	posts  []byte // for each term, where it stands; see posting.go
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
// one should analyse many; it is for one goroutine at a time.
type Analyser struct {
	embedder Embedder
	known    map[string]*known // by the word as it is written
	lately   []near            // of them, by hash
	far      near              // a word that is too long to be among these
	terms    []string
	of       *lexicon
	places   map[string]int32
	slots    []slot  // by place in terms
	key      []byte  // room for a dictionary's entry
	used     []int32 // slots of the document
}

// lexicon tells entries apart whose places are of different terms.
type lexicon struct{ _ byte }

// known is a word that was met, and its terms' places.
type known struct {
	word   string
	places []int32
	parts  []int32 // of the entries that it makes in a name; nil until it is in one
}

// slot counts a term in the document that is being analysed.
type slot struct {
	fields [Content]uint8
	chunks []count
}

type count struct{ chunk, n uint32 }

// mostKnown bounds what an analyser remembers.
const mostKnown = 1 << 19

// NewAnalyser returns an analyser that embeds chunks where an embedder is
// given; nil leaves words alone.
func NewAnalyser(e Embedder) *Analyser {
	a := &Analyser{embedder: e}
	a.forget()
	return a
}

func (a *Analyser) forget() {
	*a = Analyser{embedder: a.embedder, known: map[string]*known{}, lately: make([]near, 1<<nearBits), places: map[string]int32{}, of: new(lexicon)}
}

// Analyse makes the entry of a document. The error is the embedder's.
func (a *Analyser) Analyse(d *artifact.Document) (*Entry, error) {
	if len(a.known) > mostKnown {
		a.forget()
	}
	e := &Entry{doc: describe(d), chunks: make([]chunk, len(d.Chunks))}
	e.doc.lengths[Title] = a.field(Title, d.Title)
	e.doc.lengths[Tags] = a.field(Tags, strings.Join(d.Tags, " "))
	e.doc.lengths[Summary] = a.field(Summary, d.Summary)
	e.doc.lengths[Path] = a.field(Path, d.Path)
	for i := range d.Chunks {
		c := &d.Chunks[i]
		n := uint32(0)
		a.each(c.Text, func(s *slot) {
			s.inChunk(uint32(i))
			n++
		})
		a.names(c, func(at int32) { a.slot(at).inChunk(uint32(i)) })
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
	a.each(text, func(s *slot) {
		if s.fields[f] < 255 {
			s.fields[f]++
		}
		n++
	})
	return n
}

// each calls f for every term of the text.
func (a *Analyser) each(text string, f func(*slot)) {
	for word, at := nextWord(text, 0); word != ""; word, at = nextWord(text, at) {
		if place := a.near(word).place; place >= 0 {
			f(a.slot(place))
		} else if place == several {
			for _, at := range a.lookUp(word).places {
				f(a.slot(at))
			}
		}
	}
}

// lookUp returns what is known of a word.
func (a *Analyser) lookUp(word string) *known { return a.near(word).known }

// near returns the place among the words met lately that is now the word's.
func (a *Analyser) near(word string) *near {
	if len(word) > nearBytes {
		a.far = newNear(nearKey{}, a.find(word))
		return &a.far
	}
	key := keyOf(word)
	n := &a.lately[key.place()]
	if n.nearKey != key {
		*n = newNear(key, a.find(word))
	}
	return n
}

func (a *Analyser) find(word string) *known {
	k, ok := a.known[word]
	if !ok {
		k = &known{word: strings.Clone(word)}
		for _, t := range expand(word) {
			k.places = append(k.places, a.place(t.text))
		}
		a.known[k.word] = k
	}
	return k
}

func (a *Analyser) place(text string) int32 {
	at, ok := a.places[text]
	if !ok {
		at = int32(len(a.terms))
		a.terms, a.slots = append(a.terms, text), append(a.slots, slot{})
		a.places[text] = at
	}
	return at
}

// slot returns a term's counts, which belong to the document from then on.
func (a *Analyser) slot(at int32) *slot {
	s := &a.slots[at]
	if s.fields == [Content]uint8{} && len(s.chunks) == 0 {
		a.used = append(a.used, at)
	}
	return s
}

func (s *slot) inChunk(i uint32) {
	if n := len(s.chunks); n > 0 && s.chunks[n-1].chunk == i {
		s.chunks[n-1].n++
		return
	}
	s.chunks = append(s.chunks, count{i, 1})
}

// emit writes the counts to the entry, and clears them.
func (a *Analyser) emit(e *Entry) {
	e.terms, e.words, e.of = slices.Clone(a.used), a.terms, a.of
	e.posts = make([]byte, 0, 4*len(a.used))
	for _, at := range a.used {
		s := &a.slots[at]
		e.posts = s.append(e.posts)
		s.fields, s.chunks = [Content]uint8{}, s.chunks[:0]
	}
	a.used = a.used[:0]
}

// append writes where the term stands; posting.go reads it.
func (s *slot) append(b []byte) []byte {
	head := len(b)
	b = append(b, byte(min(len(s.chunks), manyChunks))<<4)
	for f, n := range s.fields {
		if n > 0 {
			b[head] |= 1 << f
			b = append(b, n)
		}
	}
	if len(s.chunks) >= manyChunks {
		b = binary.AppendUvarint(b, uint64(len(s.chunks)))
	}
	last := uint32(0)
	for _, c := range s.chunks {
		delta := (c.chunk - last) << 1
		last = c.chunk
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
