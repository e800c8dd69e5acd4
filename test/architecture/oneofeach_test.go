package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// oneOfEach lists calls that one leaf makes for all, and the packages that make
// them for another purpose.
var oneOfEach = map[string]struct {
	leaf   string
	others map[string]string // package → why
}{
	"os.Rename": {"schemas/atomicfile", map[string]string{
		"bus/backup":               "puts a folder in place",
		"projections/relocate":     "puts a folder in place",
		"retrieval/fulltext":       "puts a folder in place",
		"retrieval/embed/hub":      "puts a folder in place",
		"enforcement/host/install": "moves the user's own settings aside",
		"cmd/internal/launch":      "puts a link in place",
	}},
	"os.CreateTemp": {"schemas/atomicfile", map[string]string{
		"bus/embedded":           "probes whether a folder can be written to",
		"retrieval/mapped":       "a file without a name, to be mapped",
		"cmd/writ/cli/lifecycle": "probes whether a folder can be written to",
	}},
	"unix.Flock":         {"schemas/filelock", nil},
	"windows.LockFileEx": {"schemas/filelock", nil},
	"unix.Statfs":        {"schemas/disk", map[string]string{"retrieval/files": "asks which kind of file system a folder lies on"}},
}

// ownNames are names of functions that a leaf has for all.
var ownNames = map[string]string{
	"oneLine": "schemas/excerpt", "clipText": "schemas/excerpt", "truncate": "schemas/excerpt", "writeFile": "schemas/atomicfile",
	"matchGlob": "schemas/glob", "parseIgnore": "schemas/gitignore", "shortDigest": "schemas/digest",
}

func callsOf(f *ast.FuncDecl) map[string]bool {
	calls := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if from, ok := selector.X.(*ast.Ident); ok {
				calls[from.Name+"."+selector.Sel.Name] = true
			}
		}
		return true
	})
	return calls
}

// TestHouseHasOneOfEach finds a second implementation of what a leaf does.
func TestHouseHasOneOfEach(t *testing.T) {
	used := map[string]bool{}
	eachFile(t, func(pkg string, file *ast.File, at *token.FileSet) {
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			from, ok := selector.X.(*ast.Ident)
			if !ok {
				return true
			}
			call := from.Name + "." + selector.Sel.Name
			one, listed := oneOfEach[call]
			if !listed || pkg == one.leaf {
				return true
			}
			if one.others[pkg] == "" {
				t.Errorf("%s calls %s: use %s", at.Position(n.Pos()), call, one.leaf)
			}
			used[call+" "+pkg] = true
			return true
		})
		for _, declared := range file.Decls {
			f, ok := declared.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if ownNames[f.Name.Name] != "" && f.Recv == nil && !within(pkg, "schemas") {
				t.Errorf("%s declares %s: use %s", at.Position(f.Pos()), f.Name.Name, ownNames[f.Name.Name])
			}
			if calls := callsOf(f); calls["sha256.Sum256"] && calls["hex.EncodeToString"] && pkg != "schemas/digest" {
				t.Errorf("%s writes a digest as text: use schemas/digest", at.Position(f.Pos()))
			}
		}
	})
	for call, one := range oneOfEach {
		for pkg := range one.others {
			if !used[call+" "+pkg] {
				t.Errorf("%s may call %s and does not: shorten the list", pkg, call)
			}
		}
	}
}

// eachFile parses the sources of the module, without tests.
func eachFile(t *testing.T, look func(pkg string, file *ast.File, at *token.FileSet)) {
	t.Helper()
	files := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "../.." && (strings.HasPrefix(name, ".") || slices.Contains([]string{"testdata", "test", "zz_deps"}, name)):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		at := token.NewFileSet()
		file, err := parser.ParseFile(at, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("../..", filepath.Dir(path))
		if err != nil {
			return err
		}
		files++
		look(filepath.ToSlash(rel), file, at)
		return nil
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files read: %v", files, err)
	}
}
