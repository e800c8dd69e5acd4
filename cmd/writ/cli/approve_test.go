package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/cmd/writ/cli/sessions"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

// approving runs the command's part behind the check for a person, which a
// test cannot be.
func approving(t *testing.T, s *services, typed string) (out, problems string, err error) {
	return answering(t, s, typed, "")
}

func answering(t *testing.T, s *services, typed, decline string) (out, problems string, err error) {
	t.Helper()
	data := t.TempDir()
	if err := config.WriteEndpoint(data, config.Endpoint{URL: "nats://x", PID: os.Getpid()}); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	c := &client.Client{In: strings.NewReader(typed), Out: &stdout, Err: &stderr, Env: client.Env{
		Vars: []string{"WRIT_HOME=" + data}, Now: time.Now,
		Connect: func(_ context.Context, _ config.Endpoint, _, role string) (client.Service, error) {
			s.roles = append(s.roles, role)
			return s, nil
		},
	}}
	if s.before != nil {
		s.before(c)
		if dir, err := c.Env.DataDir(); err != nil || config.WriteEndpoint(dir, config.Endpoint{URL: "nats://x", PID: os.Getpid()}) != nil {
			t.Fatal(err)
		}
	}
	err = sessions.Approve(t.Context(), c, "", "s", decline)
	return stdout.String(), stderr.String(), err
}

func approver(offer schemas.GateOffer) *services {
	return &services{replies: map[string]any{
		schemas.SvcOffer: offer,
		schemas.SvcApprove: func(body string) any {
			var r schemas.ApproveRequest
			_ = json.Unmarshal([]byte(body), &r)
			if r.Fingerprint == "" {
				return schemas.ActReply{Session: "s", Message: "the plan is not valid", Problems: offer.Problems}
			}
			return schemas.ActReply{OK: true, Session: r.Session, Mode: "work", Phase: "testing", Message: "approved " + r.Gate + " " + r.Fingerprint}
		},
		schemas.SvcDecline: schemas.ActReply{OK: true, Session: "s", Message: "Declined: plan."},
	}}
}

var planOffer = schemas.GateOffer{
	Session: "s", Gate: "plan", Fingerprint: "f00d",
	Files: []schemas.OfferFile{{
		FileState: schemas.FileState{Path: "plan.md", SHA256: strings.Repeat("ab", 32), Bytes: 2048},
		Diff:      "--- approved/plan.md\n+++ plan.md\n@@ -1 +1 @@\n-old\n+new\x1b[2J\n",
	}},
}

func TestApproveShowsWhatItApproves(t *testing.T) {
	s := approver(planOffer)
	out, shown, err := approving(t, s, "yes\n")
	if err != nil || !strings.Contains(out, "approved plan f00d") {
		t.Fatalf("%q, %v", out, err)
	}
	for _, part := range []string{"plan.md", "2.0 KiB", "f00d", "abababababab", "-old", "+new\uFFFD[2J"} {
		if !strings.Contains(shown, part) {
			t.Errorf("it does not show %s: %s", part, shown)
		}
	}
	for _, role := range s.roles {
		if role != client.RoleAdmin {
			t.Errorf("it acted as %s", role)
		}
	}
	var sent schemas.ApproveRequest
	if err := json.Unmarshal([]byte(s.asked[schemas.SvcApprove][0]), &sent); err != nil {
		t.Fatal(err)
	}
	if sent.ActID == "" || sent.Channel != sessions.ChannelTerminal || sent.Gate != "plan" || sent.Session != "s" {
		t.Errorf("sent %+v", sent)
	}
}

// TestApproveSignsWithThePersonsKey: exactly what was shown, by the key that is kept.
func TestApproveSignsWithThePersonsKey(t *testing.T) {
	s := approver(planOffer)
	var dir string
	s.before = func(c *client.Client) {
		var err error
		if dir, err = c.Env.DataDir(); err != nil {
			t.Fatal(err)
		}
		key, err := evidence.NewKey("ann@example.org")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.KeepPersonKey(key); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := approving(t, s, "yes\n"); err != nil {
		t.Fatal(err)
	}
	var sent schemas.ApproveRequest
	if err := json.Unmarshal([]byte(s.asked[schemas.SvcApprove][0]), &sent); err != nil {
		t.Fatal(err)
	}
	act := schemas.GateApproved{Gate: sent.Gate, Fingerprint: sent.Fingerprint, Signed: sent.Signed}
	if by, err := evidence.Person(schemas.Session("s"), act); err != nil || by.Name() != "ann@example.org" || sent.Signed.Act != sent.ActID {
		t.Errorf("%+v is signed by %v, %v", sent, by, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "credentials", "person.key"), []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = approver(planOffer)
	s.before = func(c *client.Client) { c.Env.Vars = []string{"WRIT_HOME=" + dir} }
	if _, _, err := approving(t, s, "yes\n"); err == nil || !strings.Contains(err.Error(), "writ approve key --new") || len(s.asked[schemas.SvcApprove]) > 0 {
		t.Errorf("a key that is none: %v", err)
	}
}

func TestApproveNeedsTheWholeWord(t *testing.T) {
	for _, typed := range []string{"", "\n", "y\n", "no\n", "yes, but\n", "YES\n"} {
		s := approver(planOffer)
		if _, _, err := approving(t, s, typed); err == nil || !strings.Contains(err.Error(), "Nothing was approved") {
			t.Errorf("%q: %v", typed, err)
		}
		if len(s.asked[schemas.SvcApprove]) != 0 {
			t.Errorf("%q approved", typed)
		}
	}
}

func TestApproveSaysWhyNothingWaits(t *testing.T) {
	s := approver(schemas.GateOffer{Session: "s", Gate: "plan", Fingerprint: "f", Problems: []string{"plan.md:3: empty section"}})
	if _, _, err := approving(t, s, "yes\n"); err == nil || !strings.Contains(err.Error(), "plan.md:3: empty section") {
		t.Errorf("%v", err)
	}
	s = &services{replies: map[string]any{schemas.SvcOffer: planOffer, schemas.SvcApprove: &bus.ServiceError{Code: schemas.CodeConflict, Text: "plan.md has changed meanwhile"}}}
	if _, _, err := approving(t, s, "yes\n"); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Errorf("%v", err)
	}
}

func TestDeclineSendsTheWords(t *testing.T) {
	s := approver(planOffer)
	if _, _, err := answering(t, s, "", "name the errors"); err != nil {
		t.Fatal(err)
	}
	var sent schemas.DeclineRequest
	if err := json.Unmarshal([]byte(s.asked[schemas.SvcDecline][0]), &sent); err != nil {
		t.Fatal(err)
	}
	if sent.Reason != "name the errors" || sent.Fingerprint != "f00d" || sent.Gate != "plan" || sent.ActID == "" || sent.Channel != sessions.ChannelTerminal {
		t.Errorf("sent %+v", sent)
	}
	if len(s.asked[schemas.SvcApprove]) != 0 {
		t.Error("a decline approves")
	}
}
