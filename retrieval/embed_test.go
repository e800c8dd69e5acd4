package retrieval

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
)

// counting counts what it embeds.
type counting struct {
	topical
	name  string
	calls *atomic.Int64
}

func (e counting) Name() string { return e.name }

func (e counting) Embed(text string) ([]float32, error) {
	e.calls.Add(1)
	return e.topical.Embed(text)
}

func embeddedCorpus(t *testing.T, e Embedder) []Document {
	t.Helper()
	docs, err := AnalyseAll(corpusRules(), e)
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func TestAColdStartEmbedsNoRule(t *testing.T) {
	var calls atomic.Int64
	e := counting{topical{words: []string{"error", "query"}}, "counting@1", &calls}
	docs := embeddedCorpus(t, e)
	if _, err := NewIndex(docs, Options{Embedder: e}); err != nil { // and what the background costs, once
		t.Fatal(err)
	}
	calls.Store(0)
	var stored [][]byte
	for _, doc := range docs {
		raw, err := doc.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, raw)
	}
	back, err := UnmarshalDocuments(stored)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, docs) {
		t.Error("documents differ after their stored form")
	}
	warm, err := NewIndex(back, Options{Embedder: e})
	if err != nil {
		t.Fatal(err)
	}
	if calls.Load() != 0 {
		t.Errorf("a cold start embedded %d texts", calls.Load())
	}
	fresh := newTestIndex(t, corpusRules(), Options{Embedder: e})
	if calls.Load() == 0 || warm.Info() != fresh.Info() {
		t.Errorf("%d calls; %+v from stored documents, %+v from rules", calls.Load(), warm.Info(), fresh.Info())
	}
	q := Query{Text: "an error in a query", Raw: true}
	if got, want := warm.Search(q), fresh.Search(q); !reflect.DeepEqual(got, want) {
		t.Errorf("stored documents answer\n%+v\nfresh ones\n%+v", got, want)
	}
}

func TestAnotherEmbedderIsEmbeddedAnew(t *testing.T) {
	var calls atomic.Int64
	one := counting{topical{words: []string{"error"}}, "counting@one", &calls}
	two := counting{topical{words: []string{"error", "query"}}, "counting@two", &calls}
	docs := embeddedCorpus(t, one)
	calls.Store(0)
	ix, err := NewIndex(docs, Options{Embedder: two})
	if err != nil || calls.Load() == 0 || ix.Embedder() != "counting@two" {
		t.Errorf("%d calls, %v", calls.Load(), err)
	}
	if doc, _ := ix.Document("GO-ERR-001"); doc.EmbeddedBy() != "counting@two" {
		t.Errorf("embedded by %q", doc.EmbeddedBy())
	}
	if docs[0].EmbeddedBy() != "counting@one" {
		t.Error("building an index changed the documents it was given")
	}
	if a, b := StoredVersion(one.Name()), StoredVersion(two.Name()); a == b || StoredVersion("") < AnalysisVersion || a < StoredVersion("") {
		t.Errorf("versions %d, %d and %d", a, b, StoredVersion(""))
	}
}

func TestEmbedKeepsUnitVectors(t *testing.T) {
	doc, err := Embed(Analyse(corpusRules()[0]), topical{words: []string{"error", "log"}})
	if err != nil {
		t.Fatal(err)
	}
	if doc.meaning.vectors() != len(doc.views()) {
		t.Fatalf("%d vectors of %d views", doc.meaning.vectors(), len(doc.views()))
	}
	for i := range doc.meaning.vectors() {
		v := doc.meaning.vector(i)
		if norm := near(v, v); math.Abs(norm-1) > 1e-5 {
			t.Errorf("view %d has length² %.6f", i, norm)
		}
	}
}

// uneven gives texts vectors of as many dimensions as they have words.
type uneven struct{}

func (uneven) Name() string { return "uneven@1" }
func (uneven) Embed(text string) ([]float32, error) {
	return make([]float32, len(strings.Fields(text))), nil
}

// invalid gives values that are no numbers.
type invalid struct{}

func (invalid) Name() string { return "invalid@1" }
func (invalid) Embed(string) ([]float32, error) {
	return []float32{float32(math.NaN()), float32(math.Inf(1))}, nil
}

func TestEmbeddersThatMisbehave(t *testing.T) {
	if _, err := AnalyseAll(corpusRules(), uneven{}); err == nil || !strings.Contains(err.Error(), "GO-ERR-001") {
		t.Errorf("vectors of several dimensions: %v", err)
	}
	ix := newTestIndex(t, corpusRules(), Options{Embedder: invalid{}})
	a := ix.Search(Query{Text: "wrap errors once per layer"})
	if len(a.Rules) == 0 || a.Rules[0].ID != "GO-ERR-001" || math.IsNaN(a.Rules[0].Score) || math.IsNaN(a.Probability) {
		t.Errorf("vectors without direction: %+v", a)
	}
}

func TestDocumentsWithDamagedVectorsAreRefused(t *testing.T) {
	doc, err := Embed(Analyse(corpusRules()[0]), topical{words: []string{"error", "log"}})
	if err != nil {
		t.Fatal(err)
	}
	good, err := doc.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for n := range good {
		if _, err := UnmarshalDocument(good[:n]); !errors.Is(err, ErrDocument) {
			t.Fatalf("the first %d of %d bytes: %v", n, len(good), err)
		}
	}
}

func TestProfilesAreChosenByEmbedder(t *testing.T) {
	mine := Profile{Name: "mine", Fusion: FusionConvex, Vector: 1, Embedders: []string{"topical"}}
	ix := newTestIndex(t, corpusRules(), Options{Embedder: topical{words: []string{"error"}}, Profiles: []Profile{mine}})
	for asked, want := range map[string]string{
		"": "mine", ProfileReference: ProfileReference, "unknown": "mine", ProfileStatic: ProfileStatic,
	} {
		if got := ix.Search(Query{Text: "errors", Profile: asked}).Profile; got != want {
			t.Errorf("asked for %q: %q, want %q", asked, got, want)
		}
	}
	plain := newTestIndex(t, corpusRules(), Options{Embedder: topical{words: []string{"error"}}})
	if got := plain.Search(Query{Text: "errors"}).Profile; got != ProfileStatic {
		t.Errorf("an embedder nobody fitted a profile for uses %q", got)
	}
}

// together embeds several texts in one go, all but the last of them if short.
type together struct {
	counting
	short bool
}

func (e together) EmbedBatch(_ context.Context, texts []string) ([][]float32, error) {
	var vectors [][]float32
	for _, text := range texts {
		v, err := e.topical.Embed(text)
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, v)
	}
	if e.short {
		vectors = vectors[1:]
	}
	return vectors, nil
}

func TestViewsAreEmbeddedTogether(t *testing.T) {
	var one, batch atomic.Int64
	single := counting{topical{words: []string{"error", "query"}}, "counting@1", &one}
	many := together{counting: counting{single.topical, single.name, &batch}}
	if !reflect.DeepEqual(embeddedCorpus(t, many), embeddedCorpus(t, single)) {
		t.Error("embedded together, documents differ")
	}
	if one.Load() == 0 || batch.Load() != 0 {
		t.Errorf("%d texts embedded one by one where that is all there is, %d beside batches", one.Load(), batch.Load())
	}
	many.short = true
	if _, err := Embed(Analyse(corpusRules()[0]), many); err == nil || !strings.Contains(err.Error(), corpusRules()[0].ID) {
		t.Errorf("a vector too few: %v", err)
	}
}
