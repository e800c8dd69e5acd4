package plan

import (
	"sort"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

type blockKind int

const (
	paragraph  blockKind = iota
	item                 // the first paragraph of a list item
	cell                 // of a table's body
	header               // of a table's head
	subheading           // level three and below
)

// block is one leaf of the document that holds text a person reads. Code,
// comments and thematic breaks are none.
type block struct {
	kind  blockKind
	line  int
	box   *bool // the state of its check box, nil without one
	spans []span
}

// span is a piece of a block's text.
type span struct {
	text string
	code bool   // an inline code span
	link string // destination, on the first span of a link
	auto bool   // the text is an address (an autolink)
}

func (b block) text() string { return strings.TrimSpace(strings.Map(visible, joinSpans(b.spans))) }

// visible drops the characters that have no shape of their own.
func visible(r rune) rune {
	if unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}

func joinSpans(spans []span) string {
	var sb strings.Builder
	for _, s := range spans {
		sb.WriteString(s.text)
	}
	return sb.String()
}

// reader turns nodes into blocks; lines are counted from firstLine.
type reader struct {
	src       []byte
	firstLine int
	starts    []int // offset of each line's first byte
	folded    int   // elements open at this place that a reader does not see unfolded
	hidden    int   // line of the first HTML that is not shown; 0 for none
}

func (r *reader) indexLines() {
	r.starts = append(r.starts[:0], 0)
	for i, c := range r.src {
		if c == '\n' {
			r.starts = append(r.starts, i+1)
		}
	}
}

func (r *reader) lineAt(offset int) int {
	return r.firstLine - 1 + sort.SearchInts(r.starts, offset+1)
}

func (r *reader) lineOf(n ast.Node) int {
	if n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0 {
		return r.lineAt(n.Lines().At(0).Start)
	}
	if pos := n.Pos(); pos >= 0 {
		return r.lineAt(pos)
	}
	return r.firstLine
}

// blocks lists the leaves below n in document order.
func (r *reader) blocks(n ast.Node) []block {
	var out []block
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Paragraph, *ast.TextBlock:
			out = append(out, r.textBlock(n))
			return ast.WalkSkipChildren, nil
		case *ast.Heading:
			out = append(out, block{kind: subheading, line: r.lineOf(n), spans: r.inline(n)})
			return ast.WalkSkipChildren, nil
		case *east.TableCell:
			kind := cell
			if n.Parent() != nil && n.Parent().Kind() == east.KindTableHeader {
				kind = header
			}
			out = append(out, block{kind: kind, line: r.lineOf(n), spans: r.inline(n)})
			return ast.WalkSkipChildren, nil
		case *ast.HTMLBlock:
			raw := string(n.Lines().Value(r.src))
			if n.HasClosure() {
				raw += string(n.ClosureLine.Value(r.src))
			}
			out = append(out, block{line: r.lineOf(n), spans: []span{{text: stripHTML(r.markup(raw, r.lineOf(n)))}}})
			return ast.WalkSkipChildren, nil
		case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.LinkReferenceDefinition:
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return out
}

func (r *reader) textBlock(n ast.Node) block {
	b := block{line: r.lineOf(n), spans: r.inline(n)}
	if p, ok := n.Parent().(*ast.ListItem); ok && p.FirstChild() == n {
		b.kind = item
		if box, ok := n.FirstChild().(*east.TaskCheckBox); ok {
			b.box = r.state(n, box)
		}
	}
	return b
}

// state refuses what only looks like a check box: the standard wants white
// space behind it, `[x](address)` is a link.
func (r *reader) state(n ast.Node, box *east.TaskCheckBox) *bool {
	first := strings.TrimLeft(string(n.Lines().Value(r.src)), " \t")
	if len(first) > 3 && !strings.ContainsRune(" \t\n", rune(first[3])) {
		return nil
	}
	ticked := box.IsChecked
	return &ticked
}

func (r *reader) inline(n ast.Node) []span {
	var out []span
	link := ""
	add := func(s span) {
		s.link, link = link, ""
		if r.folded == 0 {
			out = append(out, s)
		}
	}
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			t := plainText(n.Segment.Value(r.src))
			if n.SoftLineBreak() || n.HardLineBreak() {
				t += "\n"
			}
			add(span{text: t})
		case *ast.String:
			add(span{text: string(n.Value)})
		case *ast.CodeSpan:
			var sb strings.Builder
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, ok := c.(*ast.Text); ok {
					sb.Write(t.Segment.Value(r.src))
				}
			}
			add(span{text: sb.String(), code: true})
			return ast.WalkSkipChildren, nil
		case *ast.Link:
			link = string(n.Destination)
		case *ast.AutoLink:
			add(span{text: string(n.Label(r.src)), auto: true})
		case *east.Strikethrough:
			return ast.WalkSkipChildren, nil
		case *ast.RawHTML:
			r.markup(string(n.Segments.Value(r.src)), r.lineAt(n.Segments.At(0).Start))
		}
		return ast.WalkContinue, nil
	})
	return out
}

// markup reads a piece of HTML and returns what a reader sees of it.
func (r *reader) markup(html string, line int) string {
	if r.hidden == 0 && hiding.MatchString(html) {
		r.hidden = line
	}
	return r.fold(html)
}

// plainText undoes escapes and entities as a reader of the rendered page sees
// the text.
func plainText(raw []byte) string {
	raw = util.UnescapePunctuations(raw)
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(raw)))
}

// stripHTML drops comments and tags; a comment that is never closed runs to
// the end.
func stripHTML(s string) string {
	var sb strings.Builder
	for s != "" {
		open := strings.IndexByte(s, '<')
		if open < 0 {
			break
		}
		sb.WriteString(s[:open])
		sb.WriteByte(' ')
		s = s[open:]
		end := ">"
		if strings.HasPrefix(s, "<!--") {
			end = "-->"
		}
		_, rest, found := strings.Cut(s, end)
		if !found {
			return sb.String()
		}
		s = rest
	}
	return sb.String() + s
}
