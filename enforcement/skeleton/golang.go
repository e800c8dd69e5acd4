package skeleton

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func goGrammar(mockTypes map[string]bool, imports map[string]string) *grammar {
	g := &grammar{
		keywords: names("new func return if for range var const struct map chan interface go defer select switch case type byte rune string int int64 uint64 float64 bool error any"),
		literals: names("true false nil iota"),
		builtins: names("len cap append make string int int64 float64 byte"),
		access:   names("."),
		inverted: true,
		makers:   func(n string) bool { return mockTypes[n] || prefixed(n, "NewMock") },
		neutral: func(n string) bool {
			return n == "assert" || n == "require" || goMockAPI[n] || goFailures[n]
		},
	}
	for _, name := range []string{"slices", "strings", "maps", "strconv", "reflect", "bytes", "fmt"} {
		if imports[name] == name {
			g.builtins[name] = true
		}
	}
	return g
}

var goMockAPI = names("On Return Called EXPECT Times AnyTimes AssertExpectations AssertCalled AssertNotCalled AssertNumberOfCalls Once Twice Maybe Run On Log Logf Helper")

var goFailures = names("Error Errorf Fatal Fatalf Fail FailNow")

// goFile is a parsed file with what its tests need to know.
type goFile struct {
	src     []byte
	fset    *token.FileSet
	ast     *ast.File
	imports map[string]string // local name to import path
	helpers map[string]*ast.FuncDecl
	grammar *grammar
	base    *scope
}

// readGo reads the tests of a Go file. One that does not parse has none.
func readGo(src []byte) []test {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, "x_test.go", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || excluded(parsed) {
		return nil
	}
	f := &goFile{src: src, fset: fset, ast: parsed, imports: map[string]string{}, helpers: map[string]*ast.FuncDecl{}}
	for _, spec := range parsed.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		f.imports[name] = p
	}
	f.grammar = goGrammar(f.mockTypes(), f.imports)
	f.base = newScope(f.grammar)
	suite := f.runsSuite()
	if f.runsNothing() {
		return nil
	}
	var tests []*ast.FuncDecl
	var helpers [][]lexeme
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			f.base.learn(f.tokens(d))
			f.unfilled(d)
		case *ast.FuncDecl:
			if d.Body == nil {
				continue
			}
			if f.isTest(d, suite) {
				tests = append(tests, d)
			} else {
				f.helpers[d.Name.Name] = d
				helpers = append(helpers, f.tokens(d.Body))
				if d.Recv == nil {
					takes := map[string]bool{}
					for _, t := range f.tokens(d.Type) {
						takes[t.text] = true
					}
					f.base.computes(d.Name.Name, takes, f.tokens(d.Body))
				}
			}
		}
	}
	inner := f.base.child()
	for _, body := range helpers {
		inner.learn(body)
	}
	f.base.disturb(inner)
	var out []test
	for _, d := range tests {
		if t, ok := f.judge(d); ok {
			out = append(out, t)
		}
	}
	return append(out, f.ginkgo()...)
}

// neverBuilt are tags that nobody builds with.
var neverBuilt = names("ignore never none disabled exclude skip")

// excluded tells whether a build constraint keeps the file out for good.
func excluded(f *ast.File) bool {
	for _, g := range f.Comments {
		for _, c := range g.List {
			if x, err := constraint.Parse(c.Text); err == nil && constraint.IsGoBuild(c.Text) && neverBuilt[x.String()] {
				return true
			}
		}
	}
	return false
}

func (f *goFile) tokens(n ast.Node) []lexeme { return f.lexed(n.Pos(), n.End()) }

func (f *goFile) lexed(from, to token.Pos) []lexeme {
	a, b := f.fset.Position(from).Offset, f.fset.Position(to).Offset
	if a < 0 || b > len(f.src) || a >= b {
		return nil
	}
	t := goDialect.read(f.src[a:b])
	start := f.fset.Position(from)
	for i := range t {
		if t[i].line == 1 {
			t[i].column += start.Column - 1
		}
		t[i].line += start.Line - 1
	}
	return t
}

func (f *goFile) line(n ast.Node) int { return f.fset.Position(n.Pos()).Line }

// mockTypes are the types of the file that embed testify's mock.Mock.
func (f *goFile) mockTypes() map[string]bool {
	out := map[string]bool{}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if st, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range st.Fields.List {
				if sel, ok := field.Type.(*ast.SelectorExpr); ok && len(field.Names) == 0 && sel.Sel.Name == "Mock" {
					out[spec.Name.Name] = true
				}
			}
		}
		return true
	})
	return out
}

// unfilled notes the collections of the file that are declared without a value.
func (f *goFile) unfilled(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		if spec, is := spec.(*ast.ValueSpec); is && len(spec.Values) == 0 && collection(spec.Type) {
			for _, name := range spec.Names {
				f.base.set(void, name.Name, true)
			}
		}
	}
}

func collection(typ ast.Expr) bool {
	array, list := typ.(*ast.ArrayType)
	_, table := typ.(*ast.MapType)
	return list && array.Len == nil || table
}

// runsNothing tells whether the file's own TestMain runs no test.
func (f *goFile) runsNothing() bool {
	for _, d := range f.ast.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "TestMain" && fn.Recv == nil && fn.Body != nil {
			for _, p := range fn.Type.Params.List {
				for _, t := range f.tokens(fn.Body) {
					if len(p.Names) == 1 && t.text == p.Names[0].Name {
						return false
					}
				}
			}
			return true
		}
	}
	return false
}

func (f *goFile) runsSuite() bool {
	found := false
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if sel, ok := c.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Run" && strings.HasSuffix(f.imports[identName(sel.X)], "testify/suite") {
				found = true
			}
		}
		return !found
	})
	return found
}

func identName(e ast.Expr) string {
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// isTest follows the go tool: TestXxx(t *testing.T), FuzzXxx(f *testing.F),
// examples with an output, and methods of a suite that the file runs.
// Benchmarks do not run by default.
func (f *goFile) isTest(d *ast.FuncDecl, suite bool) bool {
	name := d.Name.Name
	if d.Recv != nil {
		return suite && testName(name, "Test") && d.Type.Params.NumFields() == 0
	}
	switch {
	case d.Type.TypeParams != nil || d.Type.Results != nil:
		return false
	case testName(name, "Test"):
		return f.takes(d, "T")
	case testName(name, "Fuzz"):
		return f.takes(d, "F")
	case testName(name, "Example"):
		return d.Type.Params.NumFields() == 0 && f.hasOutput(d)
	}
	return false
}

func testName(name, prefix string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok || rest == "" {
		return ok
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return !unicode.IsLower(r)
}

func (f *goFile) takes(d *ast.FuncDecl, typ string) bool {
	if d.Type.Params.NumFields() != 1 {
		return false
	}
	star, ok := d.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	switch x := star.X.(type) {
	case *ast.SelectorExpr:
		return x.Sel.Name == typ && f.imports[identName(x.X)] == "testing"
	case *ast.Ident:
		return x.Name == typ && f.imports["."] == "testing"
	}
	return false
}

func (f *goFile) hasOutput(d *ast.FuncDecl) bool {
	for _, g := range f.ast.Comments {
		if g.Pos() > d.Body.Pos() && g.End() < d.Body.End() {
			t := strings.ToLower(strings.TrimSpace(g.Text()))
			if rest, ok := strings.CutPrefix(strings.TrimPrefix(t, "unordered "), "output:"); ok && strings.TrimSpace(rest) != "" {
				return true
			}
		}
	}
	return false
}

// judge collects what a test and the helpers it calls assert; false if the
// test is skipped before it does anything.
func (f *goFile) judge(d *ast.FuncDecl) (test, bool) {
	t := test{name: d.Name.Name, line: f.line(d)}
	if strings.HasPrefix(t.name, "Example") {
		t.found = []assertion{{t.line, f.exampleWorth(d)}}
		return t, true
	}
	seen := map[string]bool{}
	for queue := []*ast.FuncDecl{d}; len(queue) > 0; queue = queue[1:] {
		cur := queue[0]
		s := f.base.child()
		s.learn(f.tokens(cur.Body))
		s.zero(cur.Body)
		v := &goVisitor{f: f, s: s, failers: f.failers(cur), waits: waits(f.tokens(cur.Body)), idle: idle(cur.Body)}
		v.block(cur.Body.List, meaningful, false)
		if closed(f.grammar, f.tokens(cur.Body), v.failers) {
			for i := range v.found {
				v.found[i].strength = min(v.found[i].strength, constant)
			}
		}
		t.found = append(t.found, v.found...)
		ast.Inspect(cur.Body, func(n ast.Node) bool {
			name := ""
			switch n := n.(type) {
			case *ast.Ident:
				name = n.Name
			case *ast.SelectorExpr:
				name = n.Sel.Name
			}
			if h := f.helpers[name]; h != nil && !seen[name] {
				seen[name] = true
				queue = append(queue, h)
			}
			return true
		})
	}
	return t, true
}

func (f *goFile) exampleWorth(d *ast.FuncDecl) strength {
	s := f.base.child()
	s.learn(f.tokens(d.Body))
	best := unconditional
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && identName(selected(c.Fun)) == "fmt" {
			for _, a := range c.Args {
				best = max(best, s.check(f.tokens(a)))
			}
		}
		return true
	})
	return best
}

func selected(e ast.Expr) ast.Expr {
	if sel, ok := e.(*ast.SelectorExpr); ok {
		return sel.X
	}
	return nil
}

// failers are the names by which a function can fail the test: parameters of a
// testing type, its own and those of the functions in it, and the receiver of
// a suite.
func (f *goFile) failers(d *ast.FuncDecl) map[string]bool {
	out := map[string]bool{}
	add := func(ft *ast.FuncType) {
		for _, p := range ft.Params.List {
			typ := p.Type
			if star, ok := typ.(*ast.StarExpr); ok {
				typ = star.X
			}
			if sel, ok := typ.(*ast.SelectorExpr); ok && (sel.Sel.Name == "T" || sel.Sel.Name == "F" || sel.Sel.Name == "TB" || sel.Sel.Name == "B") {
				for _, n := range p.Names {
					out[n.Name] = true
				}
			}
		}
	}
	add(d.Type)
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			add(lit.Type)
		}
		return true
	})
	if d.Recv != nil {
		for _, r := range d.Recv.List {
			for _, n := range r.Names {
				out[n.Name] = true
			}
		}
	}
	return out
}
