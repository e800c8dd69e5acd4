package check

import (
	"go/ast"
	"go/token"
	"maps"
	"reflect"
	"strconv"
)

// bindings are what the holes of a match stand for.
type bindings map[string]reflect.Value

// treeMatch is one attempt to match a pattern.
type treeMatch struct {
	src   *source
	holes holes
	bound bindings
	left  *int // steps, shared by all attempts in a file, so that time stays linear in it
}

// treeSteps is how many steps a query has for a file of so many nodes; only
// patterns with several $... in one list can need more.
func treeSteps(nodes int) int { return 100*nodes + 20_000 }

// each calls yield for every match at a node – several only for runs of
// statements – until it returns false.
func (p *treePattern) each(src *source, n ast.Node, known bindings, left *int, yield func(b bindings, from, to token.Pos) bool) {
	if p.list == nil {
		m := treeMatch{src: src, holes: p.holes, bound: maps.Clone(known), left: left}
		if m.value(reflect.ValueOf(p.node), reflect.ValueOf(n)) {
			yield(m.bound, n.Pos(), n.End())
		}
		return
	}
	var list []ast.Stmt
	switch n := n.(type) {
	case *ast.BlockStmt:
		list = n.List
	case *ast.CaseClause:
		list = n.Body
	case *ast.CommClause:
		list = n.Body
	}
	pattern := reflect.ValueOf(p.list)
	for i := range list {
		m := treeMatch{src: src, holes: p.holes, bound: maps.Clone(known), left: left}
		if used, ok := m.run(pattern, reflect.ValueOf(list[i:]), false); ok && used > 0 {
			if !yield(m.bound, list[i].Pos(), list[i+used-1].End()) {
				return
			}
		}
	}
}

// ignoredTypes are those of fields that say where code stands, not what it is.
var ignoredTypes = map[reflect.Type]bool{reflect.TypeFor[*ast.CommentGroup](): true, reflect.TypeFor[token.Pos](): true}

// hole is the hole that a part of the pattern stands for, if it does: a name,
// a statement of only that name, or an unnamed field of that type.
func (m *treeMatch) hole(p reflect.Value) *hole {
	if !p.IsValid() || !p.CanInterface() || (p.Kind() == reflect.Pointer || p.Kind() == reflect.Interface) && p.IsNil() {
		return nil
	}
	switch n := p.Interface().(type) {
	case *ast.Ident:
		return m.holes[n.Name]
	case *ast.ExprStmt:
		if id, ok := n.X.(*ast.Ident); ok {
			return m.holes[id.Name]
		}
	case *ast.Field:
		if id, ok := n.Type.(*ast.Ident); ok && len(n.Names) == 0 && n.Tag == nil {
			return m.holes[id.Name]
		}
	}
	return nil
}

// value matches a part of the pattern with a part of the tree.
func (m *treeMatch) value(p, n reflect.Value) bool {
	if *m.left--; *m.left < 0 {
		return false
	}
	if h := m.hole(p); h != nil {
		return h.rest && empty(n) || !empty(n) && m.bind(h, n)
	}
	for p.Kind() == reflect.Interface {
		p = p.Elem()
	}
	for n.Kind() == reflect.Interface {
		n = n.Elem()
	}
	if !p.IsValid() || !n.IsValid() {
		return p.IsValid() == n.IsValid()
	}
	if n.Type() == reflect.TypeFor[*ast.ParenExpr]() && p.Type() != n.Type() {
		return m.value(p, n.Elem().FieldByName("X"))
	}
	if f, ok := p.Interface().(*ast.ForStmt); ok && f != nil && m.anyLoop(f) {
		return m.loop(f, n)
	}
	if p.Type() != n.Type() {
		return false
	}
	switch p.Kind() {
	case reflect.Pointer:
		if list, ok := p.Interface().(*ast.FieldList); ok && list != nil && n.IsNil() {
			return len(list.List) == 1 && m.restOnly(list.List[0])
		}
		if p.IsNil() || n.IsNil() {
			return p.IsNil() == n.IsNil()
		}
		return m.fields(p, n)
	case reflect.Slice:
		_, ok := m.run(p, n, true)
		return ok
	case reflect.String:
		return p.String() == n.String()
	case reflect.Bool:
		return p.Bool() == n.Bool()
	case reflect.Int:
		return p.Int() == n.Int()
	default:
		return true
	}
}

func (m *treeMatch) fields(p, n reflect.Value) bool {
	switch a := p.Interface().(type) {
	case *ast.Ident:
		return a.Name == n.Interface().(*ast.Ident).Name
	case *ast.BasicLit:
		b := n.Interface().(*ast.BasicLit)
		return a.Kind == b.Kind && literalValue(a) == literalValue(b)
	case *ast.CallExpr:
		if b := n.Interface().(*ast.CallExpr); a.Ellipsis.IsValid() != b.Ellipsis.IsValid() {
			return false
		}
	}
	p, n = p.Elem(), n.Elem()
	for i := range p.NumField() {
		if !ignoredTypes[p.Type().Field(i).Type] && !m.value(p.Field(i), n.Field(i)) {
			return false
		}
	}
	return true
}

func literalValue(b *ast.BasicLit) string {
	if b.Kind == token.STRING || b.Kind == token.CHAR {
		if s, err := strconv.Unquote(b.Value); err == nil {
			return s
		}
	}
	return b.Value
}

// restOnly tells whether a list of parameters or results is only $...; then
// there may be none at all.
func (m *treeMatch) restOnly(f *ast.Field) bool {
	h := m.hole(reflect.ValueOf(f))
	return h != nil && h.rest
}

// anyLoop tells whether the head of a pattern's loop is $..., which stands for
// every kind of loop.
func (m *treeMatch) anyLoop(f *ast.ForStmt) bool {
	h := m.hole(reflect.ValueOf(&f.Cond).Elem())
	return f.Init == nil && f.Post == nil && h != nil && h.rest
}

func (m *treeMatch) loop(f *ast.ForStmt, n reflect.Value) bool {
	switch loop := n.Interface().(type) {
	case *ast.ForStmt:
		return m.value(reflect.ValueOf(f.Body), reflect.ValueOf(loop.Body))
	case *ast.RangeStmt:
		return m.value(reflect.ValueOf(f.Body), reflect.ValueOf(loop.Body))
	}
	return false
}

// run matches a list with the beginning of another, or with the whole of it,
// and returns how many elements it took.
func (m *treeMatch) run(p, n reflect.Value, whole bool) (int, bool) {
	if p.Len() == 0 {
		return 0, !whole || n.Len() == 0
	}
	h := m.hole(p.Index(0))
	if h == nil || !h.rest {
		if n.Len() == 0 || !m.value(p.Index(0), n.Index(0)) {
			return 0, false
		}
		used, ok := m.run(p.Slice(1, p.Len()), n.Slice(1, n.Len()), whole)
		return used + 1, ok
	}
	if p.Len() == 1 {
		return n.Len(), true
	}
	for skip := 0; skip <= n.Len() && *m.left > 0; skip++ {
		saved := maps.Clone(m.bound)
		if used, ok := m.run(p.Slice(1, p.Len()), n.Slice(skip, n.Len()), whole); ok {
			return skip + used, true
		}
		m.bound = saved
	}
	return 0, false
}

func empty(n reflect.Value) bool {
	switch n.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Interface, reflect.Slice:
		return n.IsNil()
	default:
		return false
	}
}

// bind gives a hole its meaning, or compares with the one it has.
func (m *treeMatch) bind(h *hole, n reflect.Value) bool {
	if h.re != nil {
		node, ok := n.Interface().(ast.Node)
		if !ok {
			return false
		}
		from, to := m.src.offset(node.Pos()), m.src.offset(node.End())
		if from > to || !h.re.Match(m.src.content[from:to]) {
			return false
		}
	}
	if h.name == "" || h.name == "_" {
		return true
	}
	if known, found := m.bound[h.name]; found {
		same := treeMatch{src: m.src, left: m.left}
		return same.value(known, n)
	}
	if m.bound == nil {
		m.bound = bindings{}
	}
	m.bound[h.name] = n
	return true
}
