package retrieval

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/writbus/writ/retrieval/lexical"
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
	for _, counts := range d.fields {
		analysis = binary.AppendUvarint(analysis, uint64(len(counts)))
		for _, c := range counts {
			analysis = appendString(analysis, c.Term)
			analysis = binary.AppendUvarint(analysis, uint64(c.N))
		}
	}
	for _, n := range d.tokens {
		analysis = binary.AppendUvarint(analysis, uint64(n))
	}
	b = append(b, AnalysisVersion)
	b = append(binary.AppendUvarint(b, uint64(len(analysis))), analysis...)
	return append(binary.AppendUvarint(b, uint64(len(rule))), rule...), nil
}

func (d Document) appendVectors(b []byte) []byte {
	b = appendString(b, d.embedder)
	b = binary.AppendUvarint(b, uint64(len(d.vectors)))
	if len(d.vectors) == 0 {
		return b
	}
	dim := len(d.vectors[0])
	b = binary.AppendUvarint(b, uint64(dim))
	b = slices.Grow(b, 4*dim*len(d.vectors))
	for _, v := range d.vectors {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
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
	// Terms share this copy, so it holds nothing else.
	r := reader{rest: string(analysis)}
	doc := Document{Type: r.string()}
	for field := range doc.fields {
		doc.fields[field] = r.counts()
	}
	for i := range doc.tokens {
		doc.tokens[i] = int(r.uvarint(math.MaxInt32))
	}
	v := vectorReader{rest: rest}
	doc.embedder, doc.vectors = v.vectors()
	if r.bad || len(r.rest) != 0 || v.bad || len(v.rest) != 0 {
		return Document{}, fmt.Errorf("%w: it is cut short or has too many bytes", ErrDocument)
	}
	if err := json.Unmarshal(rule, &doc.Rule); err != nil {
		return Document{}, fmt.Errorf("%w: its rule: %w", ErrDocument, err)
	}
	doc.Rule = clean(doc.Rule)
	doc.sum = sha256.Sum256(b[:len(b)-len(rest)])
	return doc, nil
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

// counts reads one field; its terms must ascend, as the index relies on.
func (r *reader) counts() []lexical.Count {
	n := r.uvarint(uint64(len(r.rest)) / 2) // a term and its count take two bytes at least
	if r.bad || n == 0 {
		return nil
	}
	counts := make([]lexical.Count, 0, n)
	for range n {
		c := lexical.Count{Term: r.string(), N: uint32(r.uvarint(math.MaxUint32))}
		if c.N == 0 || len(counts) > 0 && c.Term <= counts[len(counts)-1].Term {
			r.bad = true
		}
		if r.bad {
			return nil
		}
		counts = append(counts, c)
	}
	return counts
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

// vectors reads the embedder's name and as many vectors of one dimension; their
// values share an array.
func (r *vectorReader) vectors() (embedder string, vectors [][]float32) {
	name, rest, ok := cutPart(r.rest)
	if !ok {
		r.bad = true
		return "", nil
	}
	r.rest = rest
	n := r.uvarint(uint64(len(rest)))
	if r.bad || n == 0 {
		return string(name), nil
	}
	dim := r.uvarint(uint64(len(rest)) / 4)
	if r.bad || len(name) == 0 || n*dim > uint64(len(r.rest))/4 {
		r.bad = true
		return "", nil
	}
	values := make([]float32, n*dim)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(r.rest[4*i:]))
	}
	r.rest = r.rest[4*len(values):]
	vectors = make([][]float32, n)
	for i := range vectors {
		vectors[i] = values[uint64(i)*dim : uint64(i+1)*dim : uint64(i+1)*dim]
	}
	return string(name), vectors
}
