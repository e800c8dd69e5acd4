package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement/passkey/passkeytest"
	"github.com/writbus/writ/schemas"
)

// enrol makes a passkey by the link that a terminal gives out.
func (w *world) enrol(name string) *passkeytest.Authenticator {
	w.t.Helper()
	link, err := call[schemas.DashReply](w, w.admin, schemas.SvcPasskeyAdd, schemas.PasskeyAddRequest{Name: name})
	if err != nil {
		w.t.Fatal(err)
	}
	at, err := url.Parse(link.URL)
	if err != nil || !strings.HasPrefix(at.Fragment, "/passkey/") {
		w.t.Fatalf("the link is %q, %v", link.URL, err)
	}
	a := passkeytest.New("http://" + at.Host)
	code := strings.TrimPrefix(at.Fragment, "/passkey/")
	ask := schemas.PasskeyEnrolRequest{Code: code}
	c, err := call[schemas.PasskeyEnrolReply](w, w.admin, schemas.SvcPasskeyEnrol, ask)
	if err != nil {
		w.t.Fatal(err)
	}
	made := a.Make(*c.Challenge)
	ask.Made = &made
	if p, err := call[schemas.PasskeyEnrolReply](w, w.admin, schemas.SvcPasskeyEnrol, ask); err != nil || p.Passkey.Name != name {
		w.t.Fatalf("%+v, %v", p, err)
	}
	if _, err := call[schemas.PasskeyEnrolReply](w, w.admin, schemas.SvcPasskeyEnrol, schemas.PasskeyEnrolRequest{Code: code}); err == nil {
		w.t.Error("a link enrols twice")
	}
	return a
}

func (w *world) offered() schemas.GateOffer {
	w.t.Helper()
	o, err := call[schemas.GateOffer](w, w.admin, schemas.SvcOffer, schemas.OfferRequest{Session: "s1", Channel: "dashboard"})
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

func (w *world) asksToSign(o schemas.GateOffer) schemas.PasskeyChallenge {
	w.t.Helper()
	c, err := call[schemas.PasskeyChallenge](w, w.admin, schemas.SvcPasskeyChallenge, schemas.PasskeyChallengeRequest{Session: "s1", Gate: o.Gate, Fingerprint: o.Fingerprint})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *world) approves(o schemas.GateOffer, channel string, answer *schemas.PasskeyAnswer) schemas.ActReply {
	w.t.Helper()
	r, err := call[schemas.ActReply](w, w.admin, schemas.SvcApprove, schemas.ApproveRequest{Session: "s1", Gate: o.Gate, Fingerprint: o.Fingerprint, Channel: channel, Passkey: answer})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// TestOnlyAPasskeyApproves: where it is asked for, a signature over exactly what
// waits opens the gate, once, and nothing else does.
func TestOnlyAPasskeyApproves(t *testing.T) {
	w := start(t, t.TempDir(), newProject(t, "mode: work\napproval: passkey\n"))
	w.send("SessionStart", map[string]any{})
	w.wrote("plan.md", goodPlan)
	o := w.offered()
	if !strings.Contains(o.TooWeak, "writ approve passkey add") {
		t.Errorf("the dashboard is told %q", o.TooWeak)
	}
	if _, err := call[schemas.PasskeyChallenge](w, w.admin, schemas.SvcPasskeyChallenge, schemas.PasskeyChallengeRequest{Session: "s1", Gate: "plan", Fingerprint: o.Fingerprint}); err == nil || !strings.Contains(err.Error(), "writ approve passkey add") {
		t.Errorf("without a passkey: %v", err)
	}
	a := w.enrol("laptop")
	if told := w.prompt("approved").Stdout; !strings.Contains(told, "approve with a passkey") {
		t.Errorf("the user is told: %s", told)
	}
	for _, channel := range []string{"terminal", "dashboard"} {
		if r := w.approves(o, channel, nil); r.OK || !strings.Contains(r.Message, "approve with a passkey") {
			t.Errorf("%s: %+v", channel, r)
		}
	}
	foreign := *a
	foreign.Origin = "http://localhost:1"
	unseen := *a
	unseen.Unverified = true
	for name, c := range map[string]struct {
		by   *passkeytest.Authenticator
		says string
	}{
		"another port": {&foreign, "http://localhost:1"}, "nobody verified": {&unseen, "did not verify"}, "another's": {passkeytest.New(a.Origin), "no passkey of this credential"},
	} {
		answer := c.by.Sign(w.asksToSign(o))
		if r := w.approves(o, "passkey", &answer); r.OK || !strings.Contains(r.Message, c.says) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	other := o
	other.Fingerprint = strings.Repeat("0", 64)
	answer := a.Sign(w.asksToSign(other))
	if r := w.approves(o, "passkey", &answer); r.OK || !strings.Contains(r.Message, "something else") {
		t.Errorf("a signature over another fingerprint: %+v", r)
	}
	answer = a.Sign(w.asksToSign(o))
	if r := w.approves(o, "passkey", &answer); !r.OK || r.Phase != "testing" {
		t.Fatalf("%+v", r)
	}
	if r := w.approves(o, "passkey", &answer); r.OK || !strings.Contains(r.Message, "used before") {
		t.Errorf("the same signature again: %+v", r)
	}
	w.signatureIsKept(a, answer)

	if _, err := call[schemas.Passkey](w, w.admin, schemas.SvcPasskeyRemove, schemas.PasskeyRemoveRequest{Passkey: "laptop"}); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(w.project, "plan.md"), goodPlan+"- [ ] And more\n")
	w.enrol("key")
	o = w.offered()
	answer = a.Sign(w.asksToSign(o))
	if r := w.approves(o, "passkey", &answer); r.OK || !strings.Contains(r.Message, "was removed") {
		t.Errorf("a removed passkey: %+v", r)
	}
}

// TestALossPutsPasskeysInDoubt: what was lost, or came after the backup, may have
// removed a passkey.
func TestALossPutsPasskeysInDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		of    schemas.Aggregate
		event schemas.Payload
		says  string
	}{
		"lost records": {schemas.LostRecords(), schemas.RecordsLost{Stream: schemas.StreamArtifacts, First: 1000, Last: 1000, Leaves: []schemas.LostLeaf{{SHA256: make([]byte, 32)}}}, "lost records"},
		"a restore":    {schemas.RestoredLog(), schemas.LogRestored{Manifest: "m"}, "put back from a backup"},
		"others' loss": {schemas.LostRecords(), schemas.RecordsLost{Stream: schemas.StreamRules, First: 1000, Last: 1000, Leaves: []schemas.LostLeaf{{SHA256: make([]byte, 32)}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, t.TempDir(), newProject(t, "mode: work\napproval: passkey\n"))
			w.send("SessionStart", map[string]any{})
			w.wrote("plan.md", goodPlan)
			before := w.enrol("laptop")
			at, err := config.ReadEndpoint(w.data)
			if err != nil {
				t.Fatal(err)
			}
			own := dial(t, w.data, at.URL, "daemon")
			defer own.Close()
			e := schemas.Event{ID: bus.NewID(), Time: time.Now(), Source: "/test", Actor: schemas.Writ("repair"), Aggregate: c.of, Data: c.event}
			if _, err := bus.Record(t.Context(), own.Writer(bus.WriterOptions{}), e); err != nil {
				t.Fatal(err)
			}
			o := w.offered()
			answer := before.Sign(w.asksToSign(o))
			if r := w.approves(o, "passkey", &answer); r.OK != (c.says == "") || !strings.Contains(r.Message, c.says) {
				t.Fatalf("a passkey of before: %+v", r)
			}
			if name == "a restore" {
				after := w.enrol("another")
				answer = after.Sign(w.asksToSign(o))
				if r := w.approves(o, "passkey", &answer); !r.OK {
					t.Errorf("one that was enrolled since: %+v", r)
				}
			}
		})
	}
}

// signatureIsKept wants the signature in the log byte for byte, and the approval
// that refers to it.
func (w *world) signatureIsKept(a *passkeytest.Authenticator, answer schemas.PasskeyAnswer) {
	w.t.Helper()
	var approved schemas.GateApproved
	for _, e := range w.history("s1") {
		if e.Type == "gate.approved" {
			if err := json.Unmarshal(e.Data, &approved); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	if approved.Channel != "passkey" || approved.Assurance != "passkey" || approved.ActID != "passkey:"+answer.Nonce {
		w.t.Errorf("%+v", approved)
	}
	page, err := call[schemas.ReplayPage](w, w.admin, schemas.SvcReplay, schemas.ReplayRequest{Stream: schemas.StreamArtifacts, Type: "passkey.used", Limit: 10})
	if err != nil || len(page.Events) != 1 {
		w.t.Fatalf("%d uses, %v", len(page.Events), err)
	}
	var used schemas.PasskeyUsed
	if err := json.Unmarshal(page.Events[0].Data, &used); err != nil {
		w.t.Fatal(err)
	}
	if !bytes.Equal(used.Signature, answer.Signature) || !bytes.Equal(used.ClientData, answer.ClientData) || used.Fingerprint != approved.Fingerprint || used.CredentialID != a.ID() || used.Enrolment == "" {
		w.t.Errorf("%+v", used)
	}
}

// TestPersonsApprovalIsAFloor: what the person asks for in the data directory no
// project asks less than, and a button accepts no settings below it.
func TestPersonsApprovalIsAFloor(t *testing.T) {
	w := startWith(t, t.TempDir(), newProject(t, "mode: work\napproval: prompt\n"), func(s *config.Settings) { s.Approval = "terminal" })
	w.send("SessionStart", map[string]any{})
	w.wrote("plan.md", goodPlan)
	o := w.offered()
	if r := w.approves(o, "dashboard", nil); r.OK || !strings.Contains(r.Message, "approval: terminal") {
		t.Errorf("%+v", r)
	}
	file := filepath.Join(w.project, config.ProjectFile)
	put(t, file, "mode: conversation\n")
	waits, err := w.settings("")
	if err != nil || !slices.Contains(waits.Waits, "mode: work → conversation") {
		t.Fatalf("%+v, %v", waits, err)
	}
	ask := schemas.SettingsRequest{Project: w.project, Digest: waits.Digest, Channel: "dashboard"}
	if _, err := call[schemas.SettingsReply](w, w.admin, schemas.SvcSettings, ask); err == nil || !strings.Contains(err.Error(), "terminal") {
		t.Errorf("a button accepted: %v", err)
	}
	if r := w.approves(o, "terminal", nil); !r.OK {
		t.Errorf("%+v", r)
	}
}

// TestAgentsReachNoPasskeys: with the credential that agents' processes reach,
// nothing about passkeys is answered.
func TestAgentsReachNoPasskeys(t *testing.T) {
	w := newWorld(t)
	at, err := config.ReadEndpoint(w.data)
	if err != nil {
		t.Fatal(err)
	}
	agent := dial(t, w.data, at.URL, "agent")
	defer agent.Close()
	for _, conn := range []*bus.Conn{w.hook, agent} {
		for _, subject := range []string{schemas.SvcPasskeys, schemas.SvcPasskeyAdd, schemas.SvcPasskeyEnrol, schemas.SvcPasskeyRemove, schemas.SvcPasskeyChallenge} {
			if _, err := conn.Request(t.Context(), bus.Request{Subject: subject, Body: []byte(`{"name":"x"}`)}); !errors.Is(err, bus.ErrDenied) {
				t.Error(fmt.Errorf("%s: %w, want %w", subject, err, bus.ErrDenied))
			}
		}
	}
}
