package observation

import (
	"math"
	"slices"
	"testing"

	"github.com/writbus/writ/test/conformance"
)

// conformanceCase is a line of memory.jsonl of any kind.
type conformanceCase struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`

	Input  string `json:"input"`
	Expect struct {
		Text       string  `json:"text"`
		Verdict    string  `json:"verdict"`
		Confidence float64 `json:"confidence"`
		Reason     string  `json:"reason"`
		Fallback   bool    `json:"fallback"`
	} `json:"expect"`

	Verdict        *string `json:"verdict"`
	IncludeHold    bool    `json:"include_hold"`
	IncludeDiscard bool    `json:"include_discard"`
	Recall         bool    `json:"recall"`
	Reflect        bool    `json:"reflect"`

	Allow         int      `json:"allow"`
	Hold          int      `json:"hold"`
	Discard       int      `json:"discard"`
	FallbackCount int      `json:"fallback"`
	WindowMinutes int      `json:"window_minutes"`
	Alarms        []string `json:"alarms"`
}

func TestConformanceMemory(t *testing.T) {
	conformance.Run(t, "memory", checkCase)
}

func checkCase(t *testing.T, c conformanceCase) {
	switch c.Kind {
	case "gate":
		e := c.Expect
		got := Record("id", "source", "session", []byte(c.Input))
		if string(got.Original) != c.Input {
			t.Errorf("original is %q", got.Original)
		}
		if got.Text != e.Text || got.Verdict != e.Verdict || got.Reason != e.Reason || got.Fallback != e.Fallback ||
			math.Abs(got.Confidence-e.Confidence) > 1e-9 {
			t.Errorf("%q:\ngot  %+v\nwant %+v", c.Input, got, e)
		}
	case "eligibility":
		if got := MayRecall(c.Verdict, c.IncludeHold, c.IncludeDiscard); got != c.Recall {
			t.Errorf("recall: got %v", got)
		}
		if got := MayReflect(c.Verdict); got != c.Reflect {
			t.Errorf("reflect: got %v", got)
		}
	case "drift":
		got := Alarms(c.Allow, c.Hold, c.Discard, c.FallbackCount, c.WindowMinutes, DefaultLimits())
		slices.Sort(got)
		slices.Sort(c.Alarms)
		if !slices.Equal(got, c.Alarms) {
			t.Errorf("got %v, want %v", got, c.Alarms)
		}
	default:
		t.Errorf("unknown kind %q", c.Kind)
	}
}
