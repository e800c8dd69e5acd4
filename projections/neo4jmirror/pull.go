package neo4jmirror

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/writbus/writ/schemas"
)

// Pulled is a graph as a database has it.
type Pulled struct {
	Nodes   []schemas.Rule // sorted by id, each with its edges
	Edges   int
	Skipped []string // what was left out and why, for people
	Assumed []string // what was taken otherwise than it stands there
	// Wrote is what the mirror wrote of those of the nodes that it wrote, by id. An
	// edge that it wrote to a node that is there no longer is among the node's.
	Wrote map[string]*Wrote
	// At and Origin are records of the log that the mirror was written from: the
	// last one and an early one. Whole says that no push is unfinished.
	At, Origin Position
	Whole      bool
	own        map[string]bool // by id: nodes that carry the mirror's label
}

// Pull reads a graph: the mirror's own, or any whose nodes carry one of the
// node types as label. It is tolerant of names – a node's id may be called
// rule_id, labels and properties may be written in another case – and says
// what it left out; it does not say whether what it found makes sound nodes.
// It writes nothing.
func (m *Mirror) Pull(ctx context.Context) (Pulled, error) {
	s := m.session(ctx, neo4j.AccessModeRead)
	defer func() { _ = s.Close(ctx) }() // a reading session has nothing left to lose
	pulled, err := s.ExecuteRead(ctx, func(tx neo4j.ManagedTransaction) (any, error) {
		p := newPuller(statements{ctx: ctx, tx: tx})
		return p.run()
	})
	if err != nil {
		return Pulled{}, m.explain(ctx, err)
	}
	return pulled.(Pulled), nil
}

type puller struct {
	do        statements
	types     map[string]schemas.NodeType // by label
	pulled    Pulled
	byElement map[string]int // place in pulled.Nodes
	byID      map[string]int
	ignored   map[string]int // what was left out so often that it is counted
}

func newPuller(do statements) puller {
	return puller{
		do: do, byElement: map[string]int{}, byID: map[string]int{}, ignored: map[string]int{},
		pulled: Pulled{Wrote: map[string]*Wrote{}, own: map[string]bool{}},
	}
}

func (p *puller) run() (Pulled, error) {
	for _, part := range []func() error{p.readCheckpoint, p.findLabels, p.readNodes, p.readEdges, p.countOthers} {
		if err := part(); err != nil {
			return Pulled{}, err
		}
	}
	for _, what := range slices.Sorted(maps.Keys(p.ignored)) {
		p.pulled.Skipped = append(p.pulled.Skipped, fmt.Sprintf("%s (%d)", what, p.ignored[what]))
	}
	slices.SortFunc(p.pulled.Nodes, func(a, b schemas.Rule) int { return cmp.Compare(a.ID, b.ID) })
	return p.pulled, nil
}

func (p *puller) readCheckpoint() error {
	records, err := p.do.run(readCheckpoint, map[string]any{"name": checkpointName})
	if err != nil {
		return err
	}
	c, err := checkpointOf(records)
	p.pulled.At, p.pulled.Origin, p.pulled.Whole = c.At, c.Origin, c.Phase == phaseLive
	return err
}

// bare is a name without what people write differently.
func bare(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// findLabels learns which of the database's labels are node types.
func (p *puller) findLabels() error {
	known := map[string]schemas.NodeType{}
	for _, t := range schemas.NodeTypes() {
		known[bare(string(t))] = t
	}
	records, err := p.do.run("CALL db.labels() YIELD label RETURN label", nil)
	if err != nil {
		return err
	}
	p.types = map[string]schemas.NodeType{}
	for _, record := range records {
		if label, is := record.Values[0].(string); is && known[bare(label)] != "" {
			p.types[label] = known[bare(label)]
		}
	}
	return nil
}

const hasType = "any(l IN labels(%[1]s) WHERE l IN $labels)"

func (p *puller) params() map[string]any {
	return map[string]any{"labels": slices.Sorted(maps.Keys(p.types))}
}

func (p *puller) readNodes() error {
	// The mirror's own come first, and what says more before what says less: of
	// two nodes with one id that is taken, and the same one every time.
	records, err := p.do.run(fmt.Sprintf("MATCH (n) WHERE "+hasType+
		" RETURN n ORDER BY n:%[2]s DESC, n.id, size(keys(n)) DESC, elementId(n)", "n", nodeLabel), p.params())
	if err != nil {
		return err
	}
	for _, record := range records {
		node, _, err := neo4j.GetRecordValue[neo4j.Node](record, "n")
		if err != nil {
			return err
		}
		p.node(node)
	}
	return nil
}

// typesOf are the node types among a node's labels, one where it is sound.
func (p *puller) typesOf(n neo4j.Node) []schemas.NodeType {
	var types []schemas.NodeType
	for _, label := range n.Labels {
		if t := p.types[label]; t != "" && !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	slices.Sort(types)
	if len(types) > 1 {
		// Rule is the label that a layout with one label for all puts on everything.
		types = slices.DeleteFunc(types, func(t schemas.NodeType) bool { return t == schemas.NodeRule })
	}
	return types
}

func (p *puller) node(n neo4j.Node) {
	if stale, _ := n.Props[staleKey].(bool); stale {
		p.ignored["nodes that left the graph and were kept for others"]++
		return
	}
	types := p.typesOf(n)
	if len(types) > 1 {
		p.skip("node %s: it is of several types, %q", nameless(n), types)
		return
	}
	t := types[0]
	found := newReader(t, n.Props)
	if found.id == "" {
		p.skip("node %s: it has no property id, %s_id or the like", nameless(n), snake(string(t)))
		return
	}
	if _, twice := p.byID[found.id]; twice {
		p.skip("%s %s: another node has this id", t, found.id)
		return
	}
	node := found.node()
	for _, what := range found.unknown {
		p.ignored[fmt.Sprintf("property %s of %s: Writ has no such field", what, t)]++
	}
	p.pulled.Skipped = append(p.pulled.Skipped, found.unfit...)
	p.pulled.Assumed = append(p.pulled.Assumed, found.assumed...)
	p.byID[found.id] = len(p.pulled.Nodes)
	p.byElement[n.ElementId] = len(p.pulled.Nodes)
	p.pulled.Nodes = append(p.pulled.Nodes, node)
	p.pulled.own[found.id] = slices.Contains(n.Labels, nodeLabel)
	if wrote := wroteAt(n); wrote != nil && p.pulled.own[found.id] {
		p.pulled.Wrote[found.id] = wrote
	}
}

// wroteAt reads what the mirror left beside a node, nil for nothing.
func wroteAt(n neo4j.Node) *Wrote {
	fields, is := n.Props[wroteFieldsKey].(string)
	if !is {
		return nil
	}
	wrote := &Wrote{Fields: fields}
	list, _ := asList(n.Props[wroteEdgesKey], false)
	for _, line := range list {
		kind, target, _ := strings.Cut(line, " ")
		wrote.Edges = append(wrote.Edges, schemas.Edge{Type: kind, Target: target})
	}
	return wrote
}

func (p *puller) skip(format string, args ...any) {
	p.pulled.Skipped = append(p.pulled.Skipped, fmt.Sprintf(format, args...))
}

// nameless describes a node that cannot be named by its id.
func nameless(n neo4j.Node) string {
	return fmt.Sprintf("%s (%s)", n.ElementId, strings.Join(n.Labels, ":"))
}

func (p *puller) readEdges() error {
	records, err := p.do.run(fmt.Sprintf("MATCH (a)-[r]->(b) WHERE "+hasType+
		" RETURN elementId(a) AS a, type(r) AS kind, elementId(b) AS b, b.id AS id"+
		" ORDER BY a, coalesce(r.%[2]s, 1000000), kind, id, b", "a", orderKey), p.params())
	if err != nil {
		return err
	}
	for _, record := range records {
		a, _ := record.Values[0].(string)
		kind, _ := record.Values[1].(string)
		b, _ := record.Values[2].(string)
		from, fromThere := p.byElement[a]
		to, toThere := p.byElement[b]
		name := strings.ToUpper(snake(kind))
		switch {
		case !fromThere || !toThere:
			p.ignored["relationships "+kind+": one end was left out"]++
			continue
		case !edgeName.MatchString(name):
			p.ignored["relationships "+kind+": no name of an edge"]++
			continue
		}
		edge := schemas.Edge{Type: name, Target: p.pulled.Nodes[to].ID}
		source := &p.pulled.Nodes[from]
		if !slices.Contains(source.Edges, edge) {
			source.Edges = append(source.Edges, edge)
			p.pulled.Edges++
		}
	}
	p.keepEdges()
	return nil
}

// keepEdges gives a node back the edges whose targets are not there: who deletes
// a node takes its relationships along, and says nothing of the nodes that they
// came from.
func (p *puller) keepEdges() {
	for id, wrote := range p.pulled.Wrote {
		node := &p.pulled.Nodes[p.byID[id]]
		for _, e := range wrote.Edges {
			if _, there := p.byID[e.Target]; !there && !slices.Contains(node.Edges, e) {
				node.Edges = append(node.Edges, e)
			}
		}
	}
}

// countOthers says what else is in the database.
func (p *puller) countOthers() error {
	params := p.params()
	params["own"] = checkpointLabel
	records, err := p.do.run(fmt.Sprintf("MATCH (n) WHERE NOT "+hasType+
		" AND NOT $own IN labels(n) RETURN labels(n) AS labels, count(*) AS n LIMIT 50", "n"), params)
	if err != nil {
		return err
	}
	for _, record := range records {
		labels, _, err := neo4j.GetRecordValue[[]any](record, "labels")
		if err != nil {
			return err
		}
		n, _, err := neo4j.GetRecordValue[int64](record, "n")
		if err != nil {
			return err
		}
		names := make([]string, len(labels))
		for i, l := range labels {
			names[i], _ = l.(string)
		}
		p.ignored[fmt.Sprintf("nodes labelled %q: no node type of Writ", strings.Join(names, ":"))] += int(n)
	}
	return nil
}
