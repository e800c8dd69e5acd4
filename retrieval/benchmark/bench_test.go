package benchmark

import (
	"fmt"
	"testing"
	"time"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/embed/static"
	"github.com/writbus/writ/schemas"
)

func embedders(b *testing.B) map[string]retrieval.Embedder {
	e, err := static.Default()
	if err != nil {
		b.Fatal(err)
	}
	return map[string]retrieval.Embedder{"words": nil, "static": e}
}

// BenchmarkSearch measures the whole pipeline, embedding and rendering included,
// with texts it has never seen.
func BenchmarkSearch(b *testing.B) {
	for name, e := range embedders(b) {
		for _, n := range []int{300, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				if testing.Short() && n > 10_000 {
					b.Skip("a corpus of 100,000 rules takes a minute to build")
				}
				g := NewGrower(shipped(b), 1)
				rules := g.Rules(n)
				ix := indexOf(b, rules, e)
				for range warmUp {
					ix.Search(retrieval.Query{Text: g.Query(rules)})
				}
				texts := make([]string, b.N)
				for i := range texts {
					texts[i] = g.Query(rules)
				}
				took := make([]float64, 0, b.N)
				b.ReportAllocs()
				b.ResetTimer()
				for _, text := range texts {
					began := time.Now()
					ix.Search(retrieval.Query{Text: text})
					took = append(took, float64(time.Since(began).Nanoseconds())/1000)
				}
				b.ReportMetric(percentile(took, 0.50), "p50-µs")
				b.ReportMetric(percentile(took, 0.95), "p95-µs")
				b.ReportMetric(percentile(took, 0.99), "p99-µs")
			})
		}
	}
}

func indexOf(t testing.TB, rules []schemas.Rule, e retrieval.Embedder) *retrieval.Index {
	t.Helper()
	docs, err := retrieval.AnalyseAll(rules, e)
	if err != nil {
		t.Fatal(err)
	}
	ix, err := retrieval.NewIndex(docs, retrieval.Options{Embedder: e})
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

// BenchmarkRebuild analyses, embeds and indexes 10,000 rules.
func BenchmarkRebuild(b *testing.B) {
	for name, e := range embedders(b) {
		b.Run(name, func(b *testing.B) {
			rules := NewGrower(shipped(b), 2).Rules(10_000)
			b.ResetTimer()
			for range b.N {
				indexOf(b, rules, e)
			}
		})
	}
}

// BenchmarkColdStart decodes 10,000 stored documents and builds the index.
func BenchmarkColdStart(b *testing.B) {
	for name, e := range embedders(b) {
		b.Run(name, func(b *testing.B) {
			docs, err := retrieval.AnalyseAll(NewGrower(shipped(b), 3).Rules(10_000), e)
			if err != nil {
				b.Fatal(err)
			}
			stored := make([][]byte, len(docs))
			for i, doc := range docs {
				if stored[i], err = doc.MarshalBinary(); err != nil {
					b.Fatal(err)
				}
			}
			b.ResetTimer()
			for range b.N {
				docs, err := retrieval.UnmarshalDocuments(stored)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := retrieval.NewIndex(docs, retrieval.Options{Embedder: e}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
