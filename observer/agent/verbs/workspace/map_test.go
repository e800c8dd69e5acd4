package workspace

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestMap(t *testing.T) {
	b := newBench(t, map[string]string{
		"main.go": "package main\n\nfunc main() {}\n", "docs/a.md": "# A\n", "docs/deep/b.md": strings.Repeat("x", 1500), ".gitignore": "*.log\nbuild/\n",
		"x.log": "", "build/out": "", ".git/config": "", "docs/.gitignore": "c.md\n", "docs/c.md": "", "odd\nname": "", "private/data": "secret",
	})
	b.link(b.outside, "out")
	b.options.Private = []string{filepath.Join(b.dir, "private")}
	b.options.Outline = func(name string, text []byte) []string {
		if strings.HasSuffix(name, ".go") && strings.Contains(string(text), "func main") {
			return []string{"func main", "type\nX"}
		}
		return nil
	}
	b.handlers = Handlers(b.options)
	want := `the workspace: 7 files, 1.6 kB
.gitignore 13 B
build/ (ignored by git)
docs/ (3 files, 1.5 kB)
  .gitignore 5 B
  a.md 4 B
  c.md (ignored by git)
  deep/ (1 file, 1.5 kB)
    b.md 1.5 kB
main.go 29 B: func main, type X
"odd\nname" 0 B
out (a link)
private/ (not read)
x.log (ignored by git)
`
	if r := b.call("map", "", nil); r.Text != want {
		t.Errorf("got\n%s\nexpected\n%s", r.Text, want)
	}
	for args, want := range map[string]string{
		"docs/deep/": "docs/deep: 1 file, 1.5 kB\nb.md 1.5 kB\n", "main.go": "ERR: main.go is no folder. Adapt: /read main.go shows a file.",
		"out": "ERR: out leads out of the workspace. Adapt: use a path below the workspace.", "..": "ERR: .. is outside of the workspace. Adapt: name a path below the workspace.",
		"private": "ERR: private is among Writ's own data. Adapt: do without it.",
	} {
		if r := b.call("map", args, nil); r.Text != want {
			t.Errorf("/map %s: %q", args, r.Text)
		}
	}
	if r := b.call("map", "docs", nil); !strings.Contains(r.Text, "c.md (ignored by git)") {
		t.Errorf("the rules above a folder do not count: %q", r.Text)
	}
}

// TestMapFits has more files than a result holds: folders stay closed, and
// their sums say what is in them.
func TestMapFits(t *testing.T) {
	files := map[string]string{"go.mod": "module x\n"}
	for d := range 15 {
		for f := range 60 {
			files[fmt.Sprintf("dir%02d/some-file-%02d.txt", d, f)] = "x"
		}
	}
	b := newBench(t, files)
	b.limits.Body = 4 << 10
	r := b.call("map", "", nil)
	if len(r.Text) > b.limits.Body {
		t.Errorf("%d bytes", len(r.Text))
	}
	for _, want := range []string{"the workspace: 901 files", "dir00/ (60 files, 60 B)\n  some-file-00.txt 1 B\n", "dir14/ (60 files, 60 B)\ngo.mod"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("no %q in %q", want, r.Text[:500])
		}
	}
}
