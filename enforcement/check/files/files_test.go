package files

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

func namesOf(files []schemas.CheckFile) (names []string) {
	for _, f := range files {
		names = append(names, f.Path)
	}
	slices.Sort(names)
	return names
}

func TestChangedReadsWhatGitSaysDiffers(t *testing.T) {
	dir := t.TempDir()
	tree := Tree{Dir: dir, Env: append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")}
	git := func(args ...string) {
		c := exec.Command("git", args...)
		c.Dir, c.Env = dir, tree.Env
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := tree.Changed(t.Context(), nil, "", false); err == nil {
		t.Fatal("a folder without a repository has changes")
	}
	git("init", "-q")
	write("kept.go", "package a\n")
	write("sub/größe.go", "package a\n")
	write("gone.go", "package a\n")
	git("add", ".")
	git("commit", "-qm", "one")
	write("sub/größe.go", "package a\n\nvar x = 1\n\n")
	write("new.go", "package a\n")
	write("blob.bin", "a\x00b")
	if err := os.Remove(filepath.Join(dir, "gone.go")); err != nil {
		t.Fatal(err)
	}
	files, diff, err := tree.Changed(t.Context(), nil, "", false)
	if got := namesOf(files); err != nil || !slices.Equal(got, []string{"new.go", "sub/größe.go"}) || !strings.Contains(diff, "+var x = 1") {
		t.Errorf("%v differ, not the new and the changed one: %v\n%s", got, err, diff)
	}
	if files, _, err = tree.Changed(t.Context(), nil, "", true); err != nil || len(files) != 0 {
		t.Errorf("%v is staged: %v", namesOf(files), err)
	}
	git("add", "sub")
	files, _, err = tree.Changed(t.Context(), nil, "", true)
	if err != nil || len(files) != 1 || files[0].Content != "package a\n\nvar x = 1\n\n" {
		t.Errorf("%+v is staged: %v", files, err)
	}
	files, err = tree.Named([]string{"."})
	if got := namesOf(files); err != nil || !slices.Equal(got, []string{"kept.go", "new.go", "sub/größe.go"}) {
		t.Errorf("the folder has %v: %v", got, err)
	}
	if _, err := tree.Named([]string{"none.go"}); err == nil || !strings.Contains(err.Error(), "none.go does not exist") {
		t.Errorf("a file that is not there: %v", err)
	}
}
