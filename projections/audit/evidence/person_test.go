package evidence

import (
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/schemas"
)

// TestPersonsNamesWhatIsNotBorneOut: each event of a log is one case.
func TestPersonsNamesWhatIsNotBorneOut(t *testing.T) {
	ann, err := NewKey("ann@example.org")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	rule, session := schemas.RuleAggregate("GO-ERR-WRAP-001"), schemas.Session("s1")
	ids := []string{"0190a0b0-0000-7000-8000-000000000001", "0190a0b0-0000-7000-8000-000000000002"}
	signed := func(on schemas.Aggregate, act schemas.PersonAct, id string) *schemas.Signed {
		s, err := SignAct(ann, on, act, schemas.Signed{Act: id, Revision: 3, Time: now})
		if err != nil {
			t.Fatal(err)
		}
		return &s
	}
	approved := schemas.GateApproved{Gate: "plan", Fingerprint: "f", ActID: "terminal:" + ids[0]}
	approved.Signed = signed(session, approved, ids[0])
	promoted := schemas.RulePromoted{Reason: "seen twice", Signed: signed(rule, schemas.RulePromoted{}, ids[1])}
	late := approved
	late.Signed = signed(session, late, ids[0])
	for name, c := range map[string]struct {
		on   schemas.Aggregate
		data schemas.Payload
		at   time.Time
		want string // of Why; "" for none
	}{
		"an approval":                      {session, approved, now, ""},
		"a promotion":                      {rule, promoted, now, ""},
		"with other words":                 {rule, schemas.RulePromoted{Reason: "other", Signed: promoted.Signed}, now, ""},
		"of another rule":                  {schemas.RuleAggregate("GO-OTHER-001"), promoted, now, "did not sign"},
		"a rejection in place of it":       {rule, schemas.RuleRejected{Reason: "r", Signed: promoted.Signed}, now, "did not sign"},
		"recorded an hour after":           {session, late, now.Add(time.Hour), "now"},
		"for another act of the session's": {session, schemas.GateApproved{Gate: "plan", Fingerprint: "f", ActID: "terminal:other", Signed: approved.Signed}, now, "for the act"},
	} {
		t.Run(name, func(t *testing.T) {
			var p Persons
			p.Count(schemas.Event{ID: "e1", Time: c.at, Aggregate: c.on, Data: c.data})
			if c.want == "" && (len(p.Bad) > 0 || p.Acts != 1 || len(p.By) != 1) || c.want != "" && (len(p.Bad) != 1 || !strings.Contains(p.Bad[0].Why, c.want)) {
				t.Errorf("%+v, want %q", p, c.want)
			}
		})
	}
	var p Persons
	for range 2 {
		p.Count(schemas.Event{ID: "e1", Time: now, Aggregate: rule, Data: promoted})
	}
	p.Count(schemas.Event{ID: "e2", Time: now, Aggregate: rule, Data: schemas.RulePromoted{}})
	if p.Acts != 2 || len(p.Bad) != 1 || !strings.Contains(p.Bad[0].Why, "counts once") {
		t.Errorf("signed once and told twice: %+v", p)
	}
}
