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
	if stale := minilm.Stale(texts); stale != "" {
		t.Errorf("retrieval/embed/minilm/vectors.bin is not that of the shipped rules: %s. Make it anew: go generate ./retrieval/embed/minilm", stale)
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
