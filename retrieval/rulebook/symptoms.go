package rulebook

import (
	"cmp"
	"context"
	"slices"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/curation"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// symptoms proposes symptoms for rules that have none, from what they say themselves
// or from the model. It records nothing.
func (b *Book) symptoms(ctx context.Context, r schemas.RuleSymptomsRequest) (schemas.RuleSymptomsReply, error) {
	reply := schemas.RuleSymptomsReply{Rules: []schemas.RuleSymptoms{}}
	switch {
	case r.Ask && b.o.Ask == nil:
		return reply, schemas.Faultf(schemas.CodeRefused, "%s", "no language model is set up: set model.api and model.name in config.yaml of the data directory, or leave --ask away")
	case r.Ask && len(r.IDs) != 1:
		return reply, schemas.Faultf(schemas.CodeBadRequest, "a model is asked about one rule at a time, not about %d", len(r.IDs))
	}
	if err := b.await(ctx); err != nil {
		return reply, err
	}
	states, err := b.toDescribe(r.IDs)
	if err != nil {
		return reply, err
	}
	for _, state := range states {
		said := curation.Symptoms(state.Rule)
		if r.Ask {
			answer, err := b.o.Ask(ctx, curation.SymptomsSystem, curation.SymptomsAsked(state.Rule))
			if err != nil {
				return reply, schemas.Faultf(schemas.CodeUnavailable, "the model gave no answer about %s: %v", state.Rule.ID, err)
			}
			said = curation.SymptomsAnswered(state.Rule, answer)
		}
		reply.Rules = append(reply.Rules, schemas.RuleSymptoms{ID: state.Rule.ID, Title: cmp.Or(state.Rule.Title, excerpt.Runes(excerpt.Line(state.Rule.Statement), 80)), Revision: state.Revisions, Symptoms: said})
	}
	return reply, nil
}

// toDescribe are the rules of these ids, or all in force that lack symptoms.
func (b *Book) toDescribe(ids []string) (states []rule.Given, err error) {
	for _, id := range ids {
		state, err := b.rule(id)
		if err != nil {
			return nil, err
		}
		if !state.InForce() {
			return nil, rule.NoSuch(id)
		}
		states = append(states, state)
	}
	if len(ids) > 0 {
		return states, nil
	}
	err = b.each(func(_ projections.Reader, state rule.Given) error {
		if state.InForce() && curation.Lacking(state.Rule) {
			states = append(states, state)
		}
		return nil
	})
	slices.SortFunc(states, func(a, b rule.Given) int { return cmp.Compare(a.Rule.ID, b.Rule.ID) })
	return states, err
}
