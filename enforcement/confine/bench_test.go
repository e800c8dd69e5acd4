package confine

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkConfine is what confinement adds to /bin/true: the whole process of
// this test, which starts more slowly than writ does, and the parts of it.
func BenchmarkConfine(b *testing.B) {
	needLandlock(b)
	w := newWorld(b, os.Geteuid())
	o := w.options(Implementation, "/bin/true")
	for name, c := range map[string]func() *exec.Cmd{
		"true":          func() *exec.Cmd { return w.plain("/bin/true") },
		"confined true": func() *exec.Cmd { return w.confined(o) },
		"start alone":   func() *exec.Cmd { return w.plain(helper, helperArg, "{") },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_ = c().Run()
			}
		})
	}
	b.Run("limits", func(b *testing.B) {
		for b.Loop() {
			limitsOf(o)
		}
	})
	b.Run("guard", func(b *testing.B) {
		for b.Loop() {
			Guard(w.project, nil).Close()
		}
	})
	b.Run("spread", func(b *testing.B) {
		for b.Loop() {
			spread("/", []string{filepath.Join(w.data)})
		}
	})
}
