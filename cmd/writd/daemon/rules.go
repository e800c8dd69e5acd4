package daemon

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sort"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/schemas"
)

// retrieve answers a query with the rules that matter.
func (d *Daemon) retrieve(ctx context.Context, r schemas.RetrieveRequest) (retrieval.Answer, error) {
	return d.corpus.Search(ctx, retrieval.Query{
		Text: r.Query, Session: r.Session, Domains: r.Domains, NodeTypes: r.NodeTypes, Exclude: r.Exclude,
		Prefer: r.Prefer, BudgetTokens: r.BudgetTokens, Profile: r.Profile, Explain: r.Explain, Limit: r.Limit,
	}), nil
}

// alwaysOn returns the mandatory rules.
func (d *Daemon) alwaysOn(context.Context, bus.None) (schemas.AlwaysOnReply, error) {
	band := d.corpus.Current().Mandatory()
	return schemas.AlwaysOnReply{Rules: band.Rules, Block: band.Text, Tokens: band.Tokens}, nil
}

func (d *Daemon) ruleList(ctx context.Context, q schemas.RuleQuery) (schemas.RuleList, error) {
	list := schemas.RuleList{Rules: []schemas.RuleSummary{}}
	if err := d.runtime.Await(ctx, schemas.StreamRules, viewRules); err != nil {
		return list, err
	}
	err := d.runtime.Read(viewRules, func(reader projections.Reader) error {
		for state, err := range d.views.rules.All(reader) {
			if err != nil {
				return err
			}
			retired := state.Status != projections.RuleActive
			if retired && !q.Retired || q.Domain != "" && q.Domain != state.Rule.Domain || state.Rule.ID == "" {
				continue
			}
			list.Rules = append(list.Rules, schemas.RuleSummary{
				ID: state.Rule.ID, Title: state.Rule.Title, Domain: state.Rule.Domain, Severity: state.Rule.Severity,
				Mandatory: state.Rule.Mandatory, Authority: state.Rule.Authority, Retired: retired,
			})
		}
		return nil
	})
	sort.Slice(list.Rules, func(i, j int) bool { return list.Rules[i].ID < list.Rules[j].ID })
	return list, err
}

func (d *Daemon) ruleShow(ctx context.Context, q schemas.RuleQuery) (view schemas.RuleView, err error) {
	if err := errors.Join(d.runtime.Await(ctx, schemas.StreamRules, viewRules), d.runtime.Await(ctx, schemas.StreamRules, viewFrequency)); err != nil {
		return view, err
	}
	err = d.runtime.Read(viewRules, func(reader projections.Reader) error {
		state, found, err := d.views.rules.Rule(reader, q.ID)
		if err != nil {
			return err
		}
		if !found || state.Rule.ID == "" {
			return schemas.Faultf(schemas.CodeNotFound, "there is no rule %q. writ rule list shows them", q.ID)
		}
		view.Rule, view.Source, view.Revisions = state.Rule, state.Source, state.Revisions
		view.Retired = state.Status != projections.RuleActive
		view.LastChange = state.Last.Seq
		return nil
	})
	if err != nil {
		return view, err
	}
	return view, d.runtime.Read(viewFrequency, func(reader projections.Reader) error {
		counts, err := d.views.frequency.Rule(reader, q.ID)
		if err != nil {
			return err
		}
		g := counts.Graduate(view.Rule.Confidence)
		view.Positive, view.Negative = counts.Positive, counts.Negative
		view.Weight, view.Graduated, view.Flagged = g.Weight, g.Graduated, g.Flagged
		return nil
	})
}

// fitsTheBand refuses mandatory rules that would overflow the band: every one
// of them must really reach the agent.
func (d *Daemon) fitsTheBand(files []corpus.File) error {
	band := map[string]retrieval.Document{}
	index := d.corpus.Current()
	for _, id := range index.Mandatory().Rules {
		if doc, found := index.Document(id); found {
			band[id] = doc
		}
	}
	for _, f := range files {
		delete(band, f.Rule.ID)
		if f.Rule.AlwaysShown() {
			band[f.Rule.ID] = retrieval.Analyse(f.Rule)
		}
	}
	return retrieval.CheckMandatory(slices.Collect(maps.Values(band)))
}

func (d *Daemon) ruleState(id string) (state projections.RuleState, err error) {
	err = d.runtime.Read(viewRules, func(reader projections.Reader) error {
		state, _, err = d.views.rules.Rule(reader, id)
		return err
	})
	return state, err
}
