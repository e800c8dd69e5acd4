package rule

import (
	"fmt"

	"github.com/writbus/writ/retrieval/curation"
	"github.com/writbus/writ/schemas"
)

// Feedback is what somebody says came of a rule.
type Feedback struct {
	Outcome schemas.OutcomeRecorded
	// Shown says that the session of the outcome was shown the rule; a person's
	// own word needs no session that was.
	Shown bool
}

func (c Feedback) decide(s State) (Decision, error) {
	if !c.Shown {
		return refuse(schemas.CodeRefused, "session %s was never shown rule %s: an outcome is of a rule that was shown", c.Outcome.Session, s.Rule.ID)
	}
	if !s.InForce() {
		return Decision{}, NoSuch(s.Rule.ID)
	}
	return recorded(c.Outcome, "")
}

// shownNeighbours is how many neighbours an event and a review carry.
const shownNeighbours = 3

// Propose puts a node before the structural gate. It is recorded, admitted or
// not: whoever proposes learns from a refusal.
type Propose struct {
	Proposal    curation.Proposal
	Gate        curation.Gate
	Against     curation.Corpus
	By, Session string
	Content     string
}

func (c Propose) decide(State) (Decision, error) {
	f := c.Gate.Judge(c.Proposal, c.Against)
	var near []schemas.Neighbour
	for _, n := range curation.Neighbours(f.Node, c.Against, shownNeighbours) {
		if n.Cosine > 0 {
			near = append(near, schemas.Neighbour{ID: n.ID, Similarity: n.Cosine})
		}
	}
	d, err := recorded(schemas.RuleProposed{
		Rule: f.Node, By: c.By, Session: c.Session, Admitted: f.Admitted, Reasons: f.Texts(),
		Incomplete: f.Incomplete, Neighbours: near, Content: c.Content,
	}, "")
	d.Finding, d.Near = f, near
	return d, err
}

// ProposalID is the id that a proposal is recorded under: its own, or one of its
// content where its own is no id.
func ProposalID(p curation.Proposal, content string) string {
	if id := curation.Tidy(p.Node).ID; schemas.RuleAggregate(id).Check() == nil {
		return id
	}
	return fmt.Sprintf("unnamed-%s", Hash(content)[:16])
}
