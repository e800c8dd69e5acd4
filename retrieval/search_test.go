package retrieval

import (
	"encoding/json"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestSearchFindsByMeaningOfEachField(t *testing.T) {
	ix := newTestIndex(t, corpusRules(), Options{})
	for name, c := range map[string]struct{ text, want string }{
		"trigger":         {"a parameter default is a list", "PY-MUT-001"},
		"symptom":         {"a quote in the customer name breaks our search", "SQL-INJ-001"},
		"title":           {"wrap errors per layer", "GO-ERR-001"},
		"id":              {"what does go-log-001 say?", "GO-LOG-001"},
		"tag":             {"cancellation", "GO-CTX-001"},
		"identifier":      {"fmt.Errorf", "GO-ERR-001"},
		"identifier part": {"errorf", "GO-ERR-001"},
		"example code":    {"io.EOF", "GO-ERR-002"},
		"stem":            {"concatenated queries", "SQL-INJ-001"},
	} {
		t.Run(name, func(t *testing.T) {
			a := ix.Search(Query{Text: c.text, Raw: true})
			if len(a.Rules) == 0 || a.Rules[0].ID != c.want {
				t.Errorf("%q found %v, want %s first", c.text, idsOf(a.Rules), c.want)
			}
		})
	}
}

func TestSearchAnswersNothingToABlankQuery(t *testing.T) {
	ix := newTestIndex(t, corpusRules(), Options{})
	for _, text := range []string{"", " \t\r\n", "\xff\xfe", "the of and", "?!", "bake bread with olives"} {
		a := ix.Search(Query{Text: text})
		if len(a.Rules) != 0 || a.Rules == nil || a.Block != "" || a.Tokens != 0 || a.Tier != TierNothing || a.Embedder != EmbedderNone {
			t.Errorf("%q: %+v", text, a)
		}
	}
}

func TestMandatoryRulesAreRankedAndNamed(t *testing.T) {
	ix := newTestIndex(t, corpusRules(), Options{})
	for text, want := range map[string]string{"ALW-SEC-001": RenderedWhole, "no secrets in code": RenderedAlready, "credential key token": RenderedAlready} {
		a := ix.Search(Query{Text: text})
		if a.Rules[0].ID != "ALW-SEC-001" || a.Rules[0].Rendered != want {
			t.Errorf("%q: %s is rendered %q, not the mandatory rule %q", text, a.Rules[0].ID, a.Rules[0].Rendered, want)
		}
	}
	if got := ix.Mandatory(); !slices.Equal(got.Rules, []string{"ALW-SEC-001"}) || got.Tokens != CountTokens(got.Text) {
		t.Errorf("band = %+v", got)
	}
}

func TestSameInputGivesTheSameBytes(t *testing.T) {
	queries := []Query{
		{Text: "the request hangs"},
		{Text: "errors GO-LOG-001 wrapped", BudgetTokens: 9000, Explain: true},
		{Text: "sql quotes", Previous: []string{"SQL-INJ-NEW", "SQL-INJ-001"}},
		{Text: "errors", Raw: true, Domains: []string{"go"}},
	}
	var want []string
	rules := corpusRules()
	for round := range 30 {
		r := rand.New(rand.NewSource(int64(round)))
		r.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
		ix := newTestIndex(t, rules, Options{BuiltAt: "2026-01-02T03:04:05Z"})
		for i, q := range queries {
			b, err := json.Marshal(ix.Search(q))
			if err != nil {
				t.Fatal(err)
			}
			if round == 0 {
				want = append(want, string(b))
			} else if string(b) != want[i] {
				t.Fatalf("round %d, %q:\n%s\nfirst gave\n%s", round, q.Text, b, want[i])
			}
		}
	}
}

func TestConcurrentSearches(t *testing.T) {
	ix := newTestIndex(t, corpusRules(), Options{})
	want := ix.Search(Query{Text: "wrap errors", BudgetTokens: 9000}).Block
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got := ix.Search(Query{Text: "wrap errors", BudgetTokens: 9000}).Block; got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestAnswersNameWhatTheyWereMadeWith(t *testing.T) {
	ix := newTestIndex(t, corpusRules(), Options{EmbedderProblem: "model.safetensors: no such file", BuiltAt: "then"})
	a := ix.Search(Query{Text: "wrap errors"})
	if a.Embedder != "none" || a.Problem == "" || a.Profile != ProfileLexical || a.Encoding != "cl100k_base" ||
		a.Index.BuiltAt != "then" || a.Index.Rules != 9 || len(a.Index.Version) != 32 {
		t.Errorf("%+v", a)
	}
	if got := ix.Search(Query{Text: "wrap errors", Profile: ProfileReference}).Profile; got != ProfileReferenceLexical {
		t.Errorf("reference without an embedder answers as %q", got)
	}
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rules", "mode", "tier", "probability", "embedder", "profile", "index", "latency_us", "why", "ranks", "built_at"} {
		if !strings.Contains(string(b), `"`+name+`":`) {
			t.Errorf("the answer's JSON has no %q: %s", name, b)
		}
	}
}
