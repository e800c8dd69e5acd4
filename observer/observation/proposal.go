package observation

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
)

// Proposal is what reflection proposes, as its events leave it. Its text stays
// sealed as it is in the log. It is stored as JSON.
//
// It begins with its making, which never changes, and is decided about once:
// TestAProposalIsDecidedOnce.
type Proposal struct {
	schemas.ProposalMade
	Scope  string    `json:"scope"`
	Time   time.Time `json:"time"`
	Actor  string    `json:"actor,omitempty"`
	Triage *Triaged  `json:"triage,omitempty"` // nil while it is open
}

// Triaged is the decision about a proposal.
type Triaged struct {
	schemas.ProposalTriaged
	Actor string    `json:"actor,omitempty"`
	Time  time.Time `json:"time"`
}

// Known reports whether the proposal was made.
func (p Proposal) Known() bool { return p.ProposalID != "" }

// RestsOn says whether the proposal was made of an observation.
func (p Proposal) RestsOn(k schemas.ObservationKey) bool {
	return p.Scope == k.Scope && slices.Contains(p.Observations, k.ID)
}

// Note names the memory that the proposal becomes as an accepted note.
func (p Proposal) Note() schemas.ObservationKey {
	return schemas.ObservationKey{Scope: p.Scope, ID: "note-" + p.ProposalID}
}

// EvolveProposal folds one event that may name the proposal. It cannot fail.
func EvolveProposal(p Proposal, e schemas.Event) Proposal {
	switch data := e.Data.(type) {
	case schemas.ProposalMade:
		if !p.Known() {
			p = Proposal{ProposalMade: data, Scope: e.Aggregate.ID, Time: e.Time, Actor: e.Actor.String()}
		}
	case schemas.ProposalTriaged:
		if p.ProposalID == data.ProposalID && p.Triage == nil {
			p.Triage = &Triaged{ProposalTriaged: data, Actor: e.Actor.String(), Time: e.Time}
		}
	}
	return p
}

// Triage is what a person decides about a proposal: an accepted note becomes a
// memory, an accepted rule goes through the gate for rules and stays open if that
// refuses it.
type Triage struct {
	ID       string
	Decision string // schemas.ProposalAccepted or ProposalRejected
	Reason   string
	// Withheld says that the proposal is shown to nobody: it rests on what is
	// kept back, or cannot be read any more.
	Withheld bool
	// Rule is what the gate answered, nil while it was not asked. It is asked
	// where nothing was decided without.
	Rule *schemas.RuleProposeReply
}

// DecideProposal answers a decision about a proposal as it is. An accepted rule
// about which the gate was not asked yet is decided without record and message.
func DecideProposal(p Proposal, c Triage) (Decision, error) {
	triaged := schemas.ProposalTriaged{ProposalID: c.ID, Decision: c.Decision, Reason: c.Reason}
	message := c.ID + " is rejected"
	switch {
	case c.Decision != schemas.ProposalAccepted && c.Decision != schemas.ProposalRejected:
		return refuse(schemas.CodeBadRequest, "a proposal is accepted or rejected, not %q", c.Decision)
	case c.Decision == schemas.ProposalRejected && strings.TrimSpace(c.Reason) == "":
		return refuse(schemas.CodeBadRequest, "rejecting a proposal needs a reason: it is what the next reflection can be judged by")
	case !p.Known() || c.Withheld:
		return refuse(schemas.CodeNotFound, "there is no proposal %q to decide about. writ memory triage lists those that are open", c.ID)
	case p.Triage != nil:
		return refuse(schemas.CodeRefused, "proposal %s is %s already", c.ID, p.Triage.Decision)
	case c.Decision == schemas.ProposalRejected:
	case p.Kind != schemas.ProposalRule:
		triaged.ObservationID, message = p.Note().ID, c.ID+" is a memory now"
	case c.Rule == nil:
		return Decision{}, nil
	case !c.Rule.Admitted:
		name := cmp.Or(c.Rule.ID, "the rule")
		return Decision{Message: "the structural gate refused " + name + "; " + c.ID + " stays open"}, nil
	default:
		triaged.RuleID, message = c.Rule.ID, c.Rule.ID+" is in the corpus as a proposal. `writ rule review` promotes it"
	}
	return recorded(p.Scope, message, triaged), nil
}
