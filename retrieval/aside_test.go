package retrieval

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// TestNodesBesideRulesAreFoundAndNotGiven: worked examples and their like are in the
// whole ranking and in answers that ask for their type, go with no prompt, and move
// no rule's score by the words that they share with it.
func TestNodesBesideRulesAreFoundAndNotGiven(t *testing.T) {
	rules := corpusRules()
	example := schemas.Rule{
		ID: "EX-HANG-001", Type: schemas.NodeWorkedExample, Title: "A request hangs", Trigger: "The request hangs at night.",
		Statement: "The request hangs until its deadline.", Symptoms: []string{"the request hangs"},
	}
	plain, with := newTestIndex(t, rules, Options{}), newTestIndex(t, append(slices.Clone(rules), example), Options{})
	found := func(q Query) bool {
		return slices.ContainsFunc(with.Search(q).Rules, func(h Hit) bool { return h.ID == example.ID })
	}
	for name, c := range map[string]struct {
		q    Query
		want bool
	}{
		"asked for":         {Query{Beside: true}, true},
		"by type":           {Query{NodeTypes: []string{"WorkedExample"}}, true},
		"a prompt":          {Query{}, false},
		"its ranking":       {Query{Raw: true}, false},
		"among other types": {Query{Beside: true, NodeTypes: []string{"Rule"}}, false},
	} {
		c.q.Text = "the request hangs"
		if got := found(c.q); got != c.want {
			t.Errorf("%s: found %v", name, got)
		}
	}
	for _, text := range []string{"the request hangs", "errors are wrapped"} {
		q := Query{Text: text, Raw: true}
		was, is := plain.Search(q).Rules, with.Search(q).Rules
		if len(was) == 0 || len(was) != len(is) {
			t.Fatalf("%q: %d rules, %d before", text, len(is), len(was))
		}
		for i := range was {
			if was[i].ID != is[i].ID || math.Abs(was[i].Score-is[i].Score) > 0.05 {
				t.Errorf("%q: %s %.4f, was %s %.4f", text, is[i].ID, is[i].Score, was[i].ID, was[i].Score)
			}
		}
	}
}

// TestSearchesNameTheKindOfNode: of two nodes that are as near, the one of the kind
// that a search names comes first, here against their ids.
func TestSearchesNameTheKindOfNode(t *testing.T) {
	const text = "the lock is held over a call"
	node := func(id string, of schemas.NodeType) schemas.Rule {
		return schemas.Rule{ID: id, Type: of, Title: text, Trigger: text, Statement: text}
	}
	ix := newTestIndex(t, append(corpusRules(), node("NODE-A", schemas.NodePhase), node("NODE-B", schemas.NodeWorkedExample), node("NODE-C", schemas.NodeRationalization)), Options{})
	for query, want := range map[string]string{
		text: "NODE-A", "an example where " + text: "NODE-B", "the excuse that " + text: "NODE-C",
	} {
		if found := ix.Search(Query{Text: query, Beside: true, Raw: true}).Rules; len(found) == 0 || found[0].ID != want {
			t.Errorf("%q: want %s first of %d", query, want, len(found))
		}
	}
}

// TestAlwaysOnNodesWithoutRoomAreRetrieved: of more than the band holds, the rest is
// found like other nodes, whatever its type.
func TestAlwaysOnNodesWithoutRoomAreRetrieved(t *testing.T) {
	rules := corpusRules()
	for i := range 10 {
		r := linked(fmt.Sprintf("MUST-%02d", i), strings.Repeat("never do this at home ", 40))
		r.Mandatory, r.Severity = true, "critical"
		rules = append(rules, r)
	}
	rules = append(rules, schemas.Rule{
		ID: "FORB-ZEBRA-001", Type: schemas.NodeForbiddenResponse, Severity: "low", Title: "No talk of zebras", Trigger: "A zebra is mentioned.",
		Statement: strings.Repeat("Never say that a zebra is a striped horse. ", 40), Symptoms: []string{"it is only a zebra"},
	})
	ix := newTestIndex(t, rules, Options{})
	if !slices.Contains(ix.Mandatory().Overflow, "FORB-ZEBRA-001") {
		t.Fatalf("the band has room for it: %v", ix.Mandatory().Rules)
	}
	if a := ix.Search(Query{Text: "it is only a zebra"}); len(a.Rules) == 0 || a.Rules[0].ID != "FORB-ZEBRA-001" || a.Rules[0].Rendered == RenderedAlready {
		t.Errorf("%+v", a.Rules)
	}
}
