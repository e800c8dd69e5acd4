package retrieval

import (
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/excerpt"
)

// relatedMost is how many neighbours a rule names.
const relatedMost = 6

// hit writes a candidate as the answer shows it.
func (s *search) hit(h *Hit, at int) {
	c := &s.pool[at]
	if !c.judged {
		_, c.coverage = s.words.Judge(c.doc, 0)
	}
	doc := &s.ix.docs[c.doc]
	*h = Hit{
		ID: doc.Rule.ID, Type: doc.Type, Score: c.score, Tier: c.tier, Probability: c.probability,
		Conflicts: c.leftOut, Rule: *doc.Rule,
		Why: Why{
			BM25: c.bm25, Vector: c.cosine, Severity: c.severity, Confidence: c.confidence, Graph: c.graph,
			Coverage: c.coverage, Pinned: c.pinned > 0, Ranks: c.ranks,
		},
	}
	if s.q.Explain {
		if c.evidence[evOne] == 1 {
			h.Why.Evidence = slices.Clone(c.evidence[:])
		}
		for _, part := range s.words.Explain(c.doc) {
			h.Why.Terms = append(h.Why.Terms, Term(part))
		}
	}
}

// titleLine is a rule's one line, counted once: it depends on the snapshot alone.
func (ix *Index) titleLine(doc int32) piece {
	if kept := ix.lines[doc].Load(); kept != nil {
		return *kept
	}
	line := measured(titleOnly(ix.docs[doc].Rule))
	ix.lines[doc].Store(&line)
	return line
}

// relatedLine names the retrievable rules beside a document, by id. Counting its
// tokens is dear, so the line is kept; it depends on the snapshot alone.
func (ix *Index) relatedLine(doc int32) piece {
	if kept := ix.related[doc].Load(); kept != nil {
		return *kept
	}
	var ids []string
	for _, near := range ix.graph.near[doc] {
		if ix.kinds[near].retrievable && len(ids) < relatedMost {
			ids = append(ids, excerpt.Line(ix.docs[near].Rule.ID))
		}
	}
	line := measured(labelled("RELATED: ", strings.Join(ids, ", ")))
	ix.related[doc].Store(&line)
	return line
}
