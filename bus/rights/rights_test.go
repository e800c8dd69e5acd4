package rights_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/writbus/writ/bus/rights"
)

// TestRolesAtAHub: a member's rights are to its own subjects alone, and what a role may
// not ask it may not.
func TestRolesAtAHub(t *testing.T) {
	publish, hear, all, known := rights.Of(rights.Member, rights.MemberUser("alice"))
	if all || !known || len(hear) != 1 || hear[0] != "_INBOX.member-alice.>" {
		t.Errorf("%v %v %v %v", publish, hear, all, known)
	}
	for _, subject := range publish {
		if !strings.Contains(subject, ".alice") && subject != rights.NextMemory || strings.HasPrefix(subject, "$") {
			t.Errorf("a member may publish %s", subject)
		}
	}
	if publish, _, _, _ := rights.Of(rights.Witness, rights.WitnessUser); len(publish) == 0 {
		t.Error("a witness may nothing")
	}
	for _, forbidden := range []string{"STREAM.DELETE", "STREAM.PURGE", "STREAM.UPDATE", "STREAM.CREATE", "MSG.DELETE", "writ.at"} {
		publish, _, _, _ := rights.Of(rights.Witness, rights.WitnessUser)
		for _, subject := range publish {
			if strings.Contains(subject, forbidden) {
				t.Errorf("a witness may publish %s", subject)
			}
		}
	}
	if _, _, _, known := rights.Of("root", "x"); known {
		t.Error("there is a role root")
	}
}

// TestManifestIsRefusedOrWhole: what cannot be told apart is refused, and the text holds
// every member, every share and no secret.
func TestManifestIsRefusedOrWhole(t *testing.T) {
	for _, members := range [][]string{nil, {""}, {"a.b"}, {"a>"}, {"a*"}, {"a b"}, {"alice", "alice"}, {"a-b", "a_b"}, {"Alice", "alice"}, {"witness"}, {"hub-admin"}, {strings.Repeat("a", 49)}, {`a"`}, {"a\n"}} {
		if (rights.Manifest{Members: members}).Check() == nil {
			t.Errorf("%q is taken", members)
		}
	}
	m := rights.Manifest{Members: []string{"alice", "bob-2"}, Replicas: 3}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	for _, operator := range []bool{false, true} {
		m.Operator = operator
		text := m.String()
		for _, want := range []string{"writ.at.alice.>", "writ.at.bob-2.>", "_INBOX.member-bob-2.>", "$JS.API.DIRECT.GET.WRIT_SEEN.>", `"num_replicas": 3`, "WRIT_MEMBERS"} {
			if !strings.Contains(text, want) {
				t.Errorf("operator %v: no %s in\n%s", operator, want, text)
			}
		}
	}
	if !strings.Contains(m.Config(), "password: $WRIT_PASSWORD_BOB_2") {
		t.Errorf("no password of bob-2 in\n%s", m.Config())
	}
	m.Operator, m.Direct = true, []string{"ci-7"}
	if err := m.Check(); err == nil || !strings.Contains(err.Error(), "--operator") {
		t.Errorf("accounts of a daemon in operator mode: %v", err)
	}
	m.Operator = false
	if err := m.Check(); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"WRIT_LOG_ci-7 {", `user: "ci-7-daemon", password: $WRIT_PASSWORD_CI_7_DAEMON`, `"writ.svc.*.gate.>"`, `account: WRIT_LOG_ci-7, subject: "writ.svc.>"`, "_INBOX.ci-7-hook.>"} {
		if !strings.Contains(m.Config(), want) {
			t.Errorf("no %s in\n%s", want, m.Config())
		}
	}
	m.Members = []string{"ci-7-hook"}
	if m.Check() == nil {
		t.Error("a member has the name of a daemon's role")
	}
	for name, definition := range m.Streams() {
		var d struct {
			Name       string
			DenyDelete bool `json:"deny_delete"`
			DenyPurge  bool `json:"deny_purge"`
		}
		if err := json.Unmarshal(definition, &d); err != nil || d.Name != name || !d.DenyDelete || !d.DenyPurge {
			t.Errorf("%s: %s %v", name, definition, err)
		}
	}
}

// TestHubAddressesAreUnderTLS beyond this machine.
func TestHubAddressesAreUnderTLS(t *testing.T) {
	for _, wrong := range []string{"", "hub", "hub:7422", "nats://hub:7422", "tls://u:p@hub:7422", "https://hub", "tls://a,", "nats://10.0.0.1:7422"} {
		if urls, err := rights.HubURLs(wrong); err == nil {
			t.Errorf("%q is %v", wrong, urls)
		}
	}
	urls, err := rights.HubURLs("tls://hub.example.org, nats://127.0.0.1:1, nats://localhost, nats://[::1]:2")
	if err != nil || len(urls) != 4 || urls[0].Host != "hub.example.org:7422" || urls[2].Host != "localhost:7422" {
		t.Errorf("%v %v", urls, err)
	}
}
