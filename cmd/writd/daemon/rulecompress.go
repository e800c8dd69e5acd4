package daemon

import (
	"context"
	"errors"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/curation"
	"github.com/writbus/writ/schemas"
)

// sourceCompressed is the source of abstractions that Writ made. Persisted;
// never change.
const sourceCompressed = "compressed"

// ruleCompress writes the abstractions of the corpus as it is, and retires
// those of an earlier run that no longer hold. Abstractions of people stay.
func (d *Daemon) ruleCompress(ctx context.Context, r schemas.RuleCompressRequest) (schemas.RuleCompressReply, error) {
	reply := schemas.RuleCompressReply{Abstractions: []schemas.Rule{}}
	if err := d.runtime.Await(ctx, schemas.StreamRules, viewRules); err != nil {
		return reply, err
	}
	nodes, made, err := d.toCompress()
	if err != nil {
		return reply, err
	}
	abstractions, err := d.curator.compress(nodes)
	if err != nil {
		return reply, err
	}
	reply.Abstractions = append(reply.Abstractions, abstractions...)
	for _, node := range abstractions {
		hash := hashOf(string(corpus.Render(node)))
		have, found := made[node.ID]
		delete(made, node.ID)
		if found && have.Hash == hash && have.Status == projections.RuleActive {
			continue
		}
		reply.Changed = append(reply.Changed, node.ID)
		if r.DryRun {
			continue
		}
		_, err := d.changeRule(ctx, node.ID, schemas.Writ("compression"), func(projections.RuleState) (schemas.Payload, error) {
			return schemas.RuleImported{Rule: node, Source: sourceCompressed, Hash: hash}, nil
		})
		if err != nil {
			return reply, err
		}
	}
	for id, state := range made {
		if state.Status != projections.RuleActive {
			continue
		}
		reply.Changed = append(reply.Changed, id)
		if r.DryRun {
			continue
		}
		_, err := d.changeRule(ctx, id, schemas.Writ("compression"), func(projections.RuleState) (schemas.Payload, error) {
			return schemas.RuleRetired{Reason: "the rules group otherwise now"}, nil
		})
		if err != nil {
			return reply, err
		}
	}
	return reply, nil
}

// toCompress returns the nodes that may be grouped, with the ids that are
// taken, and the abstractions of earlier runs.
func (d *Daemon) toCompress() (nodes []schemas.Rule, made map[string]projections.RuleState, err error) {
	made = map[string]projections.RuleState{}
	err = d.runtime.Read(viewRules, func(reader projections.Reader) error {
		for state, err := range d.views.rules.All(reader) {
			switch {
			case err != nil:
				return err
			case state.Source == sourceCompressed:
				made[state.Rule.ID] = state
			case state.Status == projections.RuleActive && exists(state):
				// A person's abstraction keeps its id.
				if state.Rule.Type == schemas.NodeAbstraction {
					state.Rule.Type = schemas.NodePhase
				}
				nodes = append(nodes, state.Rule)
			}
		}
		return nil
	})
	return nodes, made, err
}

// compress groups nodes by meaning, which takes an embedder.
func (c *curator) compress(nodes []schemas.Rule) ([]schemas.Rule, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.embedder == nil {
		return nil, schemas.Faultf(schemas.CodeRefused, "%s", "rules are grouped by meaning, which takes an embedder; the settings say none. `writ model use static` turns the built-in one on")
	}
	vectors := make([][]float32, len(nodes))
	var problem error
	for i, node := range nodes {
		v, err := c.vector(node)
		problem = errors.Join(problem, err)
		vectors[i] = v
	}
	if problem != nil {
		return nil, problem
	}
	return curation.Compress(nodes, vectors, c.settings().Thresholds)
}
