package bert

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/writbus/writ/retrieval/embed/number"
)

// wideWords is how many of the most frequent words are kept with a byte a value:
// they are most of a text, and with four bits one text in twenty-five would be
// further than .995 from the original.
const wideWords = 850

// Pack reads a model directory as [Load] does and writes it in whole numbers, for
// [Decode]: a byte for each weight of the encoder and for each value of frequent
// words, four bits for the values of others. Texts may have [DefaultMaxTokens].
func Pack(dir string) ([]byte, error) {
	m, err := load(dir, Options{}, &portable)
	if err != nil {
		return nil, err
	}
	c := m.config
	if len(m.behind) > 0 || c.query+c.document != "" {
		return nil, fmt.Errorf("%w: %s: a packed model has neither layers behind its pooling nor prompts", ErrUnsupported, dir)
	}
	if c.Hidden%codeCols != 0 || c.Intermediate%codeCols != 0 {
		return nil, fmt.Errorf("%w: %s: hidden_size %d and intermediate_size %d are no multiples of %d", ErrUnsupported, dir, c.Hidden, c.Intermediate, codeCols)
	}
	order := m.packedOrder()
	var names bytes.Buffer
	deflate, err := flate.NewWriter(&names, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	for _, id := range order {
		if _, err := fmt.Fprintln(deflate, m.tokens.Token(id)); err != nil {
			return nil, err
		}
	}
	if err := deflate.Close(); err != nil {
		return nil, err
	}
	p := &packer{}
	wide := min(wideWords, len(order))
	p.bytes(names.Bytes())
	p.words(m, order, wide)
	p.positions(m.weights.positions, m.limit, c.Hidden)
	p.norm(m.weights.embedding)
	for i := range m.weights.layers {
		l := &m.weights.layers[i]
		p.dense(&l.qkv)
		p.dense(&l.attention)
		p.norm(l.attentionNorm)
		p.dense(&l.intermediate)
		p.dense(&l.output)
		p.norm(l.outputNorm)
	}
	h := packedHeader{
		Hidden: uint32(c.Hidden), Intermediate: uint32(c.Intermediate), Layers: uint32(c.Layers), Heads: uint32(c.Heads),
		Positions: uint32(m.limit), Tokens: uint32(len(order)), Wide: uint32(wide), Vocabulary: uint32(names.Len()), Epsilon: c.Epsilon,
	}
	if c.first {
		h.First = 1
	}
	packed, err := binary.Append([]byte(packedMark), binary.LittleEndian, h)
	packed = append(packed, p.out...)
	at := len(packedMark)
	sum := sha256.Sum256(packed[at+len(h.Sum):])
	copy(packed[at:], sum[:len(h.Sum)])
	return packed, err
}

// packedOrder are the tokens that are kept, the frequent ones first: BERT's
// vocabulary is in this order, but for single characters of all scripts before
// the words, and has numbers without a meaning.
func (m *Model) packedOrder() []int32 {
	var plain, others []int32
	for id := range int32(m.tokens.Size()) {
		switch token := m.tokens.Token(id); {
		case strings.HasPrefix(token, "[unused"):
		case strings.IndexFunc(token, func(r rune) bool { return r > '~' }) < 0:
			plain = append(plain, id)
		default:
			others = append(others, id)
		}
	}
	return append(plain, others...)
}

type packer struct{ out []byte }

func (p *packer) bytes(b []byte) { p.out = append(p.out, b...) }

func (p *packer) halves(v ...float32) {
	for _, x := range v {
		p.out = binary.LittleEndian.AppendUint16(p.out, number.ToHalf(x))
	}
}

func (p *packer) norm(n norm) {
	p.halves(n.scale...)
	p.halves(n.shift...)
}

// words writes the rows in an order. Those of four bits are rounded with each
// dimension times the root of what the normalisation behind multiplies it by, so
// that what counts more is rounded less.
func (p *packer) words(m *Model, order []int32, wide int) {
	h := m.config.Hidden
	columns := make([]float32, h)
	for i, gain := range m.weights.embedding.scale {
		columns[i] = number.Half(number.ToHalf(float32(1 / max(math.Sqrt(math.Abs(float64(gain))), 1e-2))))
	}
	p.halves(columns...)
	var scales []float32
	var coded []byte
	row := make([]float32, h)
	for i, id := range order {
		clear(row)
		m.weights.words.add(row, id)
		if i < wide {
			scale, codes := roundRow(row)
			scales, coded = append(scales, scale), append(coded, codes...)
			continue
		}
		for d := range row {
			row[d] /= columns[d]
		}
		scale, codes := fourBits(row)
		scales, coded = append(scales, scale), append(coded, codes...)
	}
	p.halves(scales...)
	p.bytes(coded)
}

func (p *packer) positions(positions []float32, count, h int) {
	var scales []float32
	var coded []byte
	for i := range count {
		scale, codes := roundRow(positions[i*h:][:h])
		scales, coded = append(scales, scale), append(coded, codes...)
	}
	p.halves(scales...)
	p.bytes(coded)
}

// dense writes scales, bias and panels of a matrix that was read for the
// portable kernel.
func (p *packer) dense(d *dense) {
	c := codes{in: d.in, out: d.out, panels: make([]byte, codeBytes(d.out, d.in)), scales: make([]float32, d.out)}
	row := make([]float32, d.in)
	for out := range d.out {
		panel := d.panels[out/portable.cols*portable.cols*d.in:]
		for in := range row {
			row[in] = panel[in*portable.cols+out%portable.cols]
		}
		scale, coded := roundRow(row)
		c.scales[out] = scale
		for in, code := range coded {
			c.panels[c.at(out, in)] = code
		}
	}
	p.halves(c.scales...)
	p.halves(d.bias[:d.out]...)
	p.bytes(c.panels)
}

// roundRow is a row in signed bytes, with the scale of those that loses least of
// it: to cut off what stands out can cost less than coarse steps for the rest.
func roundRow(row []float32) (scale float32, codes []byte) {
	most := 0.0
	for _, v := range row {
		most = max(most, math.Abs(float64(v)))
	}
	best := math.Inf(1)
	codes = make([]byte, len(row))
	for share := 0.8; share < 1.001; share += 0.02 {
		s := float64(number.Half(number.ToHalf(float32(most * share / mostCode))))
		loss := 0.0
		for _, v := range row {
			d := float64(v) - s*float64(signed(float64(v), s))
			loss += d * d
		}
		if loss < best {
			best, scale = loss, float32(s)
		}
	}
	for i, v := range row {
		codes[i] = byte(signed(float64(v), float64(scale)))
	}
	return scale, codes
}

func signed(v, scale float64) int8 {
	if scale == 0 {
		return 0
	}
	return int8(min(max(math.RoundToEven(v/scale), -mostCode), mostCode))
}

// fourBits is a row in levels, with the scale of those that loses least of it.
func fourBits(row []float32) (scale float32, codes []byte) {
	square := 0.0
	for _, v := range row {
		square += float64(v) * float64(v)
	}
	s := math.Sqrt(square / float64(len(row)))
	for range 4 { // by turns the levels for a scale and the scale for the levels
		product, norm := 0.0, 0.0
		for _, v := range row {
			level := float64(levels[nearest(float64(v), s)])
			product += float64(v) * level
			norm += level * level
		}
		s = product / norm
	}
	scale = number.Half(number.ToHalf(float32(s)))
	codes = make([]byte, len(row)/2)
	for i, v := range row {
		codes[i/2] |= nearest(float64(v), float64(scale)) << (i % 2 * 4)
	}
	return scale, codes
}

// nearest is the number of the level next to v.
func nearest(v, scale float64) byte {
	at := 0
	for scale > 0 && at < len(levels)-1 && v/scale > float64(levels[at]+levels[at+1])/2 {
		at++
	}
	return byte(at)
}
