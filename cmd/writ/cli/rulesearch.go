package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

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
			st := a.env.style(a.out)
			if st.on && !a.json {
				request.Mark = "ansi"
			}
			reply, err := askWithin[schemas.RuleSearchReply](cmd.Context(), a, roleHook, "rule search", searchBudget, schemas.SvcRuleSearch, request)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(reply)
			}
			for _, hit := range reply.Hits {
				a.printf("%s  %s\n", st.bold(hit.ID), hit.Title)
				for _, field := range sortedKeys(hit.Fragments) {
					for _, fragment := range hit.Fragments[field] {
						a.printf("    %s: %s\n", field, oneLine(fragment))
					}
				}
				if hit.Why != "" {
					a.printf("    %s\n", strings.ReplaceAll(strings.TrimSpace(hit.Why), "\n", "\n    "))
				}
			}
			for _, field := range sortedKeys(reply.Facets) {
				a.printf("\n%s:", field)
				for _, count := range reply.Facets[field] {
					a.printf(" %s %d", count.Value, count.N)
				}
				a.printf("\n")
			}
			a.printf("\n%d of %d rules that match\n", len(reply.Hits), reply.Total)
			return nil
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

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
