package retrieval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

func rulesWithAnAbstraction() []schemas.Rule {
	var rules []schemas.Rule
	abstraction := schemas.Rule{
		Type: schemas.NodeAbstraction, ID: "ABS-CACHE-001", Title: "Caches", Severity: "high", Trigger: "A cache is used.",
		Statement: "Bound the cache, expire entries, and key by all inputs.", Abstraction: &schemas.Abstraction{Summary: "x"},
	}
	for i, part := range []string{"is bounded in size", "expires its entries after a while", "is keyed by every input", "counts hits and misses"} {
		r := schemas.Rule{
			ID: fmt.Sprintf("CACHE-RULE-%03d", i), Title: "A cache " + part, Severity: "high",
			Trigger:   "A cache of answers is added to a slow function and the cache " + part + ".",
			Statement: "Make sure that the cache " + part + ", whatever the load of the service is.",
		}
		rules = append(rules, r)
		if i < 3 {
			abstraction.Abstraction.Members = append(abstraction.Abstraction.Members, r.ID)
		}
	}
	for i := range 12 {
		rules = append(rules, schemas.Rule{
			ID: fmt.Sprintf("OTHER-RULE-%03d", i), Severity: "low", Trigger: fmt.Sprintf("Topic %d is at hand.", i), Statement: strings.Repeat(fmt.Sprintf("word%d ", i), 5),
		})
	}
	return append(rules, abstraction)
}

func TestAbstractionsStandInWhereTheBudgetIsSmall(t *testing.T) {
	ix, err := NewIndex(analyseAll(rulesWithAnAbstraction()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	query := Query{Text: "cache of answers added to a slow function: bounded, expires entries, keyed by input, counts hits", BudgetTokens: 1500, Limit: 10}
	var ids []string
	small := ix.Search(query)
	for _, h := range small.Rules {
		ids = append(ids, h.ID)
	}
	got := strings.Join(ids, " ")
	if !strings.Contains(got, "ABS-CACHE-001") || strings.Contains(got, "CACHE-RULE-000") || !strings.Contains(got, "CACHE-RULE-003") {
		t.Errorf("found %s", got)
	}
	if !strings.Contains(small.Block, "COVERS: CACHE-RULE-000, CACHE-RULE-001, CACHE-RULE-002") || small.Tokens > 1500 || countTokens(small.Block) != small.Tokens {
		t.Errorf("%d tokens:\n%s", small.Tokens, small.Block)
	}
	query.BudgetTokens = 3000
	for _, h := range ix.Search(query).Rules {
		if h.Type == string(schemas.NodeAbstraction) {
			t.Errorf("an abstraction where rules fit: %s", h.ID)
		}
	}
	query.BudgetTokens, query.Text = 1500, "CACHE-RULE-001 and the cache of answers added to a slow function, bounded, keyed"
	found := ix.Search(query).Rules
	if len(found) == 0 || found[0].ID != "CACHE-RULE-001" {
		t.Errorf("a rule that was named is gone: %+v", found)
	}
}
