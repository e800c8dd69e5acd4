package curation

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/writbus/writ/retrieval/embed"
	"github.com/writbus/writ/retrieval/embed/static"
)

// referenceDir names the variable with the directory of the reference model.
const referenceDir = "WRIT_REFERENCE_MODEL"

func reference(t *testing.T) embed.Embedder {
	t.Helper()
	dir := os.Getenv(referenceDir)
	if dir == "" {
		t.Skipf("%s names no directory with the weights of %s", referenceDir, ReferenceModel)
	}
	e, err := embed.Load(dir, embed.Options{Cache: -1})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestWritePairs computes the committed cosines anew with the reference model
// and, when WRIT_WRITE_PAIRS is set, writes them into pairs.jsonl.
func TestWritePairs(t *testing.T) {
	e := reference(t)
	if os.Getenv("WRIT_WRITE_PAIRS") == "" {
		t.Skip("WRIT_WRITE_PAIRS is not set: pairs.jsonl stays as it is")
	}
	var groups []group
	src, err := os.ReadFile("pairs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(src) {
		var g group
		if err := json.Unmarshal(line, &g); err != nil {
			t.Fatal(err)
		}
		n := len(g.Texts)
		g.Cosines, g.Apart = make([]float64, n*(n-1)/2), make([]float64, n)
		groups = append(groups, g)
	}
	pairs, err := pairCosines(e, groups)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for i, g := range groups {
		inside, apart := 0, 0
		for _, p := range pairs {
			if p.group != i {
				continue
			}
			rounded := math.Round(p.cosine*1e4) / 1e4
			if slices.Contains(g.Texts, p.second) {
				g.Cosines[inside] = rounded
				inside++
			} else {
				g.Apart[apart] = rounded
				apart++
			}
		}
		line, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	if err := os.WriteFile("pairs.jsonl", out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTheReferenceHasTheStatedThresholds(t *testing.T) {
	c, err := Calibrate(reference(t), Reference)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Reference || c.Thresholds != Reference {
		t.Errorf("got %+v: the committed cosines are not those of %s", c, ReferenceModel)
	}
}

func staticEmbedder(t testing.TB) *static.Embedder {
	t.Helper()
	e, err := static.Default()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestCalibrateTheBuiltInEmbedder(t *testing.T) {
	e := staticEmbedder(t)
	c, err := Calibrate(e, Reference)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", c)
	for name, a := range map[string]Agreement{"duplicate": c.Duplicate, "novelty": c.Novelty, "neighbour": c.Neighbour} {
		t.Logf("%s: precision %.3f recall %.3f of %d", name, a.Precision(), a.Recall(), a.Reference)
	}
}
