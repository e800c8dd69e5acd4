package skeleton

import (
	"testing"

	"github.com/writbus/writ/test/conformance"
)

// workedCase is a line of skeleton.jsonl.
type workedCase struct {
	ID      string  `json:"id"`
	Path    string  `json:"path"`
	Content string  `json:"content"`
	Valid   bool    `json:"valid"`
	Problem *string `json:"problem"`
}

func TestConformanceSkeleton(t *testing.T) {
	conformance.Run(t, "skeleton", func(t *testing.T, c workedCase) {
		want := ""
		if c.Problem != nil {
			want = *c.Problem
		}
		if got := Validate(c.Path, []byte(c.Content)); got.Code != want || (got == Problem{}) != c.Valid {
			t.Errorf("%s: got %+v, want %q", c.Path, got, want)
		}
	})
}
