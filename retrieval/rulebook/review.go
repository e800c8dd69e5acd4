package rulebook

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/curation"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/schemas"
)

// review lists what waits for a person: proposals, and rules whose outcomes
// speak against them.
func (b *Book) review(ctx context.Context, q schemas.RuleQuery) (schemas.RuleReviewList, error) {
	list := schemas.RuleReviewList{Items: []schemas.RuleReviewItem{}}
	if err := b.awaitOutcomes(ctx); err != nil {
		return list, err
	}
	err := b.each(func(reader projections.Reader, state rule.Given) error {
		if !state.InForce() || q.ID != "" && q.ID != state.Rule.ID {
			return nil
		}
		item, wanted, err := b.reviewItem(reader, state)
		if wanted {
			list.Items = append(list.Items, item)
		}
		return err
	})
	slices.SortStableFunc(list.Items, func(a, b schemas.RuleReviewItem) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Rule.ID, b.Rule.ID))
	})
	return list, err
}

func (b *Book) reviewItem(reader projections.Reader, state rule.Given) (item schemas.RuleReviewItem, wanted bool, err error) {
	o, err := b.outcomes(state.Rule.ID)
	if err != nil {
		return item, false, err
	}
	item = schemas.RuleReviewItem{
		Rule: state.Rule, By: state.By, Revision: state.Revisions, Neighbours: state.Neighbours,
		Positive: o.Positive, Negative: o.Negative,
	}
	switch {
	case state.Proposal():
		item.Why, item.Incomplete = "proposal", curation.Incomplete(state.Rule)
	case o.Graduate(state.Rule.Confidence).Flagged:
		item.Why = "flagged"
	default:
		return item, false, nil
	}
	if item.Since, err = b.lastChange(reader, state.Rule.ID); err != nil {
		return item, false, err
	}
	for _, n := range state.Neighbours {
		near, found, err := b.rules.Rule(reader, n.ID)
		if err != nil {
			return item, false, err
		}
		if found {
			item.Near = append(item.Near, near.Given().Rule)
		}
	}
	return item, true, nil
}

func (s *store) lastChange(reader projections.Reader, id string) (at time.Time, err error) {
	for revision, err := range s.rules.History(reader, id) {
		if err != nil {
			return at, err
		}
		at = revision.Time
	}
	return at, nil
}

// stats says what outcomes made of the rules, and what became of proposals.
func (b *Book) stats(ctx context.Context, q schemas.RuleQuery) (schemas.RuleStatsList, error) {
	list := schemas.RuleStatsList{Rules: []schemas.RuleStats{}, ByStatus: map[string]int{}}
	if err := b.awaitOutcomes(ctx); err != nil {
		return list, err
	}
	err := b.each(func(_ projections.Reader, state rule.Given) error {
		if !state.Exists() || q.ID != "" && q.ID != state.Rule.ID || q.Domain != "" && q.Domain != state.Rule.Domain {
			return nil
		}
		countStatus(&list, state)
		if state.Status != rule.Active {
			return nil
		}
		o, err := b.outcomes(state.Rule.ID)
		if err != nil {
			return err
		}
		g := o.Graduate(state.Rule.Confidence)
		list.Rules = append(list.Rules, schemas.RuleStats{
			ID: state.Rule.ID, Confidence: state.Rule.Confidence, Authority: state.Rule.Authority,
			Positive: o.Positive, Negative: o.Negative, Ignored: o.Ignored,
			Weight: g.Weight, Graduated: g.Graduated, Flagged: g.Flagged,
		})
		return nil
	})
	if err == nil && q.ID != "" && len(list.ByStatus) == 0 {
		return list, rule.NoSuch(q.ID)
	}
	slices.SortFunc(list.Rules, func(a, b schemas.RuleStats) int {
		return cmp.Or(cmp.Compare(b.Positive+b.Negative, a.Positive+a.Negative), cmp.Compare(a.ID, b.ID))
	})
	return list, err
}

func countStatus(list *schemas.RuleStatsList, state rule.Given) {
	list.ByStatus[string(state.Status)]++
	switch {
	case state.Proposal():
		list.Proposed++
		switch state.Status {
		case rule.Refused:
		case rule.Rejected:
			list.Admitted++
			list.Rejected++
		case rule.Active, rule.Retired:
			list.Admitted++
			list.Unreviewed++
		}
	case state.Promoted():
		list.Proposed++
		list.Admitted++
		list.Promoted++
	}
}
