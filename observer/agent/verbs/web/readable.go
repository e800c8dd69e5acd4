package web

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/excerpt"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of the part of a page that is made readable: far more than a result
// holds, and little enough to be converted in a second.
const (
	maxNodes = 20_000  // elements and texts
	maxText  = 1 << 20 // bytes of text
)

// Readable makes text of a page in UTF-8: Markdown, with its title first, then
// what the page calls its main part, then the rest. Links are absolute and kept.
// What readers do not see is left out.
func Readable(page []byte, from *url.URL) string {
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return plain(page)
	}
	t := tidy{base: from}
	t.walk(doc, 0)
	mainFirst(doc)
	text, err := newConverter().ConvertNode(doc, converter.WithDomain(t.base.String()))
	if err != nil {
		return plain(page)
	}
	var out strings.Builder
	if t.title != "" && !bytes.HasPrefix(bytes.TrimLeft(text, "# "), []byte(t.title)) {
		out.WriteString("# " + t.title + "\n\n")
	}
	out.Write(bytes.TrimSpace(text))
	out.WriteByte('\n')
	if t.left {
		out.WriteString("\nWARN: the page goes on; only its first part was made readable.\n")
	}
	return out.String()
}

// newConverter makes one per page: it keeps state.
func newConverter() *converter.Converter {
	return converter.NewConverter(
		converter.WithEscapeMode(converter.EscapeModeDisabled),
		converter.WithPlugins(
			base.NewBasePlugin(),
			commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false), commonmark.WithLinkEmptyContentBehavior(commonmark.LinkBehaviorSkip)),
			table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal), table.WithSpanCellBehavior(table.SpanBehaviorEmpty)),
		),
	)
}

// unseen are elements without anything to read.
var unseen = []atom.Atom{
	atom.Script, atom.Style, atom.Template, atom.Iframe, atom.Object, atom.Embed, atom.Svg, atom.Math, atom.Canvas, atom.Audio, atom.Video,
	atom.Select, atom.Datalist, atom.Dialog,
}

// tidy goes over a page before it is converted.
type tidy struct {
	title string
	base  *url.URL
	nodes int
	text  int
	left  bool // a part of the page is left out for its size
}

// maxDeep is the depth below which elements are left out. A parser stops at 512
// open elements; converting costs more the deeper a page is.
const maxDeep = 200

func (t *tidy) walk(n *html.Node, depth int) {
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		t.nodes++
		switch {
		case t.nodes > maxNodes, t.text > maxText:
			t.left = true
			n.RemoveChild(child)
		case child.Type == html.CommentNode, child.Type == html.ElementNode && (depth > maxDeep || hidden(child)):
			n.RemoveChild(child)
		case child.Type == html.TextNode:
			t.text += len(child.Data)
		case child.Type == html.ElementNode:
			t.element(child)
			t.walk(child, depth+1)
		}
		child = next
	}
}

func (t *tidy) element(n *html.Node) {
	switch n.DataAtom {
	case atom.Title:
		if t.title == "" && n.FirstChild != nil {
			t.title = excerpt.Line(n.FirstChild.Data)
		}
	case atom.Base:
		if at, err := url.Parse(get(n, "href")); err == nil {
			t.base = t.base.ResolveReference(at)
		}
	case atom.A:
		t.link(n, "href")
	case atom.Img:
		t.link(n, "src")
	case atom.Td, atom.Th:
		// A span is as many cells as its number says, in both directions.
		n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "colspan" || a.Key == "rowspan" })
	default:
	}
}

// link takes out addresses that nobody can fetch.
func (t *tidy) link(n *html.Node, key string) {
	at, err := url.Parse(strings.TrimSpace(get(n, key)))
	if err == nil && slices.Contains([]string{"", "http", "https", "mailto"}, strings.ToLower(at.Scheme)) {
		return
	}
	n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == key })
}

// hidden reports what a reader does not see: text there is for machines, and
// more often for misleading them than for anything else.
func hidden(n *html.Node) bool {
	if slices.Contains(unseen, n.DataAtom) {
		return true
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return a.Val != "until-found"
		case "aria-hidden":
			if a.Val == "true" {
				return true
			}
		case "style":
			style := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
			if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
				return true
			}
		}
	}
	return false
}

// mainFirst moves the main part of a page to its begin.
func mainFirst(doc *html.Node) {
	body := find(doc, func(n *html.Node) bool { return n.DataAtom == atom.Body })
	if body == nil {
		return
	}
	part := find(body, func(n *html.Node) bool { return n.DataAtom == atom.Main || get(n, "role") == "main" })
	if part == nil {
		part = find(body, func(n *html.Node) bool { return n.DataAtom == atom.Article })
	}
	if part == nil || part == body {
		return
	}
	part.Parent.RemoveChild(part)
	body.InsertBefore(part, body.FirstChild)
}

func find(n *html.Node, wanted func(*html.Node) bool) *html.Node {
	for child := range n.Descendants() {
		if child.Type == html.ElementNode && wanted(child) {
			return child
		}
	}
	return nil
}

func get(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// plain is the text of markup that no parser takes.
func plain(page []byte) string {
	var out strings.Builder
	skip := ""
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return strings.TrimSpace(out.String()) + "\n"
		case html.TextToken:
			if skip == "" {
				out.Write(z.Text())
			}
		case html.StartTagToken:
			if name, _ := z.TagName(); slices.Contains(unseen, atom.Lookup(name)) {
				skip = string(name)
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == skip {
				skip = ""
			}
		default:
		}
	}
}
