package corpus

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/writbus/writ/test/conformance"
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

// idCase is a line of rule_id.jsonl.
type idCase struct {
	ID     string `json:"id"`
	RuleID string `json:"rule_id"`
	Valid  bool   `json:"valid"`
	Note   string `json:"note"`
}

func TestConformanceRule_id(t *testing.T) {
	conformance.Run(t, "rule_id", func(t *testing.T, c idCase) {
		if got := ValidID(c.RuleID); got != c.Valid {
			t.Errorf("ValidID(%q) = %v, want %v: %s", c.RuleID, got, c.Valid, c.Note)
		}
	})
}
