package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Topic is a document of the help pages.
type Topic struct {
	Name    string `json:"name"`
	Group   string `json:"group"`
	Title   string `json:"title"`
	Summary string `json:"summary"`
	Text    string `json:"text"` // Markdown
}

// element is a piece of a page, which the page makes itself: nothing is sent as
// markup. Its children are elements and strings.
type element struct {
	Tag      string            `json:"t"`
	Attr     map[string]string `json:"a,omitempty"`
	Children []any             `json:"c,omitempty"`
}

// help answers with the list of topics, or with one of them as elements.
func (s *Server) help(w http.ResponseWriter, r *http.Request) {
	var all []Topic
	if s.options.Help != nil {
		all = s.options.Help()
	}
	var said any = map[string]any{"topics": all}
	if name := r.URL.Query().Get("topic"); name != "" {
		at := -1
		for i := range all {
			if all[i].Name == name {
				at = i
			}
		}
		if at < 0 {
			problem(w, http.StatusNotFound, "there is no topic of this name")
			return
		}
		said = map[string]any{"name": name, "title": all[at].Title, "body": elements(all[at].Text, all)}
	}
	raw, err := json.Marshal(said)
	if err != nil {
		problem(w, http.StatusInternalServerError, err.Error())
		return
	}
	answer(w, http.StatusOK, raw)
}

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// elements reads a document. HTML in it is text.
func elements(document string, topics []Topic) []any {
	b := builder{source: []byte(document), topics: topics}
	return b.children(markdown.Parser().Parse(text.NewReader(b.source)))
}

type builder struct {
	source []byte
	topics []Topic
}

func (b *builder) children(n ast.Node) []any {
	var all []any
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		all = append(all, b.node(c)...)
	}
	return all
}

func (b *builder) node(n ast.Node) []any {
	switch n := n.(type) {
	case *ast.Text:
		said := string(n.Segment.Value(b.source))
		if n.SoftLineBreak() || n.HardLineBreak() {
			said += " "
		}
		return []any{unescape(said)}
	case *ast.String:
		return []any{string(n.Value)}
	case *ast.Heading:
		e := element{Tag: fmt.Sprintf("h%d", min(n.Level, 4)), Children: b.children(n)}
		if id, ok := n.AttributeString("id"); ok {
			if raw, ok := id.([]byte); ok {
				e.Attr = map[string]string{"id": string(raw)}
			}
		}
		return []any{e}
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return []any{element{Tag: "pre", Attr: map[string]string{"tabindex": "0"}, Children: []any{element{Tag: "code", Children: []any{b.lines(n)}}}}}
	case *ast.HTMLBlock:
		return []any{element{Tag: "p", Children: []any{b.lines(n)}}}
	case *ast.RawHTML:
		said := ""
		for i := range n.Segments.Len() {
			segment := n.Segments.At(i)
			said += string(segment.Value(b.source))
		}
		return []any{said}
	case *ast.Emphasis:
		return []any{element{Tag: map[bool]string{true: "strong", false: "em"}[n.Level > 1], Children: b.children(n)}}
	case *ast.Link:
		return b.link(string(n.Destination), b.children(n))
	case *ast.AutoLink:
		return b.link(string(n.URL(b.source)), []any{string(n.Label(b.source))})
	case *ast.List:
		return []any{element{Tag: map[bool]string{true: "ol", false: "ul"}[n.IsOrdered()], Children: b.children(n)}}
	case *ast.TextBlock:
		return b.children(n)
	case *tables.Table:
		return []any{element{Tag: "div", Attr: map[string]string{"class": "scroll", "tabindex": "0"}, Children: []any{element{Tag: "table", Children: b.children(n)}}}}
	case *tables.TableCell:
		if n.Parent().Kind() == tables.KindTableHeader {
			return []any{element{Tag: "th", Attr: map[string]string{"scope": "col"}, Children: b.children(n)}}
		}
		return []any{element{Tag: "td", Children: b.children(n)}}
	}
	if tag, known := plainTags[n.Kind()]; known {
		return []any{element{Tag: tag, Children: b.children(n)}}
	}
	return b.children(n)
}

// plainTags are the nodes that are an element and nothing more.
var plainTags = map[ast.NodeKind]string{
	ast.KindParagraph: "p", ast.KindListItem: "li", ast.KindCodeSpan: "code", ast.KindBlockquote: "blockquote", ast.KindThematicBreak: "hr",
	tables.KindTableHeader: "tr", tables.KindTableRow: "tr",
}

// link leads to another topic, to another site, or nowhere: other documents lie
// in the sources alone.
func (b *builder) link(to string, children []any) []any {
	name := strings.TrimSuffix(path.Base(to), ".md")
	for _, t := range b.topics {
		if t.Name == name && strings.HasSuffix(to, ".md") && !strings.Contains(to, ":") {
			return []any{element{Tag: "a", Attr: map[string]string{"href": "#/help/" + name}, Children: children}}
		}
	}
	if strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "http://") {
		return []any{element{Tag: "a", Attr: map[string]string{"href": to, "rel": "noreferrer", "target": "_blank"}, Children: children}}
	}
	return children
}

// lines is the text of a block that is not read any further.
func (b *builder) lines(n ast.Node) string {
	var out strings.Builder
	lines := n.Lines()
	for i := range lines.Len() {
		segment := lines.At(i)
		out.Write(segment.Value(b.source))
	}
	return strings.TrimRight(out.String(), "\n")
}

// unescape takes the backslashes before punctuation out, which the parser keeps
// in its source.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", s[i+1]) >= 0 {
			i++
		}
		out.WriteByte(s[i])
	}
	return out.String()
}
