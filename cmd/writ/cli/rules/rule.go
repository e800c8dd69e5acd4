package rules

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/retrieval/corpus/folder"
	"github.com/writbus/writ/schemas"
)

func (a *app) ruleCommand() *cobra.Command {
	return client.Group("rule", "Show, change, import and review rules; their graph",
		"  writ rule list --domain go\n  writ rule show GO-ERR-WRAP-001\n  writ rule import ./rules",
		a.ruleListCommand(), a.ruleShowCommand(), client.Old(a.ruleSearchCommand(), "find --in rules --kind words"),
		a.ruleAddCommand(), a.ruleEditCommand(), a.ruleRetireCommand(), a.ruleRevertCommand(), a.ruleLogCommand(),
		a.ruleImportCommand(), a.ruleExportCommand(), a.ruleValidateCommand(), a.ruleCompressCommand(), a.ruleSymptomsCommand(),
		a.ruleProposeCommand(), a.ruleReviewCommand(), a.ruleFeedbackCommand(), a.ruleStatsCommand())
}

func (a *app) ruleListCommand() *cobra.Command {
	var query schemas.RuleQuery
	c := &cobra.Command{
		Use: "list", Short: "List the rules",
		Example: "  writ rule list\n  writ rule list --json | jq -r 'select(.mandatory).id'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := client.Ask[schemas.RuleList](cmd.Context(), a.Client, client.RoleHook, "rule list", schemas.SvcRules, query)
			if err != nil {
				return err
			}
			if a.AgentAround() != "" {
				list.Rules = slices.DeleteFunc(list.Rules, func(r schemas.RuleSummary) bool { return r.Authority == schemas.AuthorityProposed })
			}
			return client.Rows(a.Client, list.Rules, "", "id\tseverity\tdomain\t\ttitle", func(r schemas.RuleSummary) string {
				return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", r.ID, r.Severity, client.Dash(r.Domain), ruleMarks(r), r.Title)
			})
		},
	}
	c.Flags().StringVar(&query.Domain, "domain", "", "only rules of this domain")
	c.Flags().BoolVar(&query.Retired, "retired", false, "also those that were retired")
	return c
}

func ruleMarks(r schemas.RuleSummary) string {
	var marks []string
	if r.Mandatory {
		marks = append(marks, "mandatory")
	}
	if r.Authority == schemas.AuthorityProposed {
		marks = append(marks, "provisional")
	}
	switch {
	case r.Retired:
		marks = append(marks, "retired")
	case r.Superseded != "":
		marks = append(marks, "superseded")
	}
	if whose := schemas.Whose(r.Layer, r.Owner); whose != "" {
		marks = append(marks, whose)
	}
	return strings.Join(marks, ", ")
}

func (a *app) ruleShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show one rule, and what became of it",
		Example: "  writ rule show GO-ERR-WRAP-001\n  writ rule show GO-ERR-WRAP-001 --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			view, err := a.shown(cmd.Context(), "rule show "+args[0], args[0])
			if err != nil {
				return err
			}
			return a.Print(view, func() { a.showRule(view) })
		},
	}
}

// shown asks for a rule, and refuses an agent one that waits for a person.
func (a *app) shown(ctx context.Context, what, id string) (schemas.RuleView, error) {
	view, err := client.Ask[schemas.RuleView](ctx, a.Client, client.RoleHook, what, schemas.SvcRule, schemas.RuleQuery{ID: id})
	if err == nil && view.Rule.Proposed() && a.AgentAround() != "" {
		err = client.Refused(id+" is not for agents yet", "it is a proposal", "A person has to promote it first: writ rule review "+id+" --promote.")
	}
	return view, err
}

func (a *app) showRule(v schemas.RuleView) {
	st := a.Env.Style(a.Out)
	r := v.Rule
	a.Printf("%s  %s\n", st.Bold(st.Cyan(r.ID)), st.Bold(r.Title))
	a.Printf("%s\n\n", st.Dim(client.JoinNonEmpty(" · ", r.Severity, r.Domain, r.Scope, r.Confidence, r.Authority, mandatory(r), retired(v))))
	part := func(name, text string) {
		if text == "" {
			return
		}
		a.Printf("%s\n", st.Bold(name))
		for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
			for _, wrapped := range indented(a, line) {
				a.Printf("  %s\n", wrapped)
			}
		}
		a.Printf("\n")
	}
	part("WHEN", r.Trigger)
	part("RULE", r.Statement)
	part("SYMPTOMS", strings.Join(r.Symptoms, "\n"))
	part("VIOLATION", r.Violation)
	part("CORRECT", r.PassExample)
	part("WHY", r.Rationale)
	part("ENFORCEMENT", r.Enforcement)
	for _, e := range r.Edges {
		a.Printf("  %s %s\n", strings.ToLower(strings.ReplaceAll(e.Type, "_", " ")), e.Target)
	}
	record := fmt.Sprintf("%s, %d followed, %d not, weight %.2f", client.Plural(v.Revisions, "revision", "revisions"), v.Positive, v.Negative, v.Weight)
	if v.Graduated {
		record += ", graduated"
	}
	if v.Flagged {
		record += ", flagged for review"
	}
	whose := client.JoinNonEmpty(" in the place of ", schemas.Whose(v.Layer, v.Owner), strings.Join(v.Instead, " and "))
	a.Printf("%s\n", st.Dim(client.JoinNonEmpty("; ", record, v.Source, whose)))
}

// indented wraps prose and leaves code, which is indented, as it is.
func indented(a *app, line string) []string {
	if line == "" || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
		return []string{line}
	}
	return a.Prose(line, 2)
}

func mandatory(r schemas.Rule) string {
	if r.Mandatory {
		return "mandatory"
	}
	return ""
}

func retired(v schemas.RuleView) string {
	switch {
	case v.Retired:
		return "retired"
	case v.Superseded != "":
		return "superseded by " + v.Superseded + ", and given no more"
	}
	return ""
}

func (a *app) ruleImportCommand() *cobra.Command {
	var request schemas.RuleImportRequest
	c := &cobra.Command{
		Use: "import DIR|FILE", Short: "Import rule files: Markdown, older blocks, Cypher dumps",
		Long: `Imports every .md and .cypher file of a folder, or one file: Markdown with front
matter, one node a file; the older format of blocks between <!-- RULE START -->
and <!-- RULE END -->; dumps of a graph in Cypher. Nodes that have not changed
are left alone. Nothing enters where a node has a problem, unless --partial
says to take the others. What is told is told once for each reason, with the
first places; --all names every one. Exit 1 if nothing came in.`,
		Example: "  writ rule import ./rules\n  writ rule import ./rules --prune\n  writ rule import old-rules.cypher --dry-run",
		Args:    cobra.ExactArgs(1),
		RunE: client.Only(a.NotForAgents, func(cmd *cobra.Command, args []string) error {
			path := a.Env.Absolute(args[0])
			files, err := folder.Read(path)
			if err != nil {
				return client.Refused("rule import", err.Error(), "")
			}
			if request.Files = files; request.Corpus == "" {
				request.Corpus = folder.Name(path)
			}
			reply, err := client.AskWithin[schemas.RuleImportReply](cmd.Context(), a.Client, client.RoleAdmin, "rule import", client.ImportBudget, schemas.SvcRuleImport, request)
			if err != nil {
				return err
			}
			return a.showImport(reply, request.DryRun)
		}),
	}
	c.Flags().BoolVar(&request.Prune, "prune", false, "retire what an earlier import of this corpus brought and that is gone")
	c.Flags().BoolVar(&request.Partial, "partial", false, "take the sound nodes, leave out the others")
	c.Flags().BoolVar(&request.All, "all", false, "name every place of what is told, not only the first ones")
	c.Flags().BoolVar(&request.DryRun, "dry-run", false, "only say what would happen")
	c.Flags().StringVar(&request.Corpus, "corpus", "", "name of the corpus, for --prune (default: the folder's name)")
	return c
}

func (a *app) showImport(reply schemas.RuleImportReply, dryRun bool) error {
	if a.JSON {
		if err := a.PrintJSON(reply); err != nil {
			return err
		}
	} else if len(reply.Problems) == 0 {
		a.tellImport(reply, dryRun)
	}
	switch {
	case len(reply.Problems) > 0:
		return &client.Fault{
			What: "rule import: nothing was imported",
			Why:  client.Plural(len(reply.Problems), "reason", "reasons") + "\n  " + strings.Join(reply.Problems, "\n  "),
			Todo: "Correct these, or take the other nodes with --partial.",
		}
	case len(reply.Imported) == 0 && reply.Unchanged == 0:
		return client.Refused("rule import", "nothing came in: no node in these files is sound", "")
	}
	return nil
}

func (a *app) tellImport(reply schemas.RuleImportReply, dryRun bool) {
	for _, skipped := range reply.Skipped {
		a.Note("left out: %s", skipped)
	}
	for _, warning := range reply.Warnings {
		a.Note("warning: %s", warning)
	}
	if left := reply.Band.Left; len(left) > 0 && len(reply.Imported) > 0 {
		a.Note("always shown: %s in %d of %d tokens, by importance; prompts find these like others: %s",
			client.Plural(reply.Band.Rules, "node", "nodes"), reply.Band.Tokens, reply.Band.Most, strings.Join(left, ", "))
	}
	would := ""
	if dryRun {
		would = "would be "
	}
	a.Printf("%s %simported, %d unchanged, %d %sretired.\n", client.Plural(len(reply.Imported), "node", "nodes"), would, reply.Unchanged, len(reply.Retired), would)
	if n := reply.Undescribed; n > 0 {
		a.Note("%s no symptoms, the words in which people complain, and %s found less well without: writ rule symptoms --write FILE proposes some from what the rules say, with --ask from your model",
			client.Plural(n, "rule has", "rules have"), map[bool]string{true: "is", false: "are"}[n == 1])
	}
	if reply.Outcomes > 0 {
		a.Printf("%s that the corpus had counted %scounted.\n", client.Plural(reply.Outcomes, "outcome", "outcomes"), would)
	}
}
