package daemon

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/projections/audit/attest"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

// someone has a key of their own.
type someone struct {
	w           *world
	key, public string
}

func (w *world) someone(name string) someone {
	w.t.Helper()
	key, err := evidence.NewKey(name)
	if err != nil {
		w.t.Fatal(err)
	}
	_, public, err := evidence.ReadKey(key)
	if err != nil {
		w.t.Fatal(err)
	}
	return someone{w, key, public}
}

// signs is an approval of exactly what an offer has.
func (p someone) signs(o schemas.GateOffer, at time.Time) schemas.ApproveRequest {
	p.w.t.Helper()
	act := uuid.NewString()
	signed, err := evidence.SignAct(p.key, schemas.Session(o.Session), schemas.GateApproved{Gate: o.Gate, Fingerprint: o.Fingerprint}, schemas.Signed{Act: act, Time: at})
	if err != nil {
		p.w.t.Fatal(err)
	}
	return schemas.ApproveRequest{Session: o.Session, Gate: o.Gate, Fingerprint: o.Fingerprint, Channel: "terminal", ActID: act, Signed: &signed}
}

func (w *world) waitsForTwo() schemas.GateOffer {
	w.t.Helper()
	o, err := call[schemas.GateOffer](w, w.admin, schemas.SvcOffer, schemas.OfferRequest{Session: "s1", Channel: "terminal"})
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

// TestTwoPersonsOpenAGate: the signatures of two different persons whom a release names,
// over exactly what waits; nothing else does.
func TestTwoPersonsOpenAGate(t *testing.T) {
	w := start(t, t.TempDir(), newProject(t, "mode: conversation\nsubagents: exempt\napproval: two-person\n"))
	p := newPublisher(w)
	ann, bob, eve := w.someone("ann@acme.example"), w.someone("bob@acme.example"), w.someone("eve@acme.example")
	gus := w.someone("gus@else.example")
	take := func(act string, who ...someone) {
		t.Helper()
		terms := schemas.ReleaseTerms{Until: "2999-12-31"}
		for _, one := range who {
			terms.Persons = append(terms.Persons, one.public)
		}
		if _, err := w.releases(schemas.ReleaseRequest{Act: act, Envelope: p.under(terms), Key: p.public, Place: "/rules"}); err != nil {
			t.Fatal(err)
		}
	}
	try := func(what string, r schemas.ApproveRequest, want string) {
		t.Helper()
		reply, err := call[schemas.ActReply](w, w.admin, schemas.SvcApprove, r)
		said := strings.Join(append(reply.Problems, reply.Message), " ")
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, want) || (strings.HasPrefix(want, "One of two") || strings.HasPrefix(want, "Approved")) != (err == nil && reply.OK) {
			t.Errorf("%s: %v %s, want %q", what, reply.OK, said, want)
		}
	}
	closed := func(what string) {
		t.Helper()
		if r := w.write("shop_test.go", "package shop\n"); !strings.Contains(r.Stdout+r.Stderr, "ENF-GATE") {
			t.Errorf("%s, and a test may be written: %s %s", what, r.Stdout, r.Stderr)
		}
	}
	now := time.Now()

	w.send("SessionStart", map[string]any{"source": "startup"})
	w.wrote("plan.md", goodPlan)
	o := w.waitsForTwo()
	try("nobody is followed", ann.signs(o, now), "no more, among those")
	take(schemas.ReleaseFollow, ann, bob, eve)
	if o = w.waitsForTwo(); !strings.Contains(o.Second, "waits for two of ann@acme.example") {
		t.Errorf("it waits for %q", o.Second)
	}
	for _, words := range []string{"approved", "/writ-approve plan", "/writ-mode conversation", "/writ-mode small", "lgtm, go ahead"} {
		w.prompt(words)
		closed(words)
	}
	for _, mode := range []string{"conversation", "debug", "small"} {
		if r, err := call[schemas.ActReply](w, w.admin, schemas.SvcModeByUser, schemas.ModeRequest{Session: "s1", Mode: mode}); err == nil && r.OK {
			t.Errorf("one person chose %s: %+v", mode, r)
		}
	}
	if r, err := call[schemas.ActReply](w, w.admin, schemas.SvcModeByUser, schemas.ModeRequest{Session: "s1", Mode: "work", Orchestrator: true}); err == nil && r.OK {
		t.Errorf("one person made it an orchestrator: %+v", r)
	}
	for _, command := range []string{"approve", "approve second take x.signed", "approve second sign x", "approve key --new bob", "team release follow /x --root y", "team release make . --name acme"} {
		if r := w.send("PreToolUse", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "writ " + command}}); !strings.Contains(r.Stdout+r.Stderr, `"deny"`) {
			t.Errorf("an agent ran %s: %s %s", command, r.Stdout, r.Stderr)
		}
	}
	for _, service := range []string{schemas.SvcApprove, schemas.SvcRelease, schemas.SvcModeByUser} {
		if _, err := call[schemas.ActReply](w, w.hook, service, ann.signs(o, now)); err == nil {
			t.Errorf("an agent's credential reaches %s", service)
		}
	}
	if _, err := call[schemas.EmitReply](w, w.hook, schemas.SvcEmit, schemas.EmitRequest{Type: "approval.given", ID: "s1", Data: json.RawMessage(`{"gate":"plan","fingerprint":"f","channel":"terminal","act_id":"a","signed":{"key":"k","act":"a","time":"2026-01-01T00:00:00Z","signature":"aGk="}}`)}); err == nil {
		t.Error("an agent emitted an approval")
	}
	unsigned := ann.signs(o, now)
	unsigned.Signed = nil
	try("no signature", unsigned, "you have no key")
	dashboard := ann.signs(o, now)
	dashboard.Channel, dashboard.Signed = "dashboard", nil
	try("a button", dashboard, "two persons sign it")
	forged := bob.signs(o, now)
	forged.Signed.Key = ann.public
	try("another's name", forged, "did not sign")
	elsewhere := bob.signs(schemas.GateOffer{Session: "s2", Gate: o.Gate, Fingerprint: o.Fingerprint}, now)
	elsewhere.Session = "s1"
	try("of another session", elsewhere, "did not sign")
	another := bob.signs(schemas.GateOffer{Session: "s1", Gate: "tests", Fingerprint: o.Fingerprint}, now)
	another.Gate = "plan"
	try("of another gate", another, "did not sign")
	try("of yesterday", bob.signs(o, now.Add(-25*time.Hour)), "it is of")
	try("of tomorrow", bob.signs(o, now.Add(time.Hour)), "it is of")
	try("nobody of theirs", gus.signs(o, now), "no more, among those")
	closed("nobody approved")

	first := ann.signs(o, now)
	try("the first", first, "One of two")
	closed("one approved")
	if o = w.waitsForTwo(); !strings.Contains(o.Second, "ann@acme.example approved; waits for one of bob@acme.example, eve@acme.example") {
		t.Errorf("it waits for %q", o.Second)
	}
	waits, err := call[schemas.Waits](w, w.hook, schemas.SvcWaits, struct{}{})
	if err != nil || len(waits.Items) != 1 || waits.Items[0].Second != o.Second {
		t.Errorf("%+v, %v", waits, err)
	}
	try("the same act", first, "used before")
	try("the same person", ann.signs(o, now), "ann@acme.example approved this already")
	again := ann.signs(o, now)
	again.Signed.Key += " "
	try("the same person, written otherwise", again, "")
	closed("one approved twice")

	w.wrote("plan.md", goodPlan+"- [ ] And more\n")
	try("an older plan", bob.signs(o, now), "changed since they were shown")
	o = w.waitsForTwo()
	try("the new plan", bob.signs(o, now), "One of two")
	take(schemas.ReleaseTake, ann, eve)
	try("after the other was revoked", ann.signs(o, now), "One of two")
	try("who was revoked", bob.signs(o, now), "no more, among those")
	closed("one, and one who was revoked")
	try("the second, from yesterday evening", eve.signs(o, now.Add(-20*time.Hour)), "Approved")
	if r := w.write("shop_test.go", "package shop\n"); strings.Contains(r.Stdout+r.Stderr, "ENF-GATE") {
		t.Errorf("two approved: %s %s", r.Stdout, r.Stderr)
	}
	w.attestsTwo(ann, eve, bob)

	put(t, filepath.Join(w.project, "plan.md"), goodPlan)
	if o = w.waitsForTwo(); o.Gate != "plan" || strings.Contains(o.Second, "approved") {
		t.Errorf("changed from outside: %+v", o)
	}
	try("one again, after a change", eve.signs(o, now), "One of two")
	if _, err := call[schemas.ActReply](w, w.admin, schemas.SvcPhase, schemas.PhaseRequest{Session: "s1", Act: "invalidate", Gate: "plan", Reason: "no"}); err != nil {
		t.Fatal(err)
	}
	try("another, after it was taken back", ann.signs(w.waitsForTwo(), now), "One of two")
}

// attestsTwo holds the approval in the log against persons.
func (w *world) attestsTwo(one, two, none someone) {
	w.t.Helper()
	var a attest.Approval
	for _, e := range w.history("s1") {
		var g schemas.GateApproved
		if e.Type == g.EventType() && json.Unmarshal(e.Data, &g) == nil {
			a = attest.Approval{Session: "s1", Gate: g.Gate, Channel: g.Channel, Fingerprint: g.Fingerprint, Act: g.ActID, Signed: g.Signed, With: g.With}
		}
	}
	w.judged(a, "", one, two)
	w.judged(a, "no second", two, none)
	w.judged(a, "no signature of a given person", none)
	alone := a
	alone.With = nil
	w.judged(alone, "no second", one, two)
	twice := a
	twice.With = []schemas.Signed{*a.Signed}
	w.judged(twice, "no second", one, two)
	older := a
	older.With = append([]schemas.Signed(nil), a.With...)
	older.With[0].Signature = two.signs(schemas.GateOffer{Session: "s1", Gate: a.Gate, Fingerprint: "older"}, time.Now()).Signed.Signature
	w.judged(older, "no second", one, two)
}

func (w *world) judged(a attest.Approval, refused string, who ...someone) {
	w.t.Helper()
	policy := attest.Policy{Two: true}
	for _, one := range who {
		key, err := note.NewVerifier(one.public)
		if err != nil {
			w.t.Fatal(err)
		}
		policy.Persons = append(policy.Persons, key)
	}
	found := attest.Judge([]schemas.AttestChange{{Path: "a_test.go", Mode: "100644", SHA256: "x"}}, []attest.Statement{{Predicate: attest.Predicate{
		Approvals: []attest.Approval{a},
		Paths:     []attest.Path{{Path: "a_test.go", Mode: "100644", SHA256: "x", State: attest.Written, Write: &attest.Write{Mode: "work", Class: "test", Approvals: []int{0}}}},
	}}}, policy)
	if found[0].OK != (refused == "") || !strings.Contains(found[0].Why, refused) {
		w.t.Errorf("%+v, want %q", found[0], refused)
	}
}
