package rules

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

func (a *app) ruleSearchCommand() *cobra.Command {
	var request schemas.RuleSearchRequest
	var domain, severity, tag string
	c := &cobra.Command{
		Use:   "search TEXT",
		Short: "Search the rules' full text: words, phrases, prefixes, typing errors, query strings",
		Long: `Search the rules' full text. This finds words where they stand; to find the
rules that matter for a task, whatever its words, use writ query.`,
		Example: `  writ rule search "prepared statement"
  writ rule search --kind phrase "for free"
  writ rule search --kind fuzzy gorotine
  writ rule search --kind query-string "+title:context -domain:java" --facet domain`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			request.Text = strings.Join(args, " ")
			request.Filter = map[string]string{}
			for field, value := range map[string]string{"domain": domain, "severity": severity, "tag": tag} {
				if value != "" {
					request.Filter[field] = value
				}
			}
			st := a.Env.Style(a.Out)
			if st.On && !a.JSON {
				request.Mark = "ansi"
			}
			return client.ShowWithin(cmd.Context(), a.Client, client.RoleHook, "rule search", client.SearchBudget, schemas.SvcRuleSearch, request, func(reply schemas.RuleSearchReply) {
				for _, hit := range reply.Hits {
					a.Printf("%s  %s\n", st.Bold(hit.ID), hit.Title)
					for _, field := range slices.Sorted(maps.Keys(hit.Fragments)) {
						for _, fragment := range hit.Fragments[field] {
							a.Printf("    %s: %s\n", field, client.OneLine(fragment))
						}
					}
					if hit.Why != "" {
						a.Printf("    %s\n", strings.ReplaceAll(strings.TrimSpace(hit.Why), "\n", "\n    "))
					}
				}
				for _, field := range slices.Sorted(maps.Keys(reply.Facets)) {
					a.Printf("\n%s:", field)
					for _, count := range reply.Facets[field] {
						a.Printf(" %s %d", count.Value, count.N)
					}
					a.Printf("\n")
				}
				a.Printf("\n%d of %d rules that match\n", len(reply.Hits), reply.Total)
			})
		},
	}
	c.Flags().StringVar(&request.Kind, "kind", "words", "words, phrase, prefix, fuzzy or query-string")
	c.Flags().StringVar(&request.Field, "field", "", "only this field, such as title or trigger")
	c.Flags().StringVar(&domain, "domain", "", "only rules of this domain")
	c.Flags().StringVar(&severity, "severity", "", "only rules of this severity")
	c.Flags().StringVar(&tag, "tag", "", "only rules with this tag")
	c.Flags().StringSliceVar(&request.Facets, "facet", nil, "count the values of this field")
	c.Flags().IntVar(&request.Size, "limit", 10, "most rules to show")
	c.Flags().BoolVar(&request.Explain, "explain", false, "show how each score came about")
	return c
}
