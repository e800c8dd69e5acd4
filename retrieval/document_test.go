package retrieval

import (
	"bytes"
	"errors"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

func TestDocumentsRoundTrip(t *testing.T) {
	rules := append(corpusRules(),
		schemas.Rule{ID: "X"},
		schemas.Rule{ID: "BAD-\xff", Trigger: "\x00\xc3", Symptoms: []string{"\xff"}, Tags: []string{}, Edges: []schemas.Edge{{Type: "\xfe", Target: "Y"}}},
		schemas.Rule{ID: "LONG", Body: strings.Repeat("every word counts; ", 2000)},
	)
	for _, rule := range rules {
		doc := Analyse(rule)
		stored, err := doc.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		back, err := UnmarshalDocument(stored)
		if err != nil {
			t.Fatalf("%s: %v", rule.ID, err)
		}
		if !reflect.DeepEqual(back, doc) {
			t.Errorf("%s: got %+v, want %+v", rule.ID, back, doc)
		}
	}
}

func TestUnmarshalDocumentRefuses(t *testing.T) {
	good, err := Analyse(corpusRules()[0]).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Clone(good)
	other[0]++
	for name, c := range map[string]struct {
		bytes []byte
		want  error
	}{
		"nothing":         {nil, ErrDocument},
		"another version": {other, ErrDocumentVersion},
		"cut short":       {good[:len(good)-1], ErrDocument},
		"too long":        {append(slices.Clone(good), 0), ErrDocument},
		"a huge length":   {slices.Concat([]byte{storedVersion, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, make([]byte, 1000)), ErrDocument},
	} {
		if _, err := UnmarshalDocument(c.bytes); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	for n := range good {
		if _, err := UnmarshalDocument(good[:n]); err == nil {
			t.Errorf("the first %d of %d bytes decode", n, len(good))
		}
	}
}

func FuzzUnmarshalDocument(f *testing.F) {
	for _, rule := range corpusRules()[:3] {
		stored, err := Analyse(rule).MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(stored)
	}
	f.Add([]byte{storedVersion})
	f.Add(slices.Concat([]byte{storedVersion}, make([]byte, headBytes+80)))
	embedded, err := Embed(Analyse(corpusRules()[3]), topical{words: []string{"list"}})
	if err != nil {
		f.Fatal(err)
	}
	stored, err := embedded.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(stored)
	f.Fuzz(func(t *testing.T, stored []byte) {
		doc, err := UnmarshalDocument(stored)
		if err != nil {
			return
		}
		once, err := doc.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		again, err := UnmarshalDocument(once)
		if err != nil {
			t.Fatalf("what was decoded does not decode again: %v", err)
		}
		twice, err := again.MarshalBinary()
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("encoding is not stable: %v", err)
		}
		if doc.Rule.ID != "" {
			ix, err := NewIndex([]Document{doc}, Options{})
			if err != nil && !errors.Is(err, ErrNoID) {
				t.Fatal(err)
			}
			if err == nil {
				ix.Search(Query{Text: doc.Rule.ID + " " + doc.Rule.Statement, Raw: true})
			}
		}
	})
}

// More documents than are decoded together, and an error among them.
func TestDecodeDocumentsTakesThemAsTheyCome(t *testing.T) {
	raw, err := Analyse(corpusRules()[0]).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	stored := func(n int, last []byte, err error) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			for range n {
				if !yield(raw, nil) {
					return
				}
			}
			if last != nil || err != nil {
				yield(last, err)
			}
		}
	}
	for _, n := range []int{0, 1, decodedAtOnce, decodedAtOnce + 1} {
		docs, err := DecodeDocuments(stored(n, nil, nil))
		if err != nil || len(docs) != n || n > 0 && docs[n-1].Rule.ID != corpusRules()[0].ID {
			t.Errorf("%d documents of %d: %v", len(docs), n, err)
		}
		if _, err := DecodeDocuments(stored(n, nil, broken)); !errors.Is(err, broken) {
			t.Errorf("an error after %d: %v", n, err)
		}
		if _, err := DecodeDocuments(stored(n, []byte{0}, nil)); !errors.Is(err, ErrDocumentVersion) {
			t.Errorf("another version after %d: %v", n, err)
		}
	}
}
