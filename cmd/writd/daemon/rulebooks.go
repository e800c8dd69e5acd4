package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/curation"
	"github.com/writbus/writ/schemas"
)

const (
	exportPage  = 5000    // files of one page of an export by default
	exportBytes = 8 << 20 // after which a page ends
)

// ruleVersion is a rule after one of its events.
type ruleVersion struct {
	revision projections.RuleRevision
	state    projections.RuleState
}

// ruleStates folds a rule's history from the log, a version per revision.
func (d *Daemon) ruleStates(ctx context.Context, id string) ([]ruleVersion, error) {
	var versions []ruleVersion
	err := d.runtime.Read(viewRules, func(reader projections.Reader) error {
		for revision, err := range d.views.rules.History(reader, id) {
			if err != nil {
				return err
			}
			versions = append(versions, ruleVersion{revision: revision})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var state projections.RuleState
	for i := range versions {
		at := versions[i].revision.Position
		record, err := d.conn.Get(ctx, at.Stream, at.Seq)
		if err != nil {
			return nil, fmt.Errorf("revision %d of %s: %w", versions[i].revision.Revision, id, err)
		}
		events, err := record.Events()
		if err != nil {
			return nil, fmt.Errorf("revision %d of %s: %w", versions[i].revision.Revision, id, err)
		}
		for _, e := range events {
			if e.Position == at {
				state = projections.EvolveRule(state, e)
			}
		}
		versions[i].state = state
	}
	return versions, nil
}

// ruleLog is a rule's history with what each revision changed.
func (d *Daemon) ruleLog(ctx context.Context, q schemas.RuleQuery) (schemas.RuleLog, error) {
	log := schemas.RuleLog{ID: q.ID, Entries: []schemas.RuleLogEntry{}}
	if err := d.runtime.Await(ctx, schemas.StreamRules, viewRules); err != nil {
		return log, err
	}
	versions, err := d.ruleStates(ctx, q.ID)
	if err != nil {
		return log, err
	}
	if len(versions) == 0 {
		return log, noSuchRule(q.ID)
	}
	var before schemas.Rule
	for _, v := range versions {
		log.Entries = append(log.Entries, schemas.RuleLogEntry{
			Revision: v.revision.Revision, Type: v.revision.Type, Position: v.revision.Position,
			Time: v.revision.Time, Actor: v.revision.Actor, Reason: v.revision.Reason,
			Diff: curation.Diff(before, v.state.Rule),
		})
		before = v.state.Rule
	}
	return log, nil
}

// ruleExport gives the nodes in the corpus as files: those that nobody changed
// since they were read with the very bytes they had.
func (d *Daemon) ruleExport(ctx context.Context, r schemas.RuleExportRequest) (schemas.RuleExportPage, error) {
	page := schemas.RuleExportPage{Files: []schemas.RuleFile{}}
	if err := d.runtime.Await(ctx, schemas.StreamRules, viewRules); err != nil {
		return page, err
	}
	var all []corpus.Node
	add := func(state projections.RuleState) {
		if state.Status == projections.RuleActive && exists(state) {
			all = append(all, stored(state))
		}
	}
	err := d.runtime.Read(viewRules, func(reader projections.Reader) error {
		if r.ID != "" {
			state, found, err := d.views.rules.Rule(reader, r.ID)
			if found {
				add(state)
			}
			return err
		}
		for state, err := range d.views.rules.All(reader) {
			if err != nil {
				return err
			}
			add(state)
		}
		return nil
	})
	if err != nil {
		return page, err
	}
	if r.ID != "" && len(all) == 0 {
		return page, noSuchRule(r.ID)
	}
	size := 0
	for _, f := range corpus.Export(all) {
		if f.Path <= r.After {
			continue
		}
		if len(page.Files) == cmp.Or(r.Limit, exportPage) || size > exportBytes {
			page.Next = page.Files[len(page.Files)-1].Path
			break
		}
		size += len(f.Content)
		page.Files = append(page.Files, schemas.RuleFile{Path: f.Path, Content: string(f.Content)})
	}
	return page, nil
}

// stored is a node with what is known of its file.
func stored(state projections.RuleState) corpus.Node {
	node := corpus.Node{Rule: state.Rule, Content: state.Content}
	if _, path, named := strings.Cut(state.Source, "/"); named {
		node.Path = path
	}
	return node
}

// ruleFeedback records what came of a rule that a session was shown.
func (d *Daemon) ruleFeedback(ctx context.Context, r schemas.RuleFeedbackRequest) (schemas.RuleFeedbackReply, error) {
	if r.Session == "" {
		return schemas.RuleFeedbackReply{}, schemas.Faultf(schemas.CodeBadRequest, "feedback names the session that was shown the rule")
	}
	if err := d.wasShown(ctx, r.Session, r.ID); err != nil {
		return schemas.RuleFeedbackReply{}, err
	}
	return d.feedback(ctx, r)
}

// ruleVerdict records a person's own word on a rule. A day of it counts like a
// session.
func (d *Daemon) ruleVerdict(ctx context.Context, r schemas.RuleFeedbackRequest) (schemas.RuleFeedbackReply, error) {
	if r.Session == "" {
		r.Session = "person-" + d.now().Format(time.DateOnly)
	}
	return d.feedback(ctx, r)
}

func (d *Daemon) feedback(ctx context.Context, r schemas.RuleFeedbackRequest) (schemas.RuleFeedbackReply, error) {
	reply := schemas.RuleFeedbackReply{ID: r.ID}
	if err := d.runtime.Await(ctx, schemas.StreamRules, viewRules); err != nil {
		return reply, err
	}
	rule, err := d.ruleState(r.ID)
	if err != nil {
		return reply, err
	}
	if !exists(rule) || rule.Status != projections.RuleActive {
		return reply, noSuchRule(r.ID)
	}
	return d.recordOutcome(ctx, r.ID, schemas.OutcomeRecorded{Session: r.Session, Positive: r.Followed, Evidence: "feedback", Detail: r.Detail})
}

// recordOutcome appends an outcome and returns the rule's record after it.
func (d *Daemon) recordOutcome(ctx context.Context, id string, o schemas.OutcomeRecorded) (schemas.RuleFeedbackReply, error) {
	reply := schemas.RuleFeedbackReply{ID: id}
	before, err := d.outcomes(id)
	if err != nil {
		return reply, err
	}
	position, err := d.appendRule(ctx, id, o)
	if err != nil {
		return reply, err
	}
	if err := d.runtime.WaitFor(ctx, viewFrequency, position); err != nil {
		return reply, err
	}
	after, err := d.outcomes(id)
	if err != nil {
		return reply, err
	}
	state, err := d.ruleState(id)
	reply.Positive, reply.Negative = after.Positive, after.Negative
	reply.Counted = after.Ignored == before.Ignored
	reply.Weight = after.Graduate(state.Rule.Confidence).Weight
	return reply, err
}

func (d *Daemon) outcomes(id string) (o projections.Outcomes, err error) {
	err = d.runtime.Read(viewFrequency, func(reader projections.Reader) error {
		o, err = d.views.frequency.Rule(reader, id)
		return err
	})
	return o, err
}

// ruleReview lists what waits for a person: proposals, and rules whose
// outcomes speak against them.
func (d *Daemon) ruleReview(ctx context.Context, q schemas.RuleQuery) (schemas.RuleReviewList, error) {
	list := schemas.RuleReviewList{Items: []schemas.RuleReviewItem{}}
	err := errors.Join(d.runtime.Await(ctx, schemas.StreamRules, viewRules), d.runtime.Await(ctx, schemas.StreamRules, viewFrequency))
	if err != nil {
		return list, err
	}
	err = d.runtime.Read(viewRules, func(reader projections.Reader) error {
		for state, err := range d.views.rules.All(reader) {
			if err != nil {
				return err
			}
			if !exists(state) || state.Status != projections.RuleActive || q.ID != "" && q.ID != state.Rule.ID {
				continue
			}
			if item, wanted, err := d.reviewItem(reader, state); err != nil {
				return err
			} else if wanted {
				list.Items = append(list.Items, item)
			}
		}
		return nil
	})
	slices.SortStableFunc(list.Items, func(a, b schemas.RuleReviewItem) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Rule.ID, b.Rule.ID))
	})
	return list, err
}

func (d *Daemon) reviewItem(reader projections.Reader, state projections.RuleState) (item schemas.RuleReviewItem, wanted bool, err error) {
	o, err := d.outcomes(state.Rule.ID)
	if err != nil {
		return item, false, err
	}
	item = schemas.RuleReviewItem{
		Rule: state.Rule, By: state.By, Revision: state.Revisions, Neighbours: state.Neighbours,
		Positive: o.Positive, Negative: o.Negative,
	}
	switch {
	case state.Rule.Authority == "ai-provisional":
		item.Why, item.Incomplete = "proposal", incomplete(state.Rule)
	case o.Graduate(state.Rule.Confidence).Flagged:
		item.Why = "flagged"
	default:
		return item, false, nil
	}
	if item.Since, err = d.lastChange(reader, state.Rule.ID); err != nil {
		return item, false, err
	}
	for _, n := range state.Neighbours {
		near, found, err := d.views.rules.Rule(reader, n.ID)
		if err != nil {
			return item, false, err
		}
		if found {
			item.Near = append(item.Near, near.Rule)
		}
	}
	return item, true, nil
}

func (d *Daemon) lastChange(reader projections.Reader, id string) (at time.Time, err error) {
	for revision, err := range d.views.rules.History(reader, id) {
		if err != nil {
			return at, err
		}
		at = revision.Time
	}
	return at, nil
}

// ruleStats says what outcomes made of the rules, and what became of proposals.
func (d *Daemon) ruleStats(ctx context.Context, q schemas.RuleQuery) (schemas.RuleStatsList, error) {
	list := schemas.RuleStatsList{Rules: []schemas.RuleStats{}, ByStatus: map[string]int{}}
	err := errors.Join(d.runtime.Await(ctx, schemas.StreamRules, viewRules), d.runtime.Await(ctx, schemas.StreamRules, viewFrequency))
	if err != nil {
		return list, err
	}
	err = d.runtime.Read(viewRules, func(reader projections.Reader) error {
		for state, err := range d.views.rules.All(reader) {
			if err != nil {
				return err
			}
			if !exists(state) || q.ID != "" && q.ID != state.Rule.ID || q.Domain != "" && q.Domain != state.Rule.Domain {
				continue
			}
			countStatus(&list, state)
			if state.Status != projections.RuleActive {
				continue
			}
			o, err := d.outcomes(state.Rule.ID)
			if err != nil {
				return err
			}
			g := o.Graduate(state.Rule.Confidence)
			list.Rules = append(list.Rules, schemas.RuleStats{
				ID: state.Rule.ID, Confidence: state.Rule.Confidence, Authority: state.Rule.Authority,
				Positive: o.Positive, Negative: o.Negative, Ignored: o.Ignored,
				Weight: g.Weight, Graduated: g.Graduated, Flagged: g.Flagged,
			})
		}
		return nil
	})
	if err == nil && q.ID != "" && len(list.ByStatus) == 0 {
		return list, noSuchRule(q.ID)
	}
	slices.SortFunc(list.Rules, func(a, b schemas.RuleStats) int {
		return cmp.Or(cmp.Compare(b.Positive+b.Negative, a.Positive+a.Negative), cmp.Compare(a.ID, b.ID))
	})
	return list, err
}

func countStatus(list *schemas.RuleStatsList, state projections.RuleState) {
	list.ByStatus[string(state.Status)]++
	switch state.Rule.Authority {
	case "ai-provisional":
		list.Proposed++
		switch state.Status {
		case projections.RuleRefused:
		case projections.RuleRejected:
			list.Admitted++
			list.Rejected++
		case projections.RuleActive, projections.RuleRetired:
			list.Admitted++
			list.Unreviewed++
		}
	case "ai-promoted":
		list.Proposed++
		list.Admitted++
		list.Promoted++
	}
}
