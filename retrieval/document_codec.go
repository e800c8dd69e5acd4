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
// rule as JSON, terms and counts by field, token counts) and the vectors
// (embedder, number, dimension, 32-bit floats, little endian); strings and
// lists with their lengths as uvarints. The same document always gives the same
// bytes.
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
	b = slices.Grow(b, 2*len(rule)+256)
	b = append(b, AnalysisVersion)
	b = appendString(b, d.Type)
	b = appendString(b, string(rule))
	for _, counts := range d.fields {
		b = binary.AppendUvarint(b, uint64(len(counts)))
		for _, c := range counts {
			b = appendString(b, c.Term)
			b = binary.AppendUvarint(b, uint64(c.N))
		}
	}
	for _, n := range d.tokens {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b, nil
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
	r := reader{rest: string(b[1:])}
	doc := Document{Type: r.string()}
	rule := r.string()
	for field := range doc.fields {
		doc.fields[field] = r.counts()
	}
	for i := range doc.tokens {
		doc.tokens[i] = int(r.uvarint(math.MaxInt32))
	}
	analysed := len(b) - len(r.rest)
	doc.embedder = r.string()
	doc.vectors = r.vectors()
	if doc.embedder == "" && len(doc.vectors) > 0 {
		r.bad = true
	}
	if r.bad || len(r.rest) != 0 {
		return Document{}, fmt.Errorf("%w: it is cut short or has too many bytes", ErrDocument)
	}
	if err := json.Unmarshal([]byte(rule), &doc.Rule); err != nil {
		return Document{}, fmt.Errorf("%w: its rule: %w", ErrDocument, err)
	}
	doc.Rule = clean(doc.Rule)
	doc.sum = sha256.Sum256(b[:analysed])
	return doc, nil
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

// vectors reads as many vectors of one dimension; their values share an array.
func (r *reader) vectors() [][]float32 {
	n := r.uvarint(uint64(len(r.rest)))
	if r.bad || n == 0 {
		return nil
	}
	dim := r.uvarint(uint64(len(r.rest)) / 4)
	if r.bad || n*dim > uint64(len(r.rest))/4 {
		r.bad = true
		return nil
	}
	values := make([]float32, n*dim)
	for i := range values {
		raw := r.rest[4*i : 4*i+4]
		values[i] = math.Float32frombits(uint32(raw[0]) | uint32(raw[1])<<8 | uint32(raw[2])<<16 | uint32(raw[3])<<24)
	}
	r.rest = r.rest[4*len(values):]
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = values[uint64(i)*dim : uint64(i+1)*dim : uint64(i+1)*dim]
	}
	return vectors
}
