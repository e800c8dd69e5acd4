package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement/check"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/curation"
	"github.com/writbus/writ/schemas"
)

// proposalTries bounds how often a proposal is judged again because the rules'
// stream moved on meanwhile.
const proposalTries = 50

// shownNeighbours is how many neighbours an event and a review carry.
const shownNeighbours = 3

// curator judges proposals. Vectors of texts it has seen are kept, so that a
// proposal costs one embedding.
type curator struct {
	embedder retrieval.Embedder // nil: only equal texts are alike

	mu         sync.Mutex
	calibrated bool
	gate       curation.Gate
	problem    string
	vectors    map[string][]float32
}

func newCurator(e retrieval.Embedder) *curator {
	return &curator{embedder: e, vectors: map[string][]float32{}}
}

// settings returns the gate with the thresholds of the embedder, calibrated
// with the first proposal.
func (c *curator) settings() curation.Gate {
	if c.calibrated {
		return c.gate
	}
	c.calibrated = true
	c.gate = curation.Gate{Thresholds: curation.Reference}
	if c.embedder == nil {
		return c.gate
	}
	calibration, err := curation.Calibrate(c.embedder, c.gate.Thresholds)
	if err != nil {
		c.problem = err.Error()
		return c.gate
	}
	c.gate.Thresholds = calibration.Thresholds
	return c.gate
}

// judge makes the structural gate's checks of a proposal.
// The neighbours are the nearest nodes, near enough to matter or not.
func (c *curator) judge(p curation.Proposal, nodes []schemas.Rule, taken []string) (curation.Finding, []schemas.Neighbour, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	gate := c.settings()
	against := curation.Corpus{Nodes: nodes}
	if c.embedder != nil {
		proposed, err := c.vector(p.Node)
		if err != nil {
			return curation.Finding{}, nil, err
		}
		vectors := make([][]float32, len(nodes))
		for i, node := range nodes {
			if vectors[i], err = c.vector(node); err != nil {
				return curation.Finding{}, nil, err
			}
		}
		if against, err = curation.Compare(proposed, nodes, vectors); err != nil {
			return curation.Finding{}, nil, err
		}
	}
	against.Taken = taken
	finding := gate.Judge(p, against)
	var near []schemas.Neighbour
	for _, n := range curation.Neighbours(finding.Node, against, shownNeighbours) {
		if n.Cosine > 0 {
			near = append(near, schemas.Neighbour{ID: n.Node.ID, Similarity: n.Cosine})
		}
	}
	return finding, near, nil
}

func (c *curator) vector(node schemas.Rule) ([]float32, error) {
	text := curation.Text(node)
	if v, known := c.vectors[text]; known || text == "" {
		return v, nil
	}
	v, err := c.embedder.Embed(text)
	if err != nil {
		return nil, fmt.Errorf("embed %s: %w", node.ID, err)
	}
	c.vectors[text] = slices.Clone(v)
	return c.vectors[text], nil
}

// similarity of two nodes, 0 without an embedder.
func (c *curator) similarity(a, b schemas.Rule) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.embedder == nil {
		return 0
	}
	va, errA := c.vector(a)
	vb, errB := c.vector(b)
	if errA != nil || errB != nil {
		return 0
	}
	compared, err := curation.Compare(va, []schemas.Rule{b}, [][]float32{vb})
	if err != nil {
		return 0
	}
	return compared.Cosines[0]
}

// rulePropose judges a proposal and records it, admitted or not. Two at once
// are judged one after the other: the second sees the first.
func (d *Daemon) rulePropose(ctx context.Context, r schemas.RuleProposeRequest) (schemas.RuleProposeReply, error) {
	if strings.TrimSpace(r.Content) == "" {
		return schemas.RuleProposeReply{}, schemas.Faultf(schemas.CodeBadRequest, "the proposal is empty: send a rule file or a JSON object")
	}
	proposal := readProposal(r)
	id := proposal.Node.ID
	if schemas.RuleAggregate(id).Check() != nil {
		id = "unnamed-" + hashOf(r.Content)[:16]
	}
	var reply schemas.RuleProposeReply
	_, _, err := bus.Decide(ctx, d.log, d.ruleGraph, nil, func(g ruleGraph) ([]schemas.Payload, error) {
		proposed, err := d.judgeProposal(r, proposal, g)
		reply = schemas.RuleProposeReply{
			ID: proposed.Rule.ID, Admitted: proposed.Admitted, Reasons: proposed.Reasons, Incomplete: proposed.Incomplete, Neighbours: proposed.Neighbours,
		}
		return []schemas.Payload{proposed}, err
	}, bus.Change{
		Event:    schemas.Event{Actor: proposer(r), Aggregate: schemas.RuleAggregate(id)},
		OfStream: true, Tries: proposalTries, Await: d.rulesShow,
	})
	if errors.Is(err, bus.ErrConflict) {
		err = schemas.Faultf(schemas.CodeConflict, "the rules are being changed by too many at once: propose again")
	}
	if err != nil {
		return schemas.RuleProposeReply{}, err
	}
	return reply, nil
}

// readProposal takes a rule file or a JSON object. What cannot be read is a
// reason against it, not an error: the proposal is recorded all the same.
func readProposal(r schemas.RuleProposeRequest) curation.Proposal {
	if strings.HasPrefix(strings.TrimSpace(r.Content), "{") {
		return curation.Parse([]byte(r.Content))
	}
	name := r.Path
	if name == "" {
		name = "proposal.md"
	}
	rule, err := corpus.Parse(name, []byte(r.Content))
	if err == nil {
		return curation.Of(rule)
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

// judgeProposal judges a proposal against the rules there are.
func (d *Daemon) judgeProposal(r schemas.RuleProposeRequest, proposal curation.Proposal, g ruleGraph) (schemas.RuleProposed, error) {
	_, problems := check.Compile([]schemas.Rule{proposal.Node})
	for _, p := range problems {
		proposal.Problems = append(slices.Clip(proposal.Problems), curation.Reason{Check: curation.CheckSchema, Field: "check." + p.Field, Text: p.Text})
	}
	finding, near, err := d.curator.judge(proposal, g.nodes, g.taken)
	return schemas.RuleProposed{
		Rule: finding.Node, By: r.By, Session: r.Session, Admitted: finding.Admitted, Reasons: finding.Texts(),
		Incomplete: finding.Incomplete, Neighbours: near, Content: r.Content,
	}, err
}

// ruleGraph is what a proposal is judged against: the nodes in the corpus, and
// the ids that are taken besides.
type ruleGraph struct {
	nodes []schemas.Rule
	taken []string
}

// ruleGraph loads the rules as the end of their stream has them.
func (d *Daemon) ruleGraph(ctx context.Context) (g ruleGraph, seq uint64, err error) {
	end, err := d.conn.State(ctx, schemas.StreamRules)
	if err != nil {
		return g, 0, err
	}
	if err := d.runtime.WaitFor(ctx, viewRules, schemas.Position{Stream: schemas.StreamRules, Seq: end.Last}); err != nil {
		return g, 0, err
	}
	g.nodes, g.taken, err = d.graph()
	return g, end.Last, err
}

// proposer is the agent of a proposal, or Writ's own reflection.
func proposer(r schemas.RuleProposeRequest) schemas.Actor {
	if r.By == sourceReflection {
		return schemas.Writ(sourceReflection)
	}
	return schemas.Agent("", r.Session, r.By)
}

// graph returns the nodes in the corpus and the ids that are taken besides.
func (d *Daemon) graph() (nodes []schemas.Rule, taken []string, err error) {
	err = d.runtime.Read(viewRules, func(reader projections.Reader) error {
		for state, err := range d.views.rules.All(reader) {
			if err != nil {
				return err
			}
			switch state.Status {
			case projections.RuleActive:
				nodes = append(nodes, state.Rule)
			case projections.RuleRetired:
				taken = append(taken, state.Rule.ID)
			case projections.RuleRefused, projections.RuleRejected:
			}
		}
		return nil
	})
	return nodes, taken, err
}

// incomplete names what a proposal lacks before it can be promoted.
func incomplete(r schemas.Rule) []string { return curation.Incomplete(r) }

func firstNonEmpty(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// appendRule appends an event of a rule that depends on nothing.
func (d *Daemon) appendRule(ctx context.Context, id string, data schemas.Payload) (schemas.Position, error) {
	return bus.Record(ctx, d.log, schemas.Event{Actor: schemas.Writ("outcomes"), Aggregate: schemas.RuleAggregate(id), Data: data})
}

// wasShown refuses feedback of a session that never saw the rule.
func (d *Daemon) wasShown(ctx context.Context, session, id string) error {
	state, err := d.sessions.Peek(ctx, session)
	if err != nil {
		return err
	}
	if _, shown := slices.BinarySearch(state.Shown, id); !shown {
		return schemas.Faultf(schemas.CodeRefused, "session %s was never shown rule %s: an outcome is of a rule that was shown", session, id)
	}
	return nil
}
