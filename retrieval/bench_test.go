package retrieval

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/schemas"
)

// grower makes distinct rules out of the words of the shipped corpus and of
// words made from pairs of them, by a Zipf law whose head is as flat as the
// shipped corpus's: a query meets about as large a share of the documents.
type grower struct {
	r     *rand.Rand
	words []string
	zipf  *rand.Zipf
}

func newGrower(b *testing.B, seed int64) *grower {
	g := &grower{r: rand.New(rand.NewSource(seed))}
	seen := map[string]bool{}
	for _, rule := range shippedRules(b) {
		for word := range strings.FieldsSeq(strings.Join([]string{rule.Trigger, rule.Statement, rule.Rationale, rule.Body}, " ")) {
			if word = strings.Trim(strings.ToLower(word), ".,;:()`'\""); len(word) > 2 && !seen[word] {
				seen[word] = true
				g.words = append(g.words, word)
			}
		}
	}
	plain := len(g.words)
	for range 4 * plain {
		g.words = append(g.words, g.words[g.r.Intn(plain)]+g.words[g.r.Intn(plain)])
	}
	g.zipf = rand.NewZipf(g.r, 1.1, 300, uint64(len(g.words)-1))
	return g
}

func (g *grower) text(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = g.words[g.zipf.Uint64()]
	}
	return strings.Join(words, " ")
}

func (g *grower) rules(n int) []schemas.Rule {
	rules := make([]schemas.Rule, n)
	for i := range rules {
		rules[i] = schemas.Rule{
			ID: fmt.Sprintf("GROWN-%06d", i), Title: g.text(6), Domain: []string{"go", "python", "sql", "security"}[g.r.Intn(4)],
			Severity: "high", Confidence: "peer-reviewed", Trigger: g.text(8), Statement: g.text(14),
			Symptoms: []string{g.text(7), g.text(7), g.text(7)}, Violation: g.text(20), PassExample: g.text(20),
			Rationale: g.text(12), Tags: []string{g.text(1), g.text(1)}, Body: g.text(12),
			Edges: []schemas.Edge{
				{Type: "RELATED_TO", Target: fmt.Sprintf("GROWN-%06d", g.r.Intn(n))},
				{Type: "DEPENDS_ON", Target: fmt.Sprintf("GROWN-%06d", g.r.Intn(n))},
			},
		}
	}
	return rules
}

// query mixes words of one rule with others.
func (g *grower) query(rules []schemas.Rule) string {
	rule := rules[g.r.Intn(len(rules))]
	words := strings.Fields(rule.Trigger + " " + rule.Symptoms[g.r.Intn(3)] + " " + rule.Statement)
	g.r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	return strings.Join(words[:5+g.r.Intn(4)], " ") + " " + g.text(3) + fmt.Sprintf(" q%d", g.r.Int63())
}

// BenchmarkSearch measures the whole pipeline, rendering included, with texts
// it has never seen.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{100, 300, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			g := newGrower(b, 1)
			rules := g.rules(n)
			docs := analyseAll(rules)
			began := time.Now()
			ix, err := NewIndex(docs, Options{})
			if err != nil {
				b.Fatal(err)
			}
			built := time.Since(began)
			for range 300 {
				ix.Search(Query{Text: g.query(rules)})
			}
			queries := make([]string, 5000)
			for i := range queries {
				queries[i] = g.query(rules)
			}
			var took []time.Duration
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if i > 0 && i%len(queries) == 0 {
					b.StopTimer()
					for j := range queries {
						queries[j] = g.query(rules)
					}
					b.StartTimer()
				}
				began := time.Now()
				ix.Search(Query{Text: queries[i%len(queries)]})
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			at := func(share float64) float64 {
				return float64(took[int(share*float64(len(took)-1))].Nanoseconds()) / 1000
			}
			b.ReportMetric(at(0.50), "p50-us")
			b.ReportMetric(at(0.95), "p95-us")
			b.ReportMetric(at(0.99), "p99-us")
			b.ReportMetric(float64(built.Microseconds())/1000, "build-ms")
		})
	}
}

func BenchmarkAnalyse(b *testing.B) {
	rules := newGrower(b, 2).rules(200)
	b.ResetTimer()
	for i := range b.N {
		Analyse(rules[i%len(rules)])
	}
}

// BenchmarkColdStart decodes 10,000 stored documents and builds the index.
func BenchmarkColdStart(b *testing.B) {
	var stored [][]byte
	for _, doc := range analyseAll(newGrower(b, 3).rules(10_000)) {
		raw, err := doc.MarshalBinary()
		if err != nil {
			b.Fatal(err)
		}
		stored = append(stored, raw)
	}
	b.ResetTimer()
	for range b.N {
		docs := make([]Document, len(stored))
		for i, raw := range stored {
			var err error
			if docs[i], err = UnmarshalDocument(raw); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := NewIndex(docs, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
