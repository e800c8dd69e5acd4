package retrieval

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/writbus/writ/retrieval/lexical"
)

var (
	// ErrDocument is returned by [UnmarshalDocument] for bytes that are no document.
	ErrDocument = errors.New("retrieval: not a stored document")
	// ErrDocumentVersion is returned by [UnmarshalDocument] for a document of
	// another [AnalysisVersion]: analyse the rule again.
	ErrDocumentVersion = errors.New("retrieval: stored document is of another analysis version")
)

// MarshalBinary encodes the document: the version byte, type, rule as JSON,
// terms and counts by field, token counts; strings and lists with their
// lengths as uvarints. The same document always gives the same bytes.
func (d Document) MarshalBinary() ([]byte, error) {
	rule, err := json.Marshal(d.Rule)
	if err != nil {
		return nil, fmt.Errorf("encode document %s: %w", d.Rule.ID, err)
	}
	b := make([]byte, 0, 2*len(rule)+256)
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
	if r.bad || len(r.rest) != 0 {
		return Document{}, fmt.Errorf("%w: it is cut short or has too many bytes", ErrDocument)
	}
	if err := json.Unmarshal([]byte(rule), &doc.Rule); err != nil {
		return Document{}, fmt.Errorf("%w: its rule: %w", ErrDocument, err)
	}
	doc.Rule = clean(doc.Rule)
	doc.sum = sha256.Sum256(b)
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
