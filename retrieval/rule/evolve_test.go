package rule

import (
	"testing"

	"github.com/writbus/writ/schemas"
)

const testID = "GO-ERR-001"

func node(change ...func(*schemas.Rule)) schemas.Rule {
	r := schemas.Rule{ID: testID, Severity: "high", Trigger: "when", Statement: "do"}
	for _, c := range change {
		c(&r)
	}
	return r
}

// folded folds payloads as events of the rule.
func folded(payloads ...schemas.Payload) State {
	s := Unknown(testID)
	for i, p := range payloads {
		s = Evolve(s, schemas.Event{Aggregate: schemas.RuleAggregate(testID), Data: p, Position: schemas.Position{Stream: schemas.StreamRules, Seq: uint64(i + 1)}})
	}
	return s
}

func TestEvolve(t *testing.T) {
	loud := func(r *schemas.Rule) { r.Authority, r.Confidence = "human", "battle-tested" }
	imported := func(change ...func(*schemas.Rule)) schemas.RuleImported {
		return schemas.RuleImported{Rule: node(change...), Source: SourceShipped, Hash: "h"}
	}
	proposed := func(admitted bool) schemas.RuleProposed {
		return schemas.RuleProposed{Rule: node(loud), Admitted: admitted, Reasons: []string{"vague"}}
	}
	for name, c := range map[string]struct {
		events     []schemas.Payload
		status     Status
		authority  string
		confidence string
	}{
		"imported":                {[]schemas.Payload{imported()}, Active, "human", ""},
		"edited":                  {[]schemas.Payload{imported(), schemas.RuleEdited{Rule: node()}}, Active, "human", ""},
		"retired":                 {[]schemas.Payload{imported(), schemas.RuleRetired{Reason: "old"}}, Retired, "human", ""},
		"edited while retired":    {[]schemas.Payload{imported(), schemas.RuleRetired{Reason: "old"}, schemas.RuleEdited{Rule: node()}}, Retired, "human", ""},
		"restored":                {[]schemas.Payload{imported(), schemas.RuleRetired{Reason: "old"}, schemas.RuleEdited{Rule: node(), Restores: 1}}, Active, "human", ""},
		"imported again":          {[]schemas.Payload{imported(), schemas.RuleRetired{Reason: "old"}, imported()}, Active, "human", ""},
		"admitted":                {[]schemas.Payload{proposed(true)}, Active, "ai-provisional", "speculative"},
		"refused":                 {[]schemas.Payload{proposed(false)}, Refused, "ai-provisional", "speculative"},
		"refused after admitted":  {[]schemas.Payload{proposed(true), proposed(false)}, Active, "ai-provisional", "speculative"},
		"proposal over a human's": {[]schemas.Payload{imported(loud), proposed(true)}, Active, "human", "battle-tested"},
		"promoted":                {[]schemas.Payload{proposed(true), schemas.RulePromoted{}}, Active, "ai-promoted", "peer-reviewed"},
		"rejected":                {[]schemas.Payload{proposed(true), schemas.RuleRejected{}}, Rejected, "ai-provisional", "speculative"},
		"a human's is not rejected": {
			[]schemas.Payload{imported(), schemas.RuleRejected{}, schemas.RulePromoted{}}, Active, "human", "",
		},
		"retired without content": {[]schemas.Payload{schemas.RuleRetired{Reason: "?"}}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := folded(c.events...)
			if got.Status != c.status || got.Rule.Authority != c.authority || got.Rule.Confidence != c.confidence {
				t.Errorf("%+v", got)
			}
			if got.Revisions != len(c.events) || got.Last.Seq != uint64(len(c.events)) {
				t.Errorf("%d revisions, last at %d", got.Revisions, got.Last.Seq)
			}
			after := Evolve(got, schemas.Event{Aggregate: schemas.RuleAggregate(testID), Data: schemas.OutcomeRecorded{Evidence: "feedback"}, Position: schemas.Position{Seq: 99}})
			if after.Revisions != got.Revisions || after.Last != got.Last {
				t.Errorf("an outcome changed the rule: %+v", after)
			}
		})
	}
}

func TestShippedRulesThatAreThereAreNotBroughtIn(t *testing.T) {
	state := func(hash, source string, status Status) State {
		return State{Hash: hash, Source: source, Status: status}
	}
	for name, c := range map[string]struct {
		hashes []string
		states []State
		want   bool
	}{
		"nothing":                {nil, nil, true},
		"the first start":        {[]string{"a"}, nil, false},
		"all":                    {[]string{"a", "b"}, []State{state("b", SourceShipped, Active), state("a", SourceShipped, Active)}, true},
		"one is missing":         {[]string{"a", "b"}, []State{state("b", SourceShipped, Active)}, false},
		"retired by a person":    {[]string{"a"}, []State{state("a", SourceShipped, Retired)}, true},
		"no longer shipped":      {[]string{"a"}, []State{state("a", SourceShipped, Active), state("b", SourceShipped, Active)}, false},
		"gone before":            {[]string{"a"}, []State{state("a", SourceShipped, Active), state("b", SourceShipped, Retired)}, true},
		"of a corpus alike":      {nil, []State{state("b", SourceShipped+"/x.md", Active)}, true},
		"the same from a corpus": {[]string{"a"}, []State{state("a", SourceShipped+"/x.md", Active)}, false},
		"not wanted any more":    {nil, []State{state("a", SourceShipped, Active)}, false},
		"wanted again":           {[]string{"a"}, []State{{Hash: "a", Source: SourceShipped, Status: Retired, Pruned: true}}, false},
		"changed":                {[]string{"a2"}, []State{state("a", SourceShipped, Active)}, false},
	} {
		if got := ShippedThere(c.hashes, c.states); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
