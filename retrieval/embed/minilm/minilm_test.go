package minilm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

func embedder(t *testing.T) *Embedder {
	t.Helper()
	e, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestTheModelIsWhole: its name says what it holds.
func TestTheModelIsWhole(t *testing.T) {
	const before = 8 + 6 // the mark, and the sum itself
	e := embedder(t)
	if len(shippedModel) > 16<<20 {
		t.Errorf("%d bytes", len(shippedModel))
	}
	m, err := e.model()
	if err != nil {
		t.Fatal(err)
	}
	if m.Name() != e.Name() || m.Dim() != e.Dim() {
		t.Errorf("%s of %d dimensions, said %s of %d", m.Name(), m.Dim(), e.Name(), e.Dim())
	}
	sum := sha256.Sum256([]byte(shippedModel[before:]))
	if want := name + "@" + hex.EncodeToString(sum[:6]); e.Name() != want {
		t.Errorf("it is %s, by its bytes %s", e.Name(), want)
	}
}

// TestKnownTextsAreWhatTheEncoderMakes: what is at hand and what is made are one
// embedder's.
func TestKnownTextsAreWhatTheEncoderMakes(t *testing.T) {
	e := embedder(t)
	text := "how far away is the moon" // of the background
	if !e.Known(text) || e.Known(text+"?") {
		t.Fatal("the texts at hand are others")
	}
	m, err := e.model()
	if err != nil {
		t.Fatal(err)
	}
	made, err := m.Embed(text)
	if err != nil {
		t.Fatal(err)
	}
	others := []string{text + "?", text, "another"}
	batch, err := e.EmbedBatch(t.Context(), others)
	if err != nil {
		t.Fatal(err)
	}
	if c := cosine(made, batch[1]); c < 0.9995 {
		t.Errorf("cosine %.5f", c)
	}
	for i, text := range others {
		alone, err := e.Embed(text)
		if err != nil || cosine(alone, batch[i]) < 0.99999 {
			t.Errorf("%q differs in a batch (%v)", text, err)
		}
	}
}

func TestListsOfVectors(t *testing.T) {
	e := embedder(t)
	raw, err := Encode(t.Context(), []string{"b", "a", "b", ""})
	if err != nil {
		t.Fatal(err)
	}
	k, err := readKnown(string(raw), e.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"a", "b", ""} {
		want, err := e.model()
		if err != nil {
			t.Fatal(err)
		}
		v, _ := want.Embed(text)
		at, found := k.find(text)
		if !found || cosine(v, k.vector(at)) < 0.9995 {
			t.Errorf("%q: %v", text, found)
		}
	}
	if _, found := k.find("c"); found {
		t.Error("a text that is not there is found")
	}
	if _, err := readKnown(string(raw), "another@1"); err == nil {
		t.Error("vectors of another model are taken")
	}
	if _, err := readKnown(string(bytes.TrimSuffix(raw, raw[len(raw)-1:])), e.Name()); err == nil {
		t.Error("half a vector is taken")
	}
}

func cosine(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
