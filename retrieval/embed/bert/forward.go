package bert

import "math"

// scratch is the memory of one forward pass; it grows to the largest it has seen.
type scratch struct {
	tokens  []int32
	ends    []int // of each text, in tokens
	x, y    []float32
	qkv     []float32
	context []float32
	wide    []float32
	scores  []float32
	head    []float32
	keys    matrix
	values  matrix
	rounded rounded
}

// forward runs the encoder over the texts of s.tokens, one after the other
// without padding, and leaves the tokens' states in s.x, m.stride apart. A row
// of a product does not depend on the others, so a text's states are the same in
// any company.
func (m *Model) forward(s *scratch) {
	rows := roundUp(len(s.tokens), m.kernel.rows)
	s.x, s.y = grow(s.x, rows*m.stride), grow(s.y, rows*m.stride)
	s.context = grow(s.context, rows*m.stride)
	m.embedTokens(s)
	clear(s.x[len(s.tokens)*m.stride:])
	clear(s.context)
	for i := range m.weights.layers {
		l := &m.weights.layers[i]
		// One tile more: the last text's tiles may end behind the last row.
		s.qkv = grow(s.qkv, (rows+m.kernel.rows)*l.qkv.width())
		l.qkv.product(m.kernel, &s.rounded, s.qkv, s.x, rows, m.stride)
		m.attend(s, l.qkv.width())
		l.attention.addTo(m.kernel, &s.rounded, s.y, s.x, s.context, rows, m.stride, m.stride)
		l.attentionNorm.apply(s.x, s.y, rows, m.stride)
		s.wide = grow(s.wide, rows*l.intermediate.width())
		l.intermediate.product(m.kernel, &s.rounded, s.wide, s.x, rows, m.stride)
		m.kernel.gelu(s.wide[:len(s.wide)/lanes*lanes])
		geluPortable(s.wide[len(s.wide)/lanes*lanes:])
		l.output.addTo(m.kernel, &s.rounded, s.y, s.x, s.wide, rows, l.intermediate.width(), m.stride)
		l.outputNorm.apply(s.x, s.y, rows, m.stride)
	}
}

func (m *Model) embedTokens(s *scratch) {
	h, at, text := m.config.Hidden, 0, 0
	for i, token := range s.tokens {
		if i == s.ends[text] {
			at, text = i, text+1
		}
		y := s.y[i*m.stride:][:h]
		copy(y, m.weights.positions[(i-at)*h:])
		m.weights.words.add(y, token)
	}
	m.weights.embedding.apply(s.x, s.y, len(s.tokens), m.stride)
}

// width is the length of a row of the result.
func (d *dense) width() int { return len(d.bias) }

// product is x·Wᵀ + b for rows of x, lda apart, into y, d.width() apart.
func (d *dense) product(k *kernel, r *rounded, y, x []float32, rows, lda int) {
	for row := range rows {
		copy(y[row*d.width():], d.bias)
	}
	d.addRows(k, r, rows, x, lda, y, d.width())
}

// addTo is residual + x·Wᵀ + b into y; both have stride values a row.
func (d *dense) addTo(k *kernel, r *rounded, y, residual, x []float32, rows, lda, stride int) {
	for row := range rows {
		to, from := y[row*stride:][:stride], residual[row*stride:][:stride]
		for i, b := range d.bias {
			to[i] = from[i] + b
		}
	}
	d.addRows(k, r, rows, x, lda, y, stride)
}

func (d *dense) addRows(k *kernel, r *rounded, rows int, x []float32, lda int, y []float32, ldc int) {
	if d.codes.in > 0 {
		d.codes.addProduct(k, r, rows, x, lda, y, ldc)
		return
	}
	d.addProduct(k, rows, x, lda, y, ldc)
}

// attend is scaled dot-product attention, text by text and head by head, from
// s.qkv to s.context.
func (m *Model) attend(s *scratch, stride int) {
	width, began := m.config.Hidden/m.config.Heads, 0
	for _, end := range s.ends {
		n := end - began
		for head := range m.config.Heads {
			m.attendHead(s, began, n, head*width, width, stride)
		}
		began = end
	}
}

func (m *Model) attendHead(s *scratch, began, n, at, width, stride int) {
	k, h := m.kernel, m.config.Hidden
	rows := roundUp(n, k.rows)
	queries := s.qkv[began*stride+at:]
	s.keys.pack(k, s.qkv[began*stride+h+at:], n, width, stride)
	s.values.packColumns(k, s.qkv[began*stride+2*h+at:], width, n, stride)
	wide := max(s.keys.stride, roundUp(n, lanes))
	s.scores = grow(s.scores, rows*wide)
	clear(s.scores)
	s.keys.addProduct(k, n, queries, stride, s.scores, wide)
	s.head = grow(s.head, rows*s.values.stride+n)
	sums := s.head[rows*s.values.stride:]
	scale := float32(1 / math.Sqrt(float64(width)))
	for i := range n {
		row := s.scores[i*wide:][:roundUp(n, lanes)]
		top := highest(row[:n])
		for j := n; j < len(row); j++ {
			row[j] = float32(math.Inf(-1))
		}
		sums[i] = k.softmax(row, scale, top*scale)
	}
	out := s.head[:rows*s.values.stride]
	clear(out)
	s.values.addProduct(k, n, s.scores, wide, out, s.values.stride)
	for i := range n {
		factor := 1 / sums[i]
		to := s.context[(began+i)*m.stride+at:][:width]
		for j, v := range out[i*s.values.stride:][:width] {
			to[j] = v * factor
		}
	}
}

func highest(v []float32) float32 {
	a, b, c, d := v[0], v[0], v[0], v[0]
	i := 0
	for ; i+4 <= len(v); i += 4 {
		a, b, c, d = max(a, v[i]), max(b, v[i+1]), max(c, v[i+2]), max(d, v[i+3])
	}
	for ; i < len(v); i++ {
		a = max(a, v[i])
	}
	return max(a, b, c, d)
}

// pool makes the unit vector of the text whose states are in rows from to end.
func (m *Model) pool(s *scratch, from, end int) ([]float32, error) {
	if m.config.first {
		end = from + 1
	}
	v := make([]float32, m.config.Hidden)
	for row := from; row < end; row++ {
		for i, x := range s.x[row*m.stride:][:len(v)] {
			v[i] += x
		}
	}
	if len(m.behind) > 0 {
		for i := range v {
			v[i] /= float32(end - from)
		}
		for i := range m.behind {
			v = m.behind[i].apply(v)
		}
	}
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if !(square <= math.MaxFloat64) {
		return nil, ErrOverflow
	}
	// Scaling to unit length makes dividing by the number of tokens needless.
	factor := float32(1 / max(math.Sqrt(square), 1e-12))
	for i := range v {
		v[i] *= factor
	}
	return v, nil
}
