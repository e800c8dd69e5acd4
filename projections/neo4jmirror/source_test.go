package neo4jmirror

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/writbus/writ/schemas"
)

// memory is a graph with its log, in memory.
type memory struct {
	name    string // begins the ids of its events
	changed []string
	nodes   map[string]schemas.Rule
	cut     uint64 // IDAt finds nothing up to here
}

func newMemory(name string) *memory { return &memory{name: name, nodes: map[string]schemas.Rule{}} }

func (s *memory) put(nodes ...schemas.Rule) {
	for _, n := range nodes {
		s.nodes[n.ID] = n
		s.changed = append(s.changed, n.ID)
	}
}

func (s *memory) retire(ids ...string) {
	for _, id := range ids {
		delete(s.nodes, id)
		s.changed = append(s.changed, id)
	}
}

// pass is a record that changes no node.
func (s *memory) pass() { s.changed = append(s.changed, "") }

func (s *memory) all() []schemas.Rule {
	nodes := make([]schemas.Rule, 0, len(s.nodes))
	for _, n := range s.nodes {
		nodes = append(nodes, n)
	}
	return nodes
}

func (s *memory) at(seq int) Position {
	if seq == 0 {
		return Position{}
	}
	return Position{Seq: uint64(seq), ID: fmt.Sprintf("%s-%d", s.name, seq)}
}

func (s *memory) Graph(context.Context) (Graph, error) {
	g := Graph{At: s.at(len(s.changed)), Nodes: s.all()}
	if len(s.changed) > 0 {
		g.First = s.at(1)
	}
	return g, nil
}

func (s *memory) IDAt(_ context.Context, seq uint64) (string, error) {
	if seq == 0 || seq > uint64(len(s.changed)) || seq <= s.cut {
		return "", nil
	}
	return s.at(int(seq)).ID, nil
}

func (s *memory) Changes(_ context.Context, after, upTo uint64, limit int) (ids []string, reached Position, err error) {
	for seq := after + 1; seq <= upTo; seq++ {
		if id := s.changed[seq-1]; id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		reached = s.at(int(seq))
		if len(ids) == limit {
			break
		}
	}
	return ids, reached, nil
}

var kinds = []string{"DEPENDS_ON", "PRECEDES", "CONFLICTS_WITH", "SUPPLEMENTS", "SUPERSEDES", "RELATED_TO", "APPLIES_TO", "TEACHES", "COUNTERS", "DEMONSTRATES", "DISPATCHES", "GATES", "PRESSURE_TESTS", "CONTAINS", "ATTACHED_TO", "ABSTRACTS"}

func nodeID(i int) string { return fmt.Sprintf("GEN-N%d-%03d", i/1000, i%1000) }

// random is a node of any type, with edges into the first n nodes.
func random(r *rand.Rand, i, n, edges int) schemas.Rule {
	types := schemas.NodeTypes()
	node := schemas.Rule{
		ID: nodeID(i), Domain: "go", Severity: "high", Scope: "file", Trigger: fmt.Sprintf("when number %d comes up", r.IntN(1000)),
		Statement: fmt.Sprintf("do it in way %d – with ümlauts, `quotes` and \"more\"", r.IntN(1000)),
		Tags:      []string{"a", fmt.Sprint(r.IntN(9))}, Mandatory: r.IntN(9) == 0,
	}
	withDetail(&node, types[r.IntN(len(types))])
	for range edges {
		node.Edges = append(node.Edges, schemas.Edge{Type: kinds[r.IntN(len(kinds))], Target: nodeID(r.IntN(n))})
	}
	return node
}

// withDetail gives a node a type and its fields.
func withDetail(n *schemas.Rule, t schemas.NodeType) {
	*n = schemas.Rule{
		ID: n.ID, Domain: n.Domain, Severity: n.Severity, Scope: n.Scope, Trigger: n.Trigger, Statement: n.Statement,
		Tags: n.Tags, Mandatory: n.Mandatory, Edges: n.Edges,
	}
	if t != schemas.NodeRule {
		n.Type = t
	}
	switch t {
	case schemas.NodeCategory:
	case schemas.NodeAbstraction:
		n.Abstraction = &schemas.Abstraction{Summary: "all of it", Members: []string{nodeID(1)}, Ratio: 0.25}
	case schemas.NodeSkill:
		n.Skill = &schemas.Skill{Steps: []string{"one", "two"}, Outcome: "it works"}
	case schemas.NodePlaybook:
		n.Playbook = &schemas.Playbook{Phases: []string{nodeID(2)}, Roles: []string{nodeID(3)}}
	case schemas.NodeTechnique:
		n.Technique = &schemas.Technique{Steps: []string{"one"}}
	case schemas.NodeAntiPattern:
		n.AntiPattern = &schemas.AntiPattern{Appeal: "easy", Harm: "much", Instead: "this"}
	case schemas.NodeForbiddenResponse:
		n.ForbiddenResponse = &schemas.ForbiddenResponse{Phrases: []string{"of course"}, Instead: "say why"}
	case schemas.NodePhase:
		n.Phase = &schemas.Phase{Order: 2, Exit: []string{"done"}}
	case schemas.NodeRationalization:
		n.Rationalization = &schemas.Rationalization{Excuse: "no time", Reality: "it takes longer"}
	case schemas.NodePressureScenario:
		n.PressureScenario = &schemas.PressureScenario{Prompt: "hurry", ExpectedCompliance: "no", FailurePatterns: []string{"yes"}}
	case schemas.NodeWorkedExample:
		n.WorkedExample = &schemas.WorkedExample{Situation: "so", After: "thus", Lesson: "that"}
	case schemas.NodeSubagentRole:
		n.SubagentRole = &schemas.SubagentRole{PromptTemplate: "you are"}
	case schemas.NodeRule:
		n.Check = &schemas.Check{Language: "go", Pattern: `\bpanic\(`}
	}
}

// generate fills a source with n nodes of all types and about five edges each.
func generate(name string, seed uint64, n int) *memory {
	s := newMemory(name)
	r := rand.New(rand.NewPCG(seed, seed))
	for i := range n {
		s.put(random(r, i, n, 5))
	}
	return s
}
