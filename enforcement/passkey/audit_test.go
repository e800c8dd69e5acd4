package passkey

import (
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/schemas"
)

// TestAudit: of an approval every part that a signature speaks for is compared, and
// what does not fit is named.
func TestAudit(t *testing.T) {
	for _, c := range []struct {
		name     string
		use      func(*schemas.PasskeyUsed)
		approval func(*schemas.GateApproved)
		before   schemas.Payload // the use
		twice    bool
		says     string
	}{
		{name: "good"},
		{name: "another fingerprint approved", approval: func(p *schemas.GateApproved) { p.Fingerprint = "f2" }, says: "is over the plan of s1"},
		{name: "another fingerprint recorded", use: func(u *schemas.PasskeyUsed) { u.Fingerprint = "f2" }, says: "something else"},
		{name: "another gate", approval: func(p *schemas.GateApproved) { p.Gate = "tests" }, says: "is over the plan"},
		{name: "no signature", approval: func(p *schemas.GateApproved) { p.ActID = "passkey:other" }, says: "no signature"},
		{name: "a short act", approval: func(p *schemas.GateApproved) { p.ActID = "x" }, says: "no signature"},
		{name: "another channel with its assurance", approval: func(p *schemas.GateApproved) { p.Channel, p.ActID = "terminal", "terminal:1" }, says: "no signature"},
		{name: "altered signature", use: func(u *schemas.PasskeyUsed) { u.Signature[9] ^= 1 }, says: "not that of the enrolled key"},
		{name: "another origin recorded", use: func(u *schemas.PasskeyUsed) { u.Origin = "http://localhost:1" }, says: "the dashboard is"},
		{name: "another enrolment", use: func(u *schemas.PasskeyUsed) { u.Enrolment = "e2" }, says: "not enrolled before"},
		{name: "removed before", before: schemas.PasskeyRemoved{}, says: "had been removed"},
		{name: "a counter that was not signed", use: func(u *schemas.PasskeyUsed) { u.Counter = 7 }, says: "counter"},
		{name: "used twice", twice: true, says: "approved something before"},
	} {
		s, auth := enrolled(t)
		u, err := s.Use(signed(auth, "f1"), Doubts{})
		if err != nil {
			t.Fatal(err)
		}
		p := schemas.GateApproved{Gate: "plan", Fingerprint: "f1", Channel: "passkey", Assurance: "passkey", ActID: ActID("nonce")}
		if c.use != nil {
			c.use(&u)
		}
		if c.approval != nil {
			c.approval(&p)
		}
		var a Audit
		a.Passkey(schemas.Event{ID: "e1", Time: time.Unix(1, 0), Data: s.Keys()[0].PasskeyEnrolled})
		if c.before != nil {
			a.Passkey(schemas.Event{ID: "e2", Time: time.Unix(2, 0), Data: schemas.PasskeyRemoved{CredentialID: u.CredentialID}})
		}
		a.Passkey(schemas.Event{ID: "e3", Time: time.Unix(3, 0), Data: u})
		approval := schemas.Event{ID: "e4", Time: time.Unix(4, 0), Aggregate: schemas.Session("s1"), Data: p}
		a.Session(approval)
		if c.twice {
			a.Session(approval)
		}
		r := a.Report()
		if c.says == "" {
			if r.Approvals != 1 || len(r.Bad) > 0 {
				t.Errorf("%s: %+v", c.name, r)
			}
			continue
		}
		if len(r.Bad) != 1 || r.Bad[0].Event != "e4" || !strings.Contains(r.Bad[0].Why, c.says) {
			t.Errorf("%s: %+v, want %q", c.name, r.Bad, c.says)
		}
	}
}
