package curation

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/schemas"
)

// shipped is the corpus that comes with the program.
func shipped(t testing.TB) []schemas.Rule {
	t.Helper()
	files, _ := corpus.Load(os.DirFS("../corpus/rules"))
	if len(files) < 100 {
		t.Fatalf("only %d rules: the test looks at the wrong folder", len(files))
	}
	nodes := make([]schemas.Rule, len(files))
	for i, f := range files {
		nodes[i] = f.Rule
	}
	return nodes
}

func compressed(t testing.TB, nodes []schemas.Rule) []schemas.Rule {
	t.Helper()
	e := staticEmbedder(t)
	c, err := Calibrate(e, Reference)
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := vectorsOf(e, nodes)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Compress(nodes, vectors, c.Thresholds)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// line is what a node costs in a block of summaries.
func line(node schemas.Rule) int {
	return retrieval.CountTokens(fmt.Sprintf("[%s] %s (%s, %s, %s)\nSCORE: 0.500\nWHEN: %s\nRULE: %s\n",
		node.ID, node.Title, node.Severity, node.Authority, node.Domain, node.Trigger, node.Statement))
}

func TestAbstractionsCoverMoreThanLines(t *testing.T) {
	nodes := shipped(t)
	abstractions := compressed(t, nodes)
	var single, grouped []int // tokens
	var members []int         // of each of grouped
	within := map[string]bool{}
	for _, a := range abstractions {
		grouped, members = append(grouped, line(a)), append(members, len(a.Abstraction.Members))
		for _, id := range a.Abstraction.Members {
			within[id] = true
		}
	}
	for _, n := range nodes {
		if within[n.ID] {
			single = append(single, line(n))
		}
	}
	ones := slices.Repeat([]int{1}, len(single))
	for budget := 300; budget < 2000; budget += 100 {
		lines, groups := covered(single, ones, budget), covered(grouped, members, budget)
		if groups <= lines {
			t.Errorf("%d tokens: %.2f rules as lines, %.2f in abstractions", budget, lines, groups)
		}
	}
	ratio := 0.0
	for _, a := range abstractions {
		ratio += a.Abstraction.Ratio / float64(len(abstractions))
	}
	t.Logf("%d rules of %d in %d abstractions, mean ratio %.2f; %d tokens as lines, %d as abstractions",
		len(within), len(nodes), len(abstractions), ratio, total(single), total(grouped))
}

// covered is how many rules fit on average, whichever comes first: the mean
// over all starts in the list.
func covered(tokens, rules []int, budget int) float64 {
	sum := 0
	for start := range tokens {
		room := budget
		for i := range tokens {
			at := (start + i) % len(tokens)
			if tokens[at] > room {
				break
			}
			room -= tokens[at]
			sum += rules[at]
		}
	}
	return float64(sum) / float64(len(tokens))
}

func total(tokens []int) (sum int) {
	for _, n := range tokens {
		sum += n
	}
	return sum
}

func TestAbstractionsAreSoundNodes(t *testing.T) {
	nodes := shipped(t)
	byID := map[string]schemas.Rule{}
	for _, n := range nodes {
		byID[n.ID] = n
	}
	in := map[string]string{}
	abstractions := compressed(t, nodes)
	if len(abstractions) < 10 {
		t.Fatalf("only %d abstractions of %d rules", len(abstractions), len(nodes))
	}
	for _, a := range abstractions {
		if problems := corpus.CheckNode(a); len(problems) > 0 {
			t.Errorf("%s: %v", a.ID, problems)
		}
		if n := len(a.Abstraction.Members); n < 2 || n > MostMembers || a.Abstraction.Ratio <= 0 || a.Abstraction.Ratio >= 1 {
			t.Errorf("%s: %d members, ratio %g", a.ID, n, a.Abstraction.Ratio)
		}
		for i, id := range a.Abstraction.Members {
			m := byID[id]
			if other, is := in[id]; is {
				t.Errorf("%s is in %s and in %s", id, other, a.ID)
			}
			in[id] = a.ID
			if m.Mandatory || m.Domain != a.Domain || a.Edges[i] != (schemas.Edge{Type: "ABSTRACTS", Target: id}) {
				t.Errorf("%s has the member %s of %q by %v", a.ID, id, m.Domain, a.Edges[i])
			}
			if word, _, _ := strings.Cut(m.Statement, " "); !strings.Contains(a.Statement, strings.TrimRight(word, ",.;:")) {
				t.Errorf("%s does not say %q of %s", a.ID, m.Statement, id)
			}
		}
	}
}

func TestTheOrderOfRulesChangesNoByte(t *testing.T) {
	nodes := shipped(t)[:40]
	e := staticEmbedder(t)
	vectors, err := vectorsOf(e, nodes)
	if err != nil {
		t.Fatal(err)
	}
	thresholds := Thresholds{Cluster: 0.19}
	want, err := Compress(nodes, vectors, thresholds)
	if err != nil {
		t.Fatal(err)
	}
	if len(want) < 5 {
		t.Fatalf("only %d abstractions: there is little to confuse", len(want))
	}
	first := encoded(t, want)
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.Permutation(slices.Collect(indices(len(nodes)))).Draw(t, "order")
		var shuffled []schemas.Rule
		var moved [][]float32
		for _, i := range order {
			shuffled, moved = append(shuffled, nodes[i]), append(moved, vectors[i])
		}
		got, err := Compress(shuffled, moved, thresholds)
		if err != nil {
			t.Fatal(err)
		}
		if encoded(t, got) != first {
			t.Fatal("another order, other abstractions")
		}
	})
}

func indices(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func encoded(t interface{ Fatal(...any) }, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWhatStaysOut(t *testing.T) {
	rule := func(id string, edit func(*schemas.Rule)) schemas.Rule {
		r := schemas.Rule{
			ID: id, Domain: "go", Severity: "low", Authority: "human", Confidence: "peer-reviewed",
			Trigger:   "Go code opens a file that somebody else may remove at any time.",
			Statement: "Check the error of the call and name the file in the message that goes to the caller (its path, too); never ignore it.",
		}
		if edit != nil {
			edit(&r)
		}
		return r
	}
	for _, c := range []struct {
		name  string
		other schemas.Rule
		want  int
	}{
		{"two that are alike", rule("GO-B-001", nil), 1},
		{"another domain", rule("GO-B-001", func(r *schemas.Rule) { r.Domain = "rust" }), 0},
		{"mandatory", rule("GO-B-001", func(r *schemas.Rule) { r.Mandatory = true }), 0},
		{"always on", rule("GO-B-001", func(r *schemas.Rule) { r.AlwaysOn = true }), 0},
		{"a proposal", rule("GO-B-001", func(r *schemas.Rule) { r.Authority = "ai-provisional" }), 0},
		{"a skill", rule("GO-B-001", func(r *schemas.Rule) { r.Type = schemas.NodeSkill }), 0},
		{"in conflict", rule("GO-B-001", func(r *schemas.Rule) { r.Edges = []schemas.Edge{{Type: "CONFLICTS_WITH", Target: "GO-A-001"}} }), 0},
		{"superseding", rule("GO-B-001", func(r *schemas.Rule) { r.Edges = []schemas.Edge{{Type: "SUPERSEDES", Target: "GO-A-001"}} }), 0},
		{"the same id", rule("GO-A-001", nil), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := compressed(t, []schemas.Rule{rule("GO-A-001", nil), c.other})
			if len(got) != c.want {
				t.Errorf("%d abstractions, want %d", len(got), c.want)
			}
		})
	}
	taken := compressed(t, []schemas.Rule{rule("GO-A-001", nil), rule("GO-B-001", nil), rule("ABS-GO-A-001", func(r *schemas.Rule) { r.Domain = "rust" })})
	if len(taken) != 1 || taken[0].ID != "ABS-ABS-GO-A-001" {
		t.Errorf("got %v where a rule has the id already", taken)
	}
	if _, err := Compress([]schemas.Rule{{}}, nil, Reference); !errors.Is(err, ErrDimension) {
		t.Errorf("got %v for a missing vector", err)
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Close it.", "Close it"},
		{"Close a channel from one goroutine; with several senders, wait for all of them.", "Close a channel from one goroutine"},
		{"Compare with errors.Is (or errors.As); never inspect the text of the error.", "Compare with errors.Is"},
		{"Compare with errors.Is (or errors.As of a type); never inspect it.", "Compare with errors.Is; never inspect it"},
		{"Use Argon2id, scrypt or bcrypt from a maintained library; never a plain digest.", "Use Argon2id, scrypt or bcrypt from a maintained library"},
		{"Retry the call three times with growing pauses; unless it is not idempotent at all.", "Retry the call three times with growing pauses; unless it is not idempotent at all"},
		{"Take the lock before the first read of the shared map, and never hold it during a call.", "Take the lock before the first read of the shared map"},
		{"If the check fails for any reason at all, refuse the action, and never go on.", "If the check fails for any reason at all, refuse the action"},
		{"Run `a; b` and then look at the \"x; y\" that the program printed to you; stop.", "Run `a; b` and then look at the \"x; y\" that the program printed to you"},
		{"", ""},
	} {
		if got := shorten(c.text, 9); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func FuzzShorten(f *testing.F) {
	f.Add("Close it (soon), then wait; never stop.", 3)
	f.Add("`a (b", 0)
	f.Fuzz(func(t *testing.T, text string, words int) {
		got := shorten(text, words)
		if len(got) > len(text) && utf8.ValidString(text) {
			t.Errorf("%q became %q", text, got)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q was cut within a character", text)
		}
		if strings.Count(got, "\n") > 0 {
			t.Errorf("%q has more than one line", got)
		}
	})
}

func BenchmarkCompress(b *testing.B) {
	e := staticEmbedder(b)
	small := shipped(b)
	var nodes []schemas.Rule
	for copied := range 10 {
		for _, n := range small {
			n.ID = fmt.Sprintf("%s-%03d", n.ID, copied)
			nodes = append(nodes, n)
		}
	}
	vectors, err := vectorsOf(e, nodes)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Compress(nodes, vectors, Reference); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	e := staticEmbedder(b)
	nodes := shipped(b)
	for len(nodes) < 10_000 {
		nodes = append(nodes, nodes...)
	}
	vectors, err := vectorsOf(e, nodes)
	if err != nil {
		b.Fatal(err)
	}
	p := complete("GO-NEW-001", "A loop waits.", "Bound it.")
	mine, err := e.Embed(Text(p))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		c, err := Compare(mine, nodes, vectors)
		if err != nil {
			b.Fatal(err)
		}
		Gate{Thresholds: Reference}.Judge(Of(p), c)
	}
}

// vectorsOf embeds the [Text] of each node, in order. A node without text has an
// empty vector, which is like nothing.
func vectorsOf(e retrieval.Embedder, nodes []schemas.Rule) ([][]float32, error) {
	vectors := make([][]float32, len(nodes))
	for i, node := range nodes {
		text := Text(node)
		if text == "" {
			continue
		}
		v, err := e.Embed(text)
		if err != nil {
			return nil, fmt.Errorf("embed node %s with %s: %w", node.ID, e.Name(), err)
		}
		vectors[i] = v
	}
	return vectors, nil
}
