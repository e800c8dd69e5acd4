package rule

import (
	"cmp"

	"github.com/writbus/writ/schemas"
)

// shippedGone is why Writ took shipped rules out in logs in which it did so under a
// person's name.
const shippedGone = "its file is gone from " + SourceShipped

// Evolve folds one event of a rule. It cannot fail; an outcome changes nothing.
func Evolve(s State, e schemas.Event) State {
	switch p := e.Data.(type) {
	case schemas.RuleImported:
		if p.Release != nil {
			s = s.hold(e.Aggregate.ID, p)
			break
		}
		s.Rule, s.Source, s.Hash, s.Content = p.Rule, p.Source, p.Hash, p.Content
		s.Incomplete, s.Neighbours, s.By, s.Edited = nil, nil, "", false
		s.Rule.Authority = cmp.Or(p.Rule.Authority, authorityHuman)
		s.Status, s.Reasons = Active, nil
	case schemas.RuleEdited:
		p.Rule.Authority = cmp.Or(p.Rule.Authority, s.Rule.Authority, authorityHuman)
		s.Rule, s.Content, s.Edited = p.Rule, p.Content, true
		s.Status, s.Reasons = cmp.Or(s.Status, Active), nil
		if p.Restores > 0 {
			s.Status = Active
		}
	case schemas.RuleRetired:
		if p.Release != nil {
			s = s.without(p.Release.Name)
			break
		}
		if s.Status != "" {
			s.Status, s.Reasons = Retired, []string{p.Reason}
			s.Pruned = e.Actor.Kind() == schemas.ActorWrit || p.Reason == shippedGone
		}
	case schemas.RuleProposed:
		s = evolveProposal(s, p)
	case schemas.RulePromoted:
		if s.Proposal() {
			s.Rule.Authority, s.Rule.Confidence = authorityPromoted, confidencePeer
			s.Status, s.Reasons = Active, nil
		}
	case schemas.RuleRejected:
		if s.Proposal() {
			s.Status, s.Reasons = Rejected, []string{p.Reason}
		}
	case schemas.RuleDownweighted:
		s.Rule.Confidence, s.Edited = p.Confidence, true
	default:
		return s
	}
	s.Pruned = s.Pruned && s.Status == Retired
	s.Rule.ID = e.Aggregate.ID
	s.Revisions++
	s.Last = e.Position
	return s
}

// evolveProposal keeps what stands: nothing overwrites a person's rule, and a
// refused proposal does not overwrite an admitted one. Authority and
// confidence are forced, whatever the proposal claims.
func evolveProposal(s State, p schemas.RuleProposed) State {
	standing := s.Status == Active || s.Status == Retired
	if standing && (!s.Proposal() || !p.Admitted) {
		return s
	}
	s.Rule, s.Content, s.By = p.Rule, p.Content, cmp.Or(p.By, p.Session)
	s.Incomplete, s.Neighbours = p.Incomplete, p.Neighbours
	s.Rule.Authority, s.Rule.Confidence = schemas.AuthorityProposed, confidenceSpeculative
	s.Status, s.Reasons = Active, nil
	if !p.Admitted {
		s.Status, s.Reasons = Refused, p.Reasons
	}
	return s
}
