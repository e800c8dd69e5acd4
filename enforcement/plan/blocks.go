package plan

import (
	"regexp"
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
	link, end := "", -1 // end is where the text of the last span ends
	add := func(s span) {
		s.link, link, end = link, "", -1
		if r.folded == 0 {
			out = append(out, s)
		}
	}
	// The parser cuts text wherever a mark might begin: what follows at once goes on.
	text := func(from, to int, more string) {
		t := plainText(r.src[from:to]) + more
		if last := len(out) - 1; end-2 <= from && from <= end && link == "" && r.folded == 0 {
			// Of a run of marks that is used in part, the rest is said to lie where the
			// run begins.
			out[last].text += t
			end += to - from
			return
		}
		add(span{text: t})
		if r.folded == 0 {
			end = to
		}
	}
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if e, is := n.(*ast.Emphasis); is {
			if from, to, part := r.partOfName(e); part && entering {
				text(from, from+e.Level, "")
			} else if part {
				text(to-e.Level, to, "")
			}
			return ast.WalkContinue, nil
		}
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			more := ""
			if n.SoftLineBreak() || n.HardLineBreak() {
				more = "\n"
			}
			text(n.Segment.Start, n.Segment.Stop, more)
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

// partOfName tells the underscores of a name, such as __init__.py, from emphasis,
// which the standard reads there, and where the whole of it lies in the source.
func (r *reader) partOfName(e *ast.Emphasis) (from, to int, part bool) {
	first, isText := e.FirstChild().(*ast.Text)
	last, alsoText := e.LastChild().(*ast.Text)
	if !isText || !alsoText {
		return 0, 0, false
	}
	from, to = first.Segment.Start-e.Level, last.Segment.Stop+e.Level
	if from < 0 || to > len(r.src) || strings.Trim(string(r.src[from:first.Segment.Start]), "_") != "" {
		return 0, 0, false
	}
	before, after := "", string(r.src[to:])
	if from > 0 {
		before = string(r.src[from-1])
	}
	return from, to, strings.ContainsAny(before, `/\.-~@+#%&$=]`) || goesOn.MatchString(after)
}

// goesOn is what a name goes on with: an extension or another part.
var goesOn = regexp.MustCompile(`^[./\\~@+#%&$=\[\]-]*[\pL\pN_\[]`)

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
