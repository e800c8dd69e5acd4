package retrieval

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unique"
	"unsafe"

	"github.com/writbus/writ/retrieval/lexical"
)

var (
	// ErrDocument is returned by [UnmarshalDocument] for bytes that are no document.
	ErrDocument = errors.New("retrieval: not a stored document")
	// ErrDocumentVersion is returned by [UnmarshalDocument] for a document of
	// another [StoredVersion]: analyse the rule again.
	ErrDocumentVersion = errors.New("retrieval: stored document is of another version")
)

// storedVersion is the first byte of a stored document: the layout below and
// the analysis. Persisted; a layout of other bytes is another number.
const storedVersion = 1<<4 | AnalysisVersion

// headBytes is where the vectors of a stored document begin.
const headBytes = 12 + sha256.Size

// MarshalBinary encodes the document: storedVersion and three zeros; the
// dimension and the number of the vectors, 32 bits each; the sum; the vectors,
// 32-bit floats, all of it little endian; then the embedder's name, the type,
// the terms and counts by field, the pairs, the token counts, and the rule, with
// lengths and numbers as uvarints. The same document always gives the same bytes.
func (d Document) MarshalBinary() ([]byte, error) {
	words, m := d.wording(), d.meaning
	b := make([]byte, 0, headBytes+4*d.floats()+len(words.fields)+len(words.pairs)+4096)
	b = append(b, storedVersion, 0, 0, 0)
	if n := m.vectors(); n > 0 {
		b = binary.LittleEndian.AppendUint32(b, uint32(m.dim))
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	} else {
		b = append(b, make([]byte, 8)...)
	}
	b = append(b, words.sum[:]...)
	if m.vectors() > 0 {
		for _, x := range m.values {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
	}
	b = appendString(b, d.EmbeddedBy())
	b = d.appendAnalysis(b)
	return appendRule(b, d.Rule)
}

// floats is how many numbers the vectors have.
func (d *Document) floats() int {
	if d.meaning == nil {
		return 0
	}
	return len(d.meaning.values)
}

// appendAnalysis writes the type, the terms, the pairs and the token counts.
func (d *Document) appendAnalysis(b []byte) []byte {
	words := d.wording()
	b = appendString(b, d.Type)
	if words.fields == "" {
		b = append(b, packFields(&lexical.Fields{})...)
		b = append(b, lexical.PackPairs(nil)...)
	}
	b = append(append(b, words.fields...), words.pairs...)
	for _, n := range words.tokens {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

// identity is the SHA-256 over everything that was analysed, and what came of it.
func (d *Document) identity() [sha256.Size]byte {
	rule, err := json.Marshal(d.Rule)
	if err != nil {
		panic("retrieval: a rule of plain strings does not encode: " + err.Error())
	}
	analysis := d.appendAnalysis(make([]byte, 0, 2*len(rule)+256))
	b := binary.AppendUvarint([]byte{AnalysisVersion}, uint64(len(analysis)))
	b = binary.AppendUvarint(append(b, analysis...), uint64(len(rule)))
	return sha256.Sum256(append(b, rule...))
}

// packFields writes, field by field, how many terms there are and each term
// with its count.
func packFields(fields *lexical.Fields) string {
	var b []byte
	for _, counts := range fields {
		b = binary.AppendUvarint(b, uint64(len(counts)))
		for _, c := range counts {
			b = appendString(b, c.Term)
			b = binary.AppendUvarint(b, uint64(c.N))
		}
	}
	return string(b)
}

// unpack reads what packFields wrote, in the memory that the fields have. The
// terms share the packed string.
func (w *wording) unpack(fields *lexical.Fields) {
	r := reader{rest: w.fields}
	for i := range fields {
		fields[i] = r.counts(fields[i][:0])
	}
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// UnmarshalDocument decodes what [Document.MarshalBinary] wrote. Bytes that it
// cannot have written give [ErrDocument], another version gives
// [ErrDocumentVersion]. The document shares the bytes, which must not change.
func UnmarshalDocument(b []byte) (Document, error) {
	if len(b) == 0 {
		return Document{}, fmt.Errorf("%w: it is empty", ErrDocument)
	}
	if b[0] != storedVersion {
		return Document{}, fmt.Errorf("%w: %d, this is %d", ErrDocumentVersion, b[0], storedVersion)
	}
	if len(b) < headBytes {
		return Document{}, fmt.Errorf("%w: it is cut short", ErrDocument)
	}
	dim, n := uint64(binary.LittleEndian.Uint32(b[4:])), uint64(binary.LittleEndian.Uint32(b[8:]))
	numbers := b[headBytes:]
	if (dim == 0) != (n == 0) || n > 0 && dim > uint64(len(numbers))/4/n || b[1]|b[2]|b[3] != 0 {
		return Document{}, fmt.Errorf("%w: %d vectors of %d dimensions in %d bytes", ErrDocument, n, dim, len(numbers))
	}
	r := reader{rest: textOf(numbers[4*n*dim:])}
	name := r.string()
	if name == "" && n > 0 {
		return Document{}, fmt.Errorf("%w: vectors of no embedder", ErrDocument)
	}
	words := &wording{sum: [sha256.Size]byte(b[12:headBytes])}
	doc := Document{words: words}
	if name != "" {
		// All documents of an index have one embedder: its name is kept once.
		doc.meaning = &meaning{embedder: unique.Make(strings.Clone(name)).Value(), dim: int(dim), values: floatsOf(numbers[:4*n*dim])}
	}
	doc.Type = words.read(&r)
	doc.Rule = r.rule()
	if r.bad || len(r.rest) != 0 {
		return Document{}, fmt.Errorf("%w: it is cut short, has too many bytes, or its terms are not as they are written", ErrDocument)
	}
	return doc, nil
}

// textOf is bytes that do not change as a string.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// floatsOf are 32-bit floats, little endian, in their own memory where this
// processor can read them there.
func floatsOf(b []byte) []float32 {
	if len(b) == 0 {
		return nil
	}
	if at := unsafe.Pointer(unsafe.SliceData(b)); littleEndian && uintptr(at)%unsafe.Alignof(float32(0)) == 0 {
		return unsafe.Slice((*float32)(at), len(b)/4)
	}
	values := make([]float32, len(b)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return values
}

// littleEndian is how this processor keeps numbers.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// read takes an analysis off a document, which it shares: the type, the fields,
// which it checks, the pairs and the token counts.
func (w *wording) read(r *reader) (kind string) {
	kind = r.string()
	fields := r.rest
	var terms [lexical.NumFields]int
	for field := range terms {
		terms[field] = r.skipCounts()
	}
	w.fields = fields[:len(fields)-len(r.rest)]
	if r.bad {
		return kind
	}
	pairs, rest, ok := lexical.CutPairs(r.rest, terms)
	if !ok {
		r.bad = true
		return kind
	}
	w.pairs, r.rest = pairs, rest
	for i := range w.tokens {
		w.tokens[i] = int32(r.uvarint(math.MaxInt32))
	}
	return kind
}

// reader takes values off the front of a string, whose parts they share; after
// the first bad one it only returns zero values.
type reader struct {
	rest string
	bad  bool
}

func (r *reader) uvarint(limit uint64) uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 && uint64(r.rest[0]) <= limit && !r.bad {
		v := uint64(r.rest[0]) // nearly all are
		r.rest = r.rest[1:]
		return v
	}
	var head [binary.MaxVarintLen64]byte
	v, n := binary.Uvarint(head[:copy(head[:], r.rest)])
	if r.bad || n <= 0 || v > limit {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) string() string {
	n := r.uvarint(uint64(len(r.rest)))
	if r.bad || n > uint64(len(r.rest)) {
		r.bad = true
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

// counts appends one field, which skipCounts found right.
func (r *reader) counts(counts []lexical.Count) []lexical.Count {
	n := r.uvarint(uint64(len(r.rest)))
	counts = slices.Grow(counts, int(n))
	for range n {
		counts = append(counts, lexical.Count{Term: r.string(), N: uint32(r.uvarint(math.MaxUint32))})
	}
	return counts
}

// skipCounts passes over one field and tells how many terms it has; they must
// ascend, as the index relies on.
func (r *reader) skipCounts() int {
	n := r.uvarint(uint64(len(r.rest)) / 2) // a term and its count take two bytes at least
	last := ""
	for i := uint64(0); i < n && !r.bad; i++ {
		term, times := r.string(), r.uvarint(math.MaxUint32)
		if times == 0 || i > 0 && term <= last {
			r.bad = true
		}
		last = term
	}
	return int(n)
}
