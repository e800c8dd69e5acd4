package static

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrTable is returned by [Decode] and [Build] for what is not a sound table.
var ErrTable = errors.New("static: not a sound embedding table")

// The layout of an encoded table; persisted; never change. All integers are
// little-endian.
//
//	magic     8 bytes
//	dim       uint16
//	words     uint32
//	buckets   uint32
//	words     words × (length uint8, bytes), ascending
//	scales    (words + buckets) × uint16
//	rows      (words + buckets) × dim × int8
//	checksum  first 16 bytes of the SHA-256 of everything before
const (
	magic         = "writvec\x01"
	checksumBytes = 16
	headerBytes   = len(magic) + 2 + 4 + 4
	maxDim        = 1024
	maxRows       = 1 << 20
)

// Table holds a vector for every word and every n-gram bucket: dim signed
// bytes and a scale, as multiples of one unit that a normalised sum does not
// show. The words' rows come first, in ascending order of the words.
// Immutable; see [Decode].
type Table struct {
	dim, buckets int
	words        []string
	lookup       map[string]int32
	scales       []uint16
	rows         []byte // int8
	encoded      []byte
}

// Decode reads an encoded table, which it keeps and which must not change. An
// error wraps [ErrTable].
func Decode(b []byte) (*Table, error) {
	if len(b) < headerBytes+checksumBytes || string(b[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: it does not begin like one", ErrTable)
	}
	content := b[:len(b)-checksumBytes]
	if sum := sha256.Sum256(content); !bytes.Equal(sum[:checksumBytes], b[len(content):]) {
		return nil, fmt.Errorf("%w: its checksum differs: it is cut short or damaged", ErrTable)
	}
	dim := int(binary.LittleEndian.Uint16(b[len(magic):]))
	words := int(binary.LittleEndian.Uint32(b[len(magic)+2:]))
	t := &Table{dim: dim, buckets: int(binary.LittleEndian.Uint32(b[len(magic)+6:])), encoded: b}
	if dim < 1 || dim > maxDim || t.buckets < 1 || words > maxRows || t.buckets > maxRows {
		return nil, fmt.Errorf("%w: %d words, %d buckets, %d dimensions", ErrTable, words, t.buckets, dim)
	}
	rest, err := t.readWords(content[headerBytes:], words)
	if err != nil {
		return nil, err
	}
	rows := words + t.buckets
	if len(rest) != rows*(2+dim) {
		return nil, fmt.Errorf("%w: %d bytes of rows, not %d", ErrTable, len(rest), rows*(2+dim))
	}
	t.scales = make([]uint16, rows)
	for i := range t.scales {
		t.scales[i] = binary.LittleEndian.Uint16(rest[2*i:])
	}
	t.rows = rest[2*rows:]
	return t, nil
}

func (t *Table) readWords(b []byte, n int) (rest []byte, err error) {
	if n > len(b)/2 {
		return nil, fmt.Errorf("%w: no room for %d words", ErrTable, n)
	}
	t.words = make([]string, n)
	t.lookup = make(map[string]int32, n)
	for i := range t.words {
		if len(b) == 0 || int(b[0]) > maxWordBytes || b[0] == 0 || len(b) <= int(b[0]) {
			return nil, fmt.Errorf("%w: word %d is not one", ErrTable, i)
		}
		word := string(b[1 : 1+b[0]])
		if i > 0 && word <= t.words[i-1] {
			return nil, fmt.Errorf("%w: word %d is out of order", ErrTable, i)
		}
		t.words[i], t.lookup[word] = word, int32(i)
		b = b[1+len(word):]
	}
	return b, nil
}

// Build quantises vectors to a table: words ascending, and one vector of dim
// values for each word and then each bucket, one after the other. An error
// wraps [ErrTable].
func Build(dim int, words []string, buckets int, vectors []float32) (*Table, error) {
	rows := len(words) + buckets
	if dim < 1 || dim > maxDim || len(vectors) != rows*dim {
		return nil, fmt.Errorf("%w: %d values for %d rows of %d", ErrTable, len(vectors), rows, dim)
	}
	var largest float32
	for _, x := range vectors {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return nil, fmt.Errorf("%w: a value is not a number", ErrTable)
		}
		largest = max(largest, abs(x))
	}
	b := append([]byte(nil), magic...)
	b = binary.LittleEndian.AppendUint16(b, uint16(dim))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(words)))
	b = binary.LittleEndian.AppendUint32(b, uint32(buckets))
	for _, word := range words {
		if len(word) < 1 || len(word) > maxWordBytes {
			return nil, fmt.Errorf("%w: a word of %d bytes", ErrTable, len(word))
		}
		b = append(append(b, byte(len(word))), word...)
	}
	unit := float64(largest) / (127 * math.MaxUint16) // so that the largest value is 127 at the largest scale
	quantised := make([]byte, 0, len(vectors))
	for row := range rows {
		scale, q := quantise(vectors[row*dim:(row+1)*dim], unit)
		b = binary.LittleEndian.AppendUint16(b, scale)
		quantised = append(quantised, q...)
	}
	b = append(b, quantised...)
	sum := sha256.Sum256(b)
	return Decode(append(b, sum[:checksumBytes]...))
}

// quantise finds the scale, in units, at which the largest value is 127.
func quantise(v []float32, unit float64) (uint16, []byte) {
	var largest float32
	for _, x := range v {
		largest = max(largest, abs(x))
	}
	q := make([]byte, len(v))
	if largest == 0 {
		return 0, q
	}
	scale := min(math.Ceil(float64(largest)/(127*unit)), math.MaxUint16)
	for i, x := range v {
		q[i] = byte(int8(max(-127, min(127, math.RoundToEven(float64(x)/(scale*unit))))))
	}
	return uint16(scale), q
}

func abs(x float32) float32 { return max(x, -x) }

// Encode returns the table's bytes, which must not be changed.
func (t *Table) Encode() []byte { return t.encoded }

// Dim is the number of dimensions.
func (t *Table) Dim() int { return t.dim }

// Words are the words that have rows, ascending; a copy.
func (t *Table) Words() []string { return slices.Clone(t.words) }

// Buckets is the number of n-gram buckets.
func (t *Table) Buckets() int { return t.buckets }

// Fingerprint names the table's content: 8 hex digits of its SHA-256.
func (t *Table) Fingerprint() string {
	return hex.EncodeToString(t.encoded[len(t.encoded)-checksumBytes:][:4])
}
