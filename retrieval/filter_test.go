package retrieval

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/integration"
	"pgregory.net/rapid"
)

var topics = strings.Fields("retry timeout mutex goroutine channel lock index cache query token error context handler " +
	"buffer stream socket parser thread atomic deadline backoff payload cursor ledger shard queue tenant schema migration")

func phrase(r *rand.Rand, n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = topics[min(r.Intn(len(topics)), r.Intn(len(topics)))]
	}
	return strings.Join(words, " ")
}

// randomRules makes n distinct rules; each has edges with the given chance.
func randomRules(r *rand.Rand, n int, edges float64) []schemas.Rule {
	kinds := []string{"RELATED_TO", "DEPENDS_ON", "CONFLICTS_WITH", "SUPERSEDES"}
	rules := make([]schemas.Rule, n)
	for i := range rules {
		rules[i] = schemas.Rule{
			ID: fmt.Sprintf("RND-%03d", i), Title: phrase(r, 4), Domain: []string{"", "go", "python", "sql"}[r.Intn(4)],
			Severity:   []string{"critical", "high", "medium", "low"}[r.Intn(4)],
			Confidence: []string{"battle-tested", "production-validated", "peer-reviewed", "speculative"}[r.Intn(4)],
			Authority:  []string{"human", "human", "ai-promoted", "ai-provisional"}[r.Intn(4)],
			Trigger:    phrase(r, 6), Statement: phrase(r, 9), Symptoms: []string{phrase(r, 5), phrase(r, 4)},
			Violation: phrase(r, 12), PassExample: phrase(r, 12), Rationale: phrase(r, 8), Tags: []string{phrase(r, 1)},
			Mandatory: r.Intn(20) == 0,
		}
		if r.Float64() < edges {
			rules[i].Edges = []schemas.Edge{{Type: kinds[r.Intn(len(kinds))], Target: fmt.Sprintf("RND-%03d", r.Intn(n))}}
		}
	}
	return rules
}

func TestEveryHitPassesTheFilters(t *testing.T) {
	integration.Checks(t)
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		rules := randomRules(r, rapid.IntRange(1, 60).Draw(t, "rules"), 0.6)
		ix, err := NewIndex(analyseAll(rules), Options{})
		if err != nil {
			t.Fatal(err)
		}
		q := Query{Text: phrase(r, 5), Raw: true, Domains: []string{"Go", "sql"}}
		for _, rule := range rules {
			if r.Intn(4) == 0 {
				q.Exclude = append(q.Exclude, strings.ToLower(rule.ID))
			}
		}
		if r.Intn(2) == 0 {
			q.Text += " " + rules[r.Intn(len(rules))].ID
		}
		a := ix.Search(q)
		ids := idsOf(a.Rules)
		for _, h := range a.Rules {
			if h.Domain == "python" || slices.Contains(q.Exclude, strings.ToLower(h.ID)) {
				t.Fatalf("%s passed: mandatory %v, domain %q, excluded %v", h.ID, h.Mandatory, h.Domain, q.Exclude)
			}
			for _, e := range h.Edges {
				if e.Type == edgeConflicts && e.Target != h.ID && slices.Contains(ids, e.Target) {
					t.Fatalf("%s and %s contradict each other and are both there", h.ID, e.Target)
				}
			}
		}
		q.NodeTypes = []string{"Skill"}
		if got := ix.Search(q).Rules; len(got) != 0 {
			t.Fatalf("rules among the skills: %v", idsOf(got))
		}
	})
}

// Whether a candidate is relevant depends on it alone, so leaving one out can
// only bring up what the limit had cut off. Edges are the exception, by design:
// other seeds have other neighbours, and the loser of a conflict may return.
func TestExclusionsNeverAddHits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		rules := randomRules(r, rapid.IntRange(1, 45).Draw(t, "rules"), 0)
		ix, err := NewIndex(analyseAll(rules), Options{})
		if err != nil {
			t.Fatal(err)
		}
		q := Query{Text: phrase(r, 4), Limit: 50}
		before := ix.Search(q)
		for _, rule := range rules {
			if r.Intn(3) == 0 {
				q.Exclude = append(q.Exclude, rule.ID)
			}
		}
		after := ix.Search(q)
		for _, id := range idsOf(after.Rules) {
			if !slices.Contains(idsOf(before.Rules), id) {
				t.Fatalf("excluding %v brought up %s", q.Exclude, id)
			}
		}
		for _, id := range idsOf(before.Rules) {
			if !slices.Contains(q.Exclude, id) && !slices.Contains(idsOf(after.Rules), id) {
				t.Fatalf("excluding %v lost %s", q.Exclude, id)
			}
		}
	})
}

func TestFiltersDoNotStarve(t *testing.T) {
	var rules []schemas.Rule
	for i := range 200 {
		domain := "go"
		if i >= 195 {
			domain = "python"
		}
		rules = append(rules, schemas.Rule{
			ID: fmt.Sprintf("STARVE-%03d", i), Severity: "high", Domain: domain,
			Trigger: "A retry loop has no deadline " + strings.Repeat("at all ", i), Statement: "Give it one.",
		})
	}
	ix := newTestIndex(t, rules, Options{})
	got := ix.Search(Query{Text: "retry loop deadline", Domains: []string{"python"}}).Rules
	if len(got) != 5 {
		t.Errorf("five rules of the domain rank below 195 others; found %v", idsOf(got))
	}
}

func TestShownRulesReturnOnlyWhenNamed(t *testing.T) {
	ix := newTestIndex(t, corpusRules(), Options{})
	q := Query{Text: "wrap errors once", Shown: []string{"GO-ERR-001"}}
	if a := ix.Search(q); a.Rules[0].ID != "GO-ERR-001" || a.Rules[0].Rendered != RenderedAlready || !strings.Contains(a.Block, "ALREADY GIVEN: GO-ERR-001\n") || strings.Contains(a.Block, "[GO-ERR-001]") {
		t.Errorf("shown before, and there again: %v\n%s", idsOf(a.Rules), a.Block)
	}
	q.Text = "what did go-err-001 say about wrapping errors?"
	if ids := idsOf(ix.Search(q).Rules); len(ids) == 0 || ids[0] != "GO-ERR-001" {
		t.Errorf("named in full and not first: %v", ids)
	}
	q.Exclude = []string{"GO-ERR-001"}
	if ids := idsOf(ix.Search(q).Rules); slices.Contains(ids, "GO-ERR-001") {
		t.Errorf("excluded, and there: %v", ids)
	}
}
