package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

// TestAPersonsSignatureIsChecked before an act is recorded with it; one that is over
// something else opens nothing.
func TestAPersonsSignatureIsChecked(t *testing.T) {
	w := start(t, t.TempDir(), newProject(t, "mode: work\n"))
	key, err := evidence.NewKey("ann@example.org")
	if err != nil {
		t.Fatal(err)
	}
	signed := func(on schemas.Aggregate, act schemas.PersonAct, id string, at time.Time) *schemas.Signed {
		s, err := evidence.SignAct(key, on, act, schemas.Signed{Act: id, Time: at})
		if err != nil {
			t.Fatal(err)
		}
		return &s
	}
	w.wrote("plan.md", goodPlan)
	offer, err := call[schemas.GateOffer](w, w.admin, schemas.SvcOffer, schemas.OfferRequest{Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	approved := schemas.GateApproved{Gate: offer.Gate, Fingerprint: offer.Fingerprint}
	other := schemas.GateApproved{Gate: offer.Gate, Fingerprint: "other"}
	for name, change := range map[string]func(*schemas.ApproveRequest){
		"over other files": func(r *schemas.ApproveRequest) { r.Signed = signed(schemas.Session("s1"), other, r.ActID, time.Now()) },
		"over another session": func(r *schemas.ApproveRequest) {
			r.Signed = signed(schemas.Session("s2"), approved, r.ActID, time.Now())
		},
		"of an hour ago": func(r *schemas.ApproveRequest) { r.Signed.Time = time.Now().Add(-time.Hour) },
		"signed an hour ago": func(r *schemas.ApproveRequest) {
			r.Signed = signed(schemas.Session("s1"), approved, r.ActID, time.Now().Add(-time.Hour))
		},
		"for another act":           func(r *schemas.ApproveRequest) { r.ActID = bus.NewID() },
		"from the dashboard":        func(r *schemas.ApproveRequest) { r.Channel = "dashboard" },
		"with another's public key": func(r *schemas.ApproveRequest) { r.Signed.Key = "bob+00000000+AAAA" },
	} {
		r := schemas.ApproveRequest{Session: "s1", Gate: offer.Gate, Fingerprint: offer.Fingerprint, Channel: "terminal", ActID: bus.NewID()}
		r.Signed = signed(schemas.Session("s1"), approved, r.ActID, time.Now())
		change(&r)
		if reply, err := call[schemas.ActReply](w, w.admin, schemas.SvcApprove, r); err == nil {
			t.Errorf("%s: %+v", name, reply)
		}
	}
	r := schemas.ApproveRequest{Session: "s1", Gate: offer.Gate, Fingerprint: offer.Fingerprint, Channel: "terminal", ActID: bus.NewID()}
	r.Signed = signed(schemas.Session("s1"), approved, r.ActID, time.Now())
	if reply, err := call[schemas.ActReply](w, w.admin, schemas.SvcApprove, r); err != nil || !reply.OK {
		t.Fatalf("%+v, %v", reply, err)
	}

	promote := schemas.RuleChangeRequest{Act: schemas.RulePromote, ID: "GO-X-001", Signed: signed(schemas.RuleAggregate("GO-Y-001"), schemas.RulePromoted{}, bus.NewID(), time.Now())}
	if _, err := call[schemas.RuleChangeReply](w, w.admin, schemas.SvcRuleChange, promote); err == nil || !strings.Contains(err.Error(), "did not sign this") {
		t.Errorf("a promotion of another rule: %v", err)
	}
	promote.Act = schemas.RuleRetire
	if _, err := call[schemas.RuleChangeReply](w, w.admin, schemas.SvcRuleChange, promote); err == nil {
		t.Error("what cannot be signed was taken")
	}

	// What redaction takes out of the person's words breaks no signature.
	const id = "ZOO-STRIPE-001"
	files := []schemas.RuleFile{{Path: "a.md", Content: ruleText(id, "Paint the stripes before printing.")}}
	if report, err := call[schemas.RuleImportReply](w, w.admin, schemas.SvcRuleImport, schemas.RuleImportRequest{Files: files, Corpus: "zoo"}); err != nil || len(report.Imported) != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	s, err := evidence.SignAct(key, schemas.RuleAggregate(id), schemas.RuleDownweighted{}, schemas.Signed{Act: bus.NewID(), Revision: 1, Time: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleDownweight, ID: id, Reason: "api_key: 7f3kQz81mWv0Tb5x is no stripe", Seen: 1, Signed: &s})

	var persons evidence.Persons
	for _, record := range append(w.records(schemas.StreamSessions), w.records(schemas.StreamRules)...) {
		persons.Count(record)
		if p, is := record.Data.(schemas.RuleDownweighted); is && strings.Contains(p.Reason, "7f3kQz81mWv0Tb5x") {
			t.Errorf("the secret is kept: %s", p.Reason)
		}
	}
	if persons.Acts != 2 || len(persons.Bad) != 0 || len(persons.By) != 1 {
		t.Errorf("the log says %+v", persons)
	}
}

// records are the events of a stream.
func (w *world) records(s schemas.Stream) (all []schemas.Event) {
	w.t.Helper()
	err := w.admin.Follow(w.t.Context(), s, 0, bus.FollowOptions{UntilEnd: true}, func(records []schemas.Record) error {
		for _, r := range records {
			events, err := r.Events()
			if err != nil {
				return err
			}
			all = append(all, events...)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}
