package retrieval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/schemas"
)

// judged is a query of the corpus's ground truth.
type judged struct {
	ID       string   `json:"id"`
	Query    string   `json:"query"`
	Relevant []string `json:"relevant"`
	Kind     string   `json:"kind"` // direct, paraphrase, task, offtopic
}

// shippedRules reads the corpus as it lies in its folder; whether it is sound is
// for its own tests to say.
func shippedRules(t testing.TB) []schemas.Rule {
	t.Helper()
	files, _ := corpus.Load(os.DirFS("corpus/rules"))
	if len(files) == 0 {
		t.Fatal("the shipped corpus is empty")
	}
	rules := make([]schemas.Rule, len(files))
	for i, f := range files {
		rules[i] = f.Rule
	}
	return rules
}

func groundTruth(t testing.TB) []judged {
	t.Helper()
	b, err := os.ReadFile("corpus/testdata/truth.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var queries []judged
	lines := bufio.NewScanner(bytes.NewReader(b))
	for lines.Scan() {
		var q judged
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			t.Fatal(err)
		}
		queries = append(queries, q)
	}
	return queries
}

// quality sums up one kind of queries.
type quality struct{ n, hit1, hit5, mrr, ndcg, injected, found, rules float64 }

func (q quality) mean() quality {
	n := max(q.n, 1)
	return quality{q.n, q.hit1 / n, q.hit5 / n, q.mrr / n, q.ndcg / n, q.injected / n, q.found / n, q.rules / n}
}

func (q *quality) add(ranking, answer Answer, relevant map[string]bool) {
	q.n++
	var gain, ideal, reciprocalRank float64
	for i, h := range ranking.Rules {
		if !relevant[h.ID] {
			continue
		}
		gain += 1 / math.Log2(float64(i)+2)
		if reciprocalRank == 0 {
			reciprocalRank = 1 / float64(i+1)
		}
	}
	for i := range min(len(relevant), 10) {
		ideal += 1 / math.Log2(float64(i)+2)
	}
	if ideal > 0 {
		q.ndcg += gain / ideal
	}
	q.mrr += reciprocalRank
	q.hit1 += indicator(reciprocalRank == 1)
	q.hit5 += indicator(reciprocalRank >= 0.2)
	found := false
	for _, h := range answer.Rules {
		if h.Tier == TierInject {
			q.rules++
			found = found || relevant[h.ID]
		}
	}
	q.injected += indicator(answer.Tier == TierInject)
	q.found += indicator(found)
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// The floors are a few points below what was measured on the 865 queries
// (corpus/testdata/TRUTH.md): direct hit@1 .83, hit@5 .95, MRR .88, nDCG .87, a
// right rule given in full .88; paraphrased .28, .60, .40, .41, .40; tasks .70, .92, .79,
// .72, .77 – three rules in full at most, by words alone –; .10 of off-topic ones are given rules; so that a growing corpus passes
// and a broken ranking does not.
func TestQualityOnTheShippedCorpus(t *testing.T) {
	ix := newTestIndex(t, shippedRules(t), Options{})
	kinds := map[string]*quality{}
	for _, q := range groundTruth(t) {
		relevant := make(map[string]bool)
		for _, id := range q.Relevant {
			relevant[id] = true
		}
		if kinds[q.Kind] == nil {
			kinds[q.Kind] = &quality{}
		}
		kinds[q.Kind].add(ix.Search(Query{Text: q.Query, Raw: true, Limit: 10}), ix.Search(Query{Text: q.Query}), relevant)
	}
	for kind, q := range kinds {
		m := q.mean()
		t.Logf("%-10s n=%.0f hit@1 %.3f hit@5 %.3f MRR@10 %.3f nDCG@10 %.3f | injects %.3f, a relevant rule %.3f, rules a query %.2f",
			kind, m.n, m.hit1, m.hit5, m.mrr, m.ndcg, m.injected, m.found, m.rules)
	}
	for kind, floor := range map[string]quality{
		"direct":     {n: 300, hit1: 0.79, hit5: 0.91, mrr: 0.84, ndcg: 0.82, found: 0.85},
		"paraphrase": {n: 100, hit1: 0.24, hit5: 0.53, mrr: 0.36, ndcg: 0.38, found: 0.35},
		"task":       {n: 190, hit1: 0.64, hit5: 0.87, mrr: 0.74, ndcg: 0.67, found: 0.72},
	} {
		m := kinds[kind].mean()
		if m.n < floor.n || m.hit1 < floor.hit1 || m.hit5 < floor.hit5 || m.mrr < floor.mrr || m.ndcg < floor.ndcg || m.found < floor.found {
			t.Errorf("%s: %+v is below the floor %+v", kind, m, floor)
		}
	}
	if m := kinds["offtopic"].mean(); m.n < 120 || m.injected > 0.12 {
		t.Errorf("off-topic: %.0f queries, %.3f of them got rules", m.n, m.injected)
	}
}

// Prompts of a working session that ask for no rule.
func TestSmallTalkInjectsNothing(t *testing.T) {
	ix := newTestIndex(t, shippedRules(t), Options{})
	for _, text := range []string{
		"ok", "yes please", "continue", "thanks, that looks good", "hello", "who are you", "stop", "good job",
		"what time is it", "what's the weather like in Berlin tomorrow", "write a haiku about autumn leaves",
		"can you explain what you just did", "please be more concise", "how tall is Mount Everest",
		"recommend a good restaurant near the station", "my back hurts after running",
	} {
		if a := ix.Search(Query{Text: text}); a.Tier == TierInject {
			t.Errorf("%q (p %.2f) got %v", text, a.Probability, idsOf(a.Rules))
		}
	}
}
