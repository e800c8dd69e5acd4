package daemon

import (
	"testing"

	"github.com/writbus/writ/projections"
)

func TestShippedRulesAreReadAgainAfterTheyWereForgotten(t *testing.T) {
	first, err := shipped.files()
	if err != nil || len(first) == 0 {
		t.Fatalf("%d rules, %v", len(first), err)
	}
	shipped.forget()
	again, err := shipped.files()
	if err != nil || len(again) != len(first) {
		t.Errorf("%d rules, %v, want %d", len(again), err, len(first))
	}
}

func TestShippedRulesThatAreThereAreNotBroughtIn(t *testing.T) {
	state := func(hash, source string, status projections.RuleStatus) projections.RuleState {
		return projections.RuleState{Hash: hash, Source: source, Status: status}
	}
	const active, retired = projections.RuleActive, projections.RuleRetired
	for name, c := range map[string]struct {
		hashes []string
		states []projections.RuleState
		want   bool
	}{
		"nothing":                {nil, nil, true},
		"the first start":        {[]string{"a"}, nil, false},
		"all":                    {[]string{"a", "b"}, []projections.RuleState{state("b", sourceEmbedded, active), state("a", sourceEmbedded, active)}, true},
		"one is missing":         {[]string{"a", "b"}, []projections.RuleState{state("b", sourceEmbedded, active)}, false},
		"retired by a person":    {[]string{"a"}, []projections.RuleState{state("a", sourceEmbedded, retired)}, true},
		"no longer shipped":      {[]string{"a"}, []projections.RuleState{state("a", sourceEmbedded, active), state("b", sourceEmbedded, active)}, false},
		"gone before":            {[]string{"a"}, []projections.RuleState{state("a", sourceEmbedded, active), state("b", sourceEmbedded, retired)}, true},
		"of a corpus alike":      {nil, []projections.RuleState{state("b", sourceEmbedded+"/x.md", active)}, true},
		"the same from a corpus": {[]string{"a"}, []projections.RuleState{state("a", sourceEmbedded+"/x.md", active)}, false},
		"not wanted any more":    {nil, []projections.RuleState{state("a", sourceEmbedded, active)}, false},
		"changed":                {[]string{"a2"}, []projections.RuleState{state("a", sourceEmbedded, active)}, false},
	} {
		if got := allThere(c.hashes, c.states); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
