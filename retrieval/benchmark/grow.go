package benchmark

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/writbus/writ/schemas"
)

// Grower makes distinct rules, and queries nobody has asked, out of the words of
// a corpus and of words made from pairs of them, by a Zipf law whose head is as
// flat as a small corpus's: a query meets about as large a share of the
// documents.
type Grower struct {
	random *rand.Rand
	words  []string
	zipf   *rand.Zipf
	asked  int
}

// NewGrower takes its words from a corpus, which must have some.
func NewGrower(corpus []schemas.Rule, seed uint64) *Grower {
	g := &Grower{random: rand.New(rand.NewPCG(seed, 0x5752_4954))}
	seen := map[string]bool{}
	for i := range corpus {
		r := &corpus[i]
		for word := range strings.FieldsSeq(strings.Join([]string{r.Trigger, r.Statement, r.Rationale, r.Body}, " ")) {
			if word = strings.Trim(strings.ToLower(word), ".,;:()`'\""); len(word) > 2 && !seen[word] {
				seen[word] = true
				g.words = append(g.words, word)
			}
		}
	}
	if len(g.words) == 0 {
		g.words = []string{"rule"}
	}
	plain := len(g.words)
	for range 4 * plain {
		g.words = append(g.words, g.words[g.random.IntN(plain)]+g.words[g.random.IntN(plain)])
	}
	g.zipf = rand.NewZipf(g.random, 1.1, 300, uint64(len(g.words)-1))
	return g
}

func (g *Grower) text(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = g.words[g.zipf.Uint64()]
	}
	return strings.Join(words, " ")
}

func (g *Grower) pick(of ...string) string { return of[g.random.IntN(len(of))] }

// Rules makes n rules, no two alike, each beside two others.
func (g *Grower) Rules(n int) []schemas.Rule {
	rules := make([]schemas.Rule, n)
	for i := range rules {
		rules[i] = schemas.Rule{
			ID: fmt.Sprintf("GROWN-%06d", i), Title: g.text(6), Domain: g.pick("go", "python", "sql", "security"),
			Severity:   g.pick("critical", "high", "medium", "low"),
			Confidence: g.pick("battle-tested", "production-validated", "peer-reviewed", "speculative"),
			Trigger:    g.text(8), Statement: g.text(14),
			Symptoms: []string{g.text(7), g.text(7), g.text(7)}, Violation: g.text(20), PassExample: g.text(20),
			Rationale: g.text(12), Tags: []string{g.text(1), g.text(1)}, Body: g.text(12),
			Edges: []schemas.Edge{
				{Type: "RELATED_TO", Target: fmt.Sprintf("GROWN-%06d", g.random.IntN(n))},
				{Type: "DEPENDS_ON", Target: fmt.Sprintf("GROWN-%06d", g.random.IntN(n))},
			},
		}
	}
	return rules
}

// Query makes a text that mixes words of one of the rules with others and has
// never been asked before.
func (g *Grower) Query(rules []schemas.Rule) string {
	var words []string
	if len(rules) > 0 {
		r := &rules[g.random.IntN(len(rules))]
		words = strings.Fields(r.Trigger + " " + strings.Join(r.Symptoms, " ") + " " + r.Statement)
	}
	g.random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	g.asked++
	return strings.Join(words[:min(5+g.random.IntN(4), len(words))], " ") + " " + g.text(3) + fmt.Sprintf(" q%dn%d", g.asked, g.random.Uint32())
}
