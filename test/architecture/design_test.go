package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDesignsNameWhatIsThere: a table of a room names files and folders that it has.
func TestDesignsNameWhatIsThere(t *testing.T) {
	root := filepath.Join("..", "..")
	listed, err := exec.Command("git", "-C", root, "ls-files", "*DESIGN.md").Output()
	if err != nil {
		t.Skipf("git does not list the files of the project: %v", err)
	}
	row := regexp.MustCompile("(?m)^\\| (`[^|]*) \\|")
	name := regexp.MustCompile("`([\\w/.-]+(?:\\.go|/))`")
	seen := 0
	for _, file := range strings.Fields(string(listed)) {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range row.FindAllStringSubmatch(string(text), -1) {
			for _, one := range name.FindAllStringSubmatch(cell[1], -1) {
				seen++
				if _, err := os.Stat(filepath.Join(root, filepath.Dir(file), one[1])); err != nil {
					t.Errorf("%s names %s, which is not there", file, one[1])
				}
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d names were read", seen)
	}
}
