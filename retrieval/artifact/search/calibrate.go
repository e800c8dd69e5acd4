package search

import (
	"math"

	"github.com/writbus/writ/retrieval/bm25"
)

// Calibration turns the sum that a candidate is ordered by into the chance that
// its file answers the query: a logistic function of the sum's level and of its
// share of the best candidate's. No coefficient is negative, so that a better
// place never has a lesser chance.
type Calibration struct {
	Bias float64
	// Level is of ln(1 + how many perfectly matched rare words the sum amounts
	// to), of a semantic search the cosine.
	Level         float64
	Share, Square float64 // of the sum's share of the best, and of its square
}

// Fitted on the best ten of each query of the tuning half, by ridge regression;
// DESIGN.md says how well they hold on the other half. Words and cosines alone
// tell less, and so never give a chance as high as all signals together.
var (
	withMeaning = Calibration{Bias: -7.5, Level: 1.7, Share: 2.53, Square: 3.96}  // two-stage
	withWords   = Calibration{Bias: -6.29, Level: 1.75, Share: 1.5, Square: 3.77} // two-stage, without vectors
	ofWords     = Calibration{Bias: -5.44, Level: 1.86, Share: 0.58, Square: 3.21}
	ofMeaning   = Calibration{Bias: -7.1, Level: 0.32, Share: 2.01, Square: 4.41}
)

func (s *searching) calibration() Calibration {
	switch {
	case s.query.Method == BM25:
		return ofWords
	case s.query.Method == Semantic:
		return ofMeaning
	case s.vector == nil:
		return withWords
	}
	return withMeaning
}

// chances returns the chance of what a candidate, or a part of it, is ordered by.
func (s *searching) chances() func(order float64) float64 {
	best := 0.0
	for i := range s.pool {
		best = max(best, s.pool[i].score)
	}
	k := s.calibration()
	perfect := (bm25.K1 + 1) * bm25.IDF(s.ix.sums.docs, 0)
	return func(order float64) float64 {
		if best <= 0 { // cosines only: nothing is similar
			return 0
		}
		order = max(order, 0)
		level, share := math.Log1p(order/perfect), order/best
		if s.query.Method == Semantic {
			level = order
		}
		return 1 / (1 + math.Exp(-(k.Bias + float64(k.Level*level) + float64(k.Share*share) + float64(k.Square*share*share))))
	}
}
