package files

import (
	"slices"
	"testing"
)

// What is looked at where nobody said which: Markdown wherever it lies, and of
// what is hidden only what a glob names.
func TestDefaultGlobs(t *testing.T) {
	rules := map[string]string{".gitignore": "/out/\n", ".writignore": "drafts/\n!.cursor/\n"}
	for name, c := range map[string]struct{ in, out []string }{
		"a Go project": {
			[]string{
				"go.mod", "README.md", "docs/a.md", "bus/DESIGN.md", "bus/bus.go", "bus/guide/deep/x.markdown", "web/page.mdx", ".cursor/notes.md",
				"test/data.txt",
			},
			[]string{
				"bus/data.txt", "out/built.md", "drafts/a.md", "bus/drafts/b.md", "vendor/x/README.md", "web/node_modules/y/README.md",
				".github/CONTRIBUTING.md", ".git/notes.md",
			},
		},
		"an aiwg project": {
			[]string{"Cargo.toml", "src/lib.rs", ".aiwg/requirements/uc/1.md", ".aiwg/research/r.md", "crates/one/NOTES.md"},
			[]string{".aiwg/working/scratch.md", ".aiwg/plan.md", ".aiwg/requirements/x.json", "crates/one/data.txt"},
		},
		"one that shows no language": {[]string{"notes.txt", "a/b.md", "x.weird"}, []string{".env", ".aiwg2/a.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTree(t)
			for path, text := range rules {
				tr.write(path, text)
			}
			for _, path := range slices.Concat(c.in, c.out) {
				tr.write(path, "something to read\n")
			}
			p := tr.open(&journal{})
			update(t, p, Update{})
			for _, path := range slices.Concat(c.in, c.out) {
				_, found := p.Current().Document(path)
				wanted := slices.Contains(c.in, path) && path != "go.mod" && path != "Cargo.toml" // which only mark
				explained, err := p.Explain(path)
				if found != wanted || explained.Indexed != wanted || err != nil {
					t.Errorf("%s: in the index %t, wanted %t; explained %+v, %v", path, found, wanted, explained, err)
				}
			}
			// A path that changes is judged as in the walk.
			for _, path := range c.out {
				tr.write(path, "something else\n")
			}
			before := p.Current()
			if update(t, p, Update{Paths: c.out}); p.Current() != before {
				t.Errorf("looked at by themselves: %d documents", p.Current().Len())
			}
		})
	}
}
