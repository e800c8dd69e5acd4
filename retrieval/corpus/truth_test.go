package corpus

import (
	"regexp"
	"strings"
	"testing"
)

// query is one line of the ground truth: a prompt, and the rules that answer
// it, none for an off-topic one.
type query struct {
	ID       string   `json:"id"`
	Query    string   `json:"query"`
	Relevant []string `json:"relevant"`
	Kind     string   `json:"kind"`
}

func TestTruthIsSound(t *testing.T) {
	retrievable := map[string]bool{}
	for _, f := range shipped(t) {
		retrievable[f.Rule.ID] = !f.Rule.Mandatory
	}
	kinds, ids, texts := map[string]int{}, map[string]bool{}, map[string]bool{}
	for _, q := range readLines[query](t, "testdata/truth.jsonl") {
		kinds[q.Kind]++
		if ids[q.ID] || texts[strings.ToLower(q.Query)] || strings.TrimSpace(q.Query) == "" {
			t.Errorf("%s: id or query is blank or appears twice", q.ID)
		}
		ids[q.ID], texts[strings.ToLower(q.Query)] = true, true
		if (q.Kind == "offtopic") != (len(q.Relevant) == 0) {
			t.Errorf("%s: kind %s with relevant %v", q.ID, q.Kind, q.Relevant)
		}
		for _, id := range q.Relevant {
			if !retrievable[id] {
				t.Errorf("%s: relevant rule %s does not exist or is mandatory, which is never retrieved", q.ID, id)
			}
		}
	}
	total := kinds["direct"] + kinds["paraphrase"] + kinds["offtopic"]
	if total < 120 || kinds["paraphrase"] < 40 || kinds["offtopic"] < 20 || len(kinds) != 3 {
		t.Errorf("queries by kind: %v", kinds)
	}
}

var wordPattern = regexp.MustCompile(`[a-z0-9]{4,}`)

// words are the distinct longer words of a text.
func words(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range wordPattern.FindAllString(strings.ToLower(s), -1) {
		out[w] = true
	}
	return out
}

// TestTruthIsIndependent keeps the measure honest: a paraphrase that repeats a
// symptom, or the rule's own words, would measure copying.
func TestTruthIsIndependent(t *testing.T) {
	written := map[string][]string{}
	for _, f := range shipped(t) {
		r := f.Rule
		written[r.ID] = append([]string{r.Title, r.Trigger, r.Statement}, r.Symptoms...)
	}
	for _, q := range readLines[query](t, "testdata/truth.jsonl") {
		if q.Kind != "paraphrase" {
			continue
		}
		asked := words(q.Query)
		for _, id := range q.Relevant {
			for _, text := range written[id] {
				shared := 0
				for w := range words(text) {
					if asked[w] {
						shared++
					}
				}
				if shared*2 > len(asked) {
					t.Errorf("%s %q shares %d of %d words with %s: %q", q.ID, q.Query, shared, len(asked), id, text)
				}
			}
		}
	}
}
