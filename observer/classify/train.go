package classify

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Training settles the numbers of a training; Train's result depends on them
// and the data alone.
type Training struct {
	Epochs int
	Rate   float64 // of AdaGrad
	L2     float64 // pull of a weight towards 0
	Folds  int     // of the cross-validation that chooses the thresholds
	// DiscardAtMost is the share of texts worth keeping that may fall below the
	// threshold of Discard.
	DiscardAtMost float64
}

// DefaultTraining is what the model in the program was trained with.
func DefaultTraining() Training {
	return Training{Epochs: 60, Rate: 0.3, L2: 2e-4, Folds: 5, DiscardAtMost: 0.03}
}

// example is a text as its features.
type example struct {
	features []feature
	keep     bool
}

// Train fits a model. The thresholds come from cross-validation: that of Allow
// is the one with the best F1 on texts that were not trained on, that of
// Discard the highest below which at most DiscardAtMost of what is worth
// keeping falls. It returns ErrData for data that has not both kinds.
func Train(data []Labelled, t Training) (*Model, error) {
	examples := make([]example, len(data))
	kept := 0
	for i, l := range data {
		examples[i] = example{features(l.Text), l.Keep}
		if l.Keep {
			kept++
		}
	}
	if t.Folds < 2 || kept < t.Folds || len(data)-kept < t.Folds {
		return nil, fmt.Errorf("%w: %d texts, %d worth keeping, for %d folds", ErrData, len(data), kept, t.Folds)
	}
	var judged []scored
	for fold := range t.Folds {
		var rest []example
		for i, e := range examples {
			if i%t.Folds != fold {
				rest = append(rest, e)
			}
		}
		m := fit(rest, t)
		for i := fold; i < len(examples); i += t.Folds {
			score, _ := m.score(examples[i].features)
			judged = append(judged, scored{score, examples[i].keep})
		}
	}
	m := fit(examples, t)
	m.allow, m.discard = thresholds(judged, t.DiscardAtMost)
	return m, nil
}

type scored struct {
	score float64
	keep  bool
}

// thresholds finds the score with the best F1, and the one below which few of
// the kept lie.
func thresholds(judged []scored, most float64) (allow, discard float64) {
	slices.SortStableFunc(judged, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	kept := 0
	for _, j := range judged {
		if j.keep {
			kept++
		}
	}
	best, hit := -1.0, 0
	discard = math.Inf(1)
	for i, j := range judged {
		if j.keep {
			hit++
		}
		if f1 := 2 * float64(hit) / float64(i+1+kept); f1 > best {
			best, allow = f1, j.score
		}
		if math.IsInf(discard, 1) && float64(kept-hit) <= most*float64(kept) {
			discard = j.score
		}
	}
	return allow, min(discard, allow)
}

// fit runs AdaGrad over the examples in their order. Products are converted
// one by one, so that no processor fuses them and all train the same model.
func fit(examples []example, t Training) *Model {
	weights, squares := make([]float64, Buckets), make([]float64, Buckets)
	bias, biasSquares := 0.0, 0.0
	for range t.Epochs {
		for _, e := range examples {
			n := 0
			for _, f := range e.features {
				if !f.sign {
					n++
				}
			}
			root := math.Sqrt(float64(max(n, 1)))
			score := bias
			for _, f := range e.features {
				score += weights[f.bucket] / vote(f, root)
			}
			gradient := 1 / (1 + math.Exp(-score))
			if e.keep {
				gradient--
			}
			for _, f := range e.features {
				g := gradient/vote(f, root) + float64(t.L2*weights[f.bucket])
				squares[f.bucket] += float64(g * g)
				weights[f.bucket] -= float64(t.Rate*g) / (math.Sqrt(squares[f.bucket]) + 1e-8)
			}
			biasSquares += float64(gradient * gradient)
			bias -= float64(t.Rate*gradient) / (math.Sqrt(biasSquares) + 1e-8)
		}
	}
	return quantise(weights, bias)
}

func vote(f feature, root float64) float64 {
	if f.sign {
		return 1
	}
	return root
}

// quantise rounds the weights to 8 bits.
func quantise(weights []float64, bias float64) *Model {
	largest := 1e-9
	for _, w := range weights {
		largest = max(largest, math.Abs(w))
	}
	m := &Model{unit: largest / 127, bias: bias}
	for i, w := range weights {
		m.weights[i] = int8(math.Round(w / m.unit))
	}
	return m
}
