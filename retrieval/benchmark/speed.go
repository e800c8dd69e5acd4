package benchmark

import (
	"fmt"
	"slices"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
)

// Speed is how fast a corpus of one size is searched, built and loaded.
// Durations are in microseconds for queries and milliseconds for the rest.
type Speed struct {
	Rules   int     `json:"rules"`
	Queries int     `json:"queries"`
	P50     float64 `json:"p50_us"`
	P95     float64 `json:"p95_us"`
	P99     float64 `json:"p99_us"`
	Stages  Stages  `json:"stages_p50_us"`
	// Build is analysing, embedding and indexing; ColdStart is decoding the
	// stored documents and indexing.
	Build     float64 `json:"build_ms"`
	ColdStart float64 `json:"cold_start_ms"`
	Stored    int64   `json:"stored_bytes"` // of the documents, vectors included
	Heap      int64   `json:"heap_bytes"`   // of documents and index in memory; 0 if not measured
}

// Stages are the medians of a query's parts.
type Stages struct {
	Analyse float64 `json:"analyse"`
	BM25    float64 `json:"bm25"`
	Vector  float64 `json:"vector"`
	Graph   float64 `json:"graph"`
	Rank    float64 `json:"rank"`
	Render  float64 `json:"render"`
}

// warmUp is how many queries go before the first that counts.
const warmUp = 300

// speed measures one corpus. Every text is asked once.
func (c Config) speed(rules []schemas.Rule, g *Grower) (Speed, error) {
	s := Speed{Rules: len(rules), Queries: c.queries()}
	began := c.Clock()
	docs, err := retrieval.AnalyseAll(rules, c.Options.Embedder)
	if err != nil {
		return s, err
	}
	if _, err := retrieval.NewIndex(docs, c.options()); err != nil {
		return s, err
	}
	s.Build = float64(c.Clock()-began) / 1e6

	stored := make([][]byte, len(docs))
	for i, doc := range docs {
		if stored[i], err = doc.MarshalBinary(); err != nil {
			return s, err
		}
		s.Stored += int64(len(stored[i]))
	}
	docs = nil //nolint:ineffassign // what is measured next is what loading them again takes
	before := c.heap()
	began = c.Clock()
	if docs, err = retrieval.UnmarshalDocuments(stored); err != nil {
		return s, fmt.Errorf("decode what was just encoded: %w", err)
	}
	ix, err := retrieval.NewIndex(docs, c.options())
	if err != nil {
		return s, err
	}
	s.ColdStart = float64(c.Clock()-began) / 1e6
	s.Heap = max(c.heap()-before, 0)
	c.latency(&s, ix, rules, g)
	return s, nil
}

func (c Config) latency(s *Speed, ix *retrieval.Index, rules []schemas.Rule, g *Grower) {
	texts := make([]string, warmUp+s.Queries)
	for i := range texts {
		texts[i] = g.Query(rules)
	}
	var took []float64
	parts := make([][]float64, 6)
	for i, text := range texts {
		began := c.Clock()
		answer := ix.Search(retrieval.Query{Text: text, Profile: c.Profile})
		nanos := c.Clock() - began
		if i < warmUp {
			continue
		}
		took = append(took, float64(nanos)/1000)
		l := answer.Latency
		for p, micros := range []float64{l.Analyse, l.BM25, l.Vector, l.Graph, l.Rank, l.Render} {
			parts[p] = append(parts[p], micros)
		}
	}
	s.P50, s.P95, s.P99 = percentile(took, 0.50), percentile(took, 0.95), percentile(took, 0.99)
	s.Stages = Stages{
		percentile(parts[0], 0.5), percentile(parts[1], 0.5), percentile(parts[2], 0.5),
		percentile(parts[3], 0.5), percentile(parts[4], 0.5), percentile(parts[5], 0.5),
	}
}

// percentile is the nearest-rank one.
func percentile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}
