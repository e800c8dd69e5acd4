package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/retrieval/embed/minilm"
)

// TestShippedVectorsAreThoseOfTheShippedTexts fails when a shipped rule or a text
// of the background has changed since.
func TestShippedVectorsAreThoseOfTheShippedTexts(t *testing.T) {
	texts, err := shippedTexts()
	if err != nil {
		t.Fatal(err)
	}
	e, err := minilm.Default()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, text := range texts {
		if seen[text] = true; !e.Known(text) {
			t.Errorf("vectors.bin lacks %.80q. Make it anew: go generate ./retrieval/embed/minilm", text)
		}
	}
	if n := e.Texts(); n != len(seen) {
		t.Errorf("vectors.bin holds %d texts, of which %d are in use. Make it anew: go generate ./retrieval/embed/minilm", n, len(seen))
	}
}

func TestEncodersThatCannotBePacked(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"of what":           {[]string{"encoder"}, 2, "--data"},
		"no model":          {[]string{"encoder", "--data", dir, "--out", filepath.Join(dir, "m")}, 1, "config.json"},
		"nowhere to put it": {[]string{"vectors"}, 2, "--out"},
	} {
		if code, _, errs := trained(t, c.args...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%s: %d %s", name, code, errs)
		}
	}
}
