package corpus

import (
	"bytes"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/writbus/writ/schemas"
)

func TestBytesKeepsAPersonsFile(t *testing.T) {
	files := map[string]string{
		"canonical":       string(Render(Authored(schemas.Rule{ID: "A-B-C", Severity: "low", Trigger: "t", Statement: "s"}))),
		"order and quote": "---\nseverity: 'low'\n# why\nid: A-B-C\nstatement: s\ntrigger: t\n---\n\n\nbody\n\n",
		"line ends":       strings.ReplaceAll("\ufeff---\nid: A-B-C\nseverity: low\ntrigger: t\nstatement: s\n---\nbody", "\n", "\r\n"),
		"a high claim":    "---\nid: A-B-C\nseverity: low\ntrigger: t\nstatement: s\nconfidence: battle-tested\n---\n",
		"a named type":    "---\ntype: Rule\nid: A-B-C\nseverity: low\ntrigger: t\nstatement: s\n---\n",
	}
	for name, src := range files {
		t.Run(name, func(t *testing.T) {
			loaded, _ := LoadAny(fstest.MapFS{"a.md": {Data: []byte(src)}}, nil)
			if len(loaded) != 1 {
				t.Fatalf("loaded %v", loaded)
			}
			n := Node{Rule: Authored(loaded[0].Rule)}
			n.Content = Keep(n.Rule, loaded[0].Content)
			if got := string(Bytes(n)); got != src {
				t.Errorf("got\n%q\nwant\n%q", got, src)
			}
			if (n.Content == "") != (name == "canonical") {
				t.Errorf("kept %q", n.Content)
			}
			n.Rule.Title = "changed"
			if got := Bytes(n); !bytes.Equal(got, Render(n.Rule)) {
				t.Errorf("a changed rule is written as\n%s", got)
			}
		})
	}
}

func TestExportPlacesFiles(t *testing.T) {
	node := func(id, domain, path string) Node {
		return Node{Rule: schemas.Rule{ID: id, Domain: domain}, Path: path}
	}
	cases := []struct {
		name string
		list []Node
		want []string // sorted by path
	}{
		{"by domain", []Node{node("A-B-C", "Go", ""), node("A-B-D", "", ""), node("A-B-E", "AI: Safety/Ops ", "")}, []string{
			"ai- safety-ops/A-B-E.md", "general/A-B-D.md", "go/A-B-C.md",
		}},
		{"where it came from", []Node{node("A-B-C", "go", "deep/x.md"), node("A-B-D", "go", "embedded"), node("A-B-E", "go", "dump.cypher")}, []string{
			"deep/x.md", "go/A-B-D.md", "go/A-B-E.md",
		}},
		{"claimed twice", []Node{node("A-B-C", "go", "x.md"), node("A-B-D", "go", "X.md")}, []string{"go/A-B-C.md", "go/A-B-D.md"}},
		{"no way out", []Node{
			node("A-B-C", "go", "../x.md"), node("A-B-D", "go", "/x.md"), node("A-B-E", "..", ""), node("A-B-F", "go", `..\x.md`),
			node("A-B-G", "go", ".hidden/x.md"), node("A-B-H", "go", "con/x.md"), node("A-B-I", "nul", "README.md"),
		}, []string{"-/A-B-E.md", "go/A-B-C.md", "go/A-B-D.md", "go/A-B-F.md", "go/A-B-G.md", "go/A-B-H.md", "nul-/A-B-I.md"}},
		{"a folder like a file", []Node{node("A-B-C", "x.md", "x.md"), node("A-B-D", "go", "y.MD/x.md")}, []string{"go/A-B-D.md", "x.md"}},
		{"a domain like a file", []Node{node("A-B-C", "go", "x.md"), node("A-B-D", "x.md", "")}, []string{"x.md", "x.md-/A-B-D.md"}},
		{"taken", []Node{node("A-B-C", "x", "go/A-B-D.md"), node("A-B-D", "go", ""), node("../a", "go", ""), node("--/a", "go", "")}, []string{
			"go/---a.md", "go/-a.md", "go/A-B-D-2.md", "go/A-B-D.md",
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, w := range Export(c.list) {
				got = append(got, w.Path)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestExportRoundTrips: any set of nodes comes back from its export, and the
// export of those is the same, whatever the nodes are called.
func TestExportRoundTrips(t *testing.T) {
	name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z./\\ ]{0,8}(\.md)?`), rapid.SampledFrom([]string{"con", "go/README.md", "a/b.md", "A/b.md", "..", "a.md/b.md", "a.md", "b/a.md"}))
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) Node {
			n := Node{Rule: Authored(anyNode().Draw(t, "node")), Path: name.Draw(t, "path")}
			n.Rule.Domain = strings.TrimSpace(name.Draw(t, "domain"))
			n.Rule.Edges = nil
			return n
		}), 0, 6, func(n Node) string { return n.Rule.ID }).Draw(t, "nodes")
		folder, folded, folders := fstest.MapFS{}, map[string]bool{}, map[string]bool{}
		written := Export(list)
		for _, w := range written {
			if folded[strings.ToLower(w.Path)] {
				t.Fatalf("two files at %s", w.Path)
			}
			folded[strings.ToLower(w.Path)] = true
			for dir := path.Dir(w.Path); dir != "."; dir = path.Dir(dir) {
				if folders[strings.ToLower(dir)] = true; folded[strings.ToLower(dir)] {
					t.Fatalf("%s is a file and a folder", dir)
				}
			}
			if folders[strings.ToLower(w.Path)] {
				t.Fatalf("%s is a file and a folder", w.Path)
			}
			folder[w.Path] = &fstest.MapFile{Data: w.Content}
		}
		files, problems := LoadAny(folder, nil)
		if len(problems) > 0 || len(files) != len(list) {
			t.Fatalf("%d of %d nodes, problems %v", len(files), len(list), problems)
		}
		again := make([]Node, len(files))
		for i, f := range files {
			again[i] = Node{Rule: f.Rule, Path: f.Path, Content: Keep(f.Rule, f.Content)}
		}
		if diff := cmp.Diff(written, Export(again)); diff != "" {
			t.Fatal(diff)
		}
	})
}
