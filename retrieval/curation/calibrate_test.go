package curation

import (
	"bytes"
	"encoding/json"
	"errors"
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
	got := c.Thresholds
	if c.Reference || !(got.Cluster > 0 && got.Neighbour > got.Cluster && got.Novelty > got.Neighbour && got.Duplicate > got.Novelty && got.Duplicate < 1) {
		t.Errorf("got %+v", c)
	}
	for _, a := range []struct {
		name  string
		least float64
		Agreement
	}{{"duplicate", 0.5, c.Duplicate}, {"novelty", 0.88, c.Novelty}, {"neighbour", 0.7, c.Neighbour}} {
		t.Logf("%s: precision %.3f, recall %.3f of %d held-out pairs", a.name, a.precision(), a.recall(), a.Reference)
		if a.precision() < a.least || a.recall() < a.least {
			t.Errorf("%s: precision %.3f and recall %.3f, at least %.2f expected", a.name, a.precision(), a.recall(), a.least)
		}
	}
	again, err := Calibrate(e, Reference)
	if err != nil || again != c {
		t.Errorf("calibrated again: %+v, %v", again, err)
	}
}

// precision is the share of the embedder's that are the reference's, 1 of none.
func (a Agreement) precision() float64 { return share(a.Both, a.Embedder) }

// recall is the share of the reference's that are the embedder's, 1 of none.
func (a Agreement) recall() float64 { return share(a.Both, a.Reference) }

func share(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// bent is a scale that is a function of the reference's.
type bent struct {
	name string
	bend func(float64) float64
}

func TestAMonotoneScaleIsReadOffExactly(t *testing.T) {
	groups, err := pairGroups()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []bent{
		{"the reference", func(c float64) float64 { return c }},
		{"half of it", func(c float64) float64 { return c / 2 }},
		{"cubed", func(c float64) float64 { return c * c * c }},
	} {
		var pairs []pair
		for i, g := range groups {
			for _, c := range slices.Concat(g.Cosines, g.Apart) {
				pairs = append(pairs, pair{group: i, reference: c, cosine: b.bend(c)})
			}
		}
		s := newScale(pairs)
		for _, stated := range []float64{Reference.Cluster, Reference.Neighbour, Reference.Novelty, Reference.Duplicate} {
			if got, want := s.at(stated), b.bend(stated); math.Abs(got-want) > 1e-3 {
				t.Errorf("%s: %.2f is %.4f, want %.4f", b.name, stated, got, want)
			}
		}
	}
}

// constant is an embedder to which all texts are one.
type constant struct{}

func (constant) Name() string                    { return "constant" }
func (constant) Embed(string) ([]float32, error) { return []float32{1, 0}, nil }

func TestAnEmbedderWithoutAScaleIsRefused(t *testing.T) {
	if _, err := Calibrate(constant{}, Reference); !errors.Is(err, ErrEmbedder) {
		t.Errorf("got %v", err)
	}
}
