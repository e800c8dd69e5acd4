package tune

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/benchmark"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/embed/static"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/integration"
)

func shipped(t testing.TB) ([]schemas.Rule, []benchmark.Query) {
	t.Helper()
	files, err := corpus.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	var rules []schemas.Rule
	for _, f := range files {
		rules = append(rules, f.Rule)
	}
	f, err := os.Open("../corpus/testdata/truth.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	truth, err := benchmark.ReadTruth(f)
	if err != nil {
		t.Fatal(err)
	}
	// A part of the queries tells as much here, in a part of the time.
	var some []benchmark.Query
	for i := 0; i < len(truth); i += 10 {
		some = append(some, truth[i])
	}
	return rules, some
}

func TestFitOnTheShippedCorpus(t *testing.T) {
	rules, truth := shipped(t)
	e, err := static.Default()
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Rules: rules, Truth: truth, Options: retrieval.Options{Embedder: e}, Seed: 1, Current: retrieval.ProfileReference}
	r, err := Fit(c)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", b.String())
	if !r.Better || r.HeldOut.Mean <= r.CurrentScore.Mean || len(r.Chosen) != 5 {
		t.Errorf("a fitted profile does not beat the one of another embedder: %+v", r.Difference)
	}
	if r.Tried[0].Score < r.Tried[len(r.Tried)-1].Score || r.Best.Name != r.Tried[0].Profile.Name {
		t.Errorf("best %s, first of all %s", r.Best.Name, r.Tried[0].Profile.Name)
	}
	t.Run("again", func(t *testing.T) {
		integration.Only(t, "the first of both fits, and that two runs of the benchmark are alike")
		c.Current = ""
		again, err := Fit(c)
		if err != nil || again.Current.Name != retrieval.ProfileStatic {
			t.Fatalf("%v, current %s", err, again.Current.Name)
		}
		// What is fitted does not depend on the profile to beat.
		one, _ := json.Marshal([]any{r.Tried, r.Best, r.Chosen, r.HeldOut})
		two, _ := json.Marshal([]any{again.Tried, again.Best, again.Chosen, again.HeldOut})
		if !bytes.Equal(one, two) {
			t.Error("two fits of one truth differ")
		}
		b.Reset()
		if err := again.Write(&b); err != nil {
			t.Fatal(err)
		}
		t.Logf("\n%s", b.String())
	})
}

func TestFitRefuses(t *testing.T) {
	rules, truth := shipped(t)
	if _, err := Fit(Config{Rules: rules, Truth: truth[:3]}); !errors.Is(err, ErrTooFew) {
		t.Errorf("three queries: %v", err)
	}
	if _, err := Fit(Config{Rules: rules, Truth: truth, Current: "nobody's"}); !errors.Is(err, ErrNoProfile) {
		t.Errorf("an unknown profile: %v", err)
	}
}

func TestWordingsOfOneQuestionStayTogether(t *testing.T) {
	truth := []benchmark.Query{
		{ID: "1", Relevant: []string{"A", "B"}}, {ID: "2", Relevant: []string{"C"}}, {ID: "3", Relevant: []string{"b", "a"}}, {ID: "4", Relevant: []string{"D"}},
	}
	targets, places := divide(truth, 2)
	if targets != 3 || places[0] != places[2] || places[0] == places[1] {
		t.Errorf("%d targets at %v", targets, places)
	}
}

func TestTheGridHasDistinctNames(t *testing.T) {
	for _, vectors := range []bool{true, false} {
		seen := map[string]bool{}
		for _, p := range Grid(vectors) {
			if seen[p.Name] || !strings.HasPrefix(p.Name, "convex") || !vectors && p.Vector != 0 {
				t.Errorf("%+v", p)
			}
			seen[p.Name] = true
		}
	}
}
