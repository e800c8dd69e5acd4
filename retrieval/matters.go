package retrieval

import (
	"math"
	"strings"
)

// A text of several sentences may be about several matters, each of which has
// rules of its own that the text as a whole is not near to.
const (
	// mattersFrom and mattersTo are the lengths, in words, of texts that are read by
	// their matters, too: a shorter one is about one thing, and much of a longer one
	// is pasted.
	mattersFrom, mattersTo = 30, 300
	// matterWords is how many words a matter has at least.
	matterWords = 8
	// firstFrom is the least chance of a matter's likeliest rule that goes before the
	// second ones of other matters.
	firstFrom = 0.2
	// severalFirst is from how many such rules on none is given in full: each has its line.
	severalFirst = 4
	// unlikely is the chance of a rule that was not looked at.
	unlikely = 0.002
)

// matters cuts a text into sentences and clauses, the short ones joined to what
// stands beside them; none where it is about one thing.
func matters(text string) (parts []string) {
	if words := len(strings.Fields(text)); words < mattersFrom || words > mattersTo {
		return nil
	}
	for from, end := 0, 0; end < len(text); {
		end += endOfClause(text[end:])
		if len(strings.Fields(text[from:end])) >= matterWords {
			parts, from = append(parts, text[from:end]), end
		} else if end == len(text) && len(parts) > 0 {
			parts[len(parts)-1] += text[from:]
		}
	}
	if len(parts) < 2 {
		return nil
	}
	return parts
}

// endOfClause is where the first sentence or clause of a text ends.
func endOfClause(text string) int {
	for i := 1; i < len(text); i++ {
		if text[i-1] == '\n' || strings.IndexByte(".!?;:,", text[i-1]) >= 0 && (text[i] == ' ' || text[i] == '\n') {
			return i
		}
	}
	return len(text)
}

// byMatter judges the rules by each matter of the text alone, too. The chance of a
// rule is then the middle, in odds, of that by the whole text and that by the matter
// which it fits best, and the likeliest rule of each matter goes first.
func (s *search) byMatter() {
	if !s.fitted() || s.q.Limit > 0 || s.q.Judged != nil || s.q.Raw && !s.q.Explain {
		return
	}
	alone := map[int32]float64{}
	for _, text := range matters(s.text) {
		m := search{ix: s.ix, q: s.q, scratch: s.ix.scratch.Get().(*scratch), text: text, whole: s}
		m.find()
		m.score()
		m.decide()
		var first *candidate
		for i := range m.pool {
			c := &m.pool[i]
			if c.evidence[evOne] == 0 || c.pinned > 0 || c.probability < s.ix.decision.Line {
				continue
			}
			own := s.candidate(c.doc)
			if own.evidence[evOne] == 0 {
				own.score, own.evidence, own.coverage, own.judged, own.probability = c.score, c.evidence, c.coverage, true, unlikely
			}
			alone[c.doc] = max(alone[c.doc], c.probability)
			if c.probability >= firstFrom && (first == nil || c.probability > first.probability) {
				first = c
			}
		}
		if first != nil {
			own := s.candidate(first.doc)
			own.first = max(own.first, first.probability)
		}
		s.ix.release(m.scratch)
	}
	if len(alone) == 0 {
		return
	}
	for i := range s.pool {
		if c := &s.pool[i]; c.evidence[evOne] == 1 && c.pinned == 0 {
			c.probability = middle(c.probability, max(alone[c.doc], unlikely))
			s.firsts += int(Indicate(c.first > 0))
		}
	}
}

// middle is the chance between two, in odds.
func middle(a, b float64) float64 {
	const most = 1 - 1e-9 // the odds of what is certain have no middle
	a, b = min(a, most), min(b, most)
	odds := math.Sqrt(a / (1 - a) * b / (1 - b))
	return odds / (1 + odds)
}
