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

// goOutline is that of a Go file: of what could be made of it where it has errors,
// and empty where that is nothing.
func goOutline(t lines) outline {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", t.text, parser.SkipObjectResolution|parser.ParseComments)
	if file == nil || err != nil && len(file.Decls) == 0 {
		return outline{}
	}
	base := files.File(file.FileStart).Base()
	line := func(p token.Pos) int { return t.at(min(max(int(p)-base, 0), len(t.text))) }
	o := goOutliner{lines: t, outline: outline{least: declarationTokens}}
	o.sections = make([]section, 0, len(file.Decls)+1)
	o.symbols = make([]artifact.Symbol, 0, len(file.Decls)+1)
	o.symbols = append(o.symbols, artifact.Symbol{Name: file.Name.Name, Kind: "module", Line: line(file.Package) + 1})
	o.sections = append(o.sections, section{heading: "package " + file.Name.Name})
	o.free = line(file.Name.End()-1) + 1
	for _, decl := range file.Decls {
		if generic, is := decl.(*ast.GenDecl); !is || generic.Tok != token.IMPORT || len(o.sections) > 1 {
			symbols := goSymbols(decl, line)
			o.declare(docLine(decl, line), strings.Join(namesOf(symbols), ", "), symbols...)
		}
		o.free = line(decl.End()-1) + 1
	}
	o.sections[len(o.sections)-1].to = t.count()
	return o.outline
}

// goOutliner makes an outline of declarations, in their order.
type goOutliner struct {
	lines
	outline
	free int // the first line that belongs to no declaration yet
}

// declare begins the section of a declaration at its line or at comments above
// it: those that stand behind the declaration before.
func (o *goOutliner) declare(line int, heading string, symbols ...artifact.Symbol) {
	o.symbols = append(o.symbols, symbols...)
	start := min(max(line, o.free), o.lines.count())
	// Comments that belong to no declaration lead to the next one.
	for start > o.free && !o.blank(start-1) && strings.HasPrefix(strings.TrimSpace(o.line(start-1)), "//") {
		start--
	}
	o.sections[len(o.sections)-1].to = start
	o.sections = append(o.sections, section{from: start, heading: heading})
}

// docLine is where a declaration begins with the comment that the parser found
// above it.
func docLine(decl ast.Decl, line func(token.Pos) int) int {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc != nil {
			return line(d.Doc.Pos())
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			return line(d.Doc.Pos())
		}
	}
	return line(decl.Pos())
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
