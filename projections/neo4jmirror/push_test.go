package neo4jmirror

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

func pushed(t *testing.T, m *Mirror, s Source) Report {
	t.Helper()
	report, err := m.Push(t.Context(), s, PushOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !report.Done {
		t.Fatalf("the push is not done: %+v", report)
	}
	return report
}

func rule(id string, edges ...schemas.Edge) schemas.Rule {
	return schemas.Rule{ID: id, Severity: "low", Trigger: "always", Statement: "be " + id, Edges: edges}
}

func to(kind, target string) schemas.Edge { return schemas.Edge{Type: kind, Target: target} }

func TestPushMirrorsAndFollows(t *testing.T) {
	m := server(t)
	s := generate("log", 1, 300)
	if r := pushed(t, m, s); !r.Full || r.NodesWritten != 300 {
		t.Errorf("first push: %+v", r)
	}
	mirrors(t, m, s.all())
	if r := pushed(t, m, s); r.Full || r.NodesWritten+r.EdgesWritten+r.NodesRemoved+r.EdgesRemoved != 0 {
		t.Errorf("a push without changes: %+v", r)
	}

	seed := rand.New(rand.NewPCG(7, 7))
	for range 5 {
		for range 1 + seed.IntN(40) {
			i := seed.IntN(340) // some are new
			switch seed.IntN(4) {
			case 0:
				s.retire(nodeID(i))
			case 1:
				s.pass()
			default:
				s.put(random(seed, i, 340, seed.IntN(8)))
			}
		}
		if r := pushed(t, m, s); r.Full {
			t.Errorf("a push of changes wrote everything: %s", r.Reason)
		}
		mirrors(t, m, s.all())
	}
}

func TestTypeAndFieldsChange(t *testing.T) {
	m := server(t)
	s := newMemory("log")
	node := rule("A-B-001")
	for _, kind := range schemas.NodeTypes() {
		withDetail(&node, kind)
		s.put(node)
		pushed(t, m, s)
		mirrors(t, m, s.all())
	}
}

func TestEdgeToWhatComesLater(t *testing.T) {
	m := server(t)
	s := newMemory("log")
	s.put(rule("A-B-001", to("DEPENDS_ON", "A-B-002"), to("DEPENDS_ON", "A-B-002"), to("bad`]-() DETACH DELETE", "A-B-001")))
	if r := pushed(t, m, s); r.Dangling != 1 || r.Edges != 0 {
		t.Errorf("with its target missing: %+v", r)
	}
	mirrors(t, m, s.all())
	s.put(rule("A-B-002", to("RELATED_TO", "A-B-002")))
	if r := pushed(t, m, s); r.EdgesWritten != 2 || r.Dangling != 0 {
		t.Errorf("with its target: %+v", r)
	}
	mirrors(t, m, s.all())
	s.retire("A-B-002")
	pushed(t, m, s)
	mirrors(t, m, s.all())
}

func TestWhatOthersMadeStays(t *testing.T) {
	m := server(t)
	s := newMemory("log")
	s.put(rule("A-B-001", to("DEPENDS_ON", "A-B-002")), rule("A-B-002"), rule("A-B-003"))
	one(t, m, "CREATE (:Rule {id: 'A-B-001', own: true}), (:Person {name: 'Eve'})")
	pushed(t, m, s)
	one(t, m, "MATCH (n:WritNode {id: 'A-B-001'}), (m:WritNode {id: 'A-B-002'}), (p:Person) SET n.score = 0.5 CREATE (p)-[:LIKES]->(m), (n)-[:DEPENDS_ON]->(m)")

	s.put(rule("A-B-001"))
	s.retire("A-B-002", "A-B-003")
	if r := pushed(t, m, s); r.Kept != 1 || r.NodesRemoved != 1 || r.EdgesRemoved != 1 {
		t.Errorf("%+v", r)
	}
	for query, want := range map[string]any{
		"MATCH (n:Rule {own: true}) RETURN count(n)":                                               int64(1),
		"MATCH (:Person)-[r:LIKES]->(n:WritNode {id: 'A-B-002'}) RETURN n.writ_stale":              true,
		"MATCH (:WritNode {id: 'A-B-001'})-[r:DEPENDS_ON]->() RETURN count(r)":                     int64(1),
		"MATCH (:WritNode {id: 'A-B-001'})-[r:DEPENDS_ON {writ_mirror: true}]->() RETURN count(r)": int64(0),
		"MATCH (n:WritNode {id: 'A-B-001'}) RETURN n.score":                                        0.5,
	} {
		if got := one(t, m, query); got != want {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	s.put(rule("A-B-002"))
	pushed(t, m, s)
	if got := one(t, m, "MATCH (n:WritNode {id: 'A-B-002'}) RETURN n.writ_stale IS NULL AND (:Person)-->(n)"); got != true {
		t.Error("a node that came back is not the one that was kept")
	}
}

func TestUnconfirmedCheckpoint(t *testing.T) {
	m := server(t)
	s := generate("log", 2, 50)
	pushed(t, m, s)

	lost := generate("log", 3, 40) // its first event is the same; 40 of 50 are left
	if _, err := m.Push(t.Context(), lost, PushOptions{}); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "may be the newer one") {
		t.Errorf("a log that lost its tail overwrites the mirror: %v", err)
	}
	mirrors(t, m, s.all())
	if r, err := m.Push(t.Context(), lost, PushOptions{Replace: true}); err != nil || !r.Full || r.NodesRemoved != 10 || !strings.Contains(r.Reason, "does not confirm") {
		t.Errorf("after the log lost its tail: %+v, %v", r, err)
	}
	mirrors(t, m, lost.all())

	other := generate("other", 4, 60)
	if _, err := m.Push(t.Context(), other, PushOptions{}); !errors.Is(err, ErrForeign) {
		t.Fatalf("the mirror of another log: %v", err)
	}
	mirrors(t, m, lost.all())
	if _, err := m.Push(t.Context(), other, PushOptions{Replace: true}); err != nil {
		t.Fatal(err)
	}
	mirrors(t, m, other.all())
	if r := pushed(t, m, other); r.Full {
		t.Errorf("after it was taken over: %+v", r)
	}
	other.cut = 10 // the log dropped its oldest records
	other.put(rule("A-B-001"))
	if r := pushed(t, m, other); r.Full {
		t.Errorf("without the oldest records: %+v", r)
	}
	one(t, m, "MATCH (c:WritMirror) SET c.layout = 0")
	if r := pushed(t, m, other); !r.Full || !strings.Contains(r.Reason, "layout") {
		t.Errorf("of another layout: %+v", r)
	}
	mirrors(t, m, other.all())
}

func TestEnoughEndsAndGoesOn(t *testing.T) {
	m := server(t)
	s := generate("log", 5, 100)
	m.batch = batches{nodes: 7, edges: 40, bytes: 1 << 20, changes: 3, sweep: 30}
	steps := 0
	for {
		budget := 2
		r, err := m.Push(t.Context(), s, PushOptions{Enough: func() bool { budget--; return budget < 0 }})
		if err != nil {
			t.Fatal(err)
		}
		if steps++; r.Done {
			break
		}
		// The log goes on meanwhile.
		s.put(random(rand.New(rand.NewPCG(uint64(steps), 1)), steps%120, 120, 3))
	}
	if steps < 10 {
		t.Errorf("done after %d steps", steps)
	}
	mirrors(t, m, s.all())
}

func TestTwoPushesDoNotMix(t *testing.T) {
	m := server(t)
	target, _ := serverTarget()
	second := open(t, target)
	s := generate("log", 6, 100)
	m.batch.nodes = 10
	var busy error
	once := false
	_, err := m.Push(t.Context(), s, PushOptions{Progress: func(r Report) {
		if r.NodesWritten >= 30 && !once {
			once = true
			_, busy = second.Push(t.Context(), s, PushOptions{})
		}
	}})
	if busy != nil || !errors.Is(err, ErrBusy) {
		t.Errorf("the one that came later: %v; the one it overtook: %v", busy, err)
	}
	mirrors(t, m, s.all())
}
