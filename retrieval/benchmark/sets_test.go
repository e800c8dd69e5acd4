package benchmark

import (
	"compress/gzip"
	"encoding/gob"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/embed"
	"github.com/writbus/writ/retrieval/embed/minilm"
	"github.com/writbus/writ/retrieval/embed/static"
	"github.com/writbus/writ/schemas"
)

var (
	setsFolder  = flag.String("sets", "", "a folder of development sets: gzipped JSON with docs and queries")
	modelFolder = flag.String("model", "", "a folder of a model to compare with the static embedder")
	vectorsFile = flag.String("vectors", "", "a file that keeps the encoders' vectors between runs")
	tableFile   = flag.String("table", "", "a trained table in place of the shipped one")
)

// compared are rankings beside the embedder's own profile.
var compared = []retrieval.Profile{
	{Name: "alone", Fusion: retrieval.FusionConvex, Vector: 1, Candidates: 50, Pairs: retrieval.PairWeight},
	{Name: "ranks", Fusion: retrieval.FusionRRF, Vector: 0.5, BM25: 0.5, Candidates: 50, Pairs: retrieval.PairWeight},
	{Name: "0.2", Fusion: retrieval.FusionConvex, Vector: 0.2, BM25: 0.8, Pairs: retrieval.PairWeight},
	{Name: "0.35", Fusion: retrieval.FusionConvex, Vector: 0.35, BM25: 0.65, Pairs: retrieval.PairWeight},
	{Name: "0.5", Fusion: retrieval.FusionConvex, Vector: 0.5, BM25: 0.5, Pairs: retrieval.PairWeight},
	{Name: "0.6", Fusion: retrieval.FusionConvex, Vector: 0.6, BM25: 0.4, Pairs: retrieval.PairWeight},
}

// TestDevelopmentSets prints nDCG@10 of words, and for each embedder of vectors
// alone, reciprocal ranks, some fusions, the embedder's profile and the
// reference, each with its interval and the paired gain over words. No rule of a
// set has a severity, so priors do not matter. The ids of most sets are the names
// of the lints. Words see a rule's id and vectors do not, so ids are numbers here:
// each set is measured with the names as titles, which both see, and bare.
func TestDevelopmentSets(t *testing.T) {
	if *setsFolder == "" {
		t.Skip("no -sets FOLDER given")
	}
	files, err := filepath.Glob(filepath.Join(*setsFolder, "*.json.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sets in %s: %v", *setsFolder, err)
	}
	for _, e := range comparedEmbedders(t) {
		for _, file := range files {
			for _, bare := range []bool{false, true} {
				compare(t, filepath.Base(file), bare, file, e)
			}
		}
		if kept, ok := e.(*kept); ok {
			kept.save(t)
		}
	}
}

func comparedEmbedders(t *testing.T) []retrieval.Embedder {
	t.Helper()
	e, err := static.Default()
	if *tableFile != "" {
		var raw []byte
		var table *static.Table
		if raw, err = os.ReadFile(*tableFile); err == nil {
			if table, err = static.Decode(raw); err == nil {
				e = static.New(table)
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := minilm.Default()
	if err != nil {
		t.Fatal(err)
	}
	all := []retrieval.Embedder{e, keep(t, shipped)}
	if *modelFolder != "" {
		model, err := embed.Load(*modelFolder, embed.Options{Cache: -1})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, keep(t, model))
	}
	return all
}

func compare(t *testing.T, name string, bare bool, file string, e retrieval.Embedder) {
	t.Helper()
	rules, truth := developmentSet(t, file, bare)
	docs, err := retrieval.AnalyseAll(rules, e)
	if err != nil {
		t.Fatal(err)
	}
	ix, err := retrieval.NewIndex(docs, retrieval.Options{Embedder: e, Profiles: compared})
	if err != nil {
		t.Fatal(err)
	}
	words, err := retrieval.NewIndex(docs, retrieval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	base, targets := gains(words, truth, "")
	t.Logf("%s, %d queries, %d rules, bare %v, %s: words %s", name, len(truth), len(rules), bare, e.Name(), Bootstrap(base, targets, 1))
	for _, profile := range []string{"alone", "ranks", "0.2", "0.35", "0.5", "0.6", "", retrieval.ProfileReference} {
		values, _ := gains(ix, truth, profile)
		difference := make([]float64, len(values))
		for i := range values {
			difference[i] = values[i] - base[i]
		}
		d := Bootstrap(difference, targets, 1)
		if profile == "" {
			profile = "own: " + ix.Search(retrieval.Query{Text: "profile"}).Profile
		}
		t.Logf("  %-12s %s  over words %+.3f (%+.3f to %+.3f)", profile, Bootstrap(values, targets, 1), d.Mean, d.Low, d.High)
	}
}

// gains are the queries' nDCG@10 and what they are resampled by.
func gains(s Searcher, truth []Query, profile string) (values []float64, targets []string) {
	for _, q := range truth {
		var ids []string
		for _, h := range s.Search(retrieval.Query{Text: q.Query, Profile: profile, Raw: true, Limit: 10, BudgetTokens: -1}).Rules {
			ids = append(ids, h.ID)
		}
		values, targets = append(values, Measure(ids, q.Relevant).NDCG10), append(targets, q.Target())
	}
	return values, targets
}

func developmentSet(t *testing.T, name string, bare bool) ([]schemas.Rule, []Query) {
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
	ids := map[string]string{}
	for i, d := range set.Docs {
		ids[d.ID] = fmt.Sprintf("x%05dx", i)
		if _, err := strconv.Atoi(d.ID); err != nil && d.Title == "" && !bare {
			d.Title = strings.NewReplacer("-", " ", "_", " ").Replace(d.ID)
		}
		rules = append(rules, schemas.Rule{ID: ids[d.ID], Title: d.Title, Statement: d.Body, Severity: "medium", Confidence: "peer-reviewed"})
	}
	var truth []Query
	for _, q := range set.Queries {
		var relevant []string
		for _, id := range q.Rel {
			relevant = append(relevant, ids[id])
		}
		truth = append(truth, Query{ID: q.ID, Query: q.Q, Relevant: relevant, Kind: "direct"})
	}
	return rules, truth
}

// kept is an embedder whose vectors are kept in a file.
type kept struct {
	retrieval.Embedder
	mu      sync.Mutex
	vectors map[string][]float32
}

func keep(t *testing.T, e retrieval.Embedder) *kept {
	t.Helper()
	k := &kept{Embedder: e, vectors: map[string][]float32{}}
	maps.Copy(k.vectors, storedVectors(t)[e.Name()])
	return k
}

// storedVectors are those in the file of vectors, by embedder and text.
func storedVectors(t *testing.T) map[string]map[string][]float32 {
	t.Helper()
	stored := map[string]map[string][]float32{}
	if *vectorsFile == "" {
		return stored
	}
	f, err := os.Open(*vectorsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return stored
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := gob.NewDecoder(f).Decode(&stored); err != nil {
		t.Fatal(err)
	}
	return stored
}

func (k *kept) Embed(text string) ([]float32, error) {
	k.mu.Lock()
	v := k.vectors[text]
	k.mu.Unlock()
	if v != nil {
		return v, nil
	}
	v, err := k.Embedder.Embed(text)
	if err == nil {
		k.mu.Lock()
		k.vectors[text] = v
		k.mu.Unlock()
	}
	return v, err
}

func (k *kept) save(t *testing.T) {
	t.Helper()
	if *vectorsFile == "" {
		return
	}
	stored := storedVectors(t)
	stored[k.Name()] = k.vectors
	f, err := os.Create(*vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := gob.NewEncoder(f).Encode(stored); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
