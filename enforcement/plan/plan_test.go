package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/writbus/writ/test/conformance"
)

func has(ids []string) func(string) bool {
	return func(id string) bool { return slices.Contains(ids, id) }
}

func keys(problems []Problem) []string {
	out := []string{}
	for _, p := range problems {
		out = append(out, key(p))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// planCase is a line of plan.jsonl.
type planCase struct {
	ID       string   `json:"id"`
	Plan     string   `json:"plan"`
	Loaded   []string `json:"loaded_rules"`
	Known    []string `json:"known_rules"`
	Valid    bool     `json:"valid"`
	Problems []string `json:"problems"`
}

func TestConformancePlan(t *testing.T) {
	conformance.Run(t, "plan", func(t *testing.T, c planCase) {
		_, problems := Validate([]byte(c.Plan), has(c.Loaded), has(c.Known))
		want := append([]string{}, c.Problems...)
		slices.Sort(want)
		if d := cmp.Diff(want, keys(problems)); d != "" || c.Valid != (problems == nil) {
			t.Errorf("valid want %v, problems (-want +got):\n%s\n%+v", c.Valid, d, problems)
		}
	})
}

// key names the problem in one word, e.g. "missing_section:Files",
// "unknown_rule:GO-CTX-001" or "no_files".
func key(p Problem) string {
	switch p.Code {
	case MissingSection, SectionInCodeFence, DuplicateSection, EmptySection, Placeholder:
		return p.Code + ":" + p.Section
	case UnknownRule, HallucinatedRule:
		return p.Code + ":" + p.ID
	}
	return p.Code
}
