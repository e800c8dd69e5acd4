package confine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestModulesOfMavenHaveTargetsOfTheirOwn: each module below the root's pom.xml, and
// nothing that a link leads to.
func TestModulesOfMavenHaveTargetsOfTheirOwn(t *testing.T) {
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	for _, file := range []string{"pom.xml", "cart/pom.xml", "cart/deep/pom.xml", "docs/x/pom.xml", "till/pom.xml"} {
		at := filepath.Join(project, file)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(elsewhere, filepath.Join(project, "till", "target")); err != nil {
		t.Fatal(err)
	}
	got := caches(Options{Home: t.TempDir()}, project, nil)
	for dir, want := range map[string]bool{"target": true, "cart/target": true, "cart/deep/target": true, "docs/x/target": false, "till/target": false} {
		if is := slices.Contains(got, filepath.Join(project, dir)); is != want {
			t.Errorf("%s may be written: %v, want %v; %v", dir, is, want, got)
		}
	}
}
