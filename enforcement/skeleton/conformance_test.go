package skeleton

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestConformanceSkeleton(t *testing.T) {
	dir := "testdata"
	if d := os.Getenv("WRIT_CONFORMANCE_DIR"); d != "" {
		dir = d
	}
	f, err := os.Open(filepath.Join(dir, "skeleton.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := bufio.NewReader(f)
	for n := 0; ; n++ {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			runCase(t, line)
		}
		if errors.Is(err, io.EOF) {
			if n == 0 {
				t.Fatal("no cases")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func runCase(t *testing.T, line []byte) {
	var c struct {
		ID      string  `json:"id"`
		Path    string  `json:"path"`
		Content string  `json:"content"`
		Valid   bool    `json:"valid"`
		Problem *string `json:"problem"`
	}
	if err := json.Unmarshal(line, &c); err != nil {
		t.Fatal(err)
	}
	want := ""
	if c.Problem != nil {
		want = *c.Problem
	}
	t.Run(c.ID, func(t *testing.T) {
		if got := Validate(c.Path, []byte(c.Content)); got.Code != want || (got == Problem{}) != c.Valid {
			t.Errorf("%s: got %+v, want %q", c.Path, got, want)
		}
	})
}
