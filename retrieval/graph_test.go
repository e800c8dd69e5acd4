package retrieval

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// linked makes a rule whose words are its own, with edges "TYPE target".
func linked(id, words string, edges ...string) schemas.Rule {
	r := schemas.Rule{ID: id, Severity: "medium", Confidence: "peer-reviewed", Trigger: words, Statement: words}
	for _, e := range edges {
		kind, target, _ := strings.Cut(e, " ")
		r.Edges = append(r.Edges, schemas.Edge{Type: kind, Target: target})
	}
	return r
}

func graphSignals(a Answer) map[string]float64 {
	out := make(map[string]float64)
	for _, h := range a.Rules {
		out[h.ID] = h.Why.Graph
	}
	return out
}

func TestNeighboursWithinTwoHopsAreCandidates(t *testing.T) {
	rules := []schemas.Rule{
		linked("N-0", "mutex", "RELATED_TO N-1"),
		linked("N-1", "alpha"),
		linked("N-2", "beta", "DEPENDS_ON N-1"), // against the edge's direction
		linked("N-3", "gamma", "RELATED_TO N-2"),
		linked("N-4", "delta", "RELATED_TO NOWHERE", "RELATED_TO N-4"),
	}
	ix := newTestIndex(t, rules, Options{})
	got := graphSignals(ix.Search(Query{Text: "mutex", Raw: true}))
	want := map[string]float64{"N-0": 0, "N-1": 1, "N-2": 0.5}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("signals %v, want %v", got, want)
	}
	a := ix.Search(Query{Text: "mutex"})
	for _, h := range a.Rules {
		if h.ID == "N-1" && (h.Tier != TierTitles || h.Rendered != RenderedTitle) {
			t.Errorf("a neighbour by its edge alone is named by its title: %+v", h)
		}
		if h.ID == "N-2" {
			t.Errorf("two hops away and nothing else: %+v", h)
		}
	}
}

func TestSeedsAreTheTopThreeAPersonStandsBehind(t *testing.T) {
	rules := []schemas.Rule{
		linked("S-0", "mutex mutex mutex mutex", "RELATED_TO NEAR-0"),
		linked("S-1", "mutex mutex mutex word", "RELATED_TO NEAR-1"),
		linked("S-2", "mutex mutex word word", "RELATED_TO NEAR-2"),
		linked("S-3", "mutex word word word", "RELATED_TO NEAR-3"),
		linked("S-4", "mutex word word word word word", "RELATED_TO NEAR-4"),
	}
	for i := range 5 {
		rules = append(rules, linked(fmt.Sprintf("NEAR-%d", i), "neighbour"))
	}
	rules[0].Authority = "ai-provisional"
	got := graphSignals(newTestIndex(t, rules, Options{}).Search(Query{Text: "mutex", Raw: true}))
	for id, want := range map[string]bool{"NEAR-0": false, "NEAR-1": true, "NEAR-2": true, "NEAR-3": true, "NEAR-4": false} {
		if _, found := got[id]; found != want {
			t.Errorf("%s among the candidates: %v, want %v", id, found, want)
		}
	}
}

func TestTheGraphOrdersEqualCandidates(t *testing.T) {
	rules := []schemas.Rule{
		linked("A-1", "lock order"), linked("A-2", "lock order"),
		linked("Z-1", "mutex mutex lock", "RELATED_TO A-2"),
	}
	a := newTestIndex(t, rules, Options{}).Search(Query{Text: "mutex lock", Raw: true})
	if ids := idsOf(a.Rules); !slices.Equal(ids, []string{"Z-1", "A-2", "A-1"}) {
		t.Errorf("order %v: %v", ids, graphSignals(a))
	}
}

func TestHubsDoNotLinkTheirNeighbours(t *testing.T) {
	rules := []schemas.Rule{linked("SEED-1", "mutex", "RELATED_TO HUB-1"), linked("HUB-1", "hub")}
	for i := range hubDegree + 1 {
		rules = append(rules, linked(fmt.Sprintf("SPOKE-%02d", i), "spoke", "RELATED_TO HUB-1"))
	}
	got := graphSignals(newTestIndex(t, rules, Options{}).Search(Query{Text: "mutex", Raw: true}))
	if len(got) != 2 || got["HUB-1"] != 1 {
		t.Errorf("signals %v", got)
	}
}

func TestSuperseded(t *testing.T) {
	provisionalRule := linked("AI-1", "mutex", "SUPERSEDES OLD-1")
	provisionalRule.Authority = "ai-provisional"
	mandatory := linked("MUST-1", "mutex")
	mandatory.Mandatory = true
	successor := linked("MUST-2", "mutex", "SUPERSEDES MUST-1", "SUPERSEDES OLD-1")
	successor.Mandatory = true
	for name, c := range map[string]struct {
		rules      []schemas.Rule
		found, on  []string
		wantAbsent string
	}{
		"replaced":             {rules: []schemas.Rule{linked("OLD-1", "mutex"), linked("NEW-1", "mutex", "SUPERSEDES OLD-1")}, found: []string{"NEW-1"}},
		"in a chain":           {rules: []schemas.Rule{linked("OLD-1", "mutex"), linked("MID-1", "mutex", "SUPERSEDES OLD-1"), linked("NEW-1", "mutex", "SUPERSEDES MID-1")}, found: []string{"NEW-1"}},
		"in a circle":          {rules: []schemas.Rule{linked("A-1", "mutex", "SUPERSEDES B-1"), linked("B-1", "mutex", "SUPERSEDES A-1")}, found: []string{"A-1", "B-1"}},
		"by itself":            {rules: []schemas.Rule{linked("A-1", "mutex", "SUPERSEDES A-1")}, found: []string{"A-1"}},
		"by a proposal":        {rules: []schemas.Rule{linked("OLD-1", "mutex"), provisionalRule}, found: []string{"AI-1", "OLD-1"}},
		"mandatory by another": {rules: []schemas.Rule{mandatory, linked("NEW-1", "mutex", "SUPERSEDES MUST-1")}, found: []string{"MUST-1", "NEW-1"}, on: []string{"MUST-1"}},
		"by a mandatory":       {rules: []schemas.Rule{mandatory, successor, linked("OLD-1", "mutex")}, found: []string{"MUST-2"}, on: []string{"MUST-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			ix := newTestIndex(t, c.rules, Options{})
			found := idsOf(ix.Search(Query{Text: "mutex", Raw: true}).Rules)
			slices.Sort(found)
			if !slices.Equal(found, append([]string{}, c.found...)) {
				t.Errorf("found %v, want %v", found, c.found)
			}
			if on := ix.Mandatory().Rules; !slices.Equal(on, append([]string{}, c.on...)) {
				t.Errorf("always on %v, want %v", on, c.on)
			}
		})
	}
}

func TestConflictingRulesAreNeverTogether(t *testing.T) {
	ix := newTestIndex(t, corpusRules(), Options{})
	a := ix.Search(Query{Text: "context first parameter: blocks, calls the network or starts work"})
	if ids := idsOf(a.Rules); !slices.Contains(ids, "GO-CTX-001") || slices.Contains(ids, "GO-CTX-AI") {
		t.Errorf("found %v", ids)
	}
	if len(a.Conflicts) != 1 || a.Conflicts[0] != (Conflict{Kept: "GO-CTX-001", LeftOut: "GO-CTX-AI"}) {
		t.Errorf("conflicts %v", a.Conflicts)
	}
	if !strings.Contains(a.Block, "CONFLICTS WITH, left out: GO-CTX-AI\n") {
		t.Errorf("the block does not name the conflict:\n%s", a.Block)
	}
	alone := ix.Search(Query{Text: "GO-CTX-AI", Exclude: []string{"GO-CTX-001"}})
	if ids := idsOf(alone.Rules); !slices.Contains(ids, "GO-CTX-AI") || len(alone.Conflicts) != 0 {
		t.Errorf("without its rival: %v, %v", ids, alone.Conflicts)
	}
}

func TestOfEqualAuthorityTheBetterRankedStays(t *testing.T) {
	rules := []schemas.Rule{
		linked("A-1", "mutex word word word"), linked("B-1", "mutex mutex", "CONFLICTS_WITH A-1"),
		linked("C-1", "mutex word", "CONFLICTS_WITH A-1"),
	}
	a := newTestIndex(t, rules, Options{}).Search(Query{Text: "mutex", Raw: true})
	if ids := idsOf(a.Rules); !slices.Equal(ids, []string{"B-1", "C-1"}) {
		t.Errorf("found %v, conflicts %v", ids, a.Conflicts)
	}
}

func TestARuleAgainstTheMandatoryBandIsNotRetrieved(t *testing.T) {
	must := linked("MUST-1", "mutex", "CONFLICTS_WITH A-1")
	must.Mandatory = true
	a := newTestIndex(t, []schemas.Rule{must, linked("A-1", "mutex"), linked("B-1", "mutex")}, Options{}).Search(Query{Text: "mutex", Raw: true})
	if ids := idsOf(a.Rules); !slices.Equal(ids, []string{"B-1", "MUST-1"}) {
		t.Errorf("found %v", ids)
	}
}
