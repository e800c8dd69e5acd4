package skeleton

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// goVisitor walks a function and judges what can fail in it.
type goVisitor struct {
	f       *goFile
	s       *scope
	failers map[string]bool
	found   []assertion
	waits   bool // for what it starts beside itself
	idle    map[string]bool
}

// idle are the variables of a function that hold a function and that nothing calls
// or hands on.
func idle(body *ast.BlockStmt) map[string]bool {
	holds, used := map[string]bool{}, map[string]int{}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Lhs) != 1 || len(n.Rhs) != 1 {
				break
			}
			if _, is := n.Rhs[0].(*ast.FuncLit); is {
				holds[identName(n.Lhs[0])] = true
				used[identName(n.Lhs[0])]--
			} else if name := identName(n.Rhs[0]); identName(n.Lhs[0]) == "_" && name != "" {
				used[name]--
			}
		case *ast.Ident:
			used[n.Name]++
		}
		return true
	})
	for name := range holds {
		holds[name] = name != "" && used[name] <= 0
	}
	return holds
}

// zero notes what is known of the variables that are declared without a value, of
// types that only an assignment changes. One that nothing sets is constant; one that
// a function within sets tells whether that ran.
func (s *scope) zero(body *ast.BlockStmt) {
	set := map[string]bool{}
	within := 0
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			within++
			ast.Inspect(n.Body, visit)
			within--
			return false
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if name := identName(x); name != "" {
					set[name] = set[name] || within > 0 || len(n.Lhs) > 1
				}
			}
		case *ast.RangeStmt:
			set[identName(n.Key)], set[identName(n.Value)] = true, true
		}
		return true
	}
	ast.Inspect(body, visit)
	ast.Inspect(body, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is || len(spec.Values) > 0 {
			return true
		}
		for _, name := range spec.Names {
			if collection(spec.Type) && s.assigned(name.Name) == 0 {
				s.set(void, name.Name, true)
			}
		}
		if !zeroes[identName(spec.Type)] {
			return true
		}
		for _, name := range spec.Names {
			varies, isSet := set[name.Name]
			switch {
			case varies:
				s.set(literal, name.Name, false)
			case !isSet && s.assigned(name.Name) == 0 && !s.lent[name.Name]:
				s.set(literal, name.Name, true)
			}
		}
		return true
	})
}

var zeroes = names("error bool string int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 float32 float64 byte rune any")

// block walks statements. worth is that of a failure here; guarded tells
// whether anything decides if it is reached. It ends at a skip.
func (v *goVisitor) block(list []ast.Stmt, worth strength, guarded bool) {
	for _, st := range list {
		if v.skips(st) || v.alwaysLeaves(st) {
			return
		}
		v.stmt(st, worth, guarded)
		if leavesBlock(st) {
			return
		}
		if g, w := v.leaves(st); g {
			worth, guarded = combine(worth, guarded, w), true
		}
	}
}

// waits tells whether a function waits for anything: by name, or at a channel.
func waits(t []lexeme) bool {
	for i, tok := range t {
		switch tok.text {
		case "<-", "select", "Wait", "Sleep", "Cleanup", "After", "Eventually":
			return true
		case "-":
			if i > 0 && t[i-1].text == "<" {
				return true
			}
		case "range":
			if i > 0 && t[i-1].text != "=" && t[i-1].text != ":=" {
				return true
			}
		}
	}
	return false
}

// leavesBlock tells whether nothing behind a statement runs.
func leavesBlock(st ast.Stmt) bool {
	switch st := st.(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.ExprStmt:
		if c, ok := st.X.(*ast.CallExpr); ok {
			if sel, ok := c.Fun.(*ast.SelectorExpr); ok {
				called := identName(sel.X) + "." + sel.Sel.Name
				return called == "os.Exit" || called == "runtime.Goexit"
			}
		}
	}
	return false
}

// alwaysLeaves reads a condition that always holds before a return or a skip.
func (v *goVisitor) alwaysLeaves(st ast.Stmt) bool {
	i, ok := st.(*ast.IfStmt)
	if !ok || len(i.Body.List) == 0 {
		return false
	}
	holds, fixed := always(v.f.tokens(i.Cond))
	return holds && fixed && (v.skips(i.Body.List[0]) || leavesBlock(i.Body.List[0]))
}

// nothing tells whether a loop goes over nothing.
func (v *goVisitor) nothing(x ast.Expr) bool {
	t := v.f.tokens(x)
	return len(t) == 1 && (t[0].text == "0" || t[0].text == "nil") || v.s.nothing(t)
}

func combine(worth strength, guarded bool, inner strength) strength {
	if !guarded {
		return inner
	}
	return max(worth, inner)
}

func (v *goVisitor) skips(st ast.Stmt) bool {
	x, ok := st.(*ast.ExprStmt)
	if !ok {
		return false
	}
	c, ok := x.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	return ok && v.failers[identName(sel.X)] && (sel.Sel.Name == "Skip" || sel.Sel.Name == "Skipf" || sel.Sel.Name == "SkipNow")
}

// leaves tells whether a statement may end the function early, so that what
// follows depends on it.
func (v *goVisitor) leaves(st ast.Stmt) (bool, strength) {
	i, ok := st.(*ast.IfStmt)
	if !ok {
		return false, 0
	}
	leaves := false
	ast.Inspect(i, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ReturnStmt, *ast.BranchStmt:
			leaves = true
		case *ast.FuncLit:
			return false
		}
		return true
	})
	return leaves, v.cond(i)
}

// cond is the worth of an if statement's condition; a variable of its init
// statement stands for what it is set to.
func (v *goVisitor) cond(i *ast.IfStmt) strength {
	w := v.s.condition(v.f.tokens(i.Cond))
	if a, ok := i.Init.(*ast.AssignStmt); ok && w == meaningful {
		for _, r := range a.Rhs {
			c, ok := r.(*ast.CallExpr)
			if ok && len(c.Args) == 2 && comparer(c) {
				return v.s.check(v.f.tokens(c.Args[0]), v.f.tokens(c.Args[1]))
			}
			if ok && len(c.Args) > 0 && v.f.imports[identName(selected(c.Fun))] == "testing/quick" {
				return v.property(c.Args[0])
			}
		}
	}
	if c := comparison(i.Cond); c != nil && w == meaningful {
		return v.s.check(v.f.tokens(c.Args[0]), v.f.tokens(c.Args[1]))
	}
	return w
}

// property is the worth of the function that testing/quick calls: that of what it
// returns.
func (v *goVisitor) property(x ast.Expr) strength {
	body := v.f.tokens(x)
	if defs := v.s.defs[identName(x)]; len(defs) == 1 {
		body = defs[0].value
	}
	best := unconditional
	for i, t := range body {
		if t.text == "return" {
			best = max(best, v.s.check(splitAt(value(body, i+1), comparisons)...))
		}
	}
	if best == unconditional {
		return meaningful // a function of the file
	}
	return best
}

// comparison is a call like reflect.DeepEqual(a, b), negated or not.
func comparison(e ast.Expr) *ast.CallExpr {
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.NOT {
		e = u.X
	}
	if c, ok := e.(*ast.CallExpr); ok && len(c.Args) == 2 && comparer(c) {
		return c
	}
	return nil
}

func comparer(c *ast.CallExpr) bool {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch identName(sel.X) + "." + sel.Sel.Name {
	case "reflect.DeepEqual", "cmp.Diff", "cmp.Equal", "bytes.Equal", "slices.Equal", "maps.Equal", "strings.EqualFold", "errors.Is":
		return true
	}
	return false
}

func (v *goVisitor) stmt(st ast.Stmt, worth strength, guarded bool) {
	switch st := st.(type) {
	case *ast.IfStmt:
		w := combine(worth, guarded, v.cond(st))
		v.simple(st.Init, worth, guarded)
		if holds, fixed := always(v.f.tokens(st.Cond)); fixed && !holds {
			w = min(w, constant)
		}
		v.block(st.Body.List, w, true)
		if st.Else != nil {
			v.stmt(st.Else, w, true)
		}
	case *ast.BlockStmt:
		v.block(st.List, worth, guarded)
	case *ast.ForStmt:
		if v.s.overNothing(v.f.lexed(st.For+3, st.Body.Pos())) {
			return
		}
		if st.Cond != nil {
			worth, guarded = combine(worth, guarded, v.s.condition(v.f.tokens(st.Cond))), true
		}
		v.block(st.Body.List, worth, guarded)
	case *ast.RangeStmt:
		if v.nothing(st.X) {
			return
		}
		v.block(st.Body.List, worth, guarded)
	case *ast.SwitchStmt:
		v.cases(st.Body, combine(worth, guarded, v.switched(st)))
	case *ast.TypeSwitchStmt:
		v.cases(st.Body, meaningful)
	case *ast.SelectStmt:
		v.cases(st.Body, meaningful)
	case *ast.LabeledStmt:
		v.stmt(st.Stmt, worth, guarded)
	case *ast.GoStmt:
		if v.waits {
			v.simple(st, worth, guarded)
		}
	default:
		v.simple(st, worth, guarded)
	}
}

func (v *goVisitor) switched(st *ast.SwitchStmt) strength {
	best := constant
	if st.Tag != nil {
		best = v.s.check(v.f.tokens(st.Tag))
	}
	for _, c := range st.Body.List {
		if cc, ok := c.(*ast.CaseClause); ok {
			for _, e := range cc.List {
				best = max(best, v.s.condition(v.f.tokens(e)))
			}
		}
	}
	return best
}

func (v *goVisitor) cases(body *ast.BlockStmt, worth strength) {
	for _, c := range body.List {
		switch c := c.(type) {
		case *ast.CaseClause:
			v.block(c.Body, worth, true)
		case *ast.CommClause:
			v.block(c.Body, worth, true)
		}
	}
}

// simple looks for assertions in a statement without blocks of its own; a
// function in it runs as part of the test when it is called at once or handed
// to Run or Test, and else only if something decides to.
func (v *goVisitor) simple(n ast.Node, worth strength, guarded bool) {
	if n == nil {
		return
	}
	if a, ok := n.(*ast.AssignStmt); ok && v.idle[identName(a.Lhs[0])] {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			if lit, ok := n.(*ast.FuncLit); ok {
				v.block(lit.Body.List, worth, true)
				return false
			}
			return true
		}
		if lit, ok := c.Fun.(*ast.FuncLit); ok {
			v.block(lit.Body.List, worth, guarded)
			return false
		}
		sel, ok := c.Fun.(*ast.SelectorExpr)
		if ok && (sel.Sel.Name == "Run" || sel.Sel.Name == "Test" || sel.Sel.Name == "Fuzz" || sel.Sel.Name == "Check") {
			for _, a := range c.Args {
				if lit, ok := a.(*ast.FuncLit); ok {
					v.block(lit.Body.List, worth, guarded)
				}
			}
			return false
		}
		v.call(c, worth, guarded)
		return true
	})
}

func (v *goVisitor) add(n ast.Node, w strength) {
	v.found = append(v.found, assertion{v.f.line(n), w})
}

// fail adds a call that fails the test: it asserts only where something decides whether
// it is reached.
func (v *goVisitor) fail(c ast.Node, worth strength, guarded bool) {
	if !guarded {
		worth = unconditional
	}
	v.add(c, worth)
}

func (v *goVisitor) call(c *ast.CallExpr, worth strength, guarded bool) {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	name := sel.Sel.Name
	if v.failers[identName(sel.X)] && goFailures[name] {
		v.fail(c, worth, guarded)
		return
	}
	if name == "AssertExpectations" || name == "AssertCalled" || name == "AssertNumberOfCalls" || name == "AssertNotCalled" {
		v.add(c, v.s.check(v.f.tokens(sel.X)))
		return
	}
	args, ok := v.asserted(sel, c.Args)
	if !ok {
		return
	}
	switch {
	case name == "Fail" || name == "FailNow" || name == "Failf":
		v.fail(c, worth, guarded)
	case len(args) == 0:
	case singleSubject[name] || len(args) == 1:
		if t := v.f.tokens(args[0]); never(t) && name != "False" {
			v.add(c, unconditional)
		} else if cmp := comparison(args[0]); cmp != nil {
			v.add(c, v.s.check(v.f.tokens(cmp.Args[0]), v.f.tokens(cmp.Args[1])))
		} else {
			v.add(c, v.s.condition(t))
		}
	default:
		v.add(c, v.s.check(v.f.tokens(args[0]), v.f.tokens(args[1])))
	}
}

// singleSubject are assertions about one value, whatever message follows.
var singleSubject = names(`True False Truef Falsef Nil NotNil NoError Error Empty NotEmpty Zero NotZero Panics NotPanics
	NoErrorf Errorf Nilf NotNilf Assert NilError Positive Negative NotPanicsf Panicsf IsTrue IsFalse IsNil IsNotNil`)

// asserted gives the values of a call to an assertion library, without the
// testing handle: assert.Equal(t, a, b), is.Equal(a, b), s.Require().Equal(a,
// b), Expect(a).To(Equal(b)).
func (v *goVisitor) asserted(sel *ast.SelectorExpr, args []ast.Expr) ([]ast.Expr, bool) {
	switch x := sel.X.(type) {
	case *ast.Ident:
		if p := v.f.imports[x.Name]; p != "" && !v.bound(x.Name) {
			if !assertPackage(p) || goMockAPI[sel.Sel.Name] || prefixed(sel.Sel.Name, "ObjectsAreEqual") || len(args) == 0 || sel.Sel.Name == "New" {
				return nil, false
			}
			return args[1:], true
		}
		if v.failers[x.Name] || v.bound(x.Name) {
			_, known := suiteMethods[sel.Sel.Name]
			return args, known
		}
	case *ast.CallExpr:
		if inner, ok := x.Fun.(*ast.SelectorExpr); ok && (inner.Sel.Name == "Require" || inner.Sel.Name == "Assert") {
			return args, true
		}
		name := identName(x.Fun)
		if inner, ok := x.Fun.(*ast.SelectorExpr); ok {
			name = inner.Sel.Name
		}
		if (name == "Expect" || name == "Eventually" || name == "Consistently" || name == "Ω") && len(args) > 0 && len(x.Args) > 0 {
			out := []ast.Expr{x.Args[0]}
			if m, ok := args[0].(*ast.CallExpr); ok && len(m.Args) > 0 {
				out = append(out, m.Args[0])
			}
			return out, true
		}
	}
	return nil, false
}

var suiteMethods = names(`Equal NotEqual True False Nil NotNil NoError Error ErrorIs ErrorAs ErrorContains Len Empty NotEmpty Contains NotContains
	ElementsMatch Greater GreaterOrEqual Less LessOrEqual Panics PanicsWithValue NotPanics InDelta InEpsilon JSONEq YAMLEq Regexp Zero NotZero Same
	NotSame Eventually Never WithinDuration Subset IsType Implements EqualError EqualValues Exactly Equalf Truef Falsef NoErrorf Assert Check That
	DeepEquals Equals IsNil IsNotNil CmpEquals Fail FailNow`)

func assertPackage(p string) bool {
	for _, part := range strings.Split(p, "/") {
		switch part {
		case "assert", "require", "is", "quicktest", "qt", "must", "check", "td", "gocheck", "should", "test":
			return true
		}
	}
	return false
}

// bound tells whether a variable holds assertions bound to the test: a :=
// assert.New(t).
func (v *goVisitor) bound(name string) bool {
	found := false
	ast.Inspect(v.f.ast, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || identName(a.Lhs[0]) != name {
			return true
		}
		if c, ok := a.Rhs[0].(*ast.CallExpr); ok {
			if sel, ok := c.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "New" && assertPackage(v.f.imports[identName(sel.X)]) {
				found = true
			}
		}
		return !found
	})
	return found
}

// ginkgo reads the It blocks of Ginkgo, which another file of the package
// runs.
func (f *goFile) ginkgo() []test {
	if !slices.ContainsFunc(f.ast.Imports, func(spec *ast.ImportSpec) bool { return strings.Contains(spec.Path.Value, "ginkgo") }) {
		return nil
	}
	var out []test
	ast.Inspect(f.ast, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok || len(c.Args) < 2 {
			return true
		}
		name := identName(c.Fun)
		if sel, ok := c.Fun.(*ast.SelectorExpr); ok {
			name = sel.Sel.Name
		}
		lit, ok := c.Args[len(c.Args)-1].(*ast.FuncLit)
		if !ok || name != "It" && name != "Specify" && name != "FIt" {
			return true
		}
		s := f.base.child()
		s.learn(f.tokens(lit.Body))
		v := &goVisitor{f: f, s: s, failers: map[string]bool{}, waits: true}
		v.block(lit.Body.List, meaningful, false)
		out = append(out, test{name, f.line(c), v.found})
		return false
	})
	return out
}
