package classify

import (
	"cmp"
	_ "embed" // the model
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// ErrModel is returned by Decode for bytes that are no model.
var ErrModel = errors.New("classify: not a model")

// The verdicts, as the write gate spells them.
const (
	Allow   = "allow"
	Hold    = "hold"
	Discard = "discard"
)

// maxReason is the most a reason holds, in code points.
const maxReason = 120

// shownEvidence is how many signs a reason names at most.
const shownEvidence = 4

// Model is a trained classifier. It never changes and may be used by several
// goroutines.
type Model struct {
	weights [Buckets]int8
	unit    float64 // what a weight of 1 adds to the log-odds
	bias    float64 // log-odds of a text without signs
	// Log-odds from which a text is allowed, and below which it is discarded.
	allow, discard float64
}

// Verdict is what a model says of a text.
type Verdict struct {
	Verdict string // Allow, Hold, Discard
	// Confidence that the verdict is right, 0.5..1; of a Hold how near it is to
	// neither.
	Confidence float64
	// Keep is the probability that the text is worth keeping.
	Keep   float64
	Reason string // the evidence, at most 120 characters
}

//go:embed model.bin
var embedded []byte

// Default returns the model in the program.
var Default = sync.OnceValue(func() *Model {
	m, err := Decode(embedded)
	if err != nil {
		panic(err) // a build with a broken model; TestModelIsTrainedFromItsData
	}
	return m
})

// Classify decides about a text. It never fails.
func (m *Model) Classify(text string) Verdict { return m.classify(text, 0) }

// fewer is by how much the log-odds of a sentence of a transcript are less than
// those of a text that somebody handed in: of the training texts 41 % are worth
// keeping, of sentences said in passing about one in twenty.
const fewer = 2.6

// Extract decides about a sentence that was said in passing: it takes more to
// allow it, and what a handed-in text is allowed for is held.
func (m *Model) Extract(sentence string) Verdict {
	v := m.classify(sentence, fewer)
	if v.Verdict == Hold && m.Classify(sentence).Verdict != Allow {
		v.Verdict = Discard
	}
	return v
}

func (m *Model) classify(text string, less float64) Verdict {
	all := features(text)
	score, weights := m.score(all)
	score -= less
	keep := 1 / (1 + math.Exp(-score))
	v := Verdict{Verdict: Hold, Keep: keep, Confidence: hundredths(1 - 2*math.Abs(keep-0.5))}
	switch {
	case score >= m.allow:
		v.Verdict, v.Confidence = Allow, hundredths(keep)
	case score < m.discard:
		v.Verdict, v.Confidence = Discard, hundredths(1-keep)
	}
	v.Reason = reason(v, all, weights)
	return v
}

func hundredths(x float64) float64 { return math.Round(x*100) / 100 }

// score returns the log-odds and what each feature adds to them. Words share
// one vote by the root of their number, so that a long text is not surer than a
// short one; signs vote whole. The sums are of integers.
func (m *Model) score(all []feature) (score float64, each []float64) {
	words, signs, n := 0, 0, 0
	for _, f := range all {
		w := int(m.weights[f.bucket])
		if f.sign {
			signs += w
		} else {
			words += w
			n++
		}
	}
	root := math.Sqrt(float64(max(n, 1)))
	each = make([]float64, len(all))
	for i, f := range all {
		each[i] = float64(m.weights[f.bucket]) * m.unit
		if !f.sign {
			each[i] /= root
		}
	}
	w, s := float64(words)*m.unit/root, float64(signs)*m.unit
	return m.bias + w + s, each
}

// reason names the signs that weigh most for what was decided.
func reason(v Verdict, all []feature, weights []float64) string {
	direction := 1.0
	if v.Keep < 0.5 {
		direction = -1
	}
	order := make([]int, 0, len(all))
	for i, f := range all {
		if f.shown != "" && weights[i]*direction > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[b]*direction, weights[a]*direction) })
	text := fmt.Sprintf("embedded classifier %.2f", v.Keep)
	glue := ": "
	for _, i := range order[:min(len(order), shownEvidence)] {
		next := text + glue + fmt.Sprintf("%s %+.1f", strings.Join(strings.Fields(all[i].shown), " "), weights[i])
		if utf8.RuneCountInString(next) > maxReason {
			continue
		}
		text, glue = next, ", "
	}
	return text
}

// The file of a model: magic, version, the numbers, the weights, and the
// CRC-32 of all before it. Persisted; a new layout is a new version.
const (
	magic      = "writclf"
	version    = 1
	headerSize = len(magic) + 1 + 4*8
	fileSize   = headerSize + Buckets + 4
)

// Encode writes the model.
func (m *Model) Encode() []byte {
	out := append([]byte(magic), version)
	for _, x := range []float64{m.unit, m.bias, m.allow, m.discard} {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(x))
	}
	for _, w := range m.weights {
		out = append(out, byte(w))
	}
	return binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

// Decode reads a model, or returns ErrModel.
func Decode(raw []byte) (*Model, error) {
	switch {
	case len(raw) != fileSize || string(raw[:len(magic)]) != magic:
		return nil, fmt.Errorf("%w: %d bytes", ErrModel, len(raw))
	case raw[len(magic)] != version:
		return nil, fmt.Errorf("%w: version %d, this program reads %d", ErrModel, raw[len(magic)], version)
	case binary.LittleEndian.Uint32(raw[fileSize-4:]) != crc32.ChecksumIEEE(raw[:fileSize-4]):
		return nil, fmt.Errorf("%w: its checksum differs", ErrModel)
	}
	m := &Model{}
	for i, x := range []*float64{&m.unit, &m.bias, &m.allow, &m.discard} {
		*x = math.Float64frombits(binary.LittleEndian.Uint64(raw[len(magic)+1+8*i:]))
		if math.IsNaN(*x) || math.IsInf(*x, 0) {
			return nil, fmt.Errorf("%w: a number is not finite", ErrModel)
		}
	}
	if m.unit <= 0 || m.discard > m.allow {
		return nil, fmt.Errorf("%w: its thresholds cross", ErrModel)
	}
	for i, b := range raw[headerSize : fileSize-4] {
		m.weights[i] = int8(b) //nolint:gosec // as Encode wrote it
	}
	return m, nil
}
