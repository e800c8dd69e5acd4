package benchmark

import (
	"compress/gzip"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/embed/static"
	"github.com/writbus/writ/schemas"
)

var setsFolder = flag.String("sets", "", "a folder of development sets: gzipped JSON with docs and queries")

// TestDevelopmentSets prints nDCG@10 of words, of the static embedder alone, of
// reciprocal ranks and of the shipped fusion, each with its interval. No rule of
// a set has a severity, so priors do not matter.
func TestDevelopmentSets(t *testing.T) {
	if *setsFolder == "" {
		t.Skip("no -sets FOLDER given")
	}
	files, err := filepath.Glob(filepath.Join(*setsFolder, "*.json.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sets in %s: %v", *setsFolder, err)
	}
	e, err := static.Default()
	if err != nil {
		t.Fatal(err)
	}
	profiles := []retrieval.Profile{
		{Name: "alone", Fusion: retrieval.FusionConvex, Vector: 1, Candidates: 50},
		{Name: "ranks", Fusion: retrieval.FusionRRF, Vector: 0.5, BM25: 0.5, Candidates: 50},
	}
	for _, file := range files {
		rules, truth := developmentSet(t, file)
		docs, err := retrieval.AnalyseAll(rules, e)
		if err != nil {
			t.Fatal(err)
		}
		ix, err := retrieval.NewIndex(docs, retrieval.Options{Embedder: e, Profiles: profiles})
		if err != nil {
			t.Fatal(err)
		}
		words, err := retrieval.NewIndex(docs, retrieval.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-24s %5d queries %5d rules: words %s, vectors %s, ranks %s, fused %s, reference %s", filepath.Base(file), len(truth), len(rules),
			ndcg(words, truth, ""), ndcg(ix, truth, "alone"), ndcg(ix, truth, "ranks"), ndcg(ix, truth, ""), ndcg(ix, truth, retrieval.ProfileReference))
	}
}

func ndcg(s Searcher, truth []Query, profile string) Interval {
	var values []float64
	var clusters []string
	for _, q := range truth {
		var ids []string
		for _, h := range s.Search(retrieval.Query{Text: q.Query, Profile: profile, Raw: true, Limit: 10, BudgetTokens: -1}).Rules {
			ids = append(ids, h.ID)
		}
		values, clusters = append(values, Measure(ids, q.Relevant).NDCG10), append(clusters, q.target())
	}
	return Bootstrap(values, clusters, 1)
}

func developmentSet(t *testing.T, name string) ([]schemas.Rule, []Query) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var set struct {
		Docs    []struct{ ID, Title, Body string }
		Queries []struct {
			ID  string
			Q   string
			Rel []string
		}
	}
	if err := json.NewDecoder(unzipped).Decode(&set); err != nil {
		t.Fatal(err)
	}
	var rules []schemas.Rule
	for _, d := range set.Docs {
		rules = append(rules, schemas.Rule{ID: d.ID, Title: d.Title, Statement: d.Body, Severity: "medium", Confidence: "peer-reviewed"})
	}
	var truth []Query
	for _, q := range set.Queries {
		truth = append(truth, Query{ID: q.ID, Query: q.Q, Relevant: q.Rel, Kind: "direct"})
	}
	return rules, truth
}
