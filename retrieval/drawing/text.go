package drawing

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// Style marks words for a terminal.
type Style interface {
	Bold(text string) string
	Dim(text string) string
	Cyan(text string) string
	Yellow(text string) string
}

// tree is a view as text: every edge stands once, below the end that is nearer
// to the root, and every node is unfolded once, where it is nearest.
type tree struct {
	out      io.Writer
	st       Style
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

// Text writes a view as a tree.
func Text(w io.Writer, st Style, view schemas.GraphView) {
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
	words := slices.DeleteFunc([]string{kind, n.Severity, n.Domain}, func(word string) bool { return word == "" })
	return strings.Join(words, " · ")
}
