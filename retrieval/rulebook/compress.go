package rulebook

import (
	"context"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/schemas"
)

// compress writes the abstractions of the corpus as it is, and retires those of
// an earlier run that no longer hold. Abstractions of people stay.
func (b *Book) compress(ctx context.Context, r schemas.RuleCompressRequest) (schemas.RuleCompressReply, error) {
	reply := schemas.RuleCompressReply{Abstractions: []schemas.Rule{}}
	if err := b.await(ctx); err != nil {
		return reply, err
	}
	nodes, made, err := b.toCompress()
	if err != nil {
		return reply, err
	}
	abstractions, err := b.curator.compress(nodes)
	if err != nil {
		return reply, err
	}
	reply.Abstractions = append(reply.Abstractions, abstractions...)
	commands := map[string]rule.Command{}
	change := func(id string, c rule.Command) {
		reply.Changed = append(reply.Changed, id)
		commands[id] = c
	}
	for _, node := range abstractions {
		hash := rule.Hash(string(corpus.Render(node)))
		have, found := made[node.ID]
		delete(made, node.ID)
		if !found || have.Hash != hash || have.Status != rule.Active {
			change(node.ID, rule.Import{Rule: node, Source: rule.SourceCompressed, Hash: hash})
		}
	}
	for id, state := range made {
		if state.Status == rule.Active {
			change(id, rule.Prune{Reason: "the rules group otherwise now"})
		}
	}
	if r.DryRun {
		return reply, nil
	}
	_, err = b.changeAll(ctx, schemas.Writ("compression"), reply.Changed, func(id string) rule.Command { return commands[id] })
	return reply, err
}

// toCompress returns the nodes that may be grouped, with the ids that are
// taken, and the abstractions of earlier runs.
func (b *Book) toCompress() (nodes []schemas.Rule, made map[string]rule.Given, err error) {
	made = map[string]rule.Given{}
	err = b.each(func(_ projections.Reader, state rule.Given) error {
		switch {
		case state.Source == rule.SourceCompressed:
			made[state.Rule.ID] = state
		case state.InForce():
			// A person's abstraction keeps its id.
			if state.Rule.Type == schemas.NodeAbstraction {
				state.Rule.Type = schemas.NodePhase
			}
			nodes = append(nodes, state.Rule)
		}
		return nil
	})
	return nodes, made, err
}
