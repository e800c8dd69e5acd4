package curation

import (
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

func TestSymptomsFromTheText(t *testing.T) {
	for name, c := range map[string]struct {
		node schemas.Rule
		want []string
	}{
		"the harm of the rationale, no code, nothing said already": {
			schemas.Rule{
				Trigger: "A zebra is drawn.", Statement: "Paint the stripes.", Symptoms: []string{"Readers see a horse"},
				Rationale: "Readers see a horse. Letters pile up for weeks! Stripes are good for sales.\n```go\nthe code is here too\n```\n- Paint the stripes.\nIt is",
				Violation: "draw(horse)",
			},
			[]string{"Letters pile up for weeks!", "Stripes are good for sales"},
		},
		"an anti-pattern": {
			schemas.Rule{Type: schemas.NodeAntiPattern, AntiPattern: &schemas.AntiPattern{Harm: "Nobody finds the bug.", Appeal: "It is done sooner."}},
			[]string{"Nobody finds the bug", "It is done sooner"},
		},
		"nothing to say":     {schemas.Rule{Rationale: "So."}, nil},
		"no more than five":  {schemas.Rule{RedFlagThoughts: []string{"a b 1", "a b 2", "a b 3", "a b 4", "a b 5", "a b 6"}}, []string{"a b 1", "a b 2", "a b 3", "a b 4", "a b 5"}},
		"no wall of letters": {schemas.Rule{Rationale: strings.Repeat("very long ", 40)}, nil},
	} {
		if got := Symptoms(c.node); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestSymptomsAnsweredByAModel(t *testing.T) {
	node := schemas.Rule{Statement: "Paint the stripes."}
	for answer, want := range map[string]int{
		`["the animal looks like a horse", "readers write in angrily"]`:    2,
		"Here you are:\n```json\n[\"the animal looks like a horse\"]\n```": 1,
		`["paint the stripes.", "ok"]`:                                     0,
		`{"symptoms": 3}`:                                                  0,
		`I cannot do that.`:                                                0,
		`]["`:                                                              0,
		`["one", `:                                                         0,
	} {
		if got := SymptomsAnswered(node, answer); len(got) != want {
			t.Errorf("%s: %q", answer, got)
		}
	}
}
