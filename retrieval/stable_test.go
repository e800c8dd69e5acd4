package retrieval

import (
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/writbus/writ/schemas"
	"pgregory.net/rapid"
)

// twins score alike but for what changes is given.
func twin(id string, change func(*schemas.Rule)) schemas.Rule {
	r := schemas.Rule{ID: id, Severity: "medium", Confidence: "peer-reviewed", Trigger: "a mutex is held across a call", Statement: "release it first"}
	if change != nil {
		change(&r)
	}
	return r
}

func order(t *testing.T, rules []schemas.Rule, q Query) []string {
	t.Helper()
	q.Raw = true
	return idsOf(newTestIndex(t, rules, Options{}).Search(q).Rules)
}

func TestTiesGoById(t *testing.T) {
	rules := []schemas.Rule{twin("T-3", nil), twin("T-1", nil), twin("T-2", nil)}
	if got := order(t, rules, Query{Text: "mutex"}); !slices.Equal(got, []string{"T-1", "T-2", "T-3"}) {
		t.Errorf("order %v", got)
	}
}

func TestProvisionalYieldsAtANearTie(t *testing.T) {
	ai := func(r *schemas.Rule) { r.Authority = "ai-provisional"; r.Severity = "high" } // a little ahead
	rules := []schemas.Rule{twin("AI-1", ai), twin("HUMAN-1", nil)}
	if got := order(t, rules, Query{Text: "mutex"}); got[0] != "HUMAN-1" {
		t.Errorf("near tie: %v", got)
	}
	if got := order(t, rules, Query{Text: "mutex", Previous: []string{"AI-1", "HUMAN-1"}}); got[0] != "HUMAN-1" {
		t.Errorf("near tie, other order before: %v", got)
	}
	rules[0].Trigger = "a mutex mutex is held"
	if got := order(t, rules, Query{Text: "mutex"}); got[0] != "AI-1" {
		t.Errorf("clearly better: %v", got)
	}
}

func TestTheLastOrderHoldsAtNearTies(t *testing.T) {
	rules := []schemas.Rule{
		twin("T-1", func(r *schemas.Rule) { r.Severity = "high" }), twin("T-2", nil), twin("T-3", nil),
		twin("T-9", func(r *schemas.Rule) {
			r.Trigger, r.Statement = "words", "one mutex among many diluting words in a statement"
		}),
	}
	for _, c := range []struct {
		previous, prefer, want []string
	}{
		{nil, nil, []string{"T-1", "T-2", "T-3", "T-9"}},
		{[]string{"T-3", "T-2", "T-1"}, nil, []string{"T-3", "T-2", "T-1", "T-9"}},
		{[]string{"T-2"}, nil, []string{"T-2", "T-1", "T-3", "T-9"}},
		{[]string{"T-9", "T-2"}, nil, []string{"T-2", "T-1", "T-3", "T-9"}},
		{[]string{"T-3", "T-2"}, []string{"T-2"}, []string{"T-2", "T-3", "T-1", "T-9"}},
	} {
		if got := order(t, rules, Query{Text: "mutex", Previous: c.previous, Prefer: c.prefer}); !slices.Equal(got, c.want) {
			t.Errorf("previous %v, prefer %v: got %v, want %v", c.previous, c.prefer, got, c.want)
		}
	}
}

func TestStickinessNeverPassesAClearlyBetterRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		rules := randomRules(r, 30, 0)
		ix, err := NewIndex(analyseAll(rules), Options{})
		if err != nil {
			t.Fatal(err)
		}
		q := Query{Text: phrase(r, 3), Raw: true}
		first := ix.Search(q)
		q.Previous = idsOf(first.Rules)
		if again := idsOf(ix.Search(q).Rules); !slices.Equal(again, q.Previous) {
			t.Fatalf("the same question twice: %v, then %v", q.Previous, again)
		}
		r.Shuffle(len(q.Previous), func(i, j int) { q.Previous[i], q.Previous[j] = q.Previous[j], q.Previous[i] })
		hits := ix.Search(q).Rules
		for i, a := range hits {
			for _, b := range hits[i+1:] {
				tolerated := nearTie
				if provisional(&a.Rule) != provisional(&b.Rule) {
					tolerated += nearTie
				}
				if b.Score-a.Score > math.Nextafter(tolerated, 1) {
					t.Fatalf("%s (%.3f) stands before %s (%.3f)", a.ID, a.Score, b.ID, b.Score)
				}
			}
		}
	})
}
