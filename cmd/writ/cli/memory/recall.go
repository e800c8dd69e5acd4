package memory

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

func (a *app) recallCommand() *cobra.Command {
	var request schemas.RecallRequest
	var minScore float64
	c := &cobra.Command{
		Use:   "recall TEXT",
		Short: "Find what was observed, by words and meaning",
		Long: `Finds observations that matter for a text. Held and discarded ones are left out
unless a flag asks for them. A score is the share of the text's words and its
likeness in meaning, less one percent for each day of age.`,
		Example: `  writ recall "how are the tests run"
  writ recall --category build --explain race
  writ recall --include-hold --json "staging database" | jq -r '.hits[].text'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			request.Text = strings.Join(args, " ")
			if cmd.Flags().Changed("min-score") {
				request.MinScore = &minScore
			}
			if cmd.Flags().Changed("limit") && request.Limit < 1 {
				return client.Usage("recall: --limit must be at least 1", "")
			}
			return client.Show(cmd.Context(), a.Client, client.RoleHook, "recall", schemas.SvcRecall, request, a.showRecalled)
		},
	}
	f := c.Flags()
	f.BoolVar(&request.IncludeHold, "include-hold", false, "also what the write gate held")
	f.BoolVar(&request.IncludeDiscard, "include-discard", false, "also what the write gate discarded")
	f.StringVar(&request.Category, "category", "", "only this category")
	f.StringArrayVar(&request.Scopes, "scope", nil, "only this project, or global (may be repeated)")
	f.IntVar(&request.Limit, "limit", 10, "at most so many")
	f.Float64Var(&minScore, "min-score", 0, "leave out what scores less (default 0.2)")
	f.BoolVar(&request.Explain, "explain", false, "say what makes up each score, and what was left out and why")
	return c
}

func (a *app) showRecalled(reply schemas.RecallReply) {
	st := a.Env.Style(a.Out)
	for _, h := range reply.Hits {
		a.Printf("%s %s\n", st.Bold(fmt.Sprintf("%.2f", h.Score)), st.Dim(client.JoinNonEmpty(" · ", h.ObservationID, h.Verdict, h.Category, h.Source, h.Time.Local().Format("2006-01-02 15:04"))))
		for _, line := range a.Prose(client.OneLine(h.Text), 2) {
			a.Printf("  %s\n", line)
		}
		if w := h.Why; w != nil {
			a.Printf("  %s\n", st.Dim(fmt.Sprintf("words %.2f, meaning %.2f, age %.1f days × %.2f, usage × %.2f", w.Words, w.Meaning, w.AgeDays, w.Decay, w.Usage)))
		}
	}
	if len(reply.Hits) == 0 {
		a.Printf("Nothing recalled among %s.\n", client.Plural(reply.Searched, "observation", "observations"))
	}
	for _, d := range reply.Dropped {
		a.Printf("%s %s: %d %s\n", st.Yellow("left out"), d.Reason, d.Count, st.Dim(strings.Join(d.IDs, ", ")))
	}
}
