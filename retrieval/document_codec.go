package retrieval

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"unique"

	"github.com/writbus/writ/retrieval/lexical"
	"github.com/writbus/writ/schemas"
)

var (
	// ErrDocument is returned by [UnmarshalDocument] for bytes that are no document.
	ErrDocument = errors.New("retrieval: not a stored document")
	// ErrDocumentVersion is returned by [UnmarshalDocument] for a document of
	// another [AnalysisVersion]: analyse the rule again.
	ErrDocumentVersion = errors.New("retrieval: stored document is of another analysis version")
)

// MarshalBinary encodes the document: the version byte, the analysis (type,
// terms and counts by field, token counts), the rule as JSON, and the vectors
// (embedder, number, dimension, 32-bit floats, little endian); analysis, rule,
// strings and lists with their lengths as uvarints. The same document always
// gives the same bytes.
func (d Document) MarshalBinary() ([]byte, error) {
	b, err := d.appendAnalysis(nil)
	if err != nil {
		return nil, err
	}
	return d.appendVectors(b), nil
}

func (d Document) appendAnalysis(b []byte) ([]byte, error) {
	rule, err := json.Marshal(d.Rule)
	if err != nil {
		return nil, fmt.Errorf("encode document %s: %w", d.Rule.ID, err)
	}
	analysis := appendString(make([]byte, 0, 2*len(rule)+256), d.Type)
	words := d.wording()
	if words.fields == "" {
		analysis = append(analysis, packFields(&lexical.Fields{})...)
		analysis = append(analysis, lexical.PackPairs(nil)...)
	}
	analysis = append(append(analysis, words.fields...), words.pairs...)
	for _, n := range words.tokens {
		analysis = binary.AppendUvarint(analysis, uint64(n))
	}
	b = append(b, AnalysisVersion)
	b = append(binary.AppendUvarint(b, uint64(len(analysis))), analysis...)
	return append(binary.AppendUvarint(b, uint64(len(rule))), rule...), nil
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

func (d Document) appendVectors(b []byte) []byte {
	b = appendString(b, d.EmbeddedBy())
	m := d.meaning
	b = binary.AppendUvarint(b, uint64(m.vectors()))
	if m.vectors() == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(m.dim))
	b = slices.Grow(b, 4*len(m.values))
	for _, x := range m.values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// UnmarshalDocument decodes what [Document.MarshalBinary] wrote. Bytes that it
// cannot have written give [ErrDocument], another version gives
// [ErrDocumentVersion].
func UnmarshalDocument(b []byte) (Document, error) {
	if len(b) == 0 {
		return Document{}, fmt.Errorf("%w: it is empty", ErrDocument)
	}
	if b[0] != AnalysisVersion {
		return Document{}, fmt.Errorf("%w: %d, this is %d", ErrDocumentVersion, b[0], AnalysisVersion)
	}
	analysis, rest, ok := cutPart(b[1:])
	rule, rest, ok2 := cutPart(rest)
	if !ok || !ok2 {
		return Document{}, fmt.Errorf("%w: it is cut short", ErrDocument)
	}
	var words wording
	kind, ok := words.read(string(analysis))
	if !ok {
		return Document{}, fmt.Errorf("%w: its terms are not as they are written", ErrDocument)
	}
	doc := Document{Type: kind, words: &words}
	v := vectorReader{rest: rest}
	doc.meaning = v.meaning()
	if v.bad || len(v.rest) != 0 {
		return Document{}, fmt.Errorf("%w: it is cut short or has too many bytes", ErrDocument)
	}
	var read schemas.Rule
	if err := json.Unmarshal(rule, &read); err != nil {
		return Document{}, fmt.Errorf("%w: its rule: %w", ErrDocument, err)
	}
	read = clean(read)
	doc.Rule = &read
	words.sum = sha256.Sum256(b[:len(b)-len(rest)])
	return doc, nil
}

// read takes an analysis apart, which it shares: the type, the fields, which it
// checks, and the token counts.
func (w *wording) read(analysis string) (kind string, ok bool) {
	r := reader{rest: analysis}
	kind = r.string()
	fields := r.rest
	var terms [lexical.NumFields]int
	for field := range terms {
		terms[field] = r.skipCounts()
	}
	w.fields = fields[:len(fields)-len(r.rest)]
	w.pairs, r.rest, ok = lexical.CutPairs(r.rest, terms)
	if !ok {
		return "", false
	}
	for i := range w.tokens {
		w.tokens[i] = int32(r.uvarint(math.MaxInt32))
	}
	return kind, !r.bad && len(r.rest) == 0
}

// cutPart takes a part with its length off the front.
func cutPart(b []byte) (part, rest []byte, ok bool) {
	n, read := binary.Uvarint(b)
	if read <= 0 || n > uint64(len(b)-read) {
		return nil, nil, false
	}
	return b[read : read+int(n)], b[read+int(n):], true
}

// reader takes values off the front of a string, whose parts they share; after
// the first bad one it only returns zero values.
type reader struct {
	rest string
	bad  bool
}

func (r *reader) uvarint(limit uint64) uint64 {
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

// vectorReader takes the vectors off the end of a document.
type vectorReader struct {
	rest []byte
	bad  bool
}

func (r *vectorReader) uvarint(limit uint64) uint64 {
	v, n := binary.Uvarint(r.rest)
	if r.bad || n <= 0 || v > limit {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// meaning reads the embedder's name and as many vectors of one dimension; nil
// if there is neither.
func (r *vectorReader) meaning() *meaning {
	name, rest, ok := cutPart(r.rest)
	if !ok {
		r.bad = true
		return nil
	}
	r.rest = rest
	n := r.uvarint(uint64(len(rest)))
	if r.bad || n == 0 && len(name) == 0 {
		return nil
	}
	// All documents of an index have one embedder: its name is kept once.
	m := &meaning{embedder: unique.Make(string(name)).Value()}
	if n == 0 {
		return m
	}
	dim := r.uvarint(uint64(len(rest)) / 4)
	if r.bad || len(name) == 0 || n*dim > uint64(len(r.rest))/4 {
		r.bad = true
		return nil
	}
	m.dim, m.values = int(dim), make([]float32, n*dim)
	for i := range m.values {
		m.values[i] = math.Float32frombits(binary.LittleEndian.Uint32(r.rest[4*i:]))
	}
	r.rest = r.rest[4*len(m.values):]
	return m
}
