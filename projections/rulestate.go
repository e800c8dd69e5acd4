package projections

import (
	"slices"

	"github.com/writbus/writ/schemas"
)

// RuleStatus says what became of a rule.
type RuleStatus string

// The states of a rule.
const (
	RuleActive   RuleStatus = "active"   // in the corpus
	RuleRetired  RuleStatus = "retired"  // taken out; its history stays
	RuleRefused  RuleStatus = "refused"  // proposed and not admitted
	RuleRejected RuleStatus = "rejected" // admitted as a proposal, turned down by a person
)

// The ladders of EVOLUTION.md, as far as events move rules on them.
const (
	authorityHuman       = "human"
	authorityProvisional = "ai-provisional"
	authorityPromoted    = "ai-promoted"

	confidenceSpeculative = "speculative"
	confidencePeer        = "peer-reviewed"

	edgeSupersedes = "SUPERSEDES"
)

// RuleState is a rule as its events leave it. Rule.Authority and
// Rule.Confidence are those that hold now.
type RuleState struct {
	Rule      schemas.Rule `json:"rule"`
	Status    RuleStatus   `json:"status"`
	Source    string       `json:"source,omitempty"` // of the last import
	Hash      string       `json:"hash,omitempty"`   // of the last import
	Revisions int          `json:"revisions"`        // events so far
	// Edited says that a person changed the rule after its last import.
	Edited bool `json:"edited,omitempty"`
	// Content is the file that Rule was last read from, "" where there was none.
	Content string `json:"content,omitempty"`
	// Incomplete names what keeps a proposal from being promoted.
	Incomplete []string            `json:"incomplete,omitempty"`
	Neighbours []schemas.Neighbour `json:"neighbours,omitempty"` // of a proposal
	By         string              `json:"by,omitempty"`         // who proposed it
	// Reasons are those of the last retirement, rejection or refusal.
	Reasons []string `json:"reasons,omitempty"`
	// Last is where the rule last changed.
	Last schemas.Position `json:"last"`
}

// known reports whether the id ever had content.
func (s RuleState) known() bool { return s.Status != "" }

func (s RuleState) proposal() bool { return s.Rule.Authority == authorityProvisional }

// Supersedes lists the rules that this one takes out of retrieval now. A
// proposal takes none out before a person promotes it.
func (s RuleState) Supersedes() []string {
	if s.Status != RuleActive || s.proposal() {
		return nil
	}
	var ids []string
	for _, e := range s.Rule.Edges {
		if e.Type == edgeSupersedes && e.Target != s.Rule.ID && !slices.Contains(ids, e.Target) {
			ids = append(ids, e.Target)
		}
	}
	slices.Sort(ids)
	return ids
}

// EvolveRule folds one event of a rule. It cannot fail; an outcome changes
// nothing.
func EvolveRule(s RuleState, e schemas.Event) RuleState {
	switch p := e.Data.(type) {
	case schemas.RuleImported:
		s.Rule, s.Source, s.Hash, s.Content = p.Rule, p.Source, p.Hash, p.Content
		s.Incomplete, s.Neighbours, s.By, s.Edited = nil, nil, "", false
		s.Rule.Authority = firstOf(p.Rule.Authority, authorityHuman)
		s.Status, s.Reasons = RuleActive, nil
	case schemas.RuleEdited:
		s.Rule.Authority = firstOf(p.Rule.Authority, s.Rule.Authority, authorityHuman)
		p.Rule.Authority = s.Rule.Authority
		s.Rule, s.Content = p.Rule, p.Content
		s.Status, s.Reasons = firstOf(s.Status, RuleActive), nil
		s.Edited = true
		if p.Restores > 0 {
			s.Status = RuleActive
		}
	case schemas.RuleRetired:
		if s.known() {
			s.Status, s.Reasons = RuleRetired, []string{p.Reason}
		}
	case schemas.RuleProposed:
		s = evolveProposal(s, p)
	case schemas.RulePromoted:
		if s.proposal() {
			s.Rule.Authority, s.Rule.Confidence = authorityPromoted, confidencePeer
			s.Status, s.Reasons = RuleActive, nil
		}
	case schemas.RuleRejected:
		if s.proposal() {
			s.Status, s.Reasons = RuleRejected, []string{p.Reason}
		}
	case schemas.RuleDownweighted:
		s.Rule.Confidence, s.Edited = p.Confidence, true
	default:
		return s
	}
	s.Rule.ID = e.Aggregate.ID
	s.Revisions++
	s.Last = e.Position
	return s
}

// evolveProposal keeps what stands: nothing overwrites a person's rule, and a
// refused proposal does not overwrite an admitted one. Authority and
// confidence are forced, whatever the proposal claims.
func evolveProposal(s RuleState, p schemas.RuleProposed) RuleState {
	standing := s.Status == RuleActive || s.Status == RuleRetired
	if standing && (!s.proposal() || !p.Admitted) {
		return s
	}
	s.Rule, s.Content, s.By = p.Rule, p.Content, firstOf(p.By, p.Session)
	s.Incomplete, s.Neighbours = p.Incomplete, p.Neighbours
	s.Rule.Authority, s.Rule.Confidence = authorityProvisional, confidenceSpeculative
	s.Status, s.Reasons = RuleActive, nil
	if !p.Admitted {
		s.Status, s.Reasons = RuleRefused, p.Reasons
	}
	return s
}

func firstOf[T ~string](values ...T) T {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// ruleTypes are the events that change a rule.
func ruleTypes() []schemas.Type {
	return []schemas.Type{
		schemas.RuleImported{}.EventType(), schemas.RuleEdited{}.EventType(), schemas.RuleRetired{}.EventType(),
		schemas.RuleProposed{}.EventType(), schemas.RulePromoted{}.EventType(), schemas.RuleRejected{}.EventType(),
		schemas.RuleDownweighted{}.EventType(),
	}
}
