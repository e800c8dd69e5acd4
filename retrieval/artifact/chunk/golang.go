package chunk

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"

	"github.com/writbus/writ/retrieval/artifact"
)

// declarationTokens is up to where small declarations are put together: a
// dozen of one-line functions are read as one.
const declarationTokens = 48

// goOutline is that of a Go file. It is empty for one that does not parse.
func goOutline(t lines, c *Counter) outline {
	h, ok := hollowed(t.text, c.hollow)
	c.hollow = h
	if ok {
		if o, err := goOutlineOf(t, h); err == nil {
			return o
		}
	}
	o, _ := goOutlineOf(t, hollow{text: []byte(t.text), commented: true})
	return o
}

// goOutlineOf parses the hollow text of a file. With an error it is the outline
// of what could be made of it.
func goOutlineOf(t lines, h hollow) (outline, error) {
	files := token.NewFileSet()
	mode := parser.SkipObjectResolution
	if h.commented {
		mode |= parser.ParseComments
	}
	file, err := parser.ParseFile(files, "", h.text, mode)
	if file == nil || err != nil && len(file.Decls) == 0 {
		return outline{}, err
	}
	base := files.File(file.FileStart).Base()
	line := func(p token.Pos) int { return t.at(h.origin(min(max(int(p)-base, 0), len(h.text)))) }
	o := outline{
		sections: make([]section, 0, len(file.Decls)+1), symbols: make([]artifact.Symbol, 0, len(file.Decls)+1), least: declarationTokens,
	}
	o.symbols = append(o.symbols, artifact.Symbol{Name: file.Name.Name, Kind: "module", Line: line(file.Package) + 1})
	o.sections = append(o.sections, section{heading: "package " + file.Name.Name})
	free := line(file.Name.End()-1) + 1 // the first line that belongs to no declaration yet
	for _, decl := range file.Decls {
		generic, isGeneric := decl.(*ast.GenDecl)
		if !isGeneric || generic.Tok != token.IMPORT || len(o.sections) > 1 {
			symbols := goSymbols(decl, line)
			o.symbols = append(o.symbols, symbols...)
			from := t.goStart(decl, line, free)
			o.sections[len(o.sections)-1].to = from
			o.sections = append(o.sections, section{from: from, heading: strings.Join(namesOf(symbols), ", ")})
		}
		free = line(decl.End()-1) + 1
	}
	o.sections[len(o.sections)-1].to = t.count()
	return o, err
}

// goStart is the line where a declaration begins with its comments: those that
// stand above it, behind the declaration before.
func (l lines) goStart(decl ast.Decl, line func(token.Pos) int, least int) int {
	start := line(decl.Pos())
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc != nil {
			start = line(d.Doc.Pos())
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			start = line(d.Doc.Pos())
		}
	}
	start = min(max(start, least), l.count())
	// Comments that belong to no declaration lead to the next one.
	for start > least && !l.blank(start-1) && strings.HasPrefix(strings.TrimSpace(l.line(start-1)), "//") {
		start--
	}
	return start
}

func namesOf(symbols []artifact.Symbol) []string {
	names := make([]string, 0, min(len(symbols), headingNames)+1)
	for i, s := range symbols {
		if i == headingNames {
			return append(names, "…")
		}
		names = append(names, s.Name)
	}
	return names
}

func goSymbols(decl ast.Decl, line func(token.Pos) int) (all []artifact.Symbol) {
	add := func(name *ast.Ident, prefix, kind string) {
		if name.Name != "_" {
			all = append(all, artifact.Symbol{Name: prefix + name.Name, Kind: kind, Line: line(name.Pos()) + 1})
		}
	}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || len(d.Recv.List) == 0 {
			add(d.Name, "", "func")
			break
		}
		prefix := ""
		if receiver := receiverName(d.Recv.List[0].Type); receiver != "" {
			prefix = receiver + "."
		}
		add(d.Name, prefix, "method")
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				kind := "type"
				if _, isInterface := s.Type.(*ast.InterfaceType); isInterface {
					kind = "interface"
				}
				add(s.Name, "", kind)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					add(name, "", d.Tok.String())
				}
			}
		}
	}
	return all
}

func receiverName(t ast.Expr) string {
	switch e := t.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.ParenExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
