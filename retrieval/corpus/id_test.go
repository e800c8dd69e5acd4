package corpus

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// readLines decodes a JSON Lines file, lines of any length.
func readLines[T any](t *testing.T, path string) []T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []T
	d := json.NewDecoder(bufio.NewReader(f))
	for {
		var v T
		err := d.Decode(&v)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%s: entry %d: %v", path, len(out)+1, err)
		}
		out = append(out, v)
	}
}

func TestConformanceRule_id(t *testing.T) {
	dir := "testdata"
	if other := os.Getenv("WRIT_CONFORMANCE_DIR"); other != "" {
		dir = other
	}
	type example struct {
		ID     string `json:"id"`
		RuleID string `json:"rule_id"`
		Valid  bool   `json:"valid"`
		Note   string `json:"note"`
	}
	cases := readLines[example](t, filepath.Join(dir, "rule_id.jsonl"))
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			if got := ValidID(c.RuleID); got != c.Valid {
				t.Errorf("ValidID(%q) = %v, want %v: %s", c.RuleID, got, c.Valid, c.Note)
			}
		})
	}
}
