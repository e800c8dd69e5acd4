package enforcement

import (
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement/help"
	"github.com/writbus/writ/enforcement/phrase"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// TestTheTableOfDestinationsIsTrue holds what people read to what is decided.
func TestTheTableOfDestinationsIsTrue(t *testing.T) {
	raw, err := help.Files.ReadFile("shell-commands.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{
		"temp folders, `/dev/null`": "/tmp/x", "`plan.md`": PlanFile, "`capabilities.md`": CapabilitiesFile, "test files": testFile,
		"the findings file": "findings.md", "files that the plan names": codeFile, "other files of the project": "README.md", "outside the project": "/q/x", "protected": ".git/hooks/x",
	}
	var stances []string
	checked := 0
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[0] == "destination" {
			stances = cells[1:]
		}
		name, known := rows[cells[0]]
		if !known || len(cells) != len(stances)+1 {
			continue
		}
		for i, said := range cells[1:] {
			stance := stances[i]
			if stance == "none yet" {
				stance = ""
			}
			d := tableDecision(t, stance, "agent", "Bash", name)
			if want := map[Verdict]string{Allow: "yes", Deny: "no", Ask: "asked"}[d.Verdict]; said != want {
				t.Errorf("%s, %s: the page says %s, it is %s: %s", stances[i], cells[0], said, want, d.Reason)
			}
			checked++
		}
	}
	if want := len(rows)*9 - 5; checked != want { // only work has a plan
		t.Errorf("%d cells were compared, want %d", checked, want)
	}
}

// TestTheTableOfAnswersIsTrue judges every wording that the page on gates names, with
// the plan waiting, or the tests where it names them as approved.
func TestTheTableOfAnswersIsTrue(t *testing.T) {
	raw, err := help.Files.ReadFile("gates.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(raw), "| you type | |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	quoted := lazyregexp.New("\"[^\"]+\"|`[^`]+`")
	checked := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 2 || strings.HasPrefix(cells[0], "---") {
			continue
		}
		want := strings.HasPrefix(strings.TrimSpace(cells[1]), "yes")
		for _, words := range quoted.Regexp().FindAllString(cells[0], -1) {
			words = strings.Trim(words, "\"`")
			gate := phrase.Plan
			if want && strings.HasPrefix(words, "tests") {
				gate = phrase.Tests
			}
			if got := phrase.Judge(words, gate, phrase.Phrases{}); got.Approves != want {
				t.Errorf("%q: the page says %v, it is %+v", words, want, got)
			}
			checked++
		}
	}
	if checked < 20 {
		t.Errorf("%d wordings were judged", checked)
	}
}

// TestWhatCameNearSaysWhy: who is not taken at a word is told at which one.
func TestWhatCameNearSaysWhy(t *testing.T) {
	for prompt, want := range map[string]string{
		"approved?":                     "it asks",
		"approved. The limit is 50.":    "“the limit is 50”",
		"approved\n```\nuse this\n```":  "“<code>”",
		"tests approved":                "another gate",
		"Subject: the plan\n\napproved": "a quotation or a document",
		"approved 🤔":                    "a doubt",
		"not approved":                  "",
		"yes, but name it openStore":    "“name it openstore”",
		"ok. Is the cache needed?":      "",
		"name it openStore":             "",
	} {
		if got := missed(phrase.Judge(prompt, phrase.Plan, phrase.Phrases{})); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", prompt, got, want)
		}
	}
}
