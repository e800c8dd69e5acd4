package corpus

import (
	"os"
	"regexp"
	"slices"
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
	retrievable, superseded := map[string]bool{}, map[string]bool{}
	for _, f := range shipped(t) {
		retrievable[f.Rule.ID] = f.Rule.NodeType().Retrievable() && !f.Rule.Mandatory
		for _, e := range f.Rule.Edges {
			if e.Type == "SUPERSEDES" {
				superseded[e.Target] = true
			}
		}
	}
	for id := range superseded {
		delete(retrievable, id)
	}
	kinds, ids, texts := map[string]int{}, map[string]bool{}, map[string]bool{}
	named := map[string]bool{}
	for _, q := range readLines[query](t, "testdata/truth.jsonl") {
		kinds[q.Kind]++
		if ids[q.ID] || texts[strings.ToLower(q.Query)] || strings.TrimSpace(q.Query) == "" {
			t.Errorf("%s: id or query is blank or appears twice", q.ID)
		}
		ids[q.ID], texts[strings.ToLower(q.Query)] = true, true
		if (q.Kind == "offtopic") != (len(q.Relevant) == 0) {
			t.Errorf("%s: kind %s with relevant %v", q.ID, q.Kind, q.Relevant)
		}
		for i, id := range q.Relevant {
			if !retrievable[id] {
				t.Errorf("%s: relevant node %s does not exist, or is mandatory, superseded or of a type that is never retrieved", q.ID, id)
			}
			if slices.Index(q.Relevant, id) != slices.Index(q.Relevant[i:], id)+i {
				t.Errorf("%s: %s is relevant twice", q.ID, id)
			}
			named[id] = true
		}
	}
	total := kinds["direct"] + kinds["paraphrase"] + kinds["task"] + kinds["offtopic"]
	if total < 440 || kinds["paraphrase"] < 50 || kinds["task"] < 110 || kinds["offtopic"] < 110 || len(kinds) != 4 {
		t.Errorf("queries by kind: %v", kinds)
	}
	found := 0
	for _, yes := range retrievable {
		if yes {
			found++
		}
	}
	if len(named)*100 < found*85 {
		t.Errorf("only %d of %d retrievable nodes answer a query", len(named), found)
	}
}

// TestTruthIsHalved holds the two halves (TRUTH.md) to the same mix.
func TestTruthIsHalved(t *testing.T) {
	b, err := os.ReadFile("testdata/truth_held_out.txt")
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]bool{}
	for _, id := range strings.Fields(string(b)) {
		if held[id] {
			t.Errorf("%s is held out twice", id)
		}
		held[id] = true
	}
	all, out := map[string]int{}, map[string]int{}
	for _, q := range readLines[query](t, "testdata/truth.jsonl") {
		all[q.Kind]++
		if held[q.ID] {
			out[q.Kind]++
		}
		delete(held, q.ID)
	}
	for id := range held {
		t.Errorf("%s is held out and no query", id)
	}
	for kind, n := range all {
		if share := float64(out[kind]) / float64(n); share < 0.45 || share > 0.55 {
			t.Errorf("%s: %d of %d are held out", kind, out[kind], n)
		}
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
