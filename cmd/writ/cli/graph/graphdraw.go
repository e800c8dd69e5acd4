package graph

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

func (a *app) graphShowCommand() *cobra.Command {
	query := schemas.GraphQuery{}
	var format string
	c := &cobra.Command{
		Use: "show ID", Short: "Show or draw what lies around a node",
		Long: `Shows the nodes within some edges of a node, whichever way the edges point. → is
an edge from the node above, ← one to it, ↔ one each way; a node that is shown in
full elsewhere is only named. The graph is Writ's own; no Neo4j is needed.`,
		Example: `  writ rule graph show GO-ERR-WRAP-001 --depth 1
  writ rule graph show GO-ERR-WRAP-001 --format dot | dot -Tsvg > graph.svg
  writ rule graph show GO-ERR-WRAP-001 --format mermaid`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			draw, known := drawings[format]
			if !known {
				return client.Usage("graph show: the format is "+fmt.Sprintf("%q", format), "It must be text, dot or mermaid.")
			}
			if query.Depth < 1 {
				return client.Usage("graph show: the depth must be at least 1", "")
			}
			query.ID = args[0]
			return client.Show(cmd.Context(), a.Client, client.RoleHook, "graph show "+args[0], schemas.SvcGraph, query, func(view schemas.GraphView) {
				if view.Truncated {
					a.Note("There are more nodes within %d edges than are shown; ask for fewer with --depth.", view.Depth)
				}
				draw(a.Out, a.Env.Style(a.Out), view)
			})
		},
	}
	c.Flags().IntVar(&query.Depth, "depth", 2, "how many edges away, at most")
	c.Flags().StringVar(&format, "format", "text", "text, dot (Graphviz) or mermaid")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "dot", "mermaid"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// drawings are the formats of graph show.
var drawings = map[string]func(io.Writer, client.Style, schemas.GraphView){
	"text": drawText, "dot": drawDOT, "mermaid": drawMermaid,
}

// tree is a view as text: every edge stands once, below the end that is nearer
// to the root, and every node is unfolded once, where it is nearest.
type tree struct {
	out      io.Writer
	st       client.Style
	nodes    map[string]schemas.GraphNode
	children map[string][]branch
}

// branch is an edge as seen from one of its ends.
type branch struct {
	edge   schemas.GraphEdge
	other  string
	out    bool // points away from the node above
	back   bool // and an edge of the same type points the other way
	unfold bool // the other end is shown in full below
}

func drawText(w io.Writer, st client.Style, view schemas.GraphView) {
	t := tree{out: w, st: st, nodes: map[string]schemas.GraphNode{}, children: map[string][]branch{}}
	for _, n := range view.Nodes {
		t.nodes[n.ID] = n
	}
	t.hang(view)
	root := t.nodes[view.ID]
	fmt.Fprintf(w, "%s  %s\n", st.Bold(st.Cyan(root.ID)), root.Title)
	if about := t.about(root); about != "" {
		fmt.Fprintf(w, "%s\n", st.Dim(about))
	}
	t.write(view.ID, "")
}

// hang puts every edge below one of its ends. Nodes come nearest first, so the
// first edge that reaches one unfolds it.
func (t *tree) hang(view schemas.GraphView) {
	used := make([]bool, len(view.Edges))
	unfolded := map[string]bool{view.ID: true}
	for _, n := range view.Nodes {
		for _, outward := range []bool{true, false} {
			for i, e := range view.Edges {
				at, other := e.From, e.To
				if !outward {
					at, other = e.To, e.From
				}
				if at != n.ID || used[i] {
					continue
				}
				used[i] = true
				b := branch{edge: e, other: other, out: outward, unfold: !unfolded[other]}
				if back := slices.Index(view.Edges, schemas.GraphEdge{From: e.To, Type: e.Type, To: e.From}); back > i {
					used[back], b.back = true, true
				}
				unfolded[other] = true
				t.children[n.ID] = append(t.children[n.ID], b)
			}
		}
	}
}

func (t *tree) write(id, indent string) {
	branches := t.children[id]
	for i, b := range branches {
		fork, below := "├─ ", "│  "
		if i == len(branches)-1 {
			fork, below = "└─ ", "   "
		}
		arrow := "←"
		switch {
		case b.back:
			arrow = "↔"
		case b.out:
			arrow = "→"
		}
		n := t.nodes[b.other]
		text := t.st.Bold(b.other)
		switch {
		case b.other == id:
			text += t.st.Dim(" (itself)")
		case n.Missing:
			text += t.st.Dim(" (not in the graph)")
		case !b.unfold:
			text += t.st.Dim(" (shown elsewhere)")
		default:
			text += "  " + n.Title
			if about := t.about(n); about != "" {
				text += "  " + t.st.Dim(about)
			}
		}
		fmt.Fprintf(t.out, "%s%s %s %s\n", indent+fork, t.st.Yellow(b.edge.Type), arrow, text)
		if b.unfold && b.other != id {
			t.write(b.other, indent+below)
		}
	}
}

func (*tree) about(n schemas.GraphNode) string {
	kind := string(n.Type)
	if n.Type == schemas.NodeRule {
		kind = ""
	}
	return client.JoinNonEmpty(" · ", kind, n.Severity, n.Domain)
}

// drawDOT writes the language of Graphviz.
func drawDOT(w io.Writer, _ client.Style, view schemas.GraphView) {
	quote := func(s string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ", "\r", " ").Replace(s) + `"`
	}
	fmt.Fprintf(w, "digraph writ {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n")
	for _, n := range view.Nodes {
		label := quote(n.ID)
		if n.Title != "" {
			// \n is DOT's own line break, so it stands outside what is quoted.
			label = strings.TrimSuffix(label, `"`) + `\n` + strings.TrimPrefix(quote(client.Shorten(n.Title, 40)), `"`)
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

// drawMermaid writes a flowchart as Markdown viewers draw it.
func drawMermaid(w io.Writer, _ client.Style, view schemas.GraphView) {
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
			label = strings.TrimSuffix(label, `"`) + "<br/>" + strings.TrimPrefix(text(client.Shorten(n.Title, 40)), `"`)
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
