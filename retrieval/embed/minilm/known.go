package minilm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/writbus/writ/retrieval/embed"
)

// knownMark begins the list of known texts: the mark, the name of the model and a
// line feed, then a digest of each text in rising order, then for each a scale
// and a signed byte a dimension.
const knownMark = "WRITVEC1 "

const (
	digestBytes = 8
	scaleBytes  = 4
	knownBytes  = digestBytes + scaleBytes + dim
)

var errKnown = errors.New("minilm: no vectors of this model")

// known are vectors of texts that come with the program.
type known struct {
	digests string
	vectors string
}

func readKnown(raw, model string) (known, error) {
	rest, ok := strings.CutPrefix(raw, knownMark+model+"\n")
	n := len(rest) / knownBytes
	if !ok || len(rest) != n*knownBytes {
		return known{}, errKnown
	}
	return known{digests: rest[:n*digestBytes], vectors: rest[n*digestBytes:]}, nil
}

func (k known) find(text string) (at int, found bool) {
	if k.digests == "" {
		return 0, false
	}
	digest := digestOf(text)
	n := len(k.digests) / digestBytes
	at = sort.Search(n, func(i int) bool { return k.digests[i*digestBytes:][:digestBytes] >= digest })
	return at, at < n && k.digests[at*digestBytes:][:digestBytes] == digest
}

func (k known) raw(at int) string { return k.vectors[at*(scaleBytes+dim):][:scaleBytes+dim] }

func (k known) vector(at int) []float32 {
	raw := k.raw(at)
	scale := math.Float32frombits(binary.LittleEndian.Uint32([]byte(raw[:scaleBytes])))
	v := make([]float32, dim)
	for i := range v {
		v[i] = scale * float32(int8(raw[scaleBytes+i]))
	}
	return v
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(sum[:digestBytes])
}

// Encode embeds texts with the model in the program, those that are known as they
// are, and writes the list of what is known then.
func Encode(ctx context.Context, texts []string) ([]byte, error) {
	e, err := Default()
	if err != nil {
		return nil, err
	}
	m, err := e.model()
	if err != nil {
		return nil, err
	}
	texts = slices.Clone(texts)
	slices.SortFunc(texts, func(a, b string) int { return strings.Compare(digestOf(a), digestOf(b)) })
	texts = slices.Compact(texts)
	made, err := m.EmbedBatch(ctx, slices.DeleteFunc(slices.Clone(texts), e.Known))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s%s\n", knownMark, e.name)
	for _, text := range texts {
		out.WriteString(digestOf(text))
	}
	for _, text := range texts {
		if at, found := e.known.find(text); found {
			out.WriteString(e.known.raw(at))
			continue
		}
		out.Write(encodeVector(made[0]))
		made = made[1:]
	}
	return out.Bytes(), nil
}

func encodeVector(v []float32) []byte {
	most := float32(0)
	for _, x := range v {
		most = max(most, x, -x)
	}
	scale := most / math.MaxInt8
	out := binary.LittleEndian.AppendUint32(nil, math.Float32bits(scale))
	for _, x := range v {
		code := 0.0
		if scale > 0 {
			code = math.RoundToEven(float64(x / scale))
		}
		out = append(out, byte(int8(code)))
	}
	return out
}

// Texts is how many texts have their vectors in the program.
func (e *Embedder) Texts() int { return len(e.known.digests) / digestBytes }

var _ embed.Embedder = (*Embedder)(nil)
