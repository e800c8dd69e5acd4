package retrieval

import (
	"math"
	"slices"

	"github.com/writbus/writ/retrieval/bm25"
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
// which so much of its score proves. A rule the text names by its id is certain.
func (s *search) relevance(c *candidate, proof float64) float64 {
	switch {
	case c.pinned > 0:
		return 1
	case s.vector != nil && s.words.Words() < 2:
		return min(s.ix.calibration.model.at(s.features(c, proof)), oneWordMost)
	case s.vector != nil:
		return s.ix.calibration.model.at(s.features(c, proof))
	}
	return s.lexicalRelevance(c, proof)
}

// oneWordMost is the most that a rule can be meant by a text of one word, which
// names a subject and asks for nothing: its title is named.
const oneWordMost = 0.45

// features are what the calibration looks at.
func (s *search) features(c *candidate, proof float64) features {
	return s.ix.calibration.features(s.words.Words(), proof, s.ix.words.Rarest(), c.cosine, s.subject)
}

// bestCosine is that of the pool, which holds the nearest document.
func (s *search) bestCosine() float64 {
	top := -1.0
	for i := range s.pool {
		top = max(top, s.pool[i].cosine)
	}
	return top
}

// lexicalRelevance judges by words alone, independently of the other
// candidates. It is the larger of two logistic functions:
//
//	worth = evens · proof / ((K1 + 1) · idf of a word no rule holds)
//	p     = 1 / (1 + exp(−(bias + slope · ln(1 + worth))))
//
// where worth counts how many perfectly matched words of the rarest kind the
// score amounts to, whatever the size of the corpus: one common word proves
// little, two distinctive ones a lot; and
//
//	share = words of the text that the rule holds / words of the text
//	p     = 1 / (1 + exp(−(bias + slope · share)))
//
// for texts of up to shareWords words, three of them held: in a corpus of one
// subject every word is common, and yet a rule that holds them all is meant. Two
// common words stand together in some rule or other ("good job", "see you later").
func (s *search) lexicalRelevance(c *candidate, proof float64) float64 {
	if c.bm25 == 0 {
		return 0
	}
	p := byWords.worth.at(math.Log1p(s.ix.worth(proof)))
	words := s.words.Words()
	if p >= injectFrom || words > shareWords {
		return p
	}
	held := s.words.Matched(c.doc)
	if held < 3 {
		return p
	}
	return max(p, byWords.share.at(float64(held)/float64(words)))
}

// fittedSize is about how many rules there were where worth was fitted.
const fittedSize = 600

// worth is what a proof counts. Among few rules a word that one of them holds is
// hardly rarer than one that none does, and would prove little: evens makes up for
// it.
func (ix *Index) worth(proof float64) float64 {
	fitted := bm25.IDF(fittedSize, 1) / bm25.IDF(fittedSize, 0)
	evens := max(1, fitted*ix.words.Rarest()/ix.words.Once())
	return evens * proof / ((bm25.K1 + 1) * ix.words.Rarest())
}

// shareWords is the longest text, in distinct words, judged by the share a rule
// holds; of longer ones a rule that held most would have worth enough.
const shareWords = 16

// curve is a logistic function of one feature.
type curve struct{ bias, slope float64 }

func (c curve) at(x float64) float64 { return 1 / (1 + math.Exp(-(c.bias + float64(c.slope*x)))) }

// byWords was fitted by logistic regression on judged queries, an injection
// into an off-topic prompt weighing four missed ones; see DESIGN.md.
var byWords = struct{ worth, share curve }{
	worth: curve{bias: -8.6, slope: 15.7},
	share: curve{bias: -8.5, slope: 10},
}

// tiers gives the answer its tier, and then every candidate.
func (s *search) tiers() {
	for i := range s.pool {
		c := &s.pool[i]
		if s.elsewhere(c) {
			c.probability = 0
		}
		s.answer.Probability = max(s.answer.Probability, c.probability)
		c.tier = s.ix.decision.tier(c.probability)
	}
	if s.answer.Tier = s.ix.decision.tier(s.answer.Probability); s.answer.Probability < s.least() {
		s.answer.Tier = TierNothing
	}
}

// least is the chance that the best rule must have for anything to be given.
func (s *search) least() float64 {
	d := &s.ix.decision
	switch {
	case s.q.Judged != nil:
		return d.Line
	case s.vector == nil:
		return d.Any
	}
	return d.Least(s.task)
}

// tier is that of a rule with such a chance.
func (d *Decision) tier(chance float64) string {
	switch {
	case chance >= d.Whole:
		return TierInject
	case chance >= d.Line:
		return TierTitles
	}
	return TierNothing
}

// relevant drops the candidates of the lowest tier, unless the query wants all.
func (s *search) relevant(order []int) []int {
	if s.q.Raw {
		return order
	}
	return slices.DeleteFunc(order, func(at int) bool { return s.pool[at].tier == TierNothing })
}
