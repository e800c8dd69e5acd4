package rulebook

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement/check"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/curation"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/schemas"
)

// proposalTries bounds how often a proposal is judged again because the rules'
// stream moved on meanwhile.
const proposalTries = 50

// byReflection is who proposes what reflection found.
const byReflection = "reflection"

// Propose judges a proposal and records it, admitted or not. Two at once are
// judged one after the other: the second sees the first.
func (b *Book) Propose(ctx context.Context, r schemas.RuleProposeRequest) (schemas.RuleProposeReply, error) {
	if strings.TrimSpace(r.Content) == "" {
		return schemas.RuleProposeReply{}, schemas.Faultf(schemas.CodeBadRequest, "the proposal is empty: send a rule file or a JSON object")
	}
	proposal := readProposal(r)
	_, problems := check.Compile([]schemas.Rule{proposal.Node})
	for _, p := range problems {
		proposal.Problems = append(proposal.Problems, curation.Reason{Check: curation.CheckSchema, Field: "check." + p.Field, Text: p.Text})
	}
	id := rule.ProposalID(proposal, r.Content)
	var decided rule.Decision
	_, _, err := bus.Decide(ctx, b.writer, b.graph, nil, func(g graphNodes) ([]schemas.Payload, error) {
		gate, against, err := b.curator.compare(proposal.Node, g.nodes, g.taken)
		if err == nil {
			decided, err = rule.Decide(rule.Unknown(id), rule.Propose{
				Proposal: proposal, Gate: gate, Against: against, By: r.By, Session: r.Session, Content: r.Content,
			})
		}
		return decided.Record, err
	}, bus.Change{
		Event:    schemas.Event{Actor: proposer(r), Aggregate: schemas.RuleAggregate(id)},
		OfStream: true, Tries: proposalTries, Await: b.visible,
	})
	if errors.Is(err, bus.ErrConflict) {
		err = schemas.Faultf(schemas.CodeConflict, "the rules are being changed by too many at once: propose again")
	}
	if err != nil {
		return schemas.RuleProposeReply{}, err
	}
	f := decided.Finding
	return schemas.RuleProposeReply{
		ID: f.Node.ID, Admitted: f.Admitted, Reasons: f.Texts(), Incomplete: f.Incomplete, Neighbours: decided.Near,
	}, nil
}

// readProposal takes a rule file or a JSON object. What cannot be read is a
// reason against it, not an error: the proposal is recorded all the same.
func readProposal(r schemas.RuleProposeRequest) curation.Proposal {
	if strings.HasPrefix(strings.TrimSpace(r.Content), "{") {
		return curation.Parse([]byte(r.Content))
	}
	name := cmp.Or(r.Path, "proposal.md")
	read, err := corpus.Parse(name, []byte(r.Content))
	if err == nil {
		return curation.Of(read)
	}
	var p curation.Proposal
	var problems *corpus.Error
	if !errors.As(err, &problems) {
		p.Problems = append(p.Problems, curation.Reason{Check: curation.CheckSchema, Text: err.Error()})
		return p
	}
	for _, problem := range problems.Problems {
		p.Node.ID = problem.ID
		p.Problems = append(p.Problems, curation.Reason{Check: curation.CheckSchema, Text: problem.String()})
	}
	return p
}

// graphNodes are what a proposal is judged against: the nodes in the corpus, and
// the ids that are taken besides.
type graphNodes struct {
	nodes []schemas.Rule
	taken []string
}

// graph loads the rules as the end of their stream has them.
func (b *Book) graph(ctx context.Context) (g graphNodes, seq uint64, err error) {
	end, err := b.conn.State(ctx, schemas.StreamRules)
	if err != nil {
		return g, 0, err
	}
	if err := b.runtime.WaitFor(ctx, b.rules.Name(), schemas.Position{Stream: schemas.StreamRules, Seq: end.Last}); err != nil {
		return g, 0, err
	}
	err = b.each(func(_ projections.Reader, state rule.Given) error {
		switch state.Status {
		case rule.Active:
			g.nodes = append(g.nodes, state.Rule)
		case rule.Retired:
			g.taken = append(g.taken, state.Rule.ID)
		case rule.Refused, rule.Rejected:
		}
		return nil
	})
	return g, end.Last, err
}

// proposer is the agent of a proposal, or Writ's own reflection.
func proposer(r schemas.RuleProposeRequest) schemas.Actor {
	if r.By == byReflection {
		return schemas.Writ(byReflection)
	}
	return schemas.Agent("", r.Session, r.By)
}
