package check

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
)

// treeEngine matches a query against the syntax tree of Go.
type treeEngine struct {
	main    *treePattern
	clauses []treeClause
}

type treeClause struct {
	place   place
	negate  bool
	keyword []reflect.Type // what the condition names by keyword
	pattern *treePattern
}

// treePattern is the tree of a pattern: one node, or a run of statements.
type treePattern struct {
	holes holes
	node  ast.Node
	list  []ast.Stmt
	roots []reflect.Type // of the nodes it can match at
}

// treeKeywords are what a condition may name instead of a pattern.
var treeKeywords = map[string][]reflect.Type{
	"for":    {reflect.TypeFor[*ast.ForStmt](), reflect.TypeFor[*ast.RangeStmt]()},
	"func":   {reflect.TypeFor[*ast.FuncDecl](), reflect.TypeFor[*ast.FuncLit]()},
	"if":     {reflect.TypeFor[*ast.IfStmt]()},
	"switch": {reflect.TypeFor[*ast.SwitchStmt](), reflect.TypeFor[*ast.TypeSwitchStmt]()},
	"select": {reflect.TypeFor[*ast.SelectStmt]()},
	"case":   {reflect.TypeFor[*ast.CaseClause](), reflect.TypeFor[*ast.CommClause]()},
	"go":     {reflect.TypeFor[*ast.GoStmt]()},
	"defer":  {reflect.TypeFor[*ast.DeferStmt]()},
	"struct": {reflect.TypeFor[*ast.StructType]()},
}

func newTreeEngine(_, main string, clauses []clause, h holes) (engine, error) {
	e := &treeEngine{}
	var err error
	if e.main, err = newTreePattern(main, h); err != nil {
		return nil, err
	}
	for _, c := range clauses {
		if c.place == before {
			return nil, errors.New("there is no condition \"before\" for Go; write the statements one after the other, with ; between them")
		}
		tc := treeClause{place: c.place, negate: c.negate, keyword: treeKeywords[c.text]}
		if tc.keyword == nil {
			if tc.pattern, err = newTreePattern(c.text, h); err != nil {
				return nil, err
			}
		}
		e.clauses = append(e.clauses, tc)
	}
	return e, nil
}

func newTreePattern(text string, h holes) (*treePattern, error) {
	p := &treePattern{holes: h}
	if e, err := parser.ParseExpr(text); err == nil {
		p.node = e
	} else if err := p.parseStatements(text); err != nil {
		return nil, err
	}
	switch root := p.node.(type) {
	case nil:
		p.roots = []reflect.Type{reflect.TypeFor[*ast.BlockStmt](), reflect.TypeFor[*ast.CaseClause](), reflect.TypeFor[*ast.CommClause]()}
	case *ast.Ident:
		if h[root.Name] != nil {
			return nil, errors.New("the pattern is only a hole; name some code around it")
		}
		p.roots = []reflect.Type{reflect.TypeOf(root)}
	case *ast.ForStmt:
		p.roots = treeKeywords["for"]
	default:
		p.roots = []reflect.Type{reflect.TypeOf(root)}
	}
	return p, nil
}

func (p *treePattern) parseStatements(text string) error {
	mode := parser.SkipObjectResolution
	f, first := parser.ParseFile(token.NewFileSet(), "", "package p; func _() {"+text+"\n}", mode)
	if first == nil && len(f.Decls) == 1 {
		switch list := f.Decls[0].(*ast.FuncDecl).Body.List; len(list) {
		case 0:
			return errors.New("the pattern is empty")
		case 1:
			p.node = list[0]
			if d, ok := p.node.(*ast.DeclStmt); ok {
				p.node = d.Decl
			}
		default:
			p.list = list
		}
		return nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p;"+text+"\n", mode)
	if err != nil || len(f.Decls) != 1 {
		return fmt.Errorf("the pattern is no Go expression, statement or declaration: %w", first)
	}
	p.node = f.Decls[0]
	return nil
}

// treeNode is a node of a file with its place in the tree.
type treeNode struct {
	node   ast.Node
	parent int32 // -1 for the file
	last   int32 // index of the last node below it
}

// treeIndex is a file's nodes in the order of the source.
type treeIndex struct {
	nodes  []treeNode
	byType map[reflect.Type][]int32
}

// tree parses the source once. A file with errors yields what was understood.
func (s *source) tree() *treeIndex {
	if s.parsed {
		return s.index
	}
	s.parsed = true
	s.index = &treeIndex{byType: map[reflect.Type][]int32{}}
	s.fset = token.NewFileSet()
	s.file, _ = parser.ParseFile(s.fset, s.name, s.content, parser.SkipObjectResolution)
	if s.file == nil {
		return s.index
	}
	x := s.index
	var stack []int32
	ast.Inspect(s.file, func(n ast.Node) bool {
		if n == nil {
			top := stack[len(stack)-1]
			x.nodes[top].last = int32(len(x.nodes) - 1)
			stack = stack[:len(stack)-1]
			return true
		}
		parent := int32(-1)
		if len(stack) > 0 {
			parent = stack[len(stack)-1]
		}
		id := int32(len(x.nodes))
		x.nodes = append(x.nodes, treeNode{node: n, parent: parent})
		t := reflect.TypeOf(n)
		x.byType[t] = append(x.byType[t], id)
		stack = append(stack, id)
		return true
	})
	return x
}

// offset is where a position stands in the content; positions of a broken file
// may lie outside.
func (s *source) offset(p token.Pos) int {
	f := s.fset.File(s.file.FileStart)
	if f == nil || !p.IsValid() || int(p) < f.Base() || int(p) > f.Base()+f.Size() {
		return len(s.content)
	}
	return f.Offset(p)
}

func (e *treeEngine) find(src *source, report func(from, to int)) {
	x := src.tree()
	left := treeSteps(len(x.nodes))
	for _, root := range e.main.roots {
		for _, id := range x.byType[root] {
			if left < 0 {
				return
			}
			e.main.each(src, x.nodes[id].node, nil, &left, func(b bindings, from, to token.Pos) bool {
				if e.holds(src, id, b, &left) {
					report(src.offset(from), max(src.offset(from), src.offset(to)))
				}
				return true
			})
		}
	}
}

// holds tells whether all conditions are true of a match at a node.
func (e *treeEngine) holds(src *source, id int32, b bindings, left *int) bool {
	for i := range e.clauses {
		if e.clauses[i].met(src, id, b, left) == e.clauses[i].negate {
			return false
		}
	}
	return true
}

func (c *treeClause) met(src *source, id int32, b bindings, left *int) bool {
	x := src.tree()
	if c.place == inside || c.place == within {
		for up := x.nodes[id].parent; up >= 0; up = x.nodes[up].parent {
			if c.matches(src, x.nodes[up].node, b, left) {
				return true
			}
			if c.place == inside && isFunc(x.nodes[up].node) {
				return false
			}
		}
		return false
	}
	root := int32(0)
	if c.place == having {
		for up := id; up >= 0; up = x.nodes[up].parent {
			if isFunc(x.nodes[up].node) {
				root = up
				break
			}
		}
	}
	for at := root; at <= x.nodes[root].last && *left > 0; at++ {
		*left--
		if c.matches(src, x.nodes[at].node, b, left) {
			return true
		}
	}
	return false
}

func isFunc(n ast.Node) bool {
	switch n.(type) {
	case *ast.FuncDecl, *ast.FuncLit:
		return true
	}
	return false
}

func (c *treeClause) matches(src *source, n ast.Node, b bindings, left *int) bool {
	t := reflect.TypeOf(n)
	for _, k := range c.keyword {
		if k == t {
			return true
		}
	}
	if c.pattern == nil {
		return false
	}
	for _, root := range c.pattern.roots {
		if root != t {
			continue
		}
		met := false
		c.pattern.each(src, n, b, left, func(bindings, token.Pos, token.Pos) bool {
			met = true
			return false
		})
		return met
	}
	return false
}
