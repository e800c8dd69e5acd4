package retrieval

import (
	"context"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/writbus/writ/schemas"
)

// Embedder turns texts into vectors of one dimension. It must be a function of
// the text alone and safe for concurrent use.
type Embedder interface {
	Name() string // with its version; part of the index and of every answer
	Embed(text string) ([]float32, error)
}

// batchEmbedder is an [Embedder] that embeds several texts in one go and returns
// for each what Embed does.
type batchEmbedder interface {
	EmbedBatch(ctx context.Context, texts []string) ([][]float32, error)
}

// views are the texts that are embedded, one vector each, of which the best
// counts: title and statement, trigger, each symptom, the whole.
func (d *Document) views() []string {
	r := d.Rule
	views := make([]string, 0, firstSymptom+len(r.Symptoms)+1)
	views = append(views, r.Title+". "+r.Statement, r.Trigger)
	views = append(views, r.Symptoms...)
	return append(views, strings.Join([]string{r.Title, r.Trigger, r.Statement, r.Rationale, r.Body}, ". "))
}

// firstSymptom is the place of the first symptom among the views.
const firstSymptom = 2

// Texts are what is embedded of the document: those of one that is always shown
// too, for prompts find what the band has no room for.
func (d Document) Texts() []string {
	return slices.DeleteFunc(d.views(), func(text string) bool { return strings.TrimSpace(text) == "" })
}

// Embed returns the document with an embedder's vectors of its views in place
// of those it had. A document that has them already is returned as it is.
func Embed(doc Document, e Embedder) (Document, error) {
	name := e.Name()
	if doc.EmbeddedBy() == name {
		return doc, nil
	}
	views := doc.views()
	embedded, err := embedTexts(e, doc.Texts())
	if err != nil {
		return doc, fmt.Errorf("embed rule %s with %s: %w", doc.Rule.ID, name, err)
	}
	var vectors []float32
	dim := 0
	for _, v := range embedded {
		if dim == 0 {
			dim = len(v)
			vectors = make([]float32, 0, dim*len(views))
		}
		if len(v) != dim {
			return doc, fmt.Errorf("embed rule %s with %s: a vector of %d dimensions after one of %d", doc.Rule.ID, name, len(v), dim)
		}
	}
	for _, text := range views {
		if strings.TrimSpace(text) == "" {
			vectors = append(vectors, make([]float32, dim)...)
			continue
		}
		vectors = append(vectors, unit(embedded[0])...)
		embedded = embedded[1:]
	}
	doc.meaning = &meaning{embedder: name, dim: dim, values: vectors}
	return doc, nil
}

// embedTexts embeds texts at once if the embedder can, else one after the other.
func embedTexts(e Embedder, texts []string) ([][]float32, error) {
	if batch, ok := e.(batchEmbedder); ok && len(texts) > 0 {
		vectors, err := batch.EmbedBatch(context.Background(), texts)
		if err == nil && len(vectors) != len(texts) {
			err = fmt.Errorf("%d vectors of %d texts", len(vectors), len(texts))
		}
		return vectors, err
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		var err error
		if vectors[i], err = e.Embed(text); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

// unit returns v at length one, or all zeros if it has no direction.
func unit(v []float32) []float32 {
	var square float64
	for _, x := range v {
		square += float64(float64(x) * float64(x))
	}
	norm := math.Sqrt(square)
	out := make([]float32, len(v))
	if norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
		return out
	}
	for i, x := range v {
		out[i] = float32(float64(x) / norm)
	}
	return out
}

// AnalyseAll analyses rules on all processors and embeds them, unless e is nil.
// What it returns is what [Analyse] and [Embed] return for each, in order. The
// error is that of the first rule that has one.
func AnalyseAll(rules []schemas.Rule, e Embedder) ([]Document, error) {
	return inParallel(len(rules), func(i int) (Document, error) {
		doc := Analyse(rules[i])
		if e == nil {
			return doc, nil
		}
		return Embed(doc, e)
	})
}

// UnmarshalDocuments decodes stored documents on all processors, in order. The
// error is that of the first that has one.
func UnmarshalDocuments(stored [][]byte) ([]Document, error) {
	return inParallel(len(stored), func(i int) (Document, error) { return UnmarshalDocument(stored[i]) })
}

// decodedAtOnce is how many documents are decoded together: enough to keep all
// processors busy, a few megabytes.
const decodedAtOnce = 512

// DecodeDocuments is [UnmarshalDocuments] of documents that come one after the
// other: their stored bytes are never in memory all at once. An error that comes
// instead of bytes ends it and is returned as it is. Each must have bytes of its
// own.
func DecodeDocuments(stored iter.Seq2[[]byte, error]) ([]Document, error) {
	var docs []Document
	batch := make([][]byte, 0, decodedAtOnce)
	decode := func() error {
		some, err := UnmarshalDocuments(batch)
		docs, batch = append(docs, some...), batch[:0]
		return err
	}
	for raw, err := range stored {
		if err != nil {
			return nil, err
		}
		if batch = append(batch, raw); len(batch) < decodedAtOnce {
			continue
		}
		if err := decode(); err != nil {
			return nil, err
		}
	}
	if err := decode(); err != nil {
		return nil, err
	}
	return docs, nil
}

// inParallel is n calls of a pure function, whose order nobody can tell.
func inParallel(n int, call func(int) (Document, error)) ([]Document, error) {
	docs, errs := make([]Document, n), make([]error, n)
	workers := min(runtime.GOMAXPROCS(0), n)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				docs[i], errs[i] = call(i)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return docs, nil
}
