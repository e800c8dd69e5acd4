package rulebook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/schemas"
)

// problemsOf is a refusal that names every problem of a rule file.
type problemsOf struct{ problems []string }

func (p problemsOf) Error() string { return strings.Join(p.problems, "\n") }

// act is a person's act on one rule.
func (b *Book) act(ctx context.Context, r schemas.RuleChangeRequest) (schemas.RuleChangeReply, error) {
	reply := schemas.RuleChangeReply{ID: r.ID}
	if err := b.signed(r); err != nil {
		return reply, err
	}
	command, err := b.command(ctx, &r, &reply)
	if err == nil {
		var state rule.State
		var d rule.Decision
		state, d, err = b.change(ctx, r.ID, atTerminal, func(state rule.State) (rule.Command, error) {
			c, err := command(state)
			return rule.AsSeen{Revision: r.Seen, Command: c}, err
		})
		reply.Revision, reply.Message = state.Revisions, d.Message
	}
	reply.ID = r.ID
	if problems, ok := errors.AsType[problemsOf](err); ok {
		reply.Problems = problems.problems
		return reply, nil
	}
	return reply, err
}

// signed checks the person's signature of an act, where it has one.
func (b *Book) signed(r schemas.RuleChangeRequest) error {
	if r.Signed == nil {
		return nil
	}
	act := map[string]schemas.PersonAct{
		schemas.RulePromote: schemas.RulePromoted{Signed: r.Signed}, schemas.RuleReject: schemas.RuleRejected{Signed: r.Signed},
		schemas.RuleDownweight: schemas.RuleDownweighted{Signed: r.Signed},
	}[r.Act]
	if act == nil || r.Signed.Revision != r.Seen {
		return schemas.Faultf(schemas.CodeBadRequest, "what is signed of a rule is that it is promoted, rejected or downweighted, at the revision that was seen")
	}
	if err := evidence.FreshPerson(schemas.RuleAggregate(r.ID), act, b.now(), evidence.ActAge); err != nil {
		return schemas.Faultf(schemas.CodeRefused, "%v", err)
	}
	return nil
}

// command is what an act means on a rule as it stands. It fills in the id of a
// request that leaves it to the file.
func (b *Book) command(ctx context.Context, r *schemas.RuleChangeRequest, reply *schemas.RuleChangeReply) (func(rule.State) (rule.Command, error), error) {
	switch r.Act {
	case schemas.RuleAdd, schemas.RuleEdit:
		written, err := b.written(ctx, r, reply)
		if err != nil {
			return nil, err
		}
		if r.Act == schemas.RuleAdd {
			return plain(rule.Add{Rule: written, Content: r.Content}), nil
		}
		return plain(rule.Edit{Rule: written, Content: r.Content, Reason: r.Reason}), nil
	case schemas.RuleRetire:
		return plain(rule.Retire{Reason: r.Reason}), nil
	case schemas.RuleRevert:
		return func(state rule.State) (rule.Command, error) { return b.revert(ctx, r, state) }, nil
	case schemas.RulePromote:
		return func(state rule.State) (rule.Command, error) {
			return rule.Promote{Reason: r.Reason, Signed: r.Signed, Unfit: b.unfit(state.Rule)}, nil
		}, nil
	case schemas.RuleReject:
		return plain(rule.Reject{Reason: r.Reason, Signed: r.Signed}), nil
	case schemas.RuleDownweight:
		return plain(rule.Downweight{Reason: r.Reason, Signed: r.Signed}), nil
	case schemas.RuleDescribe:
		return plain(rule.Describe{Symptoms: r.Symptoms, Reason: r.Reason}), nil
	}
	return nil, schemas.Faultf(schemas.CodeBadRequest, "there is no act %q on a rule", r.Act)
}

// revert looks up what the rule was at the revision.
func (b *Book) revert(ctx context.Context, r *schemas.RuleChangeRequest, state rule.State) (rule.Command, error) {
	c := rule.Revert{To: r.To, Reason: r.Reason}
	if r.To < 1 || r.To > state.Revisions {
		return c, nil
	}
	versions, err := b.versions(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	c.Then = versions[r.To-1].state
	c.Unfit = b.unfit(c.Then.Rule)
	return c, nil
}

// written reads the rule file of an act and checks it against the corpus: edges
// lead to nodes that exist, the band stays under its cap.
func (b *Book) written(ctx context.Context, r *schemas.RuleChangeRequest, reply *schemas.RuleChangeReply) (schemas.Rule, error) {
	if err := b.await(ctx); err != nil {
		return schemas.Rule{}, err
	}
	name := cmp.Or(r.Path, "rule.md")
	files, problems := b.load([]schemas.RuleFile{{Path: path.Base(name), Content: r.Content}})
	refused, warnings := weigh(append(problems, badChecks(files)...), allPlaces)
	if len(refused) > 0 {
		return schemas.Rule{}, problemsOf{refused}
	}
	if len(files) != 1 {
		return schemas.Rule{}, problemsOf{[]string{fmt.Sprintf("%s: holds %d rules, one is expected", name, len(files))}}
	}
	if why := b.unfit(files[0].Rule); why != "" {
		return schemas.Rule{}, problemsOf{[]string{why}}
	}
	reply.Warnings = warnings
	written := files[0].Rule
	switch {
	case r.ID == "":
		r.ID = written.ID
	case r.ID != written.ID:
		return schemas.Rule{}, problemsOf{[]string{fmt.Sprintf("%s: the id is %s, the rule to change is %s: ids do not change, add a new rule and retire the old one", name, written.ID, r.ID)}}
	}
	return corpus.Authored(written), nil
}
