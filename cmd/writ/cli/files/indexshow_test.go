package files

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/cmd/internal/config"
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

// TestARepositoryInAProjectHasAnIndexOfItsOwn: and a folder of a project narrows
// the project's index by a path alone that it names.
func TestARepositoryInAProjectHasAnIndexOfItsOwn(t *testing.T) {
	outer := t.TempDir()
	inner, sub := filepath.Join(outer, "inner"), filepath.Join(outer, "inner", "sub")
	for _, dir := range []string{filepath.Join(outer, ".writ"), filepath.Join(inner, ".git"), sub} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outer, config.ProjectFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string][]string{outer: {outer}, inner: {inner, outer}, sub: {inner, outer}} {
		a := &app{&client.Client{Env: client.Env{Dir: dir}}}
		if got := a.projects(); !slices.Equal(got, want) {
			t.Errorf("in %s: %v, want %v", dir, got, want)
		}
	}
	for dir, want := range map[string][]string{inner: {"**"}, sub: nil} {
		a := &app{&client.Client{Env: client.Env{Dir: dir}}}
		if got, err := a.indexed(inner, "").globs([]string{"."}); err != nil || !slices.Equal(got, want) {
			t.Errorf("build . in %s looks at %v, %v, want %v", dir, got, err, want)
		}
	}
}
