package conformance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type example struct {
	Said string `json:"said"`
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(DirVar, dir)
	lines := "{\"id\":\"one\",\"said\":\"a\"}\n\n{\"id\":\"two\",\"said\":\"b\"}" // the last line has no end
	if err := os.WriteFile(filepath.Join(dir, "family.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	var ran []string
	Run(t, "family", func(t *testing.T, c example) {
		_, id, _ := strings.Cut(t.Name(), "/")
		ran = append(ran, id+" "+c.Said)
	})
	if want := []string{"one a", "two b"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
	if got := Cases[example](t, "family"); !slices.Equal(got, []example{{"a"}, {"b"}}) {
		t.Errorf("the cases are %v", got)
	}
}

func TestBadFamilies(t *testing.T) {
	for raw, want := range map[string]string{
		"":                             "no cases",
		"\n\n":                         "no cases",
		"{\"id\":\"one\"}\n\n{\"id\":": "line 3: unexpected end",
		"{\"id\":1}":                   "line 1: json: cannot unmarshal number",
		"{\"said\":1}":                 "line 1: json: cannot unmarshal number",
	} {
		if _, err := parse[example]([]byte(raw)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", raw, err, want)
		}
	}
}
