package approval

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestConformanceApproval(t *testing.T) {
	dir := "testdata"
	if d := os.Getenv("WRIT_CONFORMANCE_DIR"); d != "" {
		dir = d
	}
	f, err := os.Open(filepath.Join(dir, "approval.jsonl"))
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
		ID      string `json:"id"`
		Prompt  string `json:"prompt"`
		Gate    Gate   `json:"gate"`
		Approve bool   `json:"approve"`
	}
	if err := json.Unmarshal(line, &c); err != nil {
		t.Fatal(err)
	}
	t.Run(c.ID, func(t *testing.T) {
		if got := Judge(c.Prompt, c.Gate); got.Approves != c.Approve || got.Reason == "" {
			t.Errorf("%s %q: got %+v, want %v", c.Gate, c.Prompt, got, c.Approve)
		}
	})
}
