package search

import (
	"bytes"
	"errors"
	"math/rand"
	"reflect"
	"testing"
	"time"

	"github.com/writbus/writ/retrieval/artifact"
)

func saved(t failing, ix *Index) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := ix.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func load(b []byte, e Embedder) (*Index, error) {
	return Load(bytes.NewReader(b), int64(len(b)), e)
}

func TestASavedIndexIsTheSame(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	for _, e := range []Embedder{nil, letterVectors{}} {
		for _, n := range []int{0, 1, 300} {
			docs := randomDocuments(r, n)
			for i, d := range docs {
				d.Size, d.Generated = int64(i), i%7 == 0
				if i%3 == 0 {
					d.ModTime, d.References, d.Hash = time.Unix(int64(i), 5).UTC(), []string{"a.md"}, "ab"
				}
			}
			entries := analysed(t, e, docs...)
			ix := New(entries[:n/3*2], e).Update(entries[n/3*2:], nil)
			if n > 2 {
				ix = ix.Update(nil, []string{docs[0].Path, docs[n/2].Path})
			}
			b := saved(t, ix)
			again, err := load(b, e)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := segments(again), segments(ix); !reflect.DeepEqual(got, want) {
				t.Fatalf("%d documents differ after they were saved", n)
			}
			if !bytes.Equal(saved(t, again), b) {
				t.Fatalf("%d documents, saved again, are other bytes", n)
			}
			q := Query{Text: "retry timeout", Method: TwoStage, Explain: true}
			if got, want := found(t, again, q), found(t, ix, q); again.Len() != ix.Len() || !reflect.DeepEqual(got.Hits, want.Hits) {
				t.Fatalf("%d documents are found as %+v, want %+v", n, got.Hits, want.Hits)
			}
		}
	}
}

func TestWhatIsNoSavedIndexIsRefused(t *testing.T) {
	ix := New(analysed(t, letterVectors{}, randomDocuments(rand.New(rand.NewSource(8)), 5)...), letterVectors{})
	b := saved(t, ix)
	for n := range b {
		if _, err := load(b[:n], letterVectors{}); !errors.Is(err, ErrSaved) {
			t.Fatalf("the first %d bytes of %d: %v", n, len(b), err)
		}
	}
	if _, err := load(append(bytes.Clone(b), 0), letterVectors{}); !errors.Is(err, ErrSaved) {
		t.Error("a byte more:", err)
	}
	if _, err := load(b, nil); !errors.Is(err, ErrSaved) {
		t.Error("another embedder:", err)
	}
	other := bytes.Clone(b)
	other[0]++
	if _, err := load(other, letterVectors{}); !errors.Is(err, ErrSaved) {
		t.Error("another format:", err)
	}
}

// FuzzLoad searches whatever could be loaded.
func FuzzLoad(f *testing.F) {
	d := file("docs/retry.md", "retry retry the timeout of a mutex")
	d.Chunks = append(d.Chunks, artifact.Chunk{Lines: [2]int{3, 4}, Heading: "a > b", Text: "timeout", Symbols: []string{"Retry"}})
	for _, e := range []Embedder{nil, letterVectors{}} {
		f.Add(saved(f, New(analysed(f, e, d, file("b.go", "func lock")), e)), e != nil)
	}
	f.Fuzz(func(t *testing.T, b []byte, vectors bool) {
		var e Embedder
		if vectors {
			e = letterVectors{}
		}
		ix, err := load(b, e)
		if err != nil {
			if !errors.Is(err, ErrSaved) {
				t.Fatal(err)
			}
			return
		}
		found(t, ix, Query{Text: "retry timeout mutex Retry", Method: TwoStage, PerFile: 3})
		saved(t, ix.Update(analysed(t, e, file("c.go", "retry")), []string{"b.go"}))
	})
}
