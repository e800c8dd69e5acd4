package files

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

// TestManyProblemsDoNotFillTheScreen: of each kind a person is shown ten, and
// where the others are.
func TestManyProblemsDoNotFillTheScreen(t *testing.T) {
	for n, want := range map[int]string{10: "", 11: "… 11 in all (writ index status --json names them)", 100: "… 100 or more in all (writ index status --json names them)"} {
		s := schemas.ArtifactStatus{Exists: true, Revision: 1}
		for i := range n {
			s.Problems = append(s.Problems, schemas.ArtifactProblem{Path: fmt.Sprintf("p%d", i), Why: "permission denied"})
			s.Unresolved = append(s.Unresolved, schemas.ArtifactMention{Path: "a.md", Line: i + 1, Mention: "@b.md"})
		}
		var out bytes.Buffer
		a := &app{&client.Client{Out: &out}}
		a.showIndex(s)
		if got := strings.Count(out.String(), "permission denied"); got != mostShown {
			t.Errorf("of %d problems %d are shown", n, got)
		}
		if got := strings.Count(out.String(), "leads nowhere"); got != mostShown {
			t.Errorf("of %d mentions %d are shown", n, got)
		}
		if got := strings.Count(out.String(), "in all"); want == "" && got > 0 || want != "" && strings.Count(out.String(), want) != 2 {
			t.Errorf("of %d: %q", n, out.String())
		}
	}
}
