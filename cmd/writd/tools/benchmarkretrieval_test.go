package tools

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/retrieval/artifact/benchmark"
)

func TestBenchmarkRetrieval(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "retry.go"), "package a\n\n// retryPayment asks the bank again after a timeout.\nfunc retryPayment() {}\n")
	put(t, filepath.Join(dir, "README.md"), "# Shop\n\nHow payments are retried.\n")
	queries := filepath.Join(t.TempDir(), "queries.jsonl")
	put(t, queries, `{"id":"q1","query":"retry a payment","relevant":["retry.go","gone.go"]}`+"\n")
	code, out, errs := run(t, "benchmark", "retrieval", "--project", dir, "--queries", queries, "--rounds", "1")
	if code != 0 || !strings.Contains(out, "two-stage − bm25") || !strings.Contains(out, "q1  gone.go") {
		t.Fatalf("%d\n%s\n%s", code, out, errs)
	}
	code, out, errs = run(t, "benchmark", "retrieval", "--project", dir, "--queries", queries, "--rounds", "1", "--methods", "two-stage", "--embedder", "none", "--json")
	var report benchmark.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 0 {
		t.Fatalf("%d, %v\n%s\n%s", code, err, out, errs)
	}
	if report.Projects[0].Documents != 2 || report.Methods[0].Measures["hit@1"].Mean != 1 || report.Embedder != "" {
		t.Errorf("report: %s", out)
	}
}

// What agents are given is measured as they are given it, of projects in a folder of
// sources as well, and with no embedder the methods are those that need none.
func TestContextsAreMeasured(t *testing.T) {
	sources := t.TempDir()
	shop := filepath.Join(sources, "shops", "shop@1.0")
	put(t, filepath.Join(shop, "src", "retry.go"), "package a\n\n// retryPayment asks the bank again after a timeout.\nfunc retryPayment() {}\n")
	put(t, filepath.Join(shop, "src", "cart.go"), "package a\n\n// addToCart puts an item into the cart.\nfunc addToCart() {}\n")
	put(t, filepath.Join(shop, "node_modules", "x", "retry.js"), "retry payment\n")
	queries := filepath.Join(t.TempDir(), "queries.jsonl")
	put(t, queries, `{"id":"q1","query":"retry a payment","relevant":["src/retry.go"],"project":"shops/shop@1.0","kind":"task"}
{"id":"q2","query":"kubernetes ingress annotations","relevant":[],"project":"shops/shop@1.0","kind":"nothing"}
`)
	code, out, errs := run(t, "benchmark", "retrieval", "--sources", sources, "--queries", queries, "--rounds", "1", "--embedder", "none", "--json")
	var report benchmark.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 0 {
		t.Fatalf("%d, %v\n%s\n%s", code, err, out, errs)
	}
	c := report.Context
	if c == nil || c.Right.Mean != 1 || c.Queries != 1 || c.Nothing == nil || c.Nothing.Given.Mean != 0 || c.Files < 1 || c.Tokens > 1500 {
		t.Errorf("context: %s", out)
	}
	if len(report.Methods) != 2 || report.Projects[0].Documents != 2 || report.Projects[0].Queries != 1 {
		t.Errorf("report: %s", out)
	}
	t.Chdir(filepath.Dir(sources))
	if code, out, errs = run(t, "benchmark", "retrieval", "--sources", filepath.Base(sources), "--queries", queries, "--rounds", "1", "--embedder", "none"); code != 0 || !strings.Contains(out, "RIGHT FILE") {
		t.Errorf("%d\n%s\n%s", code, out, errs)
	}
}

func TestWhatRetrievalBenchmarksRefuse(t *testing.T) {
	dir := t.TempDir()
	bad, other := filepath.Join(dir, "bad.jsonl"), filepath.Join(dir, "other.jsonl")
	put(t, bad, `{"id":"q1","query":"x","relevant":["a"]}`+"\n\nnonsense\n")
	put(t, other, `{"id":"q1","query":"x","relevant":["a"],"project":"example.org/none@v1.0.0"}`+"\n")
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no queries":     {nil, 2, "--queries is missing"},
		"a bad line":     {[]string{"--queries", bad}, 1, "line 3"},
		"no such file":   {[]string{"--queries", filepath.Join(dir, "none.jsonl")}, 1, "none.jsonl"},
		"unknown method": {[]string{"--queries", bad, "--methods", "bm25,magic"}, 2, `unknown method "magic": use bm25, semantic, two-stage`},
		"no such module": {[]string{"--queries", other, "--embedder", "none"}, 1, "go mod download example.org/none@v1.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, errs := run(t, append([]string{"benchmark", "retrieval"}, c.args...)...)
			if code != c.code || !strings.Contains(errs, c.want) {
				t.Errorf("%d: %s", code, errs)
			}
		})
	}
}

func TestGlobsOf(t *testing.T) {
	if got := globsOf("a, b/**"); !slices.Equal(got, []string{"a", "b/**"}) {
		t.Error(got)
	}
}
