package curation

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// gateCase is a line of structural_gate.jsonl.
type gateCase struct {
	ID         string          `json:"id"`
	Proposal   json.RawMessage `json:"proposal"`
	Existing   []schemas.Rule  `json:"existing"`
	Similarity []Similar       `json:"similarity"`
	Admitted   bool            `json:"admitted"`
	Checks     map[Check]bool  `json:"checks"`
	Note       string          `json:"note"`
}

// disputed lists cases that are believed wrong, with the reason.
var disputed = map[string]string{}

func TestConformanceStructuralGate(t *testing.T) {
	dir := os.Getenv("WRIT_CONFORMANCE_DIR")
	if dir == "" {
		dir = "testdata"
	}
	file, err := os.Open(filepath.Join(dir, "structural_gate.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, cases := bufio.NewReader(file), 0
	for {
		line, readErr := lines.ReadBytes('\n')
		if len(line) > 0 {
			var c gateCase
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatal(err)
			}
			cases++
			t.Run(c.ID, c.run)
		}
		if readErr == io.EOF {
			break
		}
		if readErr != nil {
			t.Fatal(readErr)
		}
	}
	if cases == 0 {
		t.Fatal("no cases")
	}
}

func (c gateCase) run(t *testing.T) {
	view := Corpus{Nodes: c.Existing, Cosines: make([]float64, len(c.Existing))}
	for _, s := range c.Similarity {
		i := slices.IndexFunc(c.Existing, func(n schemas.Rule) bool { return n.ID == s.ID })
		if i < 0 {
			t.Fatalf("similarity to %s, which does not exist", s.ID)
		}
		view.Cosines[i] = s.Cosine
	}
	f := Gate{Thresholds: Reference}.Judge(Parse(c.Proposal), view)
	var differs []string
	if f.Admitted != c.Admitted {
		differs = append(differs, "admitted")
	}
	for check, passed := range c.Checks {
		if f.Passed(check) != passed {
			differs = append(differs, string(check))
		}
	}
	if reason, is := disputed[c.ID]; is {
		if len(differs) == 0 {
			t.Errorf("the case agrees now: strike it from the list (%s)", reason)
		}
		return
	}
	if len(differs) > 0 {
		t.Errorf("%s differ (%s): %s", differs, c.Note, strings.Join(f.Texts(), "\n"))
	}
	if f.Node.Authority != "ai-provisional" || f.Node.Confidence != "speculative" {
		t.Errorf("kept as %s and %s", f.Node.Authority, f.Node.Confidence)
	}
}
