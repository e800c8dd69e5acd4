package daemon

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/fulltext"
	"github.com/writbus/writ/schemas"
)

// ruleText is a complete rule file.
func ruleText(id, statement string) string {
	return `---
id: ` + id + `
title: Paint stripes
domain: zoo
severity: high
trigger: A zebra is drawn on a plain canvas for the gazette of the zoo.
statement: ` + statement + `
symptoms:
  - the animal looks like a horse
  - readers write in
  - all white
violation: draw(horse)
pass_example: draw(horse, stripes)
rationale: Readers know zebras by their stripes.
---
`
}

func change(w *world, r schemas.RuleChangeRequest) (schemas.RuleChangeReply, error) {
	return call[schemas.RuleChangeReply](w, w.admin, schemas.SvcRuleChange, r)
}

func (w *world) changed(r schemas.RuleChangeRequest) schemas.RuleChangeReply {
	w.t.Helper()
	reply, err := change(w, r)
	if err != nil || len(reply.Problems) > 0 {
		w.t.Fatalf("%s %s: %+v, %v", r.Act, r.ID, reply, err)
	}
	return reply
}

func (w *world) found(query string) []string {
	w.t.Helper()
	answer, err := call[retrieval.Answer](w, w.hook, schemas.SvcRetrieve, schemas.RetrieveRequest{Query: query})
	if err != nil {
		w.t.Fatal(err)
	}
	var ids []string
	for _, r := range answer.Rules {
		ids = append(ids, r.ID)
	}
	return ids
}

func wantCode(t *testing.T, what, code string, err error) {
	t.Helper()
	var service *bus.ServiceError
	if !errors.As(err, &service) || service.Code != code {
		t.Errorf("%s: got %v, want the code %s", what, err, code)
	}
}

// TestAnOptionalRuleSupersedesNoMandatoryOne: what it says of one takes it neither out of
// the band nor, in the list, out of force.
func TestAnOptionalRuleSupersedesNoMandatoryOne(t *testing.T) {
	w := startWith(t, t.TempDir(), newProject(t, "mode: work\n"), func(s *config.Settings) { s.ShippedRules = true })
	w.send("SessionStart", map[string]any{"source": "startup"})
	const must, old, newer = "PROC-CLAIM-VERIFY-001", "ZOO-OLD-001", "ZOO-NEW-001"
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleAdd, Content: ruleText(old, "Paint the stripes before printing.")})
	edges := "edges:\n  - {type: SUPERSEDES, target: " + must + "}\n  - {type: SUPERSEDES, target: " + old + "}\n"
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleAdd, Content: strings.Replace(ruleText(newer, "Print the stripes."), "rationale: ", edges+"rationale: ", 1)})
	list, err := call[schemas.RuleList](w, w.hook, schemas.SvcRules, schemas.RuleQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list.Rules {
		if want := map[string]string{old: newer}[r.ID]; (r.ID == must || r.ID == old) && r.Superseded != want {
			t.Errorf("%s is superseded by %q, want %q", r.ID, r.Superseded, want)
		}
	}
	band, err := call[schemas.AlwaysOnReply](w, w.hook, schemas.SvcAlwaysOn, struct{}{})
	if err != nil || !strings.Contains(band.Block, must) {
		t.Errorf("the band: %s, %v", band.Block, err)
	}
	if found := w.found("a zebra is drawn on a plain canvas"); slices.Contains(found, old) || !slices.Contains(found, newer) {
		t.Errorf("found %v", found)
	}
	inText := func() (ids []string) {
		result, err := call[fulltext.Result](w, w.hook, schemas.SvcRuleSearch, fulltext.Request{Text: "stripes"})
		if err != nil {
			t.Fatal(err)
		}
		for _, hit := range result.Hits {
			ids = append(ids, hit.ID)
		}
		return ids
	}
	if ids := inText(); slices.Contains(ids, old) || !slices.Contains(ids, newer) {
		t.Errorf("the full text has %v", ids)
	}
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleRetire, ID: newer, Reason: "the stripes are gone"})
	if ids := inText(); !slices.Contains(ids, old) || slices.Contains(ids, newer) {
		t.Errorf("the full text has %v once the newer one is retired", ids)
	}
}

// TestSymptomsOfAModelWaitForAPerson has a model write symptoms, also such that are
// none, and accepts some.
func TestSymptomsOfAModelWaitForAPerson(t *testing.T) {
	answer := `["the beast in print is a plain pony"]`
	m := newModelServer(t, func(_, last string) string {
		if !strings.Contains(last, "Paint the stripes before printing.") {
			t.Errorf("the model was asked %q", last)
		}
		return answer
	})
	w, _ := agentWorld(t, t.TempDir(), m, nil)
	id := "ZOO-STRIPE-001"
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleAdd, Content: strings.Replace(ruleText(id, "Paint the stripes before printing."), "rationale: ", "rationale: password=hunter2hunter2 ", 1)})
	ask := schemas.RuleSymptomsRequest{IDs: []string{id}, Ask: true}
	reply, err := call[schemas.RuleSymptomsReply](w, w.admin, schemas.SvcRuleSymptoms, ask)
	if err != nil || len(reply.Rules) != 1 || len(reply.Rules[0].Symptoms) != 1 || reply.Rules[0].Revision != 1 {
		t.Fatalf("%+v, %v", reply, err)
	}
	if strings.Contains(strings.Join(m.seen, "\n"), "hunter2hunter2") {
		t.Errorf("a secret was sent: %q", m.seen)
	}
	view, err := call[schemas.RuleView](w, w.hook, schemas.SvcRule, schemas.RuleQuery{ID: id})
	if err != nil || len(view.Rule.Symptoms) != 3 || view.Revisions != 1 {
		t.Errorf("before anybody accepted: %+v, %v", view, err)
	}
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleDescribe, ID: id, Seen: 1, Symptoms: append(reply.Rules[0].Symptoms, "all white")})
	if view, err = call[schemas.RuleView](w, w.hook, schemas.SvcRule, schemas.RuleQuery{ID: id}); err != nil || len(view.Rule.Symptoms) != 4 || view.Revisions != 2 {
		t.Errorf("after it: %+v, %v", view.Rule.Symptoms, err)
	}
	if _, err := call[schemas.RuleSymptomsReply](w, w.hook, schemas.SvcRuleSymptoms, ask); err == nil {
		t.Error("whoever is no person has a model asked")
	}
	answer = "I would rather not."
	if reply, err = call[schemas.RuleSymptomsReply](w, w.admin, schemas.SvcRuleSymptoms, ask); err != nil || len(reply.Rules[0].Symptoms) != 0 {
		t.Errorf("an answer that is no list: %+v, %v", reply, err)
	}
}

const zebraQuery = "zebra drawn plain canvas gazette stripes"

// TestRuleLifeOfAPersonsRule goes through every act of a person on a rule.
func TestRuleLifeOfAPersonsRule(t *testing.T) {
	w := newWorld(t)
	id := "ZOO-STRIPE-001"
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleAdd, Content: ruleText(id, "Paint the stripes before printing.")})
	_, err := change(w, schemas.RuleChangeRequest{Act: schemas.RuleAdd, Content: ruleText(id, "Paint nothing at all, ever.")})
	wantCode(t, "adding it twice", schemas.CodeRefused, err)
	if found := w.found(zebraQuery); len(found) == 0 || found[0] != id {
		t.Errorf("found %v", found)
	}
	edited := w.changed(schemas.RuleChangeRequest{Act: schemas.RuleEdit, ID: id, Content: ruleText(id, "Paint the stripes in black ink."), Reason: "ink", Seen: 1})
	if edited.Revision != 2 {
		t.Errorf("%+v", edited)
	}
	_, err = change(w, schemas.RuleChangeRequest{Act: schemas.RuleEdit, ID: id, Content: ruleText(id, "Paint the stripes in red ink."), Seen: 1})
	wantCode(t, "an edit of what somebody else changed", schemas.CodeConflict, err)
	reply, err := change(w, schemas.RuleChangeRequest{Act: schemas.RuleEdit, ID: id, Content: ruleText("ZOO-OTHER-001", "x")})
	if err != nil || len(reply.Problems) != 1 {
		t.Errorf("another id: %+v, %v", reply, err)
	}
	_, err = change(w, schemas.RuleChangeRequest{Act: schemas.RuleRetire, ID: id})
	wantCode(t, "retiring without a reason", schemas.CodeBadRequest, err)
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleRetire, ID: id, Reason: "no zebras"})
	if found := w.found(zebraQuery); len(found) > 0 && found[0] == id {
		t.Errorf("a retired rule is found: %v", found)
	}
	_, err = change(w, schemas.RuleChangeRequest{Act: schemas.RuleRevert, ID: id, To: 9})
	wantCode(t, "reverting to no revision", schemas.CodeBadRequest, err)
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleRevert, ID: id, To: 1})
	if found := w.found(zebraQuery); len(found) == 0 || found[0] != id {
		t.Errorf("after the revert: %v", found)
	}
	log, err := call[schemas.RuleLog](w, w.hook, schemas.SvcRuleLog, schemas.RuleQuery{ID: id})
	if err != nil || len(log.Entries) != 4 {
		t.Fatalf("%+v, %v", log, err)
	}
	if e := log.Entries[1]; e.Reason != "ink" || !strings.Contains(e.Diff, "black ink") || !strings.Contains(e.Diff, "before printing") {
		t.Errorf("%+v", e)
	}
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleDownweight, ID: id, Reason: "false alarms"})
	view, err := call[schemas.RuleView](w, w.hook, schemas.SvcRule, schemas.RuleQuery{ID: id})
	if err != nil || view.Rule.Confidence != "speculative" || view.Rule.Statement != "Paint the stripes before printing." {
		t.Errorf("%+v, %v", view.Rule, err)
	}
	_, err = change(w, schemas.RuleChangeRequest{Act: schemas.RuleDownweight, ID: id, Reason: "again"})
	wantCode(t, "below speculative", schemas.CodeRefused, err)
	_, err = change(w, schemas.RuleChangeRequest{Act: schemas.RulePromote, ID: id})
	wantCode(t, "promoting what is no proposal", schemas.CodeRefused, err)
}

// TestProposalsAreJudgedOneAfterTheOther: of many that say the same at once one
// is admitted, none overwrites a rule, and all are recorded.
func TestProposalsAreJudgedOneAfterTheOther(t *testing.T) {
	w := newWorld(t)
	const n = 8
	replies := make([]schemas.RuleProposeReply, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			var err error
			replies[i], err = call[schemas.RuleProposeReply](w, w.hook, schemas.SvcRulePropose, schemas.RuleProposeRequest{
				Content: strings.Replace(ruleText(fmt.Sprintf("ZOO-STRIPE-%03d", i), "Paint the stripes before printing."), "severity: high", "severity: high\nconfidence: production-validated", 1), By: "tester",
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	admitted := ""
	for _, r := range replies {
		switch {
		case r.Admitted && admitted != "":
			t.Errorf("two are admitted: %s and %s", admitted, r.ID)
		case r.Admitted:
			admitted = r.ID
		case len(r.Reasons) == 0 || !strings.Contains(strings.Join(r.Reasons, " "), "duplicate"):
			t.Errorf("refused without saying why: %+v", r)
		}
	}
	if admitted == "" {
		t.Fatalf("none is admitted: %+v", replies)
	}
	stats, err := call[schemas.RuleStatsList](w, w.hook, schemas.SvcRuleStats, schemas.RuleQuery{})
	if err != nil || stats.Proposed != n || stats.Admitted != 1 || stats.Unreviewed != 1 {
		t.Errorf("%+v, %v", stats.ByStatus, err)
	}
	view, err := call[schemas.RuleView](w, w.hook, schemas.SvcRule, schemas.RuleQuery{ID: admitted})
	if err != nil || view.Rule.Authority != "ai-provisional" || view.Rule.Confidence != "speculative" {
		t.Errorf("%+v, %v", view.Rule, err)
	}
	// What cannot be read is recorded, too, with the reason.
	broken, err := call[schemas.RuleProposeReply](w, w.hook, schemas.SvcRulePropose, schemas.RuleProposeRequest{Content: "---\nid: [\n---\n"})
	if err != nil || broken.Admitted || len(broken.Reasons) == 0 {
		t.Errorf("%+v, %v", broken, err)
	}
	review, err := call[schemas.RuleReviewList](w, w.hook, schemas.SvcRuleReview, schemas.RuleQuery{})
	if err != nil || len(review.Items) != 1 || review.Items[0].Rule.ID != admitted || review.Items[0].Why != "proposal" {
		t.Fatalf("%+v, %v", review, err)
	}
	w.changed(schemas.RuleChangeRequest{Act: schemas.RulePromote, ID: admitted, Reason: "true", Seen: review.Items[0].Revision})
	view, err = call[schemas.RuleView](w, w.hook, schemas.SvcRule, schemas.RuleQuery{ID: admitted})
	if err != nil || view.Rule.Authority != "ai-promoted" || view.Rule.Confidence != "peer-reviewed" {
		t.Errorf("after the promotion: %+v, %v", view.Rule, err)
	}
	again, err := call[schemas.RuleProposeReply](w, w.hook, schemas.SvcRulePropose, schemas.RuleProposeRequest{Content: ruleText(admitted, "Dig a well under every third tree of the orchard.")})
	if err != nil || again.Admitted {
		t.Errorf("a proposal overwrites a rule: %+v, %v", again, err)
	}
}

func TestAnIncompleteProposalIsNotPromoted(t *testing.T) {
	w := newWorld(t)
	content := strings.Replace(ruleText("ZOO-STRIPE-001", "Paint the stripes before printing."), "rationale: Readers know zebras by their stripes.\n", "", 1)
	reply, err := call[schemas.RuleProposeReply](w, w.hook, schemas.SvcRulePropose, schemas.RuleProposeRequest{Content: content})
	if err != nil || !reply.Admitted || len(reply.Incomplete) == 0 {
		t.Fatalf("%+v, %v", reply, err)
	}
	_, err = change(w, schemas.RuleChangeRequest{Act: schemas.RulePromote, ID: reply.ID})
	wantCode(t, "promoting it", schemas.CodeRefused, err)
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleEdit, ID: reply.ID, Content: ruleText("ZOO-STRIPE-001", "Paint the stripes before printing.")})
	w.changed(schemas.RuleChangeRequest{Act: schemas.RulePromote, ID: reply.ID})
	_, err = change(w, schemas.RuleChangeRequest{Act: schemas.RuleReject, ID: reply.ID, Reason: "late"})
	wantCode(t, "rejecting what was promoted", schemas.CodeRefused, err)
}

// TestOutcomesGraduateARule: fifty that count, at most five of a session.
func TestOutcomesGraduateARule(t *testing.T) {
	w := newWorld(t)
	id := "ZOO-STRIPE-001"
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleAdd, Content: ruleText(id, "Paint the stripes before printing.")})
	_, err := call[schemas.RuleFeedbackReply](w, w.hook, schemas.SvcRuleFeedback, schemas.RuleFeedbackRequest{ID: id, Followed: true, Session: "never-saw-it"})
	wantCode(t, "feedback of a session that was not shown the rule", schemas.CodeRefused, err)
	_, err = call[schemas.RuleFeedbackReply](w, w.hook, schemas.SvcRuleFeedback, schemas.RuleFeedbackRequest{ID: id, Followed: true})
	wantCode(t, "feedback of nobody", schemas.CodeBadRequest, err)
	var reply schemas.RuleFeedbackReply
	for i := range 60 {
		reply, err = call[schemas.RuleFeedbackReply](w, w.admin, schemas.SvcRuleVerdict, schemas.RuleFeedbackRequest{ID: id, Followed: i%5 != 0, Session: fmt.Sprint("s", i/6)})
		if err != nil {
			t.Fatal(err)
		}
		if want := i%6 < 5; reply.Counted != want {
			t.Errorf("outcome %d counted: %v", i, reply.Counted)
		}
	}
	if reply.Positive+reply.Negative != 50 || reply.Weight != float64(reply.Positive)/50 {
		t.Errorf("%+v", reply)
	}
	answer, err := call[retrieval.Answer](w, w.hook, schemas.SvcRetrieve, schemas.RetrieveRequest{Query: zebraQuery})
	if err != nil || len(answer.Rules) == 0 || answer.Rules[0].Why.Confidence != reply.Weight {
		t.Errorf("ranking does not use the ratio %v: %+v, %v", reply.Weight, answer.Rules, err)
	}
}

// TestExportGivesBackTheBytes: a file that nobody changed comes back as it was,
// a changed rule in the canonical form, and importing an export changes
// nothing.
func TestExportGivesBackTheBytes(t *testing.T) {
	w := shippedWorld(t)
	odd := strings.Replace(ruleText("ZOO-STRIPE-001", `"Paint the stripes   before printing."`), "domain: zoo", "# where it lives\ndomain:   zoo", 1)
	files := []schemas.RuleFile{
		{Path: "a.md", Content: odd},
		{Path: "b.md", Content: ruleText("ZOO-GNU-001", "Count the gnus at the gate each evening.")},
	}
	report, err := call[schemas.RuleImportReply](w, w.admin, schemas.SvcRuleImport, schemas.RuleImportRequest{Files: files, Corpus: "zoo"})
	if err != nil || len(report.Imported) != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	if got := w.exported("ZOO-STRIPE-001"); got != odd {
		t.Errorf("got\n%s\nwant\n%s", got, odd)
	}
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleDownweight, ID: "ZOO-STRIPE-001", Reason: "x"})
	if got := w.exported("ZOO-STRIPE-001"); got == odd || !strings.Contains(got, "confidence: speculative") {
		t.Errorf("after a change:\n%s", got)
	}
	var all []schemas.RuleFile
	for request := (schemas.RuleExportRequest{Limit: 50}); ; {
		page, err := call[schemas.RuleExportPage](w, w.hook, schemas.SvcRuleExport, request)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Files...)
		if request.After = page.Next; page.Next == "" {
			break
		}
	}
	report, err = call[schemas.RuleImportReply](w, w.admin, schemas.SvcRuleImport, schemas.RuleImportRequest{Files: all, Corpus: "copy"})
	if err != nil || len(report.Problems) > 0 {
		t.Fatalf("an export does not import: %v, %v", report.Problems, err)
	}
	for i, f := range all {
		_, id, _ := strings.Cut(f.Content, "id:")
		id, _, _ = strings.Cut(id, "\n")
		if got := w.exported(strings.TrimSpace(id)); got != f.Content {
			t.Errorf("%d %s changed on the way round:\n%s\n%s", i, f.Path, f.Content, got)
		}
	}
	// One file is gone: pruning its corpus retires that rule and no other.
	report, err = call[schemas.RuleImportReply](w, w.admin, schemas.SvcRuleImport, schemas.RuleImportRequest{Files: files[:1], Corpus: "zoo", Prune: true})
	if err != nil || !slices.Equal(report.Retired, []string{"ZOO-GNU-001"}) {
		t.Errorf("%+v, %v", report.Retired, err)
	}
}

func (w *world) exported(id string) string {
	w.t.Helper()
	page, err := call[schemas.RuleExportPage](w, w.hook, schemas.SvcRuleExport, schemas.RuleExportRequest{ID: id})
	if err != nil || len(page.Files) != 1 {
		w.t.Fatalf("%s: %+v, %v", id, page, err)
	}
	return page.Files[0].Content
}

func TestAPartialImportTakesWhatIsSound(t *testing.T) {
	w := newWorld(t)
	leading := strings.Replace(ruleText("ZOO-LEAD-001", "Lead the llama by its rope."), "---\n", "---\nedges: [{type: RELATED_TO, target: ZOO-NONE-001}]\n", 1)
	files := []schemas.RuleFile{
		{Path: "good.md", Content: ruleText("ZOO-STRIPE-001", "Paint the stripes before printing.")},
		{Path: "bad.md", Content: "---\nid: nope\n---\n"},
		{Path: "lead.md", Content: leading},
	}
	report, err := call[schemas.RuleImportReply](w, w.admin, schemas.SvcRuleImport, schemas.RuleImportRequest{Files: files})
	if err != nil || len(report.Problems) == 0 || len(report.Imported) != 0 {
		t.Errorf("all or none: %+v, %v", report, err)
	}
	report, err = call[schemas.RuleImportReply](w, w.admin, schemas.SvcRuleImport, schemas.RuleImportRequest{Files: files, Partial: true, DryRun: true})
	if err != nil || len(report.Imported) != 2 || len(w.logOf("ZOO-STRIPE-001")) != 0 {
		t.Errorf("a dry run: %+v, %v", report, err)
	}
	report, err = call[schemas.RuleImportReply](w, w.admin, schemas.SvcRuleImport, schemas.RuleImportRequest{Files: files, Partial: true})
	if err != nil || len(report.Imported) != 2 || len(report.Skipped) < 2 {
		t.Errorf("a partial one: %+v, %v", report, err)
	}
	if lost := "ZOO-LEAD-001 → ZOO-NONE-001"; !strings.Contains(strings.Join(report.Warnings, " "), lost) || strings.Contains(w.exported("ZOO-LEAD-001"), "ZOO-NONE-001") {
		t.Errorf("the edge that leads nowhere: %q", report.Warnings)
	}
}

// TestAPartialImportTakesSoundNodesOfAFile: what is wrong with one node of a
// file keeps its neighbours in no way out, and alike reasons are one line.
func TestAPartialImportTakesSoundNodesOfAFile(t *testing.T) {
	w := newWorld(t)
	dump := "CREATE (:Rule {rule_id: 'ZOO-DUMP-001', trigger: 't', statement: 's'});\n" +
		"CREATE (:Rule {rule_id: 'bad', trigger: 't', statement: 's'});\nCREATE (:Rule {rule_id: 'worse', trigger: 't', statement: 's'});\n"
	files := []schemas.RuleFile{{Path: "dump.cypher", Content: dump}}
	report, err := call[schemas.RuleImportReply](w, w.admin, schemas.SvcRuleImport, schemas.RuleImportRequest{Files: files})
	if err != nil || len(report.Problems) != 1 || !strings.HasPrefix(report.Problems[0], "2 × ") || len(report.Imported) != 0 {
		t.Errorf("all or none: %+v, %v", report, err)
	}
	report, err = call[schemas.RuleImportReply](w, w.admin, schemas.SvcRuleImport, schemas.RuleImportRequest{Files: files, Partial: true})
	if err != nil || !slices.Equal(report.Imported, []string{"ZOO-DUMP-001"}) || len(report.Skipped) != 1 {
		t.Errorf("a partial one: %+v, %v", report, err)
	}
}

// TestImportsAtAnotherRevisionAreSkippedWhole: a file whose rule has changed since
// somebody compared them brings neither its text nor its outcomes, in a dry run as
// in a real one; at the revision that was seen it brings both.
func TestImportsAtAnotherRevisionAreSkippedWhole(t *testing.T) {
	w := newWorld(t)
	bring := func(positive, seen int, dry bool) schemas.RuleImportReply {
		t.Helper()
		dump := fmt.Sprintf("CREATE (:Rule {rule_id: 'ZOO-SEEN-001', trigger: 't', statement: 's', times_seen_positive: %d});", positive)
		report, err := call[schemas.RuleImportReply](w, w.admin, schemas.SvcRuleImport, schemas.RuleImportRequest{DryRun: dry, Files: []schemas.RuleFile{{Path: "d.cypher", Content: dump, Seen: seen}}})
		if err != nil || len(report.Problems) > 0 {
			t.Fatalf("%+v, %v", report, err)
		}
		return report
	}
	bring(5, 0, false)
	for _, dry := range []bool{true, false} {
		if report := bring(9, 7, dry); len(report.Imported) != 0 || report.Outcomes != 0 || report.Unchanged != 0 || len(report.Skipped) != 1 {
			t.Errorf("at another revision, dry %v: %+v", dry, report)
		}
	}
	if report := bring(9, 1, false); len(report.Imported) != 1 || report.Outcomes != 4 {
		t.Errorf("at the revision that was seen: %+v", report)
	}
	if report := bring(9, 2, false); report.Outcomes != 0 {
		t.Errorf("outcomes that had been recorded: %+v", report)
	}
}

// TestImportedOutcomesCountOnce: what an older corpus had counted counts here,
// and a second import adds only what has come since.
func TestImportedOutcomesCountOnce(t *testing.T) {
	w := newWorld(t)
	bring := func(positive, negative int) schemas.RuleImportReply {
		t.Helper()
		dump := fmt.Sprintf("CREATE (:Rule {rule_id: 'ZOO-COUNT-001', trigger: 't', statement: 's', times_seen_positive: %d, times_seen_negative: %d});", positive, negative)
		report, err := call[schemas.RuleImportReply](w, w.admin, schemas.SvcRuleImport, schemas.RuleImportRequest{Files: []schemas.RuleFile{{Path: "d.cypher", Content: dump}}})
		if err != nil || len(report.Problems) > 0 {
			t.Fatalf("%+v, %v", report, err)
		}
		return report
	}
	for _, c := range []struct{ positive, negative, counted int }{{45, 5, 50}, {45, 5, 0}, {48, 4, 3}} {
		if report := bring(c.positive, c.negative); report.Outcomes != c.counted {
			t.Errorf("%+v: %+v", c, report)
		}
	}
	view, err := call[schemas.RuleView](w, w.hook, schemas.SvcRule, schemas.RuleQuery{ID: "ZOO-COUNT-001"})
	if err != nil || view.Positive != 48 || view.Negative != 5 || !view.Graduated {
		t.Errorf("%+v, %v", view, err)
	}
}

// TestAnImportKeepsTheBandWithinItsBudget: the most important nodes are always
// shown, the others are told and found.
func TestAnImportKeepsTheBandWithinItsBudget(t *testing.T) {
	w := newWorld(t)
	var dump strings.Builder
	for i := range 12 {
		severity := []string{"low", "critical"}[i%2]
		fmt.Fprintf(&dump, "CREATE (:Rule {rule_id: 'ZOO-BAND-%03d', severity: '%s', mandatory: true, trigger: 't', statement: 'Zebra%d. %s'});\n", i, severity, i, strings.Repeat("The stripes stay on. ", 50))
	}
	report, err := call[schemas.RuleImportReply](w, w.admin, schemas.SvcRuleImport, schemas.RuleImportRequest{Files: []schemas.RuleFile{{Path: "d.cypher", Content: dump.String()}}})
	if err != nil || len(report.Imported) != 12 {
		t.Fatalf("%+v, %v", report, err)
	}
	band, err := call[schemas.AlwaysOnReply](w, w.hook, schemas.SvcAlwaysOn, struct{}{})
	if err != nil || band.Tokens > retrieval.BandBudget || band.Tokens != report.Band.Tokens || len(band.Rules)+len(report.Band.Left) != 12 || len(report.Band.Left) == 0 {
		t.Fatalf("band of %d tokens with %v, told %+v, %v", band.Tokens, band.Rules, report.Band, err)
	}
	for _, id := range band.Rules {
		if !strings.HasSuffix(id, "1") && !strings.HasSuffix(id, "3") && !strings.HasSuffix(id, "5") && !strings.HasSuffix(id, "7") && !strings.HasSuffix(id, "9") {
			t.Errorf("%s is of low severity and shown", id)
		}
	}
	found, err := call[retrieval.Answer](w, w.hook, schemas.SvcRetrieve, schemas.RetrieveRequest{Query: "what does ZOO-BAND-000 say of stripes"})
	if err != nil || !slices.ContainsFunc(found.Rules, func(h retrieval.Hit) bool { return h.ID == "ZOO-BAND-000" }) {
		t.Errorf("what the band has no room for is not found: %+v, %v", found.Rules, err)
	}
}

func (w *world) logOf(id string) []schemas.RuleLogEntry {
	log, err := call[schemas.RuleLog](w, w.hook, schemas.SvcRuleLog, schemas.RuleQuery{ID: id})
	if err != nil {
		return nil
	}
	return log.Entries
}

// TestCompressIsRepeatable: abstractions appear, serve small budgets, and a
// second run changes nothing.
func TestCompressIsRepeatable(t *testing.T) {
	w := shippedWorld(t)
	compress := func(dry bool) schemas.RuleCompressReply {
		reply, err := call[schemas.RuleCompressReply](w, w.admin, schemas.SvcRuleCompress, schemas.RuleCompressRequest{DryRun: dry})
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	if dry := compress(true); len(dry.Abstractions) == 0 || len(dry.Changed) != len(dry.Abstractions) || len(w.logOf(dry.Abstractions[0].ID)) != 0 {
		t.Fatalf("a dry run: %d abstractions, %d would change", len(dry.Abstractions), len(dry.Changed))
	}
	first := compress(false)
	if again := compress(false); len(again.Changed) != 0 || len(again.Abstractions) != len(first.Abstractions) {
		t.Errorf("a second run changes %v", again.Changed)
	}
	view, err := call[schemas.RuleView](w, w.hook, schemas.SvcRule, schemas.RuleQuery{ID: first.Abstractions[0].ID})
	if err != nil || view.Rule.Type != schemas.NodeAbstraction || len(view.Rule.Abstraction.Members) < 2 {
		t.Errorf("%+v, %v", view.Rule, err)
	}
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleRetire, ID: view.Rule.Abstraction.Members[0], Reason: "gone"})
	if after := compress(false); len(after.Changed) == 0 {
		t.Error("a member is gone and no abstraction changed")
	}
}

// TestTheShippedCorpusIsClean: no error, and no warning either.
func TestTheShippedCorpusIsClean(t *testing.T) {
	w := usualWorld(t, true)
	reply, err := call[schemas.RuleValidateReply](w, w.hook, schemas.SvcRuleValidate, schemas.RuleValidateRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if reply.Nodes < 250 || reply.Edges < 300 {
		t.Errorf("%d nodes, %d edges", reply.Nodes, reply.Edges)
	}
	for _, f := range reply.Findings {
		t.Errorf("%s: %s", f.ID, f.Text)
	}
	broken, err := call[schemas.RuleValidateReply](w, w.hook, schemas.SvcRuleValidate, schemas.RuleValidateRequest{Files: []schemas.RuleFile{
		{Path: "a.md", Content: ruleText("ZOO-STRIPE-001", "Paint the stripes before printing.")},
		{Path: "b.md", Content: ruleText("ZOO-STRIPE-002", "Paint the stripes before printing.")},
		{Path: "c.md", Content: "---\nid: nope\n---\n"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, f := range broken.Findings {
		kinds[f.Check] = true
	}
	if !kinds["orphan"] || !kinds["redundant"] || !kinds["invalid"] || broken.Nodes != 2 {
		t.Errorf("%+v", broken)
	}
}

// TestCheckLooksAtChangedLines: whole files, ranges, and what a diff says.
func TestCheckLooksAtChangedLines(t *testing.T) {
	w := newWorld(t)
	file := strings.Replace(ruleText("ZOO-STRIPE-001", "Paint the stripes before printing."), "---\n", "---\ncheck: {language: go, pattern: 'draw\\(horse\\)', message: paint it}\n", 1)
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleAdd, Content: file})
	code := "package zoo\n\n// draw(horse) in a comment\nfunc a() { draw(horse) }\n\nfunc b() { draw(horse) }\n"
	run := func(r schemas.CheckRequest) []int {
		r.Rules = []string{"ZOO-STRIPE-001"}
		reply, err := call[schemas.CheckReply](w, w.hook, schemas.SvcCheck, r)
		if err != nil {
			t.Fatal(err)
		}
		lines := []int{}
		for _, f := range reply.Findings {
			lines = append(lines, f.Line)
		}
		return lines
	}
	for name, c := range map[string]struct {
		request schemas.CheckRequest
		want    []int
	}{
		"whole": {schemas.CheckRequest{Files: []schemas.CheckFile{{Path: "z.go", Content: code}}}, []int{4, 6}},
		"lines": {schemas.CheckRequest{Files: []schemas.CheckFile{{Path: "z.go", Content: code, Lines: [][2]int{{5, 6}}}}}, []int{6}},
		"diff":  {schemas.CheckRequest{Files: []schemas.CheckFile{{Path: "z.go", Content: code}}, Diff: "--- a/z.go\n+++ b/z.go\n@@ -3,0 +4 @@\n+func a() { draw(horse) }\n"}, []int{4}},
		"other": {schemas.CheckRequest{Files: []schemas.CheckFile{{Path: "z.py", Content: "draw(horse)\n"}}}, []int{}},
	} {
		if got := run(c.request); !slices.Equal(got, c.want) {
			t.Errorf("%s: lines %v, want %v", name, got, c.want)
		}
	}
	bad := strings.Replace(file, "draw\\(horse\\)", "draw(", 1)
	if reply, err := change(w, schemas.RuleChangeRequest{Act: schemas.RuleEdit, ID: "ZOO-STRIPE-001", Content: bad}); err != nil || len(reply.Problems) == 0 {
		t.Errorf("a check that does not compile is taken: %+v, %v", reply, err)
	}
	if reply, err := call[schemas.RuleImportReply](w, w.admin, schemas.SvcRuleImport, schemas.RuleImportRequest{Files: []schemas.RuleFile{{Path: "x.md", Content: bad}}}); err != nil || len(reply.Problems) == 0 {
		t.Errorf("imported: %+v, %v", reply, err)
	}
	if reply, err := call[schemas.RuleProposeReply](w, w.hook, schemas.SvcRulePropose, schemas.RuleProposeRequest{Content: bad}); err != nil || !strings.Contains(strings.Join(reply.Reasons, " "), "check") {
		t.Errorf("proposed: %+v, %v", reply, err)
	}
	_, err := call[schemas.CheckReply](w, w.hook, schemas.SvcCheck, schemas.CheckRequest{Diff: "--- a/z.go\n+++ b/z.go\n@@ -x @@\n"})
	wantCode(t, "a broken diff", schemas.CodeBadRequest, err)
}

// TestEveryMandatoryNodeReachesTheAgent: the whole band, each node of it, with
// the start of a session and from the service, under its cap.
func TestEveryMandatoryNodeReachesTheAgent(t *testing.T) {
	w := shippedWorld(t)
	files, err := corpus.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	band, err := call[schemas.AlwaysOnReply](w, w.hook, schemas.SvcAlwaysOn, struct{}{})
	if err != nil || band.Tokens == 0 || band.Tokens > retrieval.MandatoryCap {
		t.Fatalf("%d tokens, %v", band.Tokens, err)
	}
	start := w.send("SessionStart", map[string]any{"source": "startup"})
	n := 0
	for _, f := range files {
		if !f.Rule.AlwaysShown() {
			continue
		}
		n++
		if !slices.Contains(band.Rules, f.Rule.ID) || !strings.Contains(start.Stdout, "- "+f.Rule.ID+": ") {
			t.Errorf("%s does not reach the agent", f.Rule.ID)
		}
	}
	if n < 5 || n != len(band.Rules) {
		t.Errorf("%d always shown, the band has %d", n, len(band.Rules))
	}
}
