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
// judged by words alone and independently of the other candidates. It is the
// larger of two logistic functions:
//
//	worth = bm25 / ((K1 + 1) · idf of a word no rule holds)
//	p     = 1 / (1 + exp(−(bias + slope · ln(1 + worth))))
//
// where worth counts how many perfectly matched words of the rarest kind the
// score amounts to, whatever the size of the corpus: one common word proves
// little, two telling ones a lot; and
//
//	share = words of the text that the rule holds / words of the text
//	p     = 1 / (1 + exp(−(bias + slope · share)))
//
// for texts of two to shareWords words, two of them held: in a corpus of one
// subject every word is common, and yet a rule that holds them all is meant. A
// rule the text names by its id is certain.
func (s *search) relevance(c *candidate) float64 {
	if c.pinned > 0 {
		return 1
	}
	if c.bm25 == 0 {
		return 0
	}
	worth := c.bm25 / ((lexical.K1 + 1) * s.ix.words.Rarest())
	p := calibration.worth.at(math.Log1p(worth))
	words := s.words.Words()
	if p >= injectFrom || words > shareWords {
		return p
	}
	held := s.words.Matched(c.doc)
	if held < 2 {
		return p
	}
	return max(p, calibration.share.at(float64(held)/float64(words)))
}

// shareWords is the longest text, in distinct words, judged by the share a rule
// holds; of longer ones a rule that held most would have worth enough.
const shareWords = 16

// curve is a logistic function of one feature.
type curve struct{ bias, slope float64 }

func (c curve) at(x float64) float64 { return 1 / (1 + math.Exp(-(c.bias + float64(c.slope*x)))) }

// calibration was fitted by logistic regression on judged queries, an injection
// into an off-topic prompt weighing four missed ones; see DESIGN.md.
var calibration = struct{ worth, share curve }{
	worth: curve{bias: -8, slope: 15.7},
	share: curve{bias: -8.5, slope: 10},
}

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
