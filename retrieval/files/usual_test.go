package files

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestUsualGlobs: what is looked at where nobody said which, wherever it lies,
// and what is left out with its reason.
func TestUsualGlobs(t *testing.T) {
	large, huge := strings.Repeat("a line of data\n", mostData/15+1), strings.Repeat("a line of text\n", mostText/15+1)
	in := []string{
		"go.mod", "README.md", "lib/odd/place/tool.ex", "app/Main.hs", "code.zig", "Dockerfile", "Makefile", "deploy/values.yaml", "pyproject.toml",
		"package.json", ".github/workflows/ci.yml", ".gitlab-ci.yml", ".golangci.yml", ".ci/run", ".editorconfig", "notes.txt", "x.weird", "infra/main.tf",
		".aiwg/research/r.md", "out/keep.md", ".cursor/kept.md", "keys/public.pem", "credentials.py",
	}
	out := map[string]Reason{
		".env": Hidden, ".npmrc": Hidden, ".aiwg/working/scratch.md": Unselected, ".github2/a.md": Hidden, "vendor/x/README.md": Vendored,
		"web/node_modules/y/README.md": Vendored, "out/built.md": ByGitignore, "drafts/a.md": ByWritignore, ".git/notes.md": ByVCS,
		"server.key": Secret, "id_ed25519": Secret, "config/secrets.yaml": Secret, ".secrets.yml": Secret, "prod.env": Secret,
		"data/table.json": Data, "words.txt": Data, "package-lock.json": Generated,
	}
	tr := newTree(t)
	for path, text := range map[string]string{".gitignore": "/out/*\n!/out/keep.md\n", ".writignore": "drafts/\n!.cursor/\n!keys/*.pem\n"} {
		tr.write(path, text)
	}
	for _, path := range slices.Concat(in, slices.Collect(maps.Keys(out))) {
		switch text := "something to read\n"; path {
		case "data/table.json":
			tr.write(path, large)
		case "words.txt":
			tr.write(path, huge)
		default:
			tr.write(path, text)
		}
	}
	p := tr.open(&journal{})
	update(t, p, Update{})
	for _, path := range in {
		out[path] = ""
	}
	for path, want := range out {
		_, found := p.Current().Document(path)
		e, err := p.Explain(path)
		if found != (want == "") || e.Indexed != found || e.Reason != want || err != nil {
			t.Errorf("%s: in the index %t, explained %+v, %v; wanted %q", path, found, e, err, want)
		}
		if n := p.Current().Left[want]; want != "" && n == 0 {
			t.Errorf("what is left out as %s is not counted: %v", want, p.Current().Left)
		}
	}
	// A path that changes is judged as in the walk.
	before := p.Current()
	var left []string
	for path, want := range out {
		if want != "" {
			tr.write(path, "something else\n"+map[Reason]string{Data: huge}[want])
			left = append(left, path)
		}
	}
	if update(t, p, Update{Paths: left}); p.Current() != before {
		t.Errorf("looked at by themselves: %d documents", p.Current().Len())
	}
	// Whoever asks for data gets it.
	if update(t, p, Update{Globs: &[]string{"**"}}); p.Current().Left[Data] != 0 || p.Current().Left[Secret] == 0 {
		t.Errorf("with a glob of one's own: %v", p.Current().Left)
	}
}

// TestTextInUTF16IsText: it is found, and shown by the lines that it has.
func TestTextInUTF16IsText(t *testing.T) {
	tr := newTree(t)
	wide := "\xff\xfe"
	for _, b := range []byte("# Gnomes\r\n\r\nThey stand in the garden.\r\n") {
		wide += string([]byte{b, 0})
	}
	tr.write("wide.md", wide)
	tr.write("unmarked.md", wide[2:])
	tr.write("binary.md", "\xff\xfe\x00\x00\x00\x00")
	p := tr.open(&journal{})
	update(t, p, Update{})
	for name, size := range map[string]int{"wide.md": len(wide), "unmarked.md": len(wide) - 2} {
		i, found := p.Current().Document(name)
		if !found || i.Title != "Gnomes" || i.Size != int64(size) || p.Current().Left[Binary] != 1 {
			t.Errorf("%s: %+v, left %v", name, i, p.Current().Left)
		}
	}
}
