// Package drawing writes a part of the graph of rules: as a tree of text, and in the
// languages of programs that draw, Graphviz and Mermaid.
//
// No text of the graph becomes a statement of those languages.
package drawing

import (
	"fmt"
	"io"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// DOT writes the language of Graphviz.
func DOT(w io.Writer, view schemas.GraphView) {
	quote := func(s string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ", "\r", " ").Replace(s) + `"`
	}
	fmt.Fprintf(w, "digraph writ {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n")
	for _, n := range view.Nodes {
		label := quote(n.ID)
		if n.Title != "" {
			// \n is DOT's own line break, so it stands outside what is quoted.
			label = strings.TrimSuffix(label, `"`) + `\n` + strings.TrimPrefix(quote(excerpt.Runes(n.Title, 40)), `"`)
		}
		extra := ""
		switch {
		case n.Missing:
			extra = ", style=dashed"
		case n.ID == view.ID:
			extra = `, style="rounded,bold"`
		case n.Type != schemas.NodeRule && n.Type != "":
			extra = ", shape=ellipse, tooltip=" + quote(string(n.Type))
		}
		fmt.Fprintf(w, "  %s [label=%s%s];\n", quote(n.ID), label, extra)
	}
	for _, e := range view.Edges {
		fmt.Fprintf(w, "  %s -> %s [label=%s];\n", quote(e.From), quote(e.To), quote(e.Type))
	}
	fmt.Fprintln(w, "}")
}

// Mermaid writes a flowchart as Markdown viewers draw it.
func Mermaid(w io.Writer, view schemas.GraphView) {
	// Mermaid has no quoting within a text, only the entities of HTML.
	text := func(s string) string {
		return `"` + strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;", "`", "&#96;", "\n", " ", "\r", " ", "|", "&#124;").Replace(s) + `"`
	}
	names := map[string]string{}
	fmt.Fprintln(w, "flowchart LR")
	for i, n := range view.Nodes {
		names[n.ID] = fmt.Sprintf("n%d", i)
		label := text(n.ID)
		if n.Title != "" {
			label = strings.TrimSuffix(label, `"`) + "<br/>" + strings.TrimPrefix(text(excerpt.Runes(n.Title, 40)), `"`)
		}
		left, right := "[", "]"
		if n.Type != schemas.NodeRule && n.Type != "" {
			left, right = "([", "])"
		}
		fmt.Fprintf(w, "  %s%s%s%s\n", names[n.ID], left, label, right)
		if n.Missing {
			fmt.Fprintf(w, "  style %s stroke-dasharray: 5 5\n", names[n.ID])
		}
	}
	for _, e := range view.Edges {
		fmt.Fprintf(w, "  %s -->|%s| %s\n", names[e.From], text(e.Type), names[e.To])
	}
	if root, there := names[view.ID]; there {
		fmt.Fprintf(w, "  style %s stroke-width:3px\n", root)
	}
}
