package memory

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

var lockTexts = []string{
	"[gate=allow] the deploy job locks the state file",
	"[gate=allow] the nightly deploy job locks the state file",
	"[gate=allow] The deploy job locks the state file.",
	"[gate=allow] the deploy job locks the shared state file",
	"[gate=hold] the deploy job locks the secret state file",
	"[gate=discard] the deploy job locks the state file",
}

func locks(t *testing.T, d *fixture) {
	t.Helper()
	for i, text := range lockTexts {
		observed(t, d, schemas.Observation{ID: fmt.Sprint(i), Scope: "p", Input: []byte(text)})
	}
}

func proposals(t *testing.T, d *fixture) schemas.MemoryProposals {
	t.Helper()
	list, err := d.reflection().proposals(t.Context(), schemas.MemoryProposalsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func reflected(t *testing.T, d *fixture) schemas.MemoryReflectReply {
	t.Helper()
	reply, err := d.reflection().reflectNow(t.Context(), schemas.MemoryReflectRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func recalledIDs(t *testing.T, d *fixture, text string) (ids []string) {
	t.Helper()
	reply, err := d.recall(t.Context(), schemas.RecallRequest{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range reply.Hits {
		ids = append(ids, h.ObservationID)
	}
	return ids
}

func code(err error) string {
	var f schemas.Fault
	if errors.As(err, &f) {
		return f.Code()
	}
	return ""
}

// TestReflectionReadsOnceAndProposes: allowed observations are read once, near
// duplicates merged, a note proposed; an accepted one is a memory, and follows
// what it rests on.
func TestReflectionReadsOnceAndProposes(t *testing.T) {
	t.Parallel()
	d, _ := inside(t, t.TempDir())
	locks(t, d)
	if r := reflected(t, d); r.Read != 4 || r.Proposals != 1 || r.Merged != 1 || r.By != "embedded" {
		t.Fatalf("%+v", r)
	}
	if r := reflected(t, d); r.Read != 0 || r.Proposals != 0 {
		t.Fatalf("read again: %+v", r)
	}
	if ids := fmt.Sprint(recalledIDs(t, d, "the deploy job locks the state file")); strings.Contains(ids, "0") == strings.Contains(ids, "2") {
		t.Errorf("of two that were merged, recall shows %s", ids)
	}
	list := proposals(t, d)
	if len(list.Proposals) != 1 || !strings.Contains(list.Proposals[0].Text, "deploy job locks") || strings.Contains(list.Proposals[0].Text, "secret") || len(list.Proposals[0].Observations) != 4 {
		t.Fatalf("%+v", list)
	}
	id := list.Proposals[0].ID
	if _, err := d.reflection().triage(t.Context(), schemas.MemoryTriageRequest{ID: id, Decision: "rejected"}); code(err) != schemas.CodeBadRequest {
		t.Errorf("rejected without a reason: %v", err)
	}
	note, err := d.reflection().triage(t.Context(), schemas.MemoryTriageRequest{ID: id, Decision: "accepted"})
	if err != nil || note.ObservationID == "" {
		t.Fatalf("%+v, %v", note, err)
	}
	if _, err := d.reflection().triage(t.Context(), schemas.MemoryTriageRequest{ID: id, Decision: "accepted"}); code(err) != schemas.CodeRefused {
		t.Errorf("accepted twice: %v", err)
	}
	if ids := recalledIDs(t, d, "deploy job locks, observed times"); !strings.Contains(fmt.Sprint(ids), note.ObservationID) {
		t.Errorf("the note is not recalled: %v", ids)
	}
	if r := reflected(t, d); r.Read != 0 {
		t.Errorf("reflected on its own note: %+v", r)
	}
	if _, err := d.regate(t.Context(), schemas.MemoryRegateRequest{ID: "1", Scope: "p", Verdict: "hold", Reason: "r"}); err != nil {
		t.Fatal(err)
	}
	if ids := recalledIDs(t, d, "deploy job locks, observed times"); strings.Contains(fmt.Sprint(ids), note.ObservationID) {
		t.Errorf("the note rests on what is held, and is recalled: %v", ids)
	}
	if _, err := d.forget(t.Context(), schemas.MemoryForgetRequest{ID: "0", Scope: "p", Reason: "private"}); err != nil {
		t.Fatal(err)
	}
	page, err := d.export(t.Context(), schemas.MemoryExportRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range page.Items {
		if item.ObservationID == note.ObservationID && (item.Forgotten == nil || item.Text != "") {
			t.Errorf("the note tells what was forgotten: %+v", item)
		}
	}
	list, err = d.reflection().proposals(t.Context(), schemas.MemoryProposalsRequest{All: true})
	if err != nil || len(list.Proposals) != 0 || list.Withheld != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

// What is regated to allow later is read then; what is held meanwhile takes its
// proposals out of sight.
func TestReflectionFollowsVerdicts(t *testing.T) {
	t.Parallel()
	d, _ := inside(t, t.TempDir())
	locks(t, d)
	reflected(t, d)
	if _, err := d.regate(t.Context(), schemas.MemoryRegateRequest{ID: "4", Scope: "p", Verdict: "allow", Reason: "r"}); err != nil {
		t.Fatal(err)
	}
	if r := reflected(t, d); r.Read != 1 {
		t.Errorf("%+v", r)
	}
	if _, err := d.regate(t.Context(), schemas.MemoryRegateRequest{ID: "3", Scope: "p", Verdict: "discard", Reason: "r"}); err != nil {
		t.Fatal(err)
	}
	list := proposals(t, d)
	if len(list.Proposals) != 0 || list.Withheld != 1 {
		t.Fatalf("%+v", list)
	}
	all, err := d.review(t.Context(), schemas.MemoryReviewRequest{Verdict: "discard"})
	if err != nil || len(all.Items) != 2 || len(all.Items[0].Regated) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestAModelReflects: its notes and rules are proposals, a rule goes through the
// structural gate, and rejections are the noise of the week.
func TestAModelReflects(t *testing.T) {
	t.Parallel()
	d, _ := inside(t, t.TempDir())
	locks(t, d)
	talk := &talker{says: func(string) string { return "Sorry." }}
	d.Model = talk.client(t)
	if _, err := d.reflection().reflectNow(t.Context(), schemas.MemoryReflectRequest{}); code(err) != schemas.CodeRefused {
		t.Fatalf("garbage: %v", err)
	}
	rule := `{"id":"OPS-DEPLOY-001","domain":"operations","severity":"high","scope":"file","trigger":"When a deployment starts","statement":"Take the lock of the state file before deploying","rationale":"two deployments corrupt the state"}`
	talk.says = func(prompt string) string {
		if strings.Contains(prompt, "secret") {
			t.Errorf("asked about what is held: %s", prompt)
		}
		return "note 1,2: Deployments lock the state file.\nrule 1,3: " + rule + "\nrule 4: {\"id\":\"x\",\"statement\":\"consider locks\"}\n"
	}
	if r := reflected(t, d); r.Read != 4 || r.Proposals != 3 || r.By != "talker" {
		t.Fatalf("%+v", r)
	}
	list := proposals(t, d)
	if len(list.Proposals) != 3 {
		t.Fatalf("%+v", list)
	}
	if _, err := d.reflection().triage(t.Context(), schemas.MemoryTriageRequest{ID: list.Proposals[0].ID, Decision: "rejected", Reason: "known"}); err != nil {
		t.Fatal(err)
	}
	good, err := d.reflection().triage(t.Context(), schemas.MemoryTriageRequest{ID: list.Proposals[1].ID, Decision: "accepted"})
	if err != nil || good.Rule == nil || !good.Rule.Admitted || good.Rule.ID != "OPS-DEPLOY-001" {
		t.Fatalf("%+v, %v", good, err)
	}
	bad, err := d.reflection().triage(t.Context(), schemas.MemoryTriageRequest{ID: list.Proposals[2].ID, Decision: "accepted"})
	if err != nil || bad.Rule == nil || bad.Rule.Admitted || bad.Decision != "" || len(bad.Rule.Reasons) < 2 {
		t.Fatalf("%+v, %v", bad, err)
	}
	if list := proposals(t, d); len(list.Proposals) != 1 {
		t.Errorf("open: %+v", list)
	}
	week, err := d.health(t.Context(), schemas.MemoryHealthRequest{Week: true})
	if err != nil || week.Proposed != 3 || week.Rejected != 1 || week.Noise < 0.33 || week.Noise > 0.34 {
		t.Errorf("%+v, %v", week, err)
	}
}
