package daemon

import (
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
)

// TestShippedRulesAreBackWhenTheSettingIsGone: the setting hides them while it is
// there, and what a person did to one of them stays done.
func TestShippedRulesAreBackWhenTheSettingIsGone(t *testing.T) {
	data, project := t.TempDir(), newProject(t, "mode: work\n")
	with := func(shipped bool) *world {
		w := startWith(t, data, project, func(s *config.Settings) { s.ShippedRules, s.Embedder = shipped, "none" })
		w.send("SessionStart", map[string]any{"source": "startup"}) // it waits for the rules
		return w
	}
	newer := map[string]string{"SEC-PASS-ROTATE-001": "SEC-PASS-BREACHED-001", "GO-LOOPVAR-COPY-001": "GO-LOOPVAR-DROP-001"}
	ids := func(w *world) (all []string) {
		t.Helper()
		list, err := call[schemas.RuleList](w, w.hook, schemas.SvcRules, schemas.RuleQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.Rules {
			all = append(all, r.ID)
			if r.Superseded != newer[r.ID] {
				t.Errorf("%s is superseded by %q, want %q", r.ID, r.Superseded, newer[r.ID])
			}
		}
		return all
	}
	w := with(true)
	shipped := ids(w)
	const retired, edited = "SQL-PAGE-KEYSET-001", "SQL-TIME-ZONE-001"
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleRetire, ID: retired, Reason: "not here"})
	view, err := call[schemas.RuleView](w, w.hook, schemas.SvcRule, schemas.RuleQuery{ID: edited})
	if err != nil {
		t.Fatal(err)
	}
	if old, err := call[schemas.RuleView](w, w.hook, schemas.SvcRule, schemas.RuleQuery{ID: "SEC-PASS-ROTATE-001"}); err != nil || old.Superseded != "SEC-PASS-BREACHED-001" {
		t.Errorf("superseded by %q, %v", old.Superseded, err)
	}
	const own = "Store every moment with its zone, ours."
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleEdit, ID: edited, Content: strings.Replace(w.exported(edited), "statement: "+view.Rule.Statement, "statement: "+own, 1)})
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}

	w = with(false)
	if left := ids(w); len(left) > 0 {
		t.Errorf("%d are left: %v", len(left), left)
	}
	if a, err := call[retrieval.Answer](w, w.hook, schemas.SvcRetrieve, schemas.RetrieveRequest{Query: "an SQL query string is concatenated from user input"}); err != nil || len(a.Rules) > 0 {
		t.Errorf("without the shipped rules: %+v, %v", a.Rules, err)
	}
	for _, id := range []string{edited, "SQL-MIGR-ADDITIVE-001"} {
		log := w.logOf(id)
		if last := log[len(log)-1]; !strings.HasPrefix(last.Actor, "writ") {
			t.Errorf("%s was taken out by %q", id, last.Actor)
		}
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}

	w = with(true)
	if back := ids(w); !slices.Equal(back, slices.DeleteFunc(shipped, func(id string) bool { return id == retired })) {
		t.Errorf("back are %d of %d", len(back), len(shipped))
	}
	view, err = call[schemas.RuleView](w, w.hook, schemas.SvcRule, schemas.RuleQuery{ID: edited})
	if err != nil || view.Rule.Statement != own {
		t.Errorf("the person's edit: %q, %v", view.Rule.Statement, err)
	}
}
