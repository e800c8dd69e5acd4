package enforcement

import (
	"testing"

	"github.com/writbus/writ/enforcement/plan"
	"github.com/writbus/writ/enforcement/skeleton"
	"github.com/writbus/writ/test/conformance"
)

// gamedCase is a file that is to be approved: a line of gamed.jsonl.
type gamedCase struct {
	ID      string `json:"id"`
	Path    string `json:"path"`
	Content string `json:"content"`
	Valid   bool   `json:"valid"`
	Note    string `json:"note"`
}

// offered tells whether reading the file alone finds nothing against its
// approval; no case depends on the rules that were shown.
func (c gamedCase) offered() bool {
	if c.Path == PlanFile {
		_, problems := plan.Parse([]byte(c.Content))
		return len(problems) == 0
	}
	return skeleton.Validate(c.Path, []byte(c.Content)).Code == ""
}

func TestConformanceGamed(t *testing.T) { judgeGamed(t, "gamed", nil) }

// TestGamedInOtherWays has cases of this package's own, written before those of
// the specification were looked at.
func TestGamedInOtherWays(t *testing.T) {
	judgeGamed(t, "gamed_own", map[string]string{
		"further-065": "that a name is there is little, and red before it is",
		"further-075": "it takes the run: it passes before any code is written",
		"further-112": "`src/[a-z]*` leaves open every file of the code, as `src/*` does",
		"further-087": "that a name is there is little, and red before it is",
	})
}

// judgeGamed judges a family by reading alone. missed are the cases that are
// judged wrongly, each with the reason.
func judgeGamed(t *testing.T, family string, missed map[string]string) {
	t.Helper()
	total, right := map[bool]int{}, map[bool]int{}
	for _, c := range conformance.Cases[gamedCase](t, family) {
		total[c.Valid]++
		ok := c.offered() == c.Valid
		if ok {
			right[c.Valid]++
		}
		switch reason := missed[c.ID]; {
		case ok && reason != "":
			t.Errorf("%s is judged right; take it out of the list", c.ID)
		case !ok && reason == "":
			t.Errorf("%s %s: offered %v; %s", c.ID, c.Path, !c.Valid, c.Note)
		}
	}
	t.Logf("judged by reading alone: %d of %d gamed refused, %d of %d honest offered", right[false], total[false], right[true], total[true])
	if right[false]*10 < total[false]*9 || right[true]*100 < total[true]*98 {
		t.Error("at least 90 of 100 gamed files are to be refused and 98 of 100 honest ones offered")
	}
}
