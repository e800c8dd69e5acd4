package rules

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

func (a *app) ruleProposeCommand() *cobra.Command {
	var by, session string
	c := &cobra.Command{
		Use: "propose FILE|-", Short: "Propose a rule to the structural gate",
		Long: `Proposes one node, as a rule file or a JSON object. The structural gate names
every reason against it at once; one that it admits is provisional until a
person reviews it. Proposals are recorded, admitted or not. Exit 1 if refused.`,
		Example: "  writ rule propose GO-LOOP-DEFER-001.md\n  writ rule propose - --by claude < rule.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			content, name, err := a.ruleContent(args[0])
			if err != nil {
				return err
			}
			return client.AskThen(cmd.Context(), a.Client, client.RoleHook, "rule propose", schemas.SvcRulePropose,
				schemas.RuleProposeRequest{Path: name, Content: content, By: by, Session: a.SessionOr(session)}, a.showProposal)
		},
	}
	c.Flags().StringVar(&by, "by", "", "who proposes it")
	c.Flags().StringVar(&session, "session", "", "the session it comes from")
	return c
}

func (a *app) showProposal(reply schemas.RuleProposeReply) error {
	if a.JSON {
		if err := a.PrintJSON(reply); err != nil {
			return err
		}
	} else if reply.Admitted {
		a.Printf("admitted %s, provisional until a person reviews it.\n", reply.ID)
		if len(reply.Incomplete) > 0 {
			a.Printf("before it can be promoted it needs: %s\n", strings.Join(reply.Incomplete, ", "))
		}
		if near := neighbourList(reply.Neighbours); near != "" {
			a.Printf("nearest: %s\n", near)
		}
	}
	if !reply.Admitted {
		return client.Refused("rule propose: refused", client.Plural(len(reply.Reasons), "reason", "reasons")+"\n  "+strings.Join(reply.Reasons, "\n  "), "")
	}
	return nil
}

func neighbourList(near []schemas.Neighbour) string {
	words := make([]string, len(near))
	for i, n := range near {
		words[i] = fmt.Sprintf("%s (%.2f)", n.ID, n.Similarity)
	}
	return strings.Join(words, ", ")
}

// reviewFlags are what a script says instead of typing.
type reviewFlags struct {
	promote, reject, downweight, stats bool
	reason                             string
}

func (a *app) ruleReviewCommand() *cobra.Command {
	var flags reviewFlags
	c := &cobra.Command{
		Use: "review [ID]", Short: "Go through proposals and flagged rules",
		Long: `Without flags: at a terminal, goes through what waits, each beside its nearest
neighbours, and asks; elsewhere, lists it. With an id and a flag, acts on that
one. Promoting is for a person: the proposal becomes ai-promoted and
peer-reviewed, and takes out what it supersedes.`,
		Example: `  writ rule review
  writ rule review GO-LOOP-DEFER-001 --promote
  writ rule review GO-OLD-001 --downweight --reason "three false alarms this week"
  writ rule review --stats`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.review(cmd.Context(), client.First(args), flags)
		},
	}
	c.Flags().BoolVar(&flags.promote, "promote", false, "take the proposal over")
	c.Flags().BoolVar(&flags.reject, "reject", false, "turn the proposal down; needs --reason")
	c.Flags().BoolVar(&flags.downweight, "downweight", false, "trust the rule one step less; needs --reason")
	c.Flags().BoolVar(&flags.stats, "stats", false, "only numbers: what became of proposals")
	c.Flags().StringVar(&flags.reason, "reason", "", "why")
	c.MarkFlagsMutuallyExclusive("promote", "reject", "downweight", "stats")
	return c
}

func (a *app) review(ctx context.Context, id string, flags reviewFlags) error {
	acts := map[bool]string{flags.promote: schemas.RulePromote, flags.reject: schemas.RuleReject, flags.downweight: schemas.RuleDownweight}
	if act := acts[true]; act != "" {
		if id == "" {
			return client.Usage("rule review: --"+act+" needs the id of a rule", "`writ rule review` lists what waits.")
		}
		return a.changeRule(ctx, "rule review "+id, schemas.RuleChangeRequest{Act: act, ID: id, Reason: flags.reason})
	}
	if flags.stats {
		return a.reviewStats(ctx)
	}
	list, err := client.Ask[schemas.RuleReviewList](ctx, a.Client, client.RoleHook, "rule review", schemas.SvcRuleReview, schemas.RuleQuery{ID: id})
	if err != nil {
		return err
	}
	if id != "" && len(list.Items) == 0 {
		return client.Refused("rule review", id+" waits for no review", "`writ rule show "+id+"` shows it.")
	}
	return client.Each(a.Client, list.Items, "Nothing waits for review.", func() error {
		if client.IsTerminal(a.In) && client.IsTerminal(a.Out) && a.IsPerson() == nil {
			return a.reviewInteractively(ctx, list.Items)
		}
		for i, item := range list.Items {
			a.showReviewItem(item, fmt.Sprintf("%d/%d", i+1, len(list.Items)))
		}
		return nil
	})
}

// reviewInteractively goes through the items, one question each.
func (a *app) reviewInteractively(ctx context.Context, items []schemas.RuleReviewItem) error {
	in := bufio.NewReader(a.In)
	for i := 0; i < len(items); {
		item := items[i]
		a.showReviewItem(item, fmt.Sprintf("%d/%d", i+1, len(items)))
		answer, err := a.AskLine(in, "[p]romote  [r]eject  [d]ownweight  [e]dit  [n]ext  [b]ack  [q]uit > ")
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return client.Refused("rule review", err.Error(), "")
		}
		request := schemas.RuleChangeRequest{ID: item.Rule.ID, Seen: item.Revision}
		switch strings.ToLower(answer) {
		case "q", "quit":
			return nil
		case "", "n", "next":
			i++
			continue
		case "b", "back":
			i = max(i-1, 0)
			continue
		case "e", "edit":
			if err := a.editInEditor(ctx, schemas.RuleChangeRequest{Act: schemas.RuleEdit, ID: item.Rule.ID}); err != nil {
				a.Note("%v", err)
			}
			fresh, err := client.Ask[schemas.RuleReviewList](ctx, a.Client, client.RoleHook, "rule review", schemas.SvcRuleReview, schemas.RuleQuery{ID: item.Rule.ID})
			if err == nil && len(fresh.Items) == 1 {
				items[i] = fresh.Items[0]
			}
			continue
		case "p", "promote":
			request.Act = schemas.RulePromote
		case "r", "reject":
			request.Act = schemas.RuleReject
		case "d", "downweight":
			request.Act = schemas.RuleDownweight
		default:
			a.Note("%q is none of the choices.", answer)
			continue
		}
		if request.Reason, err = a.AskLine(in, "why? "); err != nil {
			return nil //nolint:nilerr // the terminal is gone, nothing was decided
		}
		if err := a.changeRule(ctx, "rule review "+item.Rule.ID, request); err != nil {
			a.Note("writ: %v", err)
			continue
		}
		i++
	}
	return nil
}

func (a *app) showReviewItem(item schemas.RuleReviewItem, place string) {
	st := a.Env.Style(a.Out)
	r := item.Rule
	a.Printf("\n%s %s  %s\n", st.Dim(place), st.Bold(st.Cyan(r.ID)), st.Bold(r.Title))
	since := ""
	if !item.Since.IsZero() {
		since = "since " + item.Since.Local().Format("2006-01-02 15:04")
	}
	by := ""
	if item.By != "" {
		by = "by " + item.By
	}
	a.Printf("%s\n", st.Dim(client.JoinNonEmpty(" · ", item.Why, r.Severity, r.Domain, r.Confidence, by, since)))
	for _, part := range []struct{ name, text string }{{"WHEN", r.Trigger}, {"RULE", r.Statement}, {"WHY", r.Rationale}} {
		if part.text != "" {
			for i, line := range a.Prose(part.text, 6) {
				name := part.name
				if i > 0 {
					name = ""
				}
				a.Printf("%-5s %s\n", name, line)
			}
		}
	}
	if len(item.Incomplete) > 0 {
		a.Printf("%s %s\n", st.Yellow("lacks"), strings.Join(item.Incomplete, ", "))
	}
	if item.Why == "flagged" {
		a.Printf("%s %d of %d outcomes followed it\n", st.Yellow("outcomes"), item.Positive, item.Positive+item.Negative)
	}
	for i, n := range item.Neighbours {
		a.Printf("%s %.2f  %s\n", st.Dim("near"), n.Similarity, st.Bold(n.ID))
		if i < len(item.Near) && item.Near[i].ID == n.ID {
			for _, line := range a.Prose(item.Near[i].Statement, 6) {
				a.Printf("      %s\n", st.Dim(line))
			}
		}
	}
}

func (a *app) reviewStats(ctx context.Context) error {
	list, err := client.Ask[schemas.RuleStatsList](ctx, a.Client, client.RoleHook, "rule review", schemas.SvcRuleStats, schemas.RuleQuery{})
	if err != nil {
		return err
	}
	list.Rules = nil
	return a.Print(list, func() {
		a.Printf("proposed %d, admitted %d, promoted %d, rejected %d, unreviewed %d\n", list.Proposed, list.Admitted, list.Promoted, list.Rejected, list.Unreviewed)
	})
}

func (a *app) ruleFeedbackCommand() *cobra.Command {
	var session, detail string
	c := &cobra.Command{
		Use: "feedback ID followed|rationalized", Short: "Say what came of a rule that was shown",
		Long: `Records one outcome of a rule: it was followed, or rationalised away. After 50
outcomes, at most five of a session, the share of the followed ones replaces
the rule's stated confidence in ranking. What is said without a session counts
as one session's: name one with --session to have more than five count.`,
		Example: "  writ rule feedback GO-ERR-WRAP-001 followed\n  writ rule feedback GO-ERR-WRAP-001 rationalized --detail \"said the wrapper was noise\"",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			request := schemas.RuleFeedbackRequest{ID: args[0], Session: a.SessionOr(session), Detail: detail}
			switch strings.ToLower(args[1]) {
			case "followed":
				request.Followed = true
			case "rationalized", "rationalised":
			default:
				return client.Usage("rule feedback: "+args[1]+" is no outcome", "Say followed or rationalized.")
			}
			role, service := client.RoleHook, schemas.SvcRuleFeedback
			if request.Session == "" {
				if err := a.NotForAgents(); err != nil {
					return err
				}
				role, service = client.RoleAdmin, schemas.SvcRuleVerdict
			}
			return client.Show(cmd.Context(), a.Client, role, "rule feedback "+args[0], service, request, func(reply schemas.RuleFeedbackReply) {
				counted := ""
				if !reply.Counted {
					counted = " (recorded, but not counted: this session has had its five)"
					if request.Session == "" {
						counted = " (recorded, but not counted: five without a session count; name one with --session)"
					}
				}
				a.Printf("%s: %d followed, %d not, weight %.2f%s\n", reply.ID, reply.Positive, reply.Negative, reply.Weight, counted)
			})
		},
	}
	c.Flags().StringVar(&session, "session", "", "the session that was shown the rule")
	c.Flags().StringVar(&detail, "detail", "", "what happened")
	return c
}

func (a *app) ruleStatsCommand() *cobra.Command {
	var query schemas.RuleQuery
	var all bool
	c := &cobra.Command{
		Use: "stats [ID]", Short: "Show what outcomes made of the rules",
		Example: "  writ rule stats\n  writ rule stats GO-ERR-WRAP-001 --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			query.ID = client.First(args)
			list, err := client.Ask[schemas.RuleStatsList](cmd.Context(), a.Client, client.RoleHook, "rule stats", schemas.SvcRuleStats, query)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(list)
			}
			return a.showStats(list, all || query.ID != "")
		},
	}
	c.Flags().StringVar(&query.Domain, "domain", "", "only rules of this domain")
	c.Flags().BoolVar(&all, "all", false, "also rules without outcomes")
	return c
}

func (a *app) showStats(list schemas.RuleStatsList, all bool) error {
	told := slices.DeleteFunc(slices.Clone(list.Rules), func(r schemas.RuleStats) bool { return r.Positive+r.Negative+r.Ignored == 0 })
	outcomes, shown := len(told), told
	if all {
		shown = list.Rules
	}
	if len(shown) > 0 {
		if err := client.Table(a.Client, "id\tfollowed\tnot\tbeyond\tweight\t", shown, ruleOutcomes); err != nil {
			return err
		}
	}
	a.Printf("%s in the corpus, %d with outcomes; %s: %d admitted, %d promoted, %d rejected, %d unreviewed.\n",
		client.Plural(len(list.Rules), "node", "nodes"), outcomes, client.Plural(list.Proposed, "proposal", "proposals"), list.Admitted, list.Promoted, list.Rejected, list.Unreviewed)
	return nil
}

func ruleOutcomes(r schemas.RuleStats) string {
	mark := ""
	switch {
	case r.Graduated:
		mark = "graduated"
	case r.Flagged:
		mark = "flagged for review"
	}
	return fmt.Sprintf("%s\t%d\t%d\t%d\t%.2f\t%s", r.ID, r.Positive, r.Negative, r.Ignored, r.Weight, mark)
}
