//go:build browser

package browser

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// authenticator gives a tab an authenticator of its own, which verifies its person
// by itself.
func authenticator(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
	if _, err := cdp.Call(ctx, target, webauthn.Enable, webauthn.EnableParams{}); err != nil {
		return chromedp.Void{}, err
	}
	_, err := cdp.Call(ctx, target, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: "ctap2", Transport: "internal", HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}})
	return chromedp.Void{}, err
}

func (w *world) asks(subject string, request, reply any) {
	w.t.Helper()
	raw, err := json.Marshal(request)
	if err != nil {
		w.t.Fatal(err)
	}
	answer, err := w.admin.Request(w.t.Context(), bus.Request{Subject: subject, Body: raw})
	if err == nil {
		err = json.Unmarshal(answer.Body, reply)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestPasskey enrols by the link that a terminal prints, approves a plan by a
// signature, sees it verified, and sends the same signature again.
func TestPasskey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(".writ/config.yaml", "mode: work\napproval: passkey\n")
	w.begin()
	var link schemas.DashReply
	w.asks(schemas.SvcPasskeyAdd, schemas.PasskeyAddRequest{Name: "laptop"}, &link)

	p := newTab(t)
	// The page keeps what it sends, for the replay.
	p.do(authenticator, chromedp.Navigate(strings.Replace(link.URL, "localhost", "127.0.0.1", 1)), chromedp.WaitVisible(chromedp.CSS("button.yes")))
	if at := result[string](p, "location.hostname"); at != "localhost" {
		t.Fatalf("a page at an address goes on at %q", at)
	}
	p.picture("passkey-enrol")
	p.do(chromedp.Click(chromedp.CSS("button.yes")))
	p.shows("approves from now on")

	p.do(goTo("#/session/"+session), chromedp.WaitVisible(chromedp.CSS(".card.call button.yes")))
	p.shows("Approve the plan with a passkey")
	if n := result[int](p, `document.querySelectorAll('.card.call button.yes').length`); n != 1 {
		t.Errorf("%d buttons approve, want that of the passkey alone", n)
	}
	p.picture("passkey-offer")
	p.do(chromedp.Evaluate[chromedp.Void](`void (() => { const f = window.fetch; window.fetch = (at, o) => { if (String(at) === 'api/approve') window.sent = o.body; return f(at, o); }; })()`))
	p.do(chromedp.Click(chromedp.CSS(".card.call button.yes")))
	p.shows("passkey · ")
	p.picture("passkey-approved")
	if out := w.run("", "session", "show", session, "--json"); !strings.Contains(out, `"phase":"testing"`) || !strings.Contains(out, `"assurance":"passkey"`) {
		t.Errorf("after the approval: %s", out)
	}
	if out := w.run("", "replay", "--type", "passkey.used", "--json"); !strings.Contains(out, `"signature"`) {
		t.Errorf("the log says: %s", out)
	}
	if out := w.run("", "audit", "verify"); !strings.Contains(out, "✓ passkeys") || !strings.Contains(out, "1 approval") {
		t.Errorf("the audit says: %s", out)
	}

	p.do(chromedp.Evaluate[chromedp.Void](`void fetch('api/approve', { method: 'POST', headers: { 'Content-Type': 'application/json', 'Writ-Key': sessionStorage.getItem('key') }, body: window.sent }).then((r) => r.text()).then((x) => { document.title = x; })`))
	p.do(chromedp.Poll[chromedp.Void](`document.title.includes('message')`, chromedp.WithPollingTimeout(patience)))
	if told := result[string](p, "document.title"); !strings.Contains(told, "used before") || !strings.Contains(told, `"ok":false`) {
		t.Errorf("the same signature again: %s", told)
	}
	p.do(goTo("#/system"))
	p.shows("laptop")
	p.picture("passkey-system")
}

// TestSettingsAreAccepted by a button, with what would change before it.
func TestSettingsAreAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(".writ/config.yaml", "mode: work\nrequire_work: true\n")
	w.begin()
	var reply schemas.SettingsReply
	w.asks(schemas.SvcSettings, schemas.SettingsRequest{Project: w.project}, &reply)
	w.put(".writ/config.yaml", "mode: conversation\nrequire_work: true\n")
	p := newTab(t)
	p.do(chromedp.Navigate(w.link()), chromedp.WaitVisible(chromedp.CSS("main h1")), goTo("#/session/"+session))
	p.shows("mode: work → conversation")
	p.picture("settings-wait")
	p.do(chromedp.Click(`//button[text()="Accept these settings"]`))
	p.shows("Accepted.")
	w.asks(schemas.SvcSettings, schemas.SettingsRequest{Project: w.project}, &reply)
	if len(reply.Waits) > 0 {
		t.Errorf("%v still waits", reply.Waits)
	}
}
