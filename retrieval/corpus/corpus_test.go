package corpus

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the embedded rules in canonical form")

func TestEmbeddedIsCanonical(t *testing.T) {
	files, _ := filepath.Glob("rules/*/*.md")
	if len(files) == 0 {
		t.Fatal("no rule files")
	}
	for _, path := range files {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Parse(path, src)
		if err != nil {
			t.Error(err)
			continue
		}
		want := Render(r)
		if bytes.Equal(src, want) {
			continue
		}
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("%s is not in canonical form: run go test ./retrieval/corpus -run Canonical -update", path)
	}
}
