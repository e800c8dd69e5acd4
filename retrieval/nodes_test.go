package retrieval

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/writbus/writ/schemas"
)

func nodesOfOtherTypes() []schemas.Rule {
	return []schemas.Rule{
		{
			Type: schemas.NodeSkill, ID: "PROC-BISECT-001", Title: "Bisect a regression", Severity: "medium", Trigger: "Something that worked is broken",
			Statement: "Halve the range of commits until one is left.", Skill: &schemas.Skill{Steps: []string{"find a good commit", "run git bisect"}, Outcome: "one commit is named"},
		},
		{
			Type: schemas.NodeForbiddenResponse, ID: "PROC-SAY-001", Title: "Claims without proof", Severity: "high", Trigger: "Work is reported",
			Statement: "Report what was run.", ForbiddenResponse: &schemas.ForbiddenResponse{Phrases: []string{"should work now"}, Instead: "name the command and its output\xff"},
		},
		{
			Type: schemas.NodeAntiPattern, ID: "PROC-RETRY-001", Title: "Retry until green", Severity: "high", Trigger: "A test fails now and then",
			Statement: "Repeating a flaky test hides a race.", AntiPattern: &schemas.AntiPattern{Appeal: "it passes", Harm: "the race ships", Instead: "find the zanzibarian cause"},
		},
	}
}

// A node of another type is stored, found by the words of its own fields, shown
// with them, and a forbidden response is always on.
func TestNodesOfOtherTypes(t *testing.T) {
	var docs []Document
	for _, r := range nodesOfOtherTypes() {
		doc := Analyse(r)
		stored, err := doc.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		back, err := UnmarshalDocument(stored)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(doc.Rule, back.Rule); diff != "" {
			t.Error(diff)
		}
		docs = append(docs, back)
	}
	ix, err := NewIndex(docs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := ix.Search(Query{Text: "retry a test until it is green: the zanzibarian cause"})
	if len(a.Rules) == 0 || a.Rules[0].ID != "PROC-RETRY-001" || a.Rules[0].Type != string(schemas.NodeAntiPattern) {
		t.Errorf("found %+v", a.Rules)
	}
	a = ix.Search(Query{Text: "bisect the regression commits", NodeTypes: []string{"Skill"}, BudgetTokens: 3000})
	if len(a.Rules) != 1 || !strings.Contains(a.Block, "(Skill, medium") || !strings.Contains(a.Block, "2. run git bisect") {
		t.Errorf("%+v\n%s", a.Rules, a.Block)
	}
	band := ix.Mandatory()
	if len(band.Rules) != 1 || !strings.Contains(band.Text, "- PROC-SAY-001: Claims without proof. Report what was run.\n") {
		t.Errorf("%+v", band)
	}
	if a := ix.Search(Query{Text: "claims without proof"}); len(a.Rules) == 0 || a.Rules[0].Rendered != RenderedAlready {
		t.Errorf("what is always on is given: %+v", a.Rules)
	}
}
