package curation

import (
	_ "embed" // for the pairs
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/writbus/writ/retrieval"
)

// ErrEmbedder is returned by [Calibrate] for an embedder whose cosines tell the
// pairs not apart.
var ErrEmbedder = errors.New("curation: embedder cannot be calibrated")

// sameAsReference is how far an embedder's cosines may be from the committed
// ones, at most, for it to be the reference itself: rounding and the weights'
// precision stay far below, any other model is far above.
const sameAsReference = 0.005

// Calibration is what [Calibrate] found out about an embedder.
type Calibration struct {
	Embedder   string     `json:"embedder"`
	Thresholds Thresholds `json:"thresholds"`
	// Reference says that the embedder gives the reference's cosines, so that
	// the stated thresholds hold as they are.
	Reference bool `json:"reference"`
	// Pairs is how many pairs of texts the thresholds come from.
	Pairs int `json:"pairs"`
	// How well the embedder tells what the reference tells, each on pairs that
	// its threshold was not fitted to.
	Duplicate Agreement `json:"duplicate"`
	Novelty   Agreement `json:"novelty"`
	Neighbour Agreement `json:"neighbour"`
}

// Agreement counts the pairs at or above a threshold.
type Agreement struct {
	Both      int `json:"both"`
	Reference int `json:"reference"` // with the reference's cosine
	Embedder  int `json:"embedder"`  // with the embedder's
}

// Calibrate maps thresholds that are stated on the scale of [ReferenceModel] to
// that of another embedder. Both scales are read off the same committed pairs
// of texts: a threshold lies between the same ranks on either, which makes as
// many pairs alike as the reference does (quantile matching). It embeds some
// two hundred short texts; the same embedder gives the same thresholds.
func Calibrate(e retrieval.Embedder, stated Thresholds) (Calibration, error) {
	groups, err := pairGroups()
	if err != nil {
		return Calibration{}, err
	}
	c := Calibration{Embedder: e.Name()}
	all, err := pairCosines(e, groups)
	if err != nil {
		return c, err
	}
	farthest := 0.0
	for _, p := range all {
		farthest = max(farthest, math.Abs(p.reference-p.cosine))
	}
	c.Pairs, c.Reference = len(all), farthest <= sameAsReference
	if c.Reference {
		c.Thresholds = stated
	} else {
		fit := newScale(all)
		if fit.flat() {
			return c, fmt.Errorf("%w: %s gives all pairs of texts one cosine", ErrEmbedder, e.Name())
		}
		c.Thresholds = stated.each(fit.at)
	}
	for half := range 2 {
		var fitted, held []pair
		for _, p := range all {
			if p.group%2 == half {
				held = append(held, p)
			} else {
				fitted = append(fitted, p)
			}
		}
		fit := newScale(fitted)
		c.Duplicate.count(held, stated.Duplicate, fit.at(stated.Duplicate))
		c.Novelty.count(held, stated.Novelty, fit.at(stated.Novelty))
		c.Neighbour.count(held, stated.Neighbour, fit.at(stated.Neighbour))
	}
	return c, nil
}

func (a *Agreement) count(pairs []pair, reference, embedder float64) {
	for _, p := range pairs {
		is, said := p.reference >= reference, p.cosine >= embedder
		if is {
			a.Reference++
		}
		if said {
			a.Embedder++
		}
		if is && said {
			a.Both++
		}
	}
}

// scale relates two sets of cosines by rank.
type scale struct{ reference, cosine []float64 }

func newScale(pairs []pair) scale {
	var s scale
	for _, p := range pairs {
		s.reference = append(s.reference, p.reference)
		s.cosine = append(s.cosine, p.cosine)
	}
	slices.Sort(s.reference)
	slices.Sort(s.cosine)
	return s
}

func (s scale) flat() bool { return s.cosine[0] == s.cosine[len(s.cosine)-1] }

// at is the cosine at the rank of a reference cosine, between the nearest two
// in proportion; 1 is 1 on every scale.
func (s scale) at(reference float64) float64 {
	above, _ := slices.BinarySearch(s.reference, reference)
	if above == 0 {
		return s.cosine[0]
	}
	lowX, lowY, highX, highY := s.reference[above-1], s.cosine[above-1], 1.0, 1.0
	if above < len(s.reference) {
		highX, highY = s.reference[above], s.cosine[above]
	}
	if highX <= lowX {
		return highY
	}
	part := (reference - lowX) / (highX - lowX)
	return lowY + float64(min(part, 1)*(highY-lowY))
}

// pairsFile holds groups of short texts, each: a rule, an edit of it, a
// paraphrase, another rule on its topic, the rule without articles and the rule
// turned round; and the cosines that [ReferenceModel] gives their pairs.
//
//go:embed pairs.jsonl
var pairsFile string

// group is a line of the file. Cosines are those of all pairs within the group,
// Apart those of each text to its counterpart in the next group.
type group struct {
	Texts   []string  `json:"texts"`
	Cosines []float64 `json:"cosines"`
	Apart   []float64 `json:"apart"`
}

// pair is two texts as the reference and another embedder see them.
type pair struct {
	group             int
	first, second     string
	reference, cosine float64
}

var pairGroups = sync.OnceValues(func() ([]group, error) {
	var groups []group
	for line := range strings.Lines(pairsFile) {
		var g group
		if err := json.Unmarshal([]byte(line), &g); err != nil {
			return nil, fmt.Errorf("curation: the pairs in this program: %w", err)
		}
		if n := len(g.Texts); len(g.Cosines) != n*(n-1)/2 || len(g.Apart) != n {
			return nil, fmt.Errorf("curation: the pairs in this program: %d texts with %d and %d cosines", n, len(g.Cosines), len(g.Apart))
		}
		groups = append(groups, g)
	}
	return groups, nil
})

// pairCosines lists the pairs of all groups with an embedder's cosines.
func pairCosines(e retrieval.Embedder, groups []group) ([]pair, error) {
	vectors := make([][][]float32, len(groups))
	for i, g := range groups {
		for _, text := range g.Texts {
			v, err := e.Embed(text)
			if err != nil {
				return nil, fmt.Errorf("calibrate %s: %w", e.Name(), err)
			}
			vectors[i] = append(vectors[i], v)
		}
	}
	var pairs []pair
	for i, g := range groups {
		n, next := 0, (i+1)%len(groups)
		for a := range g.Texts {
			for b := a + 1; b < len(g.Texts); b++ {
				pairs = append(pairs, pair{i, g.Texts[a], g.Texts[b], g.Cosines[n], cosine(vectors[i][a], vectors[i][b])})
				n++
			}
			pairs = append(pairs, pair{i, g.Texts[a], groups[next].Texts[a], g.Apart[a], cosine(vectors[i][a], vectors[next][a])})
		}
	}
	return pairs, nil
}
