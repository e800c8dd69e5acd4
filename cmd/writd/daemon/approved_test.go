package daemon

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

func TestOfferShowsWhatChangedSinceTheApproval(t *testing.T) {
	w := newWorld(t)
	w.send("SessionStart", map[string]any{})
	offer := func() schemas.GateOffer {
		t.Helper()
		o, err := call[schemas.GateOffer](w, w.admin, schemas.SvcOffer, schemas.OfferRequest{Session: "s1"})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	w.wrote("plan.md", goodPlan)
	o := offer()
	if o.Gate != "plan" || len(o.Files) != 1 || !o.Files[0].New || !strings.Contains(o.Files[0].Diff, "\n+# Plan") {
		t.Fatalf("before any approval: %+v", o)
	}
	decline, err := call[schemas.ActReply](w, w.admin, schemas.SvcDecline, schemas.DeclineRequest{
		Session: "s1", Fingerprint: o.Fingerprint, Reason: "name the errors", Channel: "dashboard",
	})
	if err != nil || !decline.OK {
		t.Fatalf("%+v, %v", decline, err)
	}
	if r := w.write("store/users.go", "x"); !strings.Contains(r.Stderr, "name the errors") {
		t.Errorf("the agent is not told: %s", r.Stderr)
	}
	if o = offer(); o.Declined != "name the errors" {
		t.Errorf("the offer does not say what was wanted: %+v", o)
	}
	approve, err := call[schemas.ActReply](w, w.admin, schemas.SvcApprove, schemas.ApproveRequest{
		Session: "s1", Fingerprint: o.Fingerprint, Channel: "dashboard",
	})
	if err != nil || !approve.OK || approve.Phase != "testing" {
		t.Fatalf("%+v, %v", approve, err)
	}
	put(t, filepath.Join(w.project, "plan.md"), goodPlan+"- [ ] And more\n")
	o = offer()
	if o.Gate != "plan" || len(o.Files) != 1 || o.Files[0].New {
		t.Fatalf("after drift: %+v", o)
	}
	if d := o.Files[0].Diff; !strings.Contains(d, "\n+- [ ] And more") || strings.Contains(d, "\n-") {
		t.Errorf("the difference:\n%s", d)
	}
}

// TestWhatChangedUnseenIsAnsweredOnceMore: a plan that changed behind a turn's end is
// shown when the user answers, and the same answer then counts, a bare one too.
func TestWhatChangedUnseenIsAnsweredOnceMore(t *testing.T) {
	w := newWorld(t)
	w.send("SessionStart", map[string]any{})
	w.wrote("plan.md", goodPlan)
	w.send("Stop", map[string]any{"last_assistant_message": "The plan is there."})
	put(t, filepath.Join(w.project, "plan.md"), goodPlan+"- [ ] And more\n")
	if r := w.prompt("go"); strings.Contains(r.Stdout, "Approved: plan") || !strings.Contains(r.Stdout, "plan.md") {
		t.Errorf("first: %s", r.Stdout)
	}
	if r := w.prompt("approved"); !strings.Contains(r.Stdout, "once more") {
		t.Errorf("in words: %s", r.Stdout)
	}
	if r := w.prompt("ok do it"); !strings.Contains(r.Stdout, "Approved: plan") {
		t.Errorf("once more: %s", r.Stdout)
	}
}
