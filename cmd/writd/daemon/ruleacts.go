package daemon

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/schemas"
)

// atTerminal is who acts with the admin credential where no channel is named.
var atTerminal = enforcement.Person(enforcement.ChannelTerminal)

// ruleDecision is what a change makes of a rule as it stands: the event to
// append, or why there is none.
type ruleDecision func(state projections.RuleState) (schemas.Payload, error)

// changeRule decides on a rule as the log has it and appends the outcome,
// again if another change came between. It returns once queries see it.
func (d *Daemon) changeRule(ctx context.Context, id string, actor schemas.Actor, decide ruleDecision) (state projections.RuleState, err error) {
	aggregate := schemas.RuleAggregate(id)
	if err := aggregate.Check(); err != nil {
		return state, err
	}
	load := func(ctx context.Context) (state projections.RuleState, seq uint64, err error) {
		if err := d.runtime.Await(ctx, schemas.StreamRules, viewRules); err != nil {
			return state, 0, err
		}
		last, err := d.conn.LastOf(ctx, aggregate)
		if err != nil && !errors.Is(err, bus.ErrNotFound) {
			return state, 0, err
		}
		state, err = d.ruleState(id)
		return state, last.Seq, err
	}
	state, position, err := bus.Decide(ctx, d.log, load, nil, func(state projections.RuleState) ([]schemas.Payload, error) {
		payload, err := decide(state)
		return []schemas.Payload{payload}, err
	}, bus.Change{Event: schemas.Event{Actor: actor, Aggregate: aggregate}, Await: d.rulesShow})
	if err != nil || position.Seq == 0 {
		return state, err
	}
	return d.ruleState(id)
}

// rulesShow waits until queries and searches see a change of the rules.
func (d *Daemon) rulesShow(ctx context.Context, at schemas.Position) error {
	return errors.Join(d.runtime.WaitFor(ctx, viewRules, at), d.runtime.WaitFor(ctx, viewRetrieval, at))
}

// problemsOf is a refusal that names every problem of a rule file.
type problemsOf struct{ problems []string }

func (p problemsOf) Error() string { return strings.Join(p.problems, "\n") }

// ruleChange is a person's act on one rule.
func (d *Daemon) ruleChange(ctx context.Context, r schemas.RuleChangeRequest) (schemas.RuleChangeReply, error) {
	reply := schemas.RuleChangeReply{ID: r.ID}
	decide, err := d.ruleAct(ctx, &r, &reply)
	if err == nil {
		var state projections.RuleState
		state, err = d.changeRule(ctx, r.ID, atTerminal, func(state projections.RuleState) (schemas.Payload, error) {
			if r.Seen != 0 && r.Seen != state.Revisions {
				return nil, schemas.Faultf(schemas.CodeConflict, "rule %s has changed since you looked: it is at revision %d, you saw %d. writ rule log %s shows what happened", r.ID, state.Revisions, r.Seen, r.ID)
			}
			return decide(state)
		})
		reply.Revision = state.Revisions
	}
	reply.ID = r.ID
	var problems problemsOf
	if errors.As(err, &problems) {
		reply.Problems = problems.problems
		return reply, nil
	}
	return reply, err
}

// ruleAct is the decision of one kind of act.
func (d *Daemon) ruleAct(ctx context.Context, r *schemas.RuleChangeRequest, reply *schemas.RuleChangeReply) (ruleDecision, error) {
	switch r.Act {
	case schemas.RuleAdd, schemas.RuleEdit:
		rule, err := d.authoredContent(ctx, r, reply)
		if err != nil {
			return nil, err
		}
		if r.Act == schemas.RuleAdd {
			return d.addRule(r, rule, reply), nil
		}
		return d.editRule(r, rule, reply), nil
	case schemas.RuleRetire:
		return d.retireRule(r, reply), nil
	case schemas.RuleRevert:
		return d.revertRule(ctx, r, reply), nil
	case schemas.RulePromote:
		return d.promoteRule(r, reply), nil
	case schemas.RuleReject:
		return rejectRule(r, reply), nil
	case schemas.RuleDownweight:
		return downweightRule(r, reply), nil
	}
	return nil, schemas.Faultf(schemas.CodeBadRequest, "there is no act %q on a rule", r.Act)
}

// authoredContent reads the rule file of an act and checks it against the
// corpus: edges lead to nodes that exist, the band stays under its cap.
func (d *Daemon) authoredContent(ctx context.Context, r *schemas.RuleChangeRequest, reply *schemas.RuleChangeReply) (schemas.Rule, error) {
	if err := d.runtime.Await(ctx, schemas.StreamRules, viewRules); err != nil {
		return schemas.Rule{}, err
	}
	name := r.Path
	if name == "" {
		name = "rule.md"
	}
	files, problems := d.loadFiles([]schemas.RuleFile{{Path: path.Base(name), Content: r.Content}})
	refused, warnings := d.weigh(append(problems, badChecks(files)...))
	if len(refused) > 0 {
		return schemas.Rule{}, problemsOf{refused}
	}
	if len(files) != 1 {
		return schemas.Rule{}, problemsOf{[]string{fmt.Sprintf("%s: holds %d rules, one is expected", name, len(files))}}
	}
	if err := d.fitsTheBand(files); err != nil {
		return schemas.Rule{}, problemsOf{[]string{err.Error()}}
	}
	reply.Warnings = warnings
	rule := files[0].Rule
	switch {
	case r.ID == "":
		r.ID = rule.ID
	case r.ID != rule.ID:
		return schemas.Rule{}, problemsOf{[]string{fmt.Sprintf("%s: the id is %s, the rule to change is %s: ids do not change, add a new rule and retire the old one", name, rule.ID, r.ID)}}
	}
	return corpus.Authored(rule), nil
}

func (d *Daemon) addRule(r *schemas.RuleChangeRequest, rule schemas.Rule, reply *schemas.RuleChangeReply) ruleDecision {
	return func(state projections.RuleState) (schemas.Payload, error) {
		if state.Status != "" && state.Status != projections.RuleRefused {
			return nil, schemas.Faultf(schemas.CodeRefused, "there is already a rule %s (%s, %s). writ rule edit %s changes it", r.ID, state.Status, state.Rule.Authority, r.ID)
		}
		reply.Message = "added " + r.ID
		return schemas.RuleImported{Rule: rule, Source: sourceTerminal, Hash: hashOf(r.Content), Content: r.Content}, nil
	}
}

func (d *Daemon) editRule(r *schemas.RuleChangeRequest, rule schemas.Rule, reply *schemas.RuleChangeReply) ruleDecision {
	return func(state projections.RuleState) (schemas.Payload, error) {
		if !exists(state) {
			return nil, noSuchRule(r.ID)
		}
		// A proposal stays one: editing it is not promoting it.
		if state.Rule.Authority == "ai-provisional" {
			rule.Authority, rule.Confidence = state.Rule.Authority, state.Rule.Confidence
		}
		reply.Message = "edited " + r.ID
		return schemas.RuleEdited{Rule: rule, Reason: r.Reason, Content: r.Content}, nil
	}
}

func (d *Daemon) retireRule(r *schemas.RuleChangeRequest, reply *schemas.RuleChangeReply) ruleDecision {
	return func(state projections.RuleState) (schemas.Payload, error) {
		switch {
		case !exists(state):
			return nil, noSuchRule(r.ID)
		case state.Status != projections.RuleActive:
			return nil, schemas.Faultf(schemas.CodeRefused, "rule %s is %s already", r.ID, state.Status)
		case strings.TrimSpace(r.Reason) == "":
			return nil, schemas.Faultf(schemas.CodeBadRequest, "retiring %s needs a reason", r.ID)
		}
		reply.Message = "retired " + r.ID + ". writ rule revert brings it back"
		return schemas.RuleRetired{Reason: r.Reason}, nil
	}
}

// revertRule brings back what a rule was at a revision.
func (d *Daemon) revertRule(ctx context.Context, r *schemas.RuleChangeRequest, reply *schemas.RuleChangeReply) ruleDecision {
	return func(state projections.RuleState) (schemas.Payload, error) {
		if !exists(state) {
			return nil, noSuchRule(r.ID)
		}
		if r.To < 1 || r.To > state.Revisions {
			return nil, schemas.Faultf(schemas.CodeBadRequest, "rule %s has the revisions 1 to %d, not %d. writ rule log %s shows them", r.ID, state.Revisions, r.To, r.ID)
		}
		states, err := d.ruleStates(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		then := states[r.To-1].state
		if !exists(then) {
			return nil, schemas.Faultf(schemas.CodeRefused, "revision %d of %s has no content to go back to", r.To, r.ID)
		}
		band := []corpus.File{{Rule: then.Rule}}
		if err := d.fitsTheBand(band); err != nil {
			return nil, schemas.Faultf(schemas.CodeRefused, "%v", err)
		}
		reason := r.Reason
		if reason == "" {
			reason = fmt.Sprintf("back to revision %d", r.To)
		}
		reply.Message = fmt.Sprintf("%s is what it was at revision %d", r.ID, r.To)
		return schemas.RuleEdited{Rule: then.Rule, Reason: reason, Content: then.Content, Restores: r.To}, nil
	}
}

func (d *Daemon) promoteRule(r *schemas.RuleChangeRequest, reply *schemas.RuleChangeReply) ruleDecision {
	return func(state projections.RuleState) (schemas.Payload, error) {
		if err := isProposal(state, r.ID); err != nil {
			return nil, err
		}
		if missing := incomplete(state.Rule); len(missing) > 0 {
			return nil, schemas.Faultf(schemas.CodeRefused, "%s cannot be promoted before it is complete; it lacks %s. writ rule edit %s fills it in", r.ID, strings.Join(missing, ", "), r.ID)
		}
		if err := d.fitsTheBand([]corpus.File{{Rule: state.Rule}}); err != nil {
			return nil, schemas.Faultf(schemas.CodeRefused, "%v", err)
		}
		reply.Message = "promoted " + r.ID
		for _, e := range state.Rule.Edges {
			if e.Type == "SUPERSEDES" {
				reply.Message += "; it takes " + e.Target + " out of retrieval"
			}
		}
		return schemas.RulePromoted{Reason: r.Reason}, nil
	}
}

func rejectRule(r *schemas.RuleChangeRequest, reply *schemas.RuleChangeReply) ruleDecision {
	return func(state projections.RuleState) (schemas.Payload, error) {
		if err := isProposal(state, r.ID); err != nil {
			return nil, err
		}
		if strings.TrimSpace(r.Reason) == "" {
			return nil, schemas.Faultf(schemas.CodeBadRequest, "rejecting %s needs a reason: whoever proposed it learns from it", r.ID)
		}
		reply.Message = "rejected " + r.ID
		return schemas.RuleRejected{Reason: r.Reason}, nil
	}
}

// confidenceLadder is from the strongest claim to the weakest.
var confidenceLadder = []string{"battle-tested", "production-validated", "peer-reviewed", "speculative"}

func downweightRule(r *schemas.RuleChangeRequest, reply *schemas.RuleChangeReply) ruleDecision {
	return func(state projections.RuleState) (schemas.Payload, error) {
		switch {
		case !exists(state) || state.Status != projections.RuleActive:
			return nil, noSuchRule(r.ID)
		case strings.TrimSpace(r.Reason) == "":
			return nil, schemas.Faultf(schemas.CodeBadRequest, "downweighting %s needs a reason", r.ID)
		}
		for i, c := range confidenceLadder[:len(confidenceLadder)-1] {
			if c == state.Rule.Confidence {
				reply.Message = fmt.Sprintf("%s is %s now", r.ID, confidenceLadder[i+1])
				return schemas.RuleDownweighted{Confidence: confidenceLadder[i+1], Reason: r.Reason}, nil
			}
		}
		return nil, schemas.Faultf(schemas.CodeRefused, "%s is speculative already, there is nothing below. writ rule retire %s takes it out", r.ID, r.ID)
	}
}

func exists(state projections.RuleState) bool {
	return state.Status != "" && state.Rule.ID != "" && state.Rule.Statement != ""
}

func isProposal(state projections.RuleState, id string) error {
	switch {
	case !exists(state):
		return noSuchRule(id)
	case state.Rule.Authority != "ai-provisional":
		return schemas.Faultf(schemas.CodeRefused, "%s is no proposal, its authority is %s", id, state.Rule.Authority)
	case state.Status != projections.RuleActive:
		return schemas.Faultf(schemas.CodeRefused, "the proposal %s is %s", id, state.Status)
	}
	return nil
}

func noSuchRule(id string) error {
	return schemas.Faultf(schemas.CodeNotFound, "there is no rule %q. writ rule list shows them", id)
}
