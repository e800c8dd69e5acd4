package rule

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

var (
	acme     = schemas.Release{Name: "acme", Layer: schemas.LayerOrganisation, Number: 3}
	payments = schemas.Release{Name: "payments", Layer: schemas.LayerTeam, Number: 1}
)

func saying(text string, change ...func(*schemas.Rule)) schemas.Rule {
	return node(append(change, func(r *schemas.Rule) { r.Statement = text })...)
}

func mandatory(r *schemas.Rule) { r.Mandatory = true }

func released(by schemas.Release, r schemas.Rule) schemas.RuleImported {
	return schemas.RuleImported{Rule: r, Source: by.Text(), Hash: Hash(r.Statement), Release: &by}
}

func TestGivenIsTheNearestLayerUnlessOneIsMandatory(t *testing.T) {
	shipped := schemas.RuleImported{Rule: saying("shipped"), Source: SourceShipped, Hash: "s"}
	project := schemas.RuleImported{Rule: saying("project"), Source: "shop/a.md", Hash: "p"}
	person := schemas.RuleEdited{Rule: saying("person")}
	proposal := schemas.RuleProposed{Rule: saying("proposal"), Admitted: true}
	ofAcme, ofTeam := released(acme, saying("acme")), released(payments, saying("payments"))
	must, teamMust := released(acme, saying("acme", mandatory)), released(payments, saying("payments", mandatory))
	retired := schemas.RuleRetired{Reason: "not wanted"}
	for name, c := range map[string]struct {
		events []schemas.Payload
		want   string // what is given, "" for nothing
		layer  string
		beside int
	}{
		"shipped":                            {[]schemas.Payload{shipped}, "shipped", "shipped", 0},
		"a project's over a shipped one":     {[]schemas.Payload{shipped, project}, "project", "project", 0},
		"edited":                             {[]schemas.Payload{shipped, person}, "person", "person", 0},
		"released":                           {[]schemas.Payload{ofAcme}, "acme", "organisation", 0},
		"released over shipped":              {[]schemas.Payload{shipped, ofAcme}, "acme", "organisation", 1},
		"shipped again after":                {[]schemas.Payload{ofAcme, shipped}, "acme", "organisation", 1},
		"a team's over its organisation's":   {[]schemas.Payload{ofTeam, ofAcme}, "payments", "team", 1},
		"a project's over both":              {[]schemas.Payload{ofTeam, ofAcme, project}, "project", "project", 2},
		"a person's over both":               {[]schemas.Payload{shipped, ofTeam, person, ofAcme}, "person", "person", 2},
		"mandatory over a person's":          {[]schemas.Payload{person, must}, "acme", "organisation", 1},
		"mandatory over a mandatory project": {[]schemas.Payload{schemas.RuleImported{Rule: saying("project", mandatory), Source: "shop/a.md", Hash: "p"}, must}, "acme", "organisation", 1},
		"the organisation's before a team's": {[]schemas.Payload{teamMust, must}, "acme", "organisation", 1},
		"a team's mandatory over a plain":    {[]schemas.Payload{teamMust, ofAcme, project}, "payments", "team", 2},
		"retired here does not silence":      {[]schemas.Payload{shipped, retired, ofAcme}, "acme", "organisation", 0},
		"a proposal does not silence":        {[]schemas.Payload{ofAcme, proposal}, "acme", "organisation", 0},
		"taken out again":                    {[]schemas.Payload{shipped, ofAcme, schemas.RuleRetired{Reason: "tombstone", Release: &acme}}, "shipped", "shipped", 0},
		"only what came is taken out":        {[]schemas.Payload{ofAcme, ofTeam, schemas.RuleRetired{Reason: "left", Release: &acme}}, "payments", "team", 0},
		"nothing is left":                    {[]schemas.Payload{ofAcme, schemas.RuleRetired{Reason: "left", Release: &acme}}, "", "person", 0},
		"a newer one":                        {[]schemas.Payload{ofAcme, released(schemas.Release{Name: "acme", Layer: "organisation", Number: 4}, saying("newer"))}, "newer", "organisation", 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := folded(c.events...).Given()
			rule, shown := got.Standing()
			if said := map[bool]string{true: rule.Statement}[shown]; said != c.want || got.Layer != c.layer || len(got.Instead) != c.beside {
				t.Errorf("%q of %s, instead of %q", said, got.Layer, got.Instead)
			}
			if folded(c.events...).Revisions != len(c.events) {
				t.Errorf("%d revisions", folded(c.events...).Revisions)
			}
		})
	}
}

func TestWhatWasReleasedIsNotChangedHere(t *testing.T) {
	plain, must := folded(released(acme, saying("acme"))), folded(released(acme, saying("acme", mandatory)))
	own := saying("own")
	for name, c := range map[string]struct {
		state   State
		command Command
		refused string
	}{
		"added":                 {plain, Add{Rule: own}, "release 3"},
		"retired":               {plain, Retire{Reason: "x"}, "writ rule edit"},
		"downweighted":          {plain, Downweight{Reason: "x"}, "release 3"},
		"described":             {plain, Describe{Symptoms: []string{"x"}}, "release 3"},
		"edited":                {plain, Edit{Rule: own}, ""},
		"mandatory, edited":     {must, Edit{Rule: own}, "writ team release propose"},
		"mandatory, retired":    {must, Retire{Reason: "x"}, "mandatory"},
		"pruned":                {must, Prune{Reason: "x"}, ""},
		"a file's beside it":    {must, Import{Rule: own, Source: "shop/a.md", Hash: "p"}, ""},
		"nobody's is not there": {Unknown(testID), Edit{Rule: own}, "no rule"},
	} {
		d, err := Decide(c.state, c.command)
		var fault schemas.Fault
		switch {
		case c.refused == "" && err != nil, c.refused != "" && (!errors.As(err, &fault) || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%s: %v", name, err)
		}
		after := c.state
		for _, p := range d.Record {
			after = Evolve(after, schemas.Event{Aggregate: schemas.RuleAggregate(testID), Data: p})
		}
		if !reflect.DeepEqual(after.Released, c.state.Released) {
			t.Errorf("%s changed what was released: %+v", name, after.Released)
		}
	}
}

// TestOwnRuleComesAndGoes: one's own takes the place of a released one, is taken out
// again, and may come once more.
func TestOwnRuleComesAndGoes(t *testing.T) {
	s := folded(released(acme, saying("acme")))
	do := func(c Command, want string) {
		t.Helper()
		d, err := Decide(s, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range d.Record {
			s = Evolve(s, schemas.Event{Aggregate: schemas.RuleAggregate(testID), Data: p})
		}
		if got := s.Given(); got.Rule.Statement != want || got.Status != Active {
			t.Fatalf("after %#v: %+v", c, got)
		}
	}
	do(Edit{Rule: saying("own")}, "own")
	do(Retire{Reason: "theirs is better"}, "acme")
	do(Edit{Rule: saying("again")}, "again")
	do(Edit{Rule: saying("and again")}, "and again")
}

func TestTakeRecordsWhatChangedAlone(t *testing.T) {
	take := func(r schemas.Rule, by schemas.Release) Command {
		return Take{Rule: r, Hash: Hash(r.Statement), Release: by}
	}
	s := folded(released(acme, saying("acme")))
	later := acme
	later.Number = 9
	for name, c := range map[string]struct {
		command Command
		records int
	}{
		"the same":             {take(saying("acme"), later), 0},
		"another text":         {take(saying("other"), later), 1},
		"another's":            {take(saying("acme"), payments), 1},
		"dropped":              {Drop{Release: later, Reason: "x"}, 1},
		"dropped, not brought": {Drop{Release: payments, Reason: "x"}, 0},
	} {
		before := slices.Clone(s.Released)
		if d, err := Decide(s, c.command); err != nil || len(d.Record) != c.records {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
		if !reflect.DeepEqual(before, s.Released) {
			t.Errorf("%s changed the state it was given", name)
		}
	}
}
