package neo4jmirror

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

func TestPullGivesBackWhatWasPushed(t *testing.T) {
	m := server(t)
	s := newMemory("log")
	for i, kind := range schemas.NodeTypes() {
		node := whole(t, kind)
		node.ID, node.Severity, node.Scope, node.Authority, node.Confidence = nodeID(i), "high", "file", "human", "speculative"
		// Not in the order of their names or targets: the order is the author's.
		node.Edges = []schemas.Edge{to("RELATED_TO", nodeID((i+5)%12)), to("DEPENDS_ON", nodeID((i+3)%12)), to("RELATED_TO", nodeID((i+1)%12))}
		s.put(node)
	}
	pushed(t, m, s)
	pulled, err := m.Pull(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := s.all()
	slices.SortFunc(want, func(a, b schemas.Rule) int { return cmp.Compare(a.ID, b.ID) })
	for i := range want {
		if i >= len(pulled.Nodes) || !reflect.DeepEqual(pulled.Nodes[i], want[i]) {
			t.Fatalf("\ngot  %+v\nwant %+v", pulled.Nodes[i], want[i])
		}
	}
	if len(pulled.Nodes) != len(want) || pulled.Edges != 3*len(want) || len(pulled.Skipped)+len(pulled.Assumed) > 0 {
		t.Errorf("%d nodes, %d edges, skipped %q, assumed %q", len(pulled.Nodes), pulled.Edges, pulled.Skipped, pulled.Assumed)
	}
}

func TestPullOfAnOlderGraph(t *testing.T) {
	m := server(t)
	one(t, m, `CREATE (a:Rule {rule_id: 'GO-ERR-001', severity: 'High', trigger: 't', statement: 's', last_validated: date('2025-01-02'), embedding: [0.1, 0.2]}),
		(b:Rule:AntiPattern {antipattern_id: 'ANT-GO-001', severity: 'low', trigger: 't', statement: 's', appeal: 'a', harm: 'h', instead: 'i'}),
		(c:Skill {name: 'no id'}), (d:Rule {rule_id: 'GO-ERR-001', statement: 'again'}), (p:Person {name: 'Eve'}),
		(e:Forbidden_Response {forbidden_response_id: 'FRB-OK-001', severity: 'low', trigger: 't', statement: 's', phrases: 'sure\nfine', instead: 'x'}),
		(a)-[:RELATED_TO]->(b), (a)-[:dependsOn]->(e), (a)-[:RELATED_TO]->(c), (p)-[:LIKES]->(a), (a)-[:RELATED_TO {since: 3}]->(b)`)
	pulled, err := m.Pull(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []schemas.Rule{
		{Type: schemas.NodeAntiPattern, ID: "ANT-GO-001", Severity: "low", Trigger: "t", Statement: "s", AntiPattern: &schemas.AntiPattern{Appeal: "a", Harm: "h", Instead: "i"}},
		{Type: schemas.NodeForbiddenResponse, ID: "FRB-OK-001", Severity: "low", Trigger: "t", Statement: "s", ForbiddenResponse: &schemas.ForbiddenResponse{Phrases: []string{"sure", "fine"}, Instead: "x"}},
		{ID: "GO-ERR-001", Severity: "high", Trigger: "t", Statement: "s", LastValidated: "2025-01-02", Edges: []schemas.Edge{to("RELATED_TO", "ANT-GO-001"), to("DEPENDS_ON", "FRB-OK-001")}},
	}
	for i := range want {
		slices.SortFunc(pulled.Nodes[i].Edges, func(a, b schemas.Edge) int { return cmp.Compare(a.Target, b.Target) })
	}
	if !reflect.DeepEqual(pulled.Nodes, want) || pulled.Edges != 2 {
		t.Errorf("%d edges\ngot  %+v\nwant %+v", pulled.Edges, pulled.Nodes, want)
	}
	skipped := strings.Join(pulled.Skipped, "\n")
	for _, part := range []string{"(Skill): it has no property id, skill_id", "GO-ERR-001: another node has this id", "embedding of Rule", `"Person"`, "one end was left out"} {
		if !strings.Contains(skipped, part) {
			t.Errorf("%q is not said:\n%s", part, skipped)
		}
	}
	if len(pulled.Skipped) != 5 {
		t.Errorf("skipped:\n%s", skipped)
	}
}

func TestPullFromAnEmptyDatabase(t *testing.T) {
	m := server(t)
	pulled, err := m.Pull(t.Context())
	if err != nil || len(pulled.Nodes) > 0 || len(pulled.Skipped) > 0 {
		t.Errorf("%+v, %v", pulled, err)
	}
}
