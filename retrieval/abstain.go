package retrieval

import "math"

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

// relevance is the probability that a candidate is worth showing, judged by
// words alone and independently of the other candidates: a logistic function of
//
//	coverage  share of the query's idf mass that the rule's words hold
//	strength  BM25 score over the query's idf mass: how prominent these words are in the rule
//	evidence  idf mass held, in units of the rarest possible word: one common word proves little
//
// A rule the text names by its id is certain.
func (s *search) relevance(c *candidate) float64 {
	if c.pinned > 0 {
		return 1
	}
	mass := s.words.Mass()
	if c.bm25 == 0 || mass == 0 {
		return 0
	}
	coverage := c.coverage
	strength := c.bm25 / mass
	evidence := coverage * mass / s.ix.words.Rarest()
	return logistic(calibration.bias + calibration.coverage*coverage + calibration.strength*strength +
		calibration.evidence*math.Log1p(evidence))
}

// calibration was fitted once by logistic regression on judged queries; see
// DESIGN.md.
var calibration = struct{ bias, coverage, strength, evidence float64 }{
	bias: -6, coverage: 4, strength: 1.2, evidence: 2.5,
}

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
