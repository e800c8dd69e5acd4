package projections_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/conformance"
)

type frequencyCase struct {
	ID        string  `json:"id"`
	Positive  int     `json:"positive"`
	Negative  int     `json:"negative"`
	Static    string  `json:"static"`
	Graduated bool    `json:"graduated"`
	Flagged   bool    `json:"flagged"`
	Weight    float64 `json:"weight"`
	Sessions  []struct {
		Positive int `json:"positive"`
		Negative int `json:"negative"`
	} `json:"sessions"`
}

func TestConformanceFrequency(t *testing.T) {
	conformance.Run(t, "frequency", checkFrequency)
}

func checkFrequency(t *testing.T, c frequencyCase) {
	got := projections.Graduate(c.Positive, c.Negative, c.Static)
	if c.Sessions != nil {
		o := outcomesOf(t, c)
		if o.Positive != c.Positive || o.Negative != c.Negative {
			t.Errorf("%d positive, %d negative, want %d and %d", o.Positive, o.Negative, c.Positive, c.Negative)
		}
		got = o.Graduate(c.Static)
	}
	if got.Graduated != c.Graduated || got.Flagged != c.Flagged || math.Abs(got.Weight-c.Weight) > 1e-9 {
		t.Errorf("%+v", got)
	}
}

// outcomesOf counts the outcomes of a case in the view.
func outcomesOf(t *testing.T, c frequencyCase) projections.Outcomes {
	t.Helper()
	l := &script{memoryLog: newMemoryLog()}
	a := schemas.RuleAggregate("A-A-001")
	for i, s := range c.Sessions {
		for n := range s.Positive + s.Negative {
			l.add(a, schemas.OutcomeRecorded{Session: fmt.Sprint(i), Positive: n < s.Positive, Evidence: "feedback"})
		}
	}
	w := projections.NewFrequency(nil)
	o, err := w.Rule(view(t, l.memoryLog, w), a.ID)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOutcomesAreAnnounced(t *testing.T) {
	l, s := &script{memoryLog: newMemoryLog()}, openStore(t, vfs.NewMem())
	defer s.Close()
	out := func(session string, positive bool) schemas.OutcomeRecorded {
		return schemas.OutcomeRecorded{Session: session, Positive: positive, Evidence: "feedback"}
	}
	a, b := schemas.RuleAggregate("A-A-001"), schemas.RuleAggregate("B-B-001")
	for range 7 {
		l.add(a, out("", true)) // outcomes without a session count each
	}
	var last projections.FrequencyChange
	w := projections.NewFrequency(func(c projections.FrequencyChange) error { last = c; return nil })
	r := start(t, l, s, projections.Options{}, w)
	r.caughtUp()
	if !last.Rebuilt || len(last.Outcomes) != 1 || last.Outcomes[0].Positive != 7 {
		t.Errorf("at the start: %+v", last)
	}
	for n := range 6 {
		pos := l.add(b, out("s", false))
		if err := r.WaitFor(t.Context(), "frequency", pos); err != nil {
			t.Fatal(err)
		}
		want := projections.Outcomes{Rule: "B-B-001", Negative: min(n+1, 5), Ignored: max(n-4, 0), Last: pos.Seq}
		if last.Rebuilt || len(last.Outcomes) != 1 || last.Outcomes[0] != want {
			t.Errorf("outcome %d: %+v", n, last)
		}
	}
}

func TestStaticWeights(t *testing.T) {
	for confidence, want := range map[string]float64{
		"battle-tested": 1, "production-validated": 0.8, "peer-reviewed": 0.6, "speculative": 0.3, "": 0.3, "other": 0.3,
	} {
		if got := projections.StaticWeight(confidence); got != want {
			t.Errorf("%q: %v", confidence, got)
		}
	}
}
