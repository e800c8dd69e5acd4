package daemon

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/fulltext"
	"github.com/writbus/writ/schemas"
)

// TestAProposalReachesNoAgentBeforeAPersonPromotedIt: whatever its severity, and
// however it binds itself to prompts, it is in no band, answers no query and
// judges no write of any project.
func TestAProposalReachesNoAgentBeforeAPersonPromotedIt(t *testing.T) {
	const wish = "Draw a zebra on the plain canvas of the zoo's gazette"
	w := newWorld(t)
	content := strings.Replace(ruleText("ZOO-STRIPE-001", "Paint the stripes before printing."), "severity: high",
		"severity: critical\nmandatory: true\nalways_on: true\nenforcement: a check\ncheck: {language: go, pattern: 'horse', message: stripes}", 1)
	for _, content := range []string{content, ruleText("ZOO-STRIPE-002", "Set the printer's colour to true for each animal.")} {
		reply, err := call[schemas.RuleProposeReply](w, w.hook, schemas.SvcRulePropose, schemas.RuleProposeRequest{Content: content, By: "claude"})
		if err != nil || !reply.Admitted {
			t.Fatalf("%+v, %v", reply, err)
		}
	}
	reaches := func() (all string) {
		t.Helper()
		answer, err := call[retrieval.Answer](w, w.hook, schemas.SvcRetrieve, schemas.RetrieveRequest{Query: wish})
		if err != nil {
			t.Fatal(err)
		}
		named, err := call[retrieval.Answer](w, w.hook, schemas.SvcRetrieve, schemas.RetrieveRequest{Query: "ZOO-STRIPE-002"})
		if err != nil {
			t.Fatal(err)
		}
		band, err := call[schemas.AlwaysOnReply](w, w.hook, schemas.SvcAlwaysOn, struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := call[fulltext.Result](w, w.hook, schemas.SvcRuleSearch, fulltext.Request{Text: "stripes"})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal([]any{answer, named, band, text, w.prompt(wish)})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	w.send("SessionStart", map[string]any{"source": "startup"})
	if got := reaches(); strings.Contains(got, "ZOO-STRIPE-001") || strings.Contains(got, "ZOO-STRIPE-002") {
		t.Errorf("proposals reach agents: %s", got)
	}
	w.changed(schemas.RuleChangeRequest{Act: schemas.RulePromote, ID: "ZOO-STRIPE-002"})
	if got := reaches(); !strings.Contains(got, "ZOO-STRIPE-002") || strings.Contains(got, "ZOO-STRIPE-001") {
		t.Errorf("after the promotion of one: %s", got)
	}
}
