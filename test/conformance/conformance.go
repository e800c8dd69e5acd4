// Package conformance runs the specification's worked cases. A family of them is
// a file of JSON Lines, which a package keeps verbatim in its testdata.
package conformance

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// DirVar names a folder whose cases are run in place of a package's own, so that
// anybody can bring some.
const DirVar = "WRIT_CONFORMANCE_DIR"

// Run runs every case of a family as a subtest that has the case's id for a name.
func Run[C any](t *testing.T, family string, check func(*testing.T, C)) {
	t.Helper()
	for _, c := range cases[C](t, family) {
		t.Run(c.id, func(t *testing.T) { check(t, c.data) })
	}
}

// Cases are those of a family, for a test that looks at them in another way.
func Cases[C any](t testing.TB, family string) []C {
	t.Helper()
	var all []C
	for _, c := range cases[C](t, family) {
		all = append(all, c.data)
	}
	return all
}

type worked[C any] struct {
	id   string
	data C
}

func cases[C any](t testing.TB, family string) []worked[C] {
	t.Helper()
	dir := os.Getenv(DirVar)
	dir = cmp.Or(dir, "testdata")
	path := filepath.Join(dir, family+".jsonl")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := parse[C](raw)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return all
}

func parse[C any](raw []byte) ([]worked[C], error) {
	var all []worked[C]
	n := 0
	for line := range bytes.Lines(raw) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var c worked[C]
		var named struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(line, &named); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if err := json.Unmarshal(line, &c.data); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		c.id = named.ID
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, errors.New("no cases")
	}
	return all, nil
}
