package rulebook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"
	"testing/fstest"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/fulltext"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/schemas"
)

// retrieve answers a query with the rules that matter.
func (b *Book) retrieve(ctx context.Context, r schemas.RetrieveRequest) (retrieval.Answer, error) {
	return b.index.Search(ctx, retrieval.Query{
		Text: r.Query, Session: r.Session, Domains: r.Domains, NodeTypes: r.NodeTypes, Exclude: r.Exclude,
		Beside: true, Prefer: r.Prefer, BudgetTokens: r.BudgetTokens, Profile: r.Profile, Explain: r.Explain, Limit: r.Limit,
	}), nil
}

// alwaysOn returns the mandatory rules.
func (b *Book) alwaysOn(context.Context, bus.None) (schemas.AlwaysOnReply, error) {
	band := b.index.Current().Mandatory()
	return schemas.AlwaysOnReply{Rules: band.Rules, Block: band.Text, Tokens: band.Tokens}, nil
}

// search searches the rules by query string, phrase, typing errors or prefix.
func (b *Book) search(ctx context.Context, r fulltext.Request) (fulltext.Result, error) {
	result, err := b.index.FullText(ctx, r)
	if err != nil {
		return result, schemas.Faultf(schemas.CodeBadRequest, "%v", err)
	}
	return result, nil
}

func (b *Book) list(ctx context.Context, q schemas.RuleQuery) (schemas.RuleList, error) {
	list := schemas.RuleList{Rules: []schemas.RuleSummary{}}
	if err := errors.Join(b.await(ctx), b.runtime.Await(ctx, schemas.StreamRules, viewRetrieval)); err != nil {
		return list, err
	}
	index := b.index.Current()
	err := b.each(func(_ projections.Reader, state rule.Given) error {
		retired := state.Status != rule.Active
		if retired && !q.Retired || q.Domain != "" && q.Domain != state.Rule.Domain || !state.Exists() {
			return nil
		}
		list.Rules = append(list.Rules, schemas.RuleSummary{
			ID: state.Rule.ID, Title: state.Rule.Title, Domain: state.Rule.Domain, Severity: state.Rule.Severity,
			Mandatory: state.Rule.Mandatory, Authority: state.Rule.Authority, Retired: retired,
			Layer: state.Layer, Owner: state.Owner, Superseded: index.Successor(state.Rule.ID),
		})
		return nil
	})
	sort.Slice(list.Rules, func(i, j int) bool { return list.Rules[i].ID < list.Rules[j].ID })
	return list, err
}

func (b *Book) show(ctx context.Context, q schemas.RuleQuery) (view schemas.RuleView, err error) {
	if err := errors.Join(b.awaitOutcomes(ctx), b.runtime.Await(ctx, schemas.StreamRules, viewRetrieval)); err != nil {
		return view, err
	}
	state, err := b.rule(q.ID)
	if err != nil {
		return view, err
	}
	if state.Status == "" {
		return view, rule.NoSuch(q.ID)
	}
	view.Rule, view.Source, view.Revisions = state.Rule, state.Source, state.Revisions
	view.Retired = state.Status != rule.Active
	view.LastChange = state.Last.Seq
	view.Layer, view.Owner, view.Instead = state.Layer, state.Owner, state.Instead
	view.Superseded = b.index.Current().Successor(q.ID)
	counts, err := b.outcomes(q.ID)
	if err != nil {
		return view, err
	}
	g := counts.Graduate(view.Rule.Confidence)
	view.Positive, view.Negative = counts.Positive, counts.Negative
	view.Weight, view.Graduated, view.Flagged = g.Weight, g.Graduated, g.Flagged
	return view, nil
}

// unfit says why rules do not fit among those that are always shown, "" if they
// do or are none of them.
func (b *Book) unfit(rules ...schemas.Rule) string {
	if !slices.ContainsFunc(rules, schemas.Rule.AlwaysShown) {
		return ""
	}
	if err := retrieval.CheckMandatory(b.alwaysWith(rules)); err != nil {
		return err.Error()
	}
	return ""
}

// bandWith is the band once these rules are in the corpus.
func (b *Book) bandWith(rules []schemas.Rule) schemas.RuleBand {
	block := retrieval.Band(b.alwaysWith(rules))
	return schemas.RuleBand{Rules: len(block.Rules), Tokens: block.Tokens, Most: retrieval.BandBudget, Left: block.Overflow}
}

// alwaysWith are the always-on documents of the corpus with these rules in it.
func (b *Book) alwaysWith(rules []schemas.Rule) []retrieval.Document {
	band := map[string]retrieval.Document{}
	current := b.index.Current()
	shown := current.Mandatory()
	for _, id := range slices.Concat(shown.Rules, shown.Overflow) {
		if doc, found := current.Document(id); found {
			band[id] = doc
		}
	}
	for _, r := range rules {
		delete(band, r.ID)
		if r.AlwaysShown() {
			band[r.ID] = retrieval.Analyse(r)
		}
	}
	return slices.Collect(maps.Values(band))
}

func rulesOf(files []corpus.File) []schemas.Rule {
	rules := make([]schemas.Rule, len(files))
	for i, f := range files {
		rules[i] = f.Rule
	}
	return rules
}

// Exported asks a daemon for all its rules, as an export writes them.
func Exported(ctx context.Context, conn *bus.Conn) ([]schemas.Rule, error) {
	files := fstest.MapFS{}
	for after := ""; ; {
		body, err := json.Marshal(schemas.RuleExportRequest{After: after})
		if err != nil {
			return nil, err
		}
		reply, err := conn.Request(ctx, bus.Request{Subject: schemas.SvcRuleExport, Body: body})
		var page schemas.RuleExportPage
		if err == nil {
			err = json.Unmarshal(reply.Body, &page)
		}
		if err != nil {
			return nil, fmt.Errorf("rulebook: the rules of the daemon: %w", err)
		}
		for _, file := range page.Files {
			files[path.Clean(file.Path)] = &fstest.MapFile{Data: []byte(file.Content)}
		}
		if after = page.Next; after == "" {
			return corpus.Rules(files)
		}
	}
}
