package tune

import (
	"errors"
	"math"
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/benchmark"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/embed/static"
	"github.com/writbus/writ/schemas"
)

func TestTheRegressionFindsKnownWeights(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	want := []float64{-1.5, 2, -0.7}
	var rules []judgedRule
	for range 30000 {
		e := []float64{1, r.NormFloat64(), 3 + 2*r.NormFloat64()}
		rules = append(rules, judgedRule{evidence: e, right: r.Float64() < chance(want, e)})
	}
	got := logistic(rules, []benchmark.Query{{}}, func(int) bool { return true })
	for i := range want {
		if math.Abs(got[i]-want[i]) > 0.1 {
			t.Errorf("weight %d is %.3f, want %.3f", i, got[i], want[i])
		}
	}
}

func TestCalibrationErrorIsTheGapBetweenChanceAndShare(t *testing.T) {
	var rules []judgedRule
	for i := range 1000 {
		rules = append(rules, judgedRule{chance: 0.5, right: i%4 == 0})
	}
	if got := calibrationError(rules); math.Abs(got-0.25) > 0.01 {
		t.Errorf("one in four is right of those with a chance of a half: %.3f", got)
	}
}

// What is held out is measured as an answer would be given: three in full, six
// lines, nothing below the least chance of any.
func TestSharesCountWhatWouldBeGiven(t *testing.T) {
	truth := []benchmark.Query{
		{Relevant: []string{"A", "B", "C", "D"}, Kind: "task", Group: "domain-a"}, // two of them are among the judged
		{Kind: benchmark.KindOffTopic, Group: "domain-a"},
		{Kind: benchmark.KindOffTopic, Group: "talk-1"},
		{Relevant: []string{"B"}, Kind: "direct", Group: "other"},
	}
	evidence := make([]float64, len(retrieval.EvidenceNames))
	var rules []judgedRule
	for i := range 12 {
		rules = append(rules, judgedRule{query: 0, evidence: evidence, chance: 0.9 - float64(i)/100, right: i == 0 || i == 4})
	}
	rules = append(rules, judgedRule{query: 1, evidence: evidence, chance: 0.6}, judgedRule{query: 2, evidence: evidence, chance: 0.11},
		judgedRule{query: 3, evidence: evidence, chance: 0.9})
	got := shares(retrieval.Decision{Whole: 0.5, Line: 0.05, Any: 0.05, Even: 0.12, Task: []float64{1}}, rules, truth)
	if want := (GivenShares{Whole: 0.5, Given: 4, Precision: 0.25, Covered: 1, Reached: 0.5, Wrongly: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestADecisionIsFittedOnTheCorpusItJudges(t *testing.T) {
	e, err := static.Default()
	if err != nil {
		t.Fatal(err)
	}
	rule := func(id, title string) schemas.Rule {
		return schemas.Rule{ID: id, Title: title, Trigger: title, Statement: title, Symptoms: []string{title + " goes wrong"}}
	}
	c := Config{
		Rules: []schemas.Rule{rule("LOCK-A-001", "Release the mutex"), rule("SQL-A-001", "Bind the query's values"), rule("CSS-A-001", "Lay out by a grid")},
		Truth: []benchmark.Query{
			{ID: "1", Query: "the mutex is never released", Relevant: []string{"LOCK-A-001"}, Kind: "task", Group: "domain-a"},
			{ID: "2", Query: "the values of the query are concatenated", Relevant: []string{"SQL-A-001"}, Kind: "task", Group: "domain-b"},
			{ID: "3", Query: "a recipe for soup", Kind: benchmark.KindOffTopic, Group: "talk-0"},
		},
		Options: retrieval.Options{Embedder: e},
	}
	g, err := FitGiving(c, retrieval.DefaultDecision)
	if err != nil || g.Groups != 3 || g.Rules < 6 || g.Decision.Weights["cosine"] <= 0 || g.Decision.Weights["worth"] <= 0 {
		t.Errorf("%+v, %v", g, err)
	}
	var b strings.Builder
	if err := g.Write(&b); err != nil || !strings.Contains(b.String(), "3 queries") {
		t.Errorf("%q, %v", b.String(), err)
	}
	c.Options.Embedder = nil
	if _, err := FitGiving(c, retrieval.DefaultDecision); !errors.Is(err, ErrTooFew) {
		t.Errorf("without an embedder there is no evidence: %v", err)
	}
}

// A task with nothing right is an example against rules, and neither a task nor
// talk to the line between the two.
func TestATaskWithNothingRightMovesNoLine(t *testing.T) {
	e, err := static.Default()
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Rules: []schemas.Rule{{ID: "LOCK-A-001", Title: "Release the mutex", Trigger: "A lock is taken.", Statement: "Release the mutex.", Symptoms: []string{"the mutex stays locked"}}},
		Truth: []benchmark.Query{
			{ID: "1", Query: "the mutex is never released", Relevant: []string{"LOCK-A-001"}, Kind: "task", Group: "domain-a"},
			{ID: "2", Query: "a recipe for soup", Kind: benchmark.KindOffTopic, Group: "talk-0"},
		},
		Options: retrieval.Options{Embedder: e},
	}
	line, _, err := tasksAndTalk(c)
	if err != nil {
		t.Fatal(err)
	}
	c.Truth = append(c.Truth, benchmark.Query{ID: "3", Query: "rename the mutex", Kind: benchmark.KindOffTopic, Group: "domain-b"})
	with, beyond, err := tasksAndTalk(c)
	if err != nil || !slices.Equal(line, with) || len(beyond) != 3 {
		t.Errorf("the line moved, %d places, %v", len(beyond), err)
	}
}

// The sessions are for judging: no weight has seen them, and what is right for
// them is in the corpus.
func TestNoSessionIsFittedOn(t *testing.T) {
	sessions, fitted := truthOf(t, "sessions_held_out.jsonl"), truthOf(t, "giving.jsonl")
	if len(sessions) != 119 {
		t.Fatalf("%d prompts", len(sessions))
	}
	rules, err := corpus.EmbeddedRules()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range sessions {
		if slices.ContainsFunc(fitted, func(f benchmark.Query) bool { return strings.EqualFold(f.Query, q.Query) }) {
			t.Errorf("%s is fitted on", q.ID)
		}
		for _, id := range slices.Concat(q.Relevant, q.Disputed) {
			if !slices.ContainsFunc(rules, func(r schemas.Rule) bool { return r.ID == id }) {
				t.Errorf("%s: there is no rule %s", q.ID, id)
			}
		}
	}
}

func truthOf(t *testing.T, name string) []benchmark.Query {
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	truth, err := benchmark.ReadTruth(f)
	if err != nil {
		t.Fatal(err)
	}
	return truth
}
