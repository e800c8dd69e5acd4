package plan

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func has(ids []string) func(string) bool {
	return func(id string) bool { return slices.Contains(ids, id) }
}

func keys(problems []Problem) []string {
	out := []string{}
	for _, p := range problems {
		out = append(out, p.Key())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestConformancePlan(t *testing.T) {
	dir := "testdata"
	if d := os.Getenv("WRIT_CONFORMANCE_DIR"); d != "" {
		dir = d
	}
	f, err := os.Open(filepath.Join(dir, "plan.jsonl"))
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
		ID       string   `json:"id"`
		Plan     string   `json:"plan"`
		Loaded   []string `json:"loaded_rules"`
		Known    []string `json:"known_rules"`
		Valid    bool     `json:"valid"`
		Problems []string `json:"problems"`
	}
	if err := json.Unmarshal(line, &c); err != nil {
		t.Fatal(err)
	}
	t.Run(c.ID, func(t *testing.T) {
		_, problems := Validate([]byte(c.Plan), has(c.Loaded), has(c.Known))
		want := append([]string{}, c.Problems...)
		slices.Sort(want)
		if d := cmp.Diff(want, keys(problems)); d != "" || c.Valid != (problems == nil) {
			t.Errorf("valid want %v, problems (-want +got):\n%s\n%+v", c.Valid, d, problems)
		}
	})
}
