package chunk

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkSplit cuts the packages of the standard library whose names begin
// with "n": some 6 MB of Go. It measures one core.
func BenchmarkSplit(b *testing.B) {
	var texts []string
	size := 0
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skipf("no sources of the standard library: no go: %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if err == nil && !d.IsDir() && strings.HasPrefix(rel, "n") && strings.HasSuffix(path, ".go") {
			raw, readErr := os.ReadFile(path)
			texts = append(texts, string(raw))
			size += len(raw)
			return readErr
		}
		return err
	})
	if err != nil || len(texts) == 0 {
		b.Skipf("no sources of the standard library at %s: %v", root, err)
	}
	b.SetBytes(int64(size))
	c := new(Scratch)
	b.ResetTimer()
	for b.Loop() {
		for _, text := range texts {
			Split("go", text, c)
		}
	}
}
