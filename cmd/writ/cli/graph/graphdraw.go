package graph

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/retrieval/drawing"
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
	"text":    func(w io.Writer, st client.Style, v schemas.GraphView) { drawing.Text(w, st, v) },
	"dot":     func(w io.Writer, _ client.Style, v schemas.GraphView) { drawing.DOT(w, v) },
	"mermaid": func(w io.Writer, _ client.Style, v schemas.GraphView) { drawing.Mermaid(w, v) },
}
