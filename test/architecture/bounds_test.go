package architecture

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The bounds of the house. What exceeds one is listed with the number it has; a
// list only shrinks, and a number only falls.
const (
	maxFiles    = 40     // of a package, without tests
	maxMethods  = 40     // of a type
	maxPure     = 60     // of a type in a core
	maxExported = 12     // methods of a service's type
	maxImports  = 15     // packages of ours that one imports, outside cmd/writd
	maxPrograms = 19_000 // lines of code in cmd
	maxDaemon   = 3_000  // in cmd/writd without the tools that a person runs
	maxShared   = 2_000  // in cmd/internal
)

// beyond are the places that exceed a bound.
var beyond = map[string]int{}

// size is what was counted of a package.
type size struct {
	code, files int
	imports     map[string]bool
	methods     map[string]int // by type
	exported    map[string]int
}

// sizes counts the packages of the module, without tests. A line of code is one
// that holds a token.
func sizes(t *testing.T) map[string]*size {
	t.Helper()
	all := map[string]*size{}
	err := filepath.WalkDir("../..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if file != "../.." && (name == "testdata" || name == "test" || strings.HasPrefix(name, ".") || name == "zz_deps") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		pkg := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "../../")
		s := all[pkg]
		if s == nil {
			s = &size{imports: map[string]bool{}, methods: map[string]int{}, exported: map[string]int{}}
			all[pkg] = s
		}
		s.files++
		s.code += linesOfCode(text)
		return s.read(text)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d packages found: the test looks at the wrong folder", len(all))
	}
	return all
}

// linesOfCode counts the lines that hold a token other than a comment.
func linesOfCode(text []byte) int {
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	lines := map[int]bool{}
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return len(lines)
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue
		}
		for i := range 1 + strings.Count(literal, "\n") {
			lines[file.Line(pos)+i] = true
		}
	}
}

// read counts imports and methods of a file.
func (s *size) read(text []byte) error {
	parsed, err := parser.ParseFile(token.NewFileSet(), "", text, 0)
	if err != nil {
		return err
	}
	for _, spec := range parsed.Imports {
		if path := strings.Trim(spec.Path.Value, `"`); strings.HasPrefix(path, module+"/") {
			s.imports[path] = true
		}
	}
	for _, declaration := range parsed.Decls {
		f, ok := declaration.(*ast.FuncDecl)
		if !ok || f.Recv == nil {
			continue
		}
		receiver := f.Recv.List[0].Type
		if star, ok := receiver.(*ast.StarExpr); ok {
			receiver = star.X
		}
		if generic, ok := receiver.(*ast.IndexExpr); ok {
			receiver = generic.X
		}
		if name, ok := receiver.(*ast.Ident); ok {
			s.methods[name.Name]++
			if f.Name.IsExported() {
				s.exported[name.Name]++
			}
		}
	}
	return nil
}

// TestBounds keeps the house from growing into one room again.
func TestBounds(t *testing.T) {
	all := sizes(t)
	listed := map[string]bool{}
	bound := func(what string, have, most int) {
		if allowed, ok := beyond[what]; ok {
			listed[what] = true
			switch {
			case have <= most:
				t.Errorf("%s: %d is within the bound of %d: take it off the list", what, have, most)
			case have > allowed:
				t.Errorf("%s: %d, listed with %d, and the bound is %d", what, have, allowed, most)
			}
			return
		}
		if have > most {
			t.Errorf("%s: %d, at most %d", what, have, most)
		}
	}
	var programs, daemon, shared int
	for pkg, s := range all {
		bound(pkg+": files", s.files, maxFiles)
		if pkg != "cmd/writd" && !strings.HasPrefix(pkg, "cmd/writd/") {
			bound(pkg+": imports", len(s.imports), maxImports)
		}
		floor := floors[folderOf(pkg)]
		for name, n := range s.methods {
			most := maxMethods
			if floor == core || floor == ground {
				most = maxPure
			}
			bound(pkg+"."+name+": methods", n, most)
			if floor == service {
				bound(pkg+"."+name+": exported methods", s.exported[name], maxExported)
			}
		}
		switch {
		case strings.HasPrefix(pkg, "cmd/writd") && pkg != "cmd/writd/tools":
			daemon += s.code
		case strings.HasPrefix(pkg, "cmd/internal"):
			shared += s.code
		}
		if strings.HasPrefix(pkg, "cmd/") {
			programs += s.code
		}
	}
	bound("cmd: lines of code", programs, maxPrograms)
	bound("cmd/writd without its tools: lines of code", daemon, maxDaemon)
	bound("cmd/internal: lines of code", shared, maxShared)
	for what := range beyond {
		if !listed[what] {
			t.Errorf("%s is listed and does not exist", what)
		}
	}
}
