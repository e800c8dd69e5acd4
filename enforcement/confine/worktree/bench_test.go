package worktree

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/writbus/writ/test/processor"
)

// bigTree has 10,000 files in 400 folders, tracked where git is installed.
func bigTree(b *testing.B, repository bool) *tree {
	b.Helper()
	files := map[string]string{".gitignore": "*.log\nnode_modules/\n/dist/\n.env\n"}
	for i := range 10_000 {
		files[fmt.Sprintf("pkg%02d/sub%d/file%d.go", i/500, i/25%20, i)] = fmt.Sprintf("package p%d\n", i)
	}
	return newTree(b, repository, files)
}

// leastOf reports the least time that one round took, of the wall clock and of
// the processors: a busy machine only adds to both.
func leastOf(b *testing.B) func(round func()) {
	wall, processors := time.Hour, time.Hour
	b.Cleanup(func() {
		b.ReportMetric(float64(wall.Microseconds())/1000, "least-ms")
		b.ReportMetric(float64(processors.Microseconds())/1000, "least-cpu-ms")
	})
	return func(round func()) {
		begun, used := time.Now(), processor.Time()
		round()
		wall, processors = min(wall, time.Since(begun)), min(processors, processor.Time()-used)
	}
}

// BenchmarkAfterCheck is the cost of one look at 10,000 files, and of git's
// own, which the after-check does without.
func BenchmarkAfterCheck(b *testing.B) {
	for _, repository := range []bool{true, false} {
		tr := bigTree(b, repository)
		b.Run(fmt.Sprintf("read/repository=%v", repository), func(b *testing.B) {
			least := leastOf(b)
			for b.Loop() {
				least(func() { tr.read() })
			}
		})
		before := tr.read()
		tr.write("pkg01/sub1/new.go", "package x\n")
		b.Run(fmt.Sprintf("changes/repository=%v", repository), func(b *testing.B) {
			least := leastOf(b)
			for b.Loop() {
				least(func() {
					if got, _ := tr.changes(before); len(got) != 1 {
						b.Fatal(got)
					}
				})
			}
		})
		if !repository {
			continue
		}
		b.Run("git status", func(b *testing.B) {
			for b.Loop() {
				c := exec.Command("git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
					"status", "--porcelain=v2", "-z", "--untracked-files=all")
				c.Dir = tr.root
				if _, err := c.Output(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
