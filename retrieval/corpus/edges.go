package corpus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// nodes is a set of node types.
type nodes []schemas.NodeType

// Groups that the table of edges names.
var (
	every = nodes(schemas.NodeTypes())
	// guidance is what tells an agent how to work, and what a query may find.
	guidance = nodes{schemas.NodeRule, schemas.NodeSkill, schemas.NodePlaybook, schemas.NodeTechnique, schemas.NodeAntiPattern}
	// work is what is carried out.
	work = nodes{schemas.NodeRule, schemas.NodeSkill, schemas.NodePlaybook, schemas.NodeTechnique, schemas.NodePhase, schemas.NodeSubagentRole}
	// aids stand beside the guidance that they serve.
	aids = nodes{
		schemas.NodeForbiddenResponse, schemas.NodeRationalization, schemas.NodePressureScenario,
		schemas.NodeWorkedExample, schemas.NodeSubagentRole, schemas.NodeAntiPattern,
	}
)

func (n nodes) and(more ...schemas.NodeType) nodes { return slices.Concat(n, nodes(more)) }

// endpoints says which nodes an edge type joins. Every pair of a source of from
// and a target of to is allowed; alike demands one type at both ends on top.
type endpoints struct {
	from, to nodes
	alike    bool
}

// edgeTypes is the table of the eighteen edge types, in the order of
// [EdgeTypes]; names are persisted, only ever add.
var edgeTypes = []struct {
	name string
	ends []endpoints
}{
	// Structural.
	{"DEPENDS_ON", []endpoints{{from: work.and(schemas.NodeAntiPattern, schemas.NodeWorkedExample), to: work}}},
	{"PRECEDES", []endpoints{{from: work, to: work}}},
	{"CONFLICTS_WITH", []endpoints{{from: guidance.and(schemas.NodeForbiddenResponse), to: guidance.and(schemas.NodeForbiddenResponse)}}},
	{"SUPPLEMENTS", []endpoints{{from: every, to: every}}},
	{"SUPERSEDES", []endpoints{{from: every, to: every, alike: true}}},
	{"RELATED_TO", []endpoints{{from: every, to: every}}},
	{"APPLIES_TO", []endpoints{{from: guidance.and(schemas.NodeForbiddenResponse, schemas.NodeRationalization, schemas.NodePressureScenario), to: work}}},
	// Methodology. A last row of some is the direction or reach that older
	// corpora have.
	{"TEACHES", []endpoints{
		{
			from: nodes{schemas.NodeSkill, schemas.NodePlaybook, schemas.NodeTechnique, schemas.NodeWorkedExample},
			to:   guidance,
		},
		{from: nodes{schemas.NodeRule}, to: nodes{schemas.NodeSkill, schemas.NodePlaybook, schemas.NodeTechnique, schemas.NodeForbiddenResponse}},
	}},
	{"COUNTERS", []endpoints{
		{
			from: guidance.and(schemas.NodeForbiddenResponse, schemas.NodeRationalization, schemas.NodeWorkedExample),
			to:   nodes{schemas.NodeRationalization, schemas.NodeAntiPattern, schemas.NodeForbiddenResponse},
		},
		{from: nodes{schemas.NodeAntiPattern, schemas.NodeRationalization}, to: guidance},
	}},
	{"DEMONSTRATES", []endpoints{
		{from: nodes{schemas.NodeWorkedExample}, to: guidance.and(schemas.NodePhase, schemas.NodeRationalization, schemas.NodePressureScenario)},
		{
			from: nodes{schemas.NodeForbiddenResponse, schemas.NodeTechnique, schemas.NodeSubagentRole, schemas.NodeSkill, schemas.NodePlaybook},
			to:   guidance.and(schemas.NodePressureScenario, schemas.NodeForbiddenResponse),
		},
	}},
	{"DISPATCHES", []endpoints{
		{from: nodes{schemas.NodePlaybook, schemas.NodePhase, schemas.NodeSkill}, to: nodes{schemas.NodeSubagentRole}},
		{from: nodes{schemas.NodePlaybook, schemas.NodeSkill}, to: nodes{schemas.NodeSkill, schemas.NodePlaybook, schemas.NodeTechnique}},
		{from: nodes{schemas.NodeSubagentRole}, to: nodes{schemas.NodeSkill, schemas.NodePlaybook}},
	}},
	{"GATES", []endpoints{
		{from: nodes{schemas.NodeRule, schemas.NodePhase}, to: nodes{schemas.NodePhase, schemas.NodePlaybook, schemas.NodeSkill}},
		{from: nodes{schemas.NodeSkill, schemas.NodePlaybook}, to: nodes{schemas.NodePhase, schemas.NodeRule}},
		{from: nodes{schemas.NodeTechnique, schemas.NodeForbiddenResponse}, to: nodes{schemas.NodeRule}},
		{from: nodes{schemas.NodeRule}, to: nodes{schemas.NodeForbiddenResponse}},
	}},
	{"PRESSURE_TESTS", []endpoints{{from: nodes{schemas.NodePressureScenario}, to: guidance.and(schemas.NodeForbiddenResponse)}}},
	{"CONTAINS", []endpoints{
		{from: nodes{schemas.NodePlaybook}, to: nodes{schemas.NodePhase, schemas.NodeSkill, schemas.NodeTechnique, schemas.NodeRule}},
		{from: nodes{schemas.NodePhase}, to: nodes{schemas.NodeSkill, schemas.NodeTechnique, schemas.NodeRule}},
		{from: nodes{schemas.NodeSkill}, to: nodes{schemas.NodeTechnique, schemas.NodeRule}},
	}},
	{"ATTACHED_TO", []endpoints{{from: aids, to: guidance.and(schemas.NodePhase, schemas.NodeSubagentRole)}}},
	{"ABSTRACTS", []endpoints{{from: nodes{schemas.NodeAbstraction}, to: guidance}}},
	{"INVOKES", []endpoints{{from: work, to: work}}},
	{edgeBelongs, []endpoints{{from: every, to: nodes{schemas.NodeCategory}}}},
}

// EdgeTypes lists the names of all edge types: the structural ones first.
func EdgeTypes() []string {
	out := make([]string, len(edgeTypes))
	for i, t := range edgeTypes {
		out[i] = t.name
	}
	return out
}

// EdgeEnds lists which nodes an edge of this type may start from, and which it
// may point to from the given one, both in the order of schemas.NodeTypes. An
// unknown edge type has none.
func EdgeEnds(edge string, from schemas.NodeType) (sources, targets []schemas.NodeType) {
	for _, t := range schemas.NodeTypes() {
		if slices.ContainsFunc(endsOf(edge), func(e endpoints) bool { return slices.Contains(e.from, t) }) {
			sources = append(sources, t)
		}
		if EdgeAllowed(edge, from, t) {
			targets = append(targets, t)
		}
	}
	return sources, targets
}

// EdgeAllowed says whether an edge of this type may join these two types of
// node; "" is Rule.
func EdgeAllowed(edge string, from, to schemas.NodeType) bool {
	from, to = resolve(from), resolve(to)
	return slices.ContainsFunc(endsOf(edge), func(e endpoints) bool {
		return slices.Contains(e.from, from) && slices.Contains(e.to, to) && (!e.alike || from == to)
	})
}

// startsFrom says whether an edge of this type may start from a node.
func startsFrom(edge string, from schemas.NodeType) bool {
	return slices.ContainsFunc(endsOf(edge), func(e endpoints) bool { return slices.Contains(e.from, from) })
}

// CheckEdge says in words what is wrong with an edge between two known nodes,
// "" where it is allowed.
func CheckEdge(edge schemas.Edge, from, to schemas.NodeType) string {
	if EdgeAllowed(edge.Type, from, to) {
		return ""
	}
	sources, targets := EdgeEnds(edge.Type, resolve(from))
	switch {
	case len(sources) == 0:
		return fmt.Sprintf("edge type %q is unknown: use one of %s", edge.Type, strings.Join(EdgeTypes(), ", "))
	case len(targets) == 0:
		return fmt.Sprintf("edge %s starts from %s, not from a %s", edge.Type, either(sources), resolve(from))
	}
	return fmt.Sprintf("edge %s from a %s points to %s, but %s is a %s", edge.Type, resolve(from), either(targets), edge.Target, resolve(to))
}

func endsOf(edge string) []endpoints {
	for _, t := range edgeTypes {
		if t.name == edge {
			return t.ends
		}
	}
	return nil
}

func resolve(t schemas.NodeType) schemas.NodeType { return schemas.Rule{Type: t}.NodeType() }

// either joins types as a sentence does.
func either(types []schemas.NodeType) string {
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = string(t)
	}
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	return strings.Join(words, "")
}
