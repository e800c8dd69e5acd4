package retrieval

import (
	"math"

	"github.com/writbus/writ/retrieval/lexical"
)

// The tiers of relevance.
const (
	TierInject  = "inject"  // worth the agent's attention, rendered
	TierTitles  = "titles"  // perhaps: only its title is named
	TierNothing = "nothing" // not shown
)

// The least probabilities of the two upper tiers.
const (
	injectFrom = 0.5
	titlesFrom = 0.25
)

// besideShare scales a relevant seed's probability for its neighbours: a rule
// that only its edges brought up is at best named by its title.
const besideShare = 0.45

// relevance is the probability that the text is about a candidate's subject,
// judged by words alone and independently of the other candidates:
//
//	worth = bm25 / ((K1 + 1) · idf of a word no rule holds)
//	p     = 1 / (1 + exp(−(bias + slope · ln(1 + worth))))
//
// worth counts how many perfectly matched words of the rarest kind the score
// amounts to, whatever the size of the corpus: one common word proves little,
// two telling ones a lot. A rule the text names by its id is certain.
func (s *search) relevance(c *candidate) float64 {
	if c.pinned > 0 {
		return 1
	}
	worth := c.bm25 / ((lexical.K1 + 1) * s.ix.words.Rarest())
	if worth == 0 {
		return 0
	}
	return logistic(calibration.bias + float64(calibration.slope*math.Log1p(worth)))
}

// calibration was fitted by logistic regression on judged queries, an injection
// into an off-topic prompt weighing four missed ones; see DESIGN.md.
var calibration = struct{ bias, slope float64 }{bias: -8.0, slope: 15.7}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func tier(probability float64) string {
	switch {
	case probability >= injectFrom:
		return TierInject
	case probability >= titlesFrom:
		return TierTitles
	}
	return TierNothing
}

// relevant drops the candidates of the lowest tier, unless the query wants all.
func (s *search) relevant(order []int) []int {
	kept := order[:0]
	for _, at := range order {
		p := s.pool[at].probability
		s.answer.Probability = max(s.answer.Probability, p)
		if s.q.Raw || tier(p) != TierNothing {
			kept = append(kept, at)
		}
	}
	s.answer.Tier = tier(s.answer.Probability)
	return kept
}
