package retrieval

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestModelChoosesAmongCandidates(t *testing.T) {
	ix := encoderIndex(t)
	q := Query{Text: "customers were charged twice when the request was repeated", Project: true, Subjects: []string{"docker"}, Domains: ix.Domains(), BudgetTokens: 600}
	candidates := ix.Candidates(q)
	if len(candidates) != askedCandidates || !slices.Contains(idsOf(candidates[:5]), "PAY-IDEM-KEY-001") {
		t.Fatalf("%d candidates, the first of them %v", len(candidates), idsOf(candidates[:min(len(candidates), 5)]))
	}
	for _, c := range candidates {
		if strings.HasPrefix(c.ID, "TF-") || strings.HasPrefix(c.ID, "EMB-") {
			t.Errorf("%s is about a technology that the project has not", c.ID)
		}
	}
	asked := JudgeAsked(q.Text, candidates, "mark")
	if !strings.Contains(asked, "<mark>\n"+q.Text+"\n</mark>") || strings.Count(asked, "– when: ") != len(candidates) {
		t.Errorf("asked:\n%s", asked)
	}
	last, second := candidates[len(candidates)-1].ID, candidates[1].ID
	judged, understood := JudgeAnswered(candidates, "full: 40\nline: 2, 2, 40, 99")
	if want := map[string]string{last: TierInject, second: TierTitles}; !understood || !maps.Equal(judged, want) {
		t.Fatalf("%v, %v, want %v", judged, understood, want)
	}
	q.Judged = judged
	answer := ix.Search(q)
	if got := idsOf(answer.Rules); !slices.Equal(got, []string{last, second}) || answer.Rules[0].Rendered != RenderedWhole || answer.Rules[1].Rendered != RenderedTitle {
		t.Errorf("given %v, %q", got, answer.Block)
	}
	q.Judged = map[string]string{}
	if answer := ix.Search(q); len(answer.Rules) != 0 || answer.Block != "" {
		t.Errorf("a model that chose nothing: %v", idsOf(answer.Rules))
	}
	if talk := ix.Candidates(Query{Text: "thanks, that is all for today", Project: true}); len(talk) > 0 {
		t.Errorf("a model is asked about talk: %v", idsOf(talk))
	}
}

func TestAnswersOfAModelThatCannotBeUnderstood(t *testing.T) {
	candidates := []Hit{{ID: "A"}, {ID: "B"}, {ID: "C"}, {ID: "D"}, {ID: "E"}}
	for answer, want := range map[string]string{
		"":                                 "none",
		"I would show rule 2.":             "none",
		"full:\nline:":                     "",
		"full: none\nline: - None.":        "",
		"full: 77, 0":                      "none",
		"full: the second one\nline:":      "none",
		"full: GO-CTX-FIRST-001\nline:":    "none", // a rule that was not offered, and its number is no place
		"full: GO-CTX-FIRST-001, 2":        "B+",
		"full: 99\nline: 6":                "none",
		`{"full": [1], "line": [2]}`:       "none",
		"<html>429 Too Many Requests":      "none",
		"**Full:** 1, 2\n- line: 3":        "A+ B+ C-",
		"full: 1 2 3 4 5":                  "A+ B+ C+",
		"FULL: [5]\r\nLINE: 5, 0, -1, 6":   "A- E+",
		"line: 4\nfull: 4, 99999999999999": "D-",
	} {
		judged, understood := JudgeAnswered(candidates, answer)
		var got []string
		for _, id := range slices.Sorted(maps.Keys(judged)) {
			got = append(got, id+map[string]string{TierInject: "+", TierTitles: "-"}[judged[id]])
		}
		if text := strings.Join(got, " "); understood == (want == "none") || understood && text != want {
			t.Errorf("%q: %q, %v, want %q", answer, text, understood, want)
		}
	}
}

// What a model chose for the prompt before is given with the next one, once.
func TestRulesOfThePromptBefore(t *testing.T) {
	ix := newTestIndex(t, corpusRules(), Options{})
	q := Query{Text: "something else entirely", Also: []string{"go-log-001", "NO-SUCH-RULE"}, BudgetTokens: 200}
	if answer := ix.Search(q); len(answer.Rules) == 0 || answer.Rules[0].ID != "GO-LOG-001" || answer.Rules[0].Rendered != RenderedWhole {
		t.Errorf("%v %s", idsOf(answer.Rules), answer.Block)
	}
	q.Shown = []string{"GO-LOG-001"}
	if answer := ix.Search(q); slices.Contains(idsOf(answer.Rules), "GO-LOG-001") {
		t.Errorf("shown before: %v", idsOf(answer.Rules))
	}
}
