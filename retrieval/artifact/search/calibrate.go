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

// Fitted on the best ten of each judged query of 31 projects and of the tuning
// half of older ones, by ridge regression; DESIGN.md says how well they hold where
// they were not fitted. Words and cosines alone tell less, and so never give a
// chance as high as all signals together.
var (
	withMeaning = Calibration{Bias: -7.58, Level: 1.97, Share: 2.23, Square: 3.33} // two-stage
	withWords   = Calibration{Bias: -6.86, Level: 2.64, Share: 1.75, Square: 2.97} // two-stage, without vectors
	ofWords     = Calibration{Bias: -5.57, Level: 2.57, Share: 0.83, Square: 2.42}
	ofMeaning   = Calibration{Bias: -7.1, Level: 0.32, Share: 2.01, Square: 4.41} // of the older ones alone
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

// LeastSure is the chance that anything answers below which a strategy gives
// nothing.
const LeastSure = 0.15

// sureness tells from the best candidate how likely it is that anything of the
// index answers: a logistic function, fitted on queries that a project answers
// and on those of other projects. A longer query of which no file holds more is
// less likely to be answered, so it is no part of a hit's score.
type sureness struct {
	bias    float64
	level   float64 // of ln(1 + how many perfectly matched rare words the best sum amounts to)
	covered float64 // of the share of the query's words, by idf, that one chunk of the pool holds at the most
	cosine  float64 // of the nearest chunk's in the pool
}

var (
	sureWithMeaning = sureness{bias: -8.25, level: 2.7, covered: 4.72, cosine: 5.6}
	sureWithWords   = sureness{bias: -6.29, level: 3.33, covered: 5.83}
)

// sure is the chance that anything of the index answers.
func (s *searching) sure() float64 {
	if len(s.pool) == 0 {
		return 0
	}
	if s.query.Method == Semantic {
		return s.chances()(s.pool[0].score)
	}
	cosine, most := -1.0, float32(0)
	for i := range s.pool {
		cosine = max(cosine, s.pool[i].cosine)
		for _, covered := range s.pool[i].covered {
			most = max(most, covered)
		}
	}
	k, x := sureWithWords, 0.0
	if cosine > -1 {
		k = sureWithMeaning
		x = k.cosine * cosine
	}
	covered := 1.0 // of a name that is no word, such as one letter, nothing is missing
	if s.asked > 0 {
		covered = min(1, float64(most)/s.asked)
	}
	perfect := (bm25.K1 + 1) * bm25.IDF(s.ix.sums.docs, 0)
	x += k.bias + float64(k.level*math.Log1p(s.pool[0].score/perfect)) + float64(k.covered*covered)
	return 1 / (1 + math.Exp(-x))
}
