package bert

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/writbus/writ/retrieval/embed/number"
	"github.com/writbus/writ/retrieval/embed/wordpiece"
)

// ErrPacked is returned by [Decode] for what [Pack] did not write.
var ErrPacked = errors.New("bert: no packed model")

// packedMark begins a packed model; persisted, never change the meaning of one.
const packedMark = "WRITENC1"

// packedHeader follows the mark, little-endian.
type packedHeader struct {
	Sum                                 [6]byte // of SHA-256 over all that follows
	First                               uint16  // 1: pooled by the first token
	Hidden, Intermediate, Layers, Heads uint32
	Positions, Tokens, Wide             uint32
	Vocabulary                          uint32 // bytes, deflated
	Epsilon                             float64
}

// readHeader returns the header of a packed model and what follows it.
func readHeader(raw []byte) (h packedHeader, body []byte, err error) {
	body, ok := bytes.CutPrefix(raw, []byte(packedMark))
	n, err := binary.Decode(body, binary.LittleEndian, &h)
	if !ok || err != nil {
		return h, nil, fmt.Errorf("%w: it does not begin as one", ErrPacked)
	}
	return h, body[n:], nil
}

func (h packedHeader) name(of string) string { return of + "@" + hex.EncodeToString(h.Sum[:]) }

// PackedName is the name that [Decode] gives a model, with its version.
func PackedName(raw []byte, of string) (string, error) {
	h, _, err := readHeader(raw)
	return h.name(of), err
}

// Decode reads a packed model, whose weights stay where they are in raw: only
// what a text needs of them is ever touched. Do not modify raw. The model's name
// is opt.Name, "@" and twelve digits of its checksum.
func Decode(raw []byte, opt Options) (*Model, error) {
	h, body, err := readHeader(raw)
	if err != nil {
		return nil, err
	}
	m := &Model{name: h.name(opt.Name), kernel: kernels()[0]}
	if opt.Portable {
		m.kernel = &portable
	}
	m.config = config{
		Type: "bert", Hidden: int(h.Hidden), Intermediate: int(h.Intermediate), Layers: int(h.Layers), Heads: int(h.Heads),
		Positions: int(h.Positions), Types: 1, Vocabulary: int(h.Tokens), Epsilon: h.Epsilon, Activation: "gelu",
		PositionType: "absolute", limit: int(h.Positions), first: h.First == 1,
	}
	if problem := m.config.problem(); problem != "" {
		return nil, fmt.Errorf("%w: %s", ErrPacked, problem)
	}
	if h.Hidden%codeCols != 0 || h.Intermediate%codeCols != 0 || h.Wide > h.Tokens {
		return nil, fmt.Errorf("%w: its sizes do not fit", ErrPacked)
	}
	if m.limit, err = limit(opt.MaxTokens, m.config.limit); err != nil {
		return nil, err
	}
	m.stride = roundUp(m.config.Hidden, codeCols)
	m.scratch.New = func() any { return &scratch{} }
	u := &unpacker{rest: body}
	vocabulary := u.bytes(int(h.Vocabulary))
	m.weights = u.weights(m.config, int(h.Wide))
	if u.short || len(u.rest) > 0 {
		return nil, fmt.Errorf("%w: it has not the length of its parts", ErrPacked)
	}
	if m.tokens, err = unpackTokens(vocabulary, int(h.Tokens)); err != nil {
		return nil, err
	}
	return m, nil
}

// mostVocabulary bounds a vocabulary, bytes.
const mostVocabulary = 16 << 20

func unpackTokens(deflated []byte, count int) (*wordpiece.Tokenizer, error) {
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(deflated)), mostVocabulary))
	if err != nil {
		return nil, fmt.Errorf("%w: its vocabulary: %w", ErrPacked, err)
	}
	t, err := wordpiece.ParseVocabulary(text, wordpiece.Uncased)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrPacked, err)
	case !t.Framed() || t.Size() != count:
		return nil, fmt.Errorf("%w: its vocabulary has %d tokens for %d vectors, or lacks [CLS] or [SEP]", ErrPacked, t.Size(), count)
	}
	return t, nil
}

// unpacker cuts a packed model into its parts.
type unpacker struct {
	rest  []byte
	short bool
}

func (u *unpacker) bytes(n int) []byte {
	if n > len(u.rest) {
		u.short, u.rest = true, nil
		return make([]byte, 0)
	}
	part := u.rest[:n]
	u.rest = u.rest[n:]
	return part
}

// halves reads numbers of 16 bits.
func (u *unpacker) halves(n int) []float32 {
	raw := u.bytes(2 * n)
	out := make([]float32, len(raw)/2)
	for i := range out {
		out[i] = number.Half(binary.LittleEndian.Uint16(raw[2*i:]))
	}
	return out
}

func (u *unpacker) weights(c config, wide int) *weights {
	h := c.Hidden
	w := &weights{words: u.words(c.Vocabulary, wide, h)}
	positions := codedWords{dim: h, wide: c.Positions, scales: u.bytes(2 * c.Positions), bytes: u.bytes(c.Positions * h)}
	w.embedding = u.norm(c)
	if u.short {
		return w
	}
	w.positions = make([]float32, c.Positions*h)
	for i := range c.Positions {
		positions.add(w.positions[i*h:][:h], int32(i))
	}
	for range c.Layers {
		if u.short {
			break
		}
		var l layer
		l.qkv = u.dense(3*h, h)
		l.attention, l.attentionNorm = u.dense(h, h), u.norm(c)
		l.intermediate = u.dense(c.Intermediate, h)
		l.output, l.outputNorm = u.dense(h, c.Intermediate), u.norm(c)
		w.layers = append(w.layers, l)
	}
	return w
}

func (u *unpacker) words(count, wide, dim int) codedWords {
	w := codedWords{dim: dim, wide: wide, columns: u.halves(dim), scales: u.bytes(2 * count)}
	w.bytes, w.halves = u.bytes(wide*dim), u.bytes((count-wide)*dim/2)
	return w
}

func (u *unpacker) norm(c config) norm {
	return norm{scale: u.halves(c.Hidden), shift: u.halves(c.Hidden), epsilon: c.Epsilon}
}

func (u *unpacker) dense(out, in int) dense {
	d := dense{codes: codes{in: in, out: out, scales: u.halves(out)}, bias: u.halves(out)}
	d.codes.panels = u.bytes(codeBytes(out, in))
	return d
}

// codedWords are words in whole numbers, a scale a row: the first ones, which are
// the frequent ones, a byte a value, the others four bits.
type codedWords struct {
	dim, wide int
	columns   []float32 // what each dimension was divided by for its rounding; nil for 1
	scales    []byte    // of each row, of 16 bits
	bytes     []byte    // of the wide rows
	halves    []byte    // of the others, the first of two values in the low bits
}

// levels are the values of four bits: those that lose least of a Gaussian
// variable (Max, Quantizing for minimum distortion, 1960).
var levels = [16]float32{
	-2.7326, -2.0690, -1.6181, -1.2562, -0.9424, -0.6568, -0.3881, -0.1284,
	0.1284, 0.3881, 0.6568, 0.9424, 1.2562, 1.6181, 2.0690, 2.7326,
}

func (w codedWords) add(y []float32, token int32) {
	row := int(token)
	scale := number.Half(binary.LittleEndian.Uint16(w.scales[2*row:]))
	if row < w.wide {
		for i, code := range w.bytes[row*w.dim:][:len(y)] {
			y[i] += scale * float32(int8(code))
		}
		return
	}
	for i, code := range w.halves[(row-w.wide)*w.dim/2:][:len(y)/2] {
		y[2*i] += scale * levels[code&15] * w.columns[2*i]
		y[2*i+1] += scale * levels[code>>4] * w.columns[2*i+1]
	}
}
