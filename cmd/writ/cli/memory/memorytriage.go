package memory

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

func (a *app) memoryReflectCommand() *cobra.Command {
	var request schemas.MemoryReflectRequest
	c := &cobra.Command{
		Use: "reflect", Short: "Reflect on what is allowed and was not read yet",
		Long: `Reads each allowed observation once, merges those that say nearly the same, and
proposes notes and rules, which "writ memory triage" shows. With a model
configured it is asked; without, related observations are grouped. It happens by
itself after every 25 observations of a project (setting memory.reflect_after).`,
		Example: "  writ memory reflect\n  writ memory triage",
		Args:    cobra.NoArgs,
		RunE: client.Only(a.NotForAgents, func(cmd *cobra.Command, _ []string) error {
			return a.reflectMemory(cmd.Context(), request)
		}),
	}
	c.Flags().StringVar(&request.Scope, "scope", "", "only this project, or global")
	return c
}

func (a *app) reflectMemory(ctx context.Context, request schemas.MemoryReflectRequest) error {
	return client.ShowWithin(ctx, a.Client, client.RoleAdmin, "memory reflect", judgedBudget, schemas.SvcMemoryReflect, request, func(reply schemas.MemoryReflectReply) {
		a.Printf("%s read by %s: %s, %d merged.\n", client.Plural(reply.Read, "observation", "observations"), reply.By, client.Plural(reply.Proposals, "proposal", "proposals"), reply.Merged)
		if reply.Left > 0 {
			a.Printf("%d are left for the next reflection.\n", reply.Left)
		}
	})
}

func (a *app) memoryTriageCommand() *cobra.Command {
	var list schemas.MemoryProposalsRequest
	var accept, reject bool
	var reason string
	c := &cobra.Command{
		Use: "triage [ID]", Short: "Decide about what reflection proposes",
		Long: `Without flags: at a terminal, goes through the open proposals, oldest first, and
asks; elsewhere, lists them. An accepted note becomes a memory; an accepted rule
goes through the structural gate into the corpus as a proposal. A rejected one
counts as noise in "writ memory report".`,
		Example: `  writ memory triage
  writ memory triage 019f… --accept
  writ memory triage 019f… --reject --reason "true of one test only"`,
		Args: cobra.MaximumNArgs(1),
		RunE: client.Only(a.NotForAgents, func(cmd *cobra.Command, args []string) error {
			decision := map[bool]string{accept: schemas.ProposalAccepted, reject: schemas.ProposalRejected}[true]
			if decision == "" && len(args) == 0 {
				return a.triageMemory(cmd.Context(), list)
			}
			if decision == "" || len(args) == 0 {
				return client.Usage("memory triage: a decision is an id and --accept or --reject", "`writ memory triage` lists the proposals.")
			}
			_, err := a.decideProposal(cmd.Context(), schemas.MemoryTriageRequest{ID: args[0], Decision: decision, Reason: reason})
			return err
		}),
	}
	c.Flags().BoolVar(&accept, "accept", false, "make it a memory, or propose the rule")
	c.Flags().BoolVar(&reject, "reject", false, "it is noise")
	c.Flags().StringVar(&reason, "reason", "", "why")
	c.Flags().StringVar(&list.Scope, "scope", "", "only this project, or global")
	c.Flags().BoolVar(&list.All, "all", false, "also those that were decided")
	c.MarkFlagsMutuallyExclusive("accept", "reject")
	return c
}

// decideProposal carries a decision out; open says that the structural gate
// refused the rule.
func (a *app) decideProposal(ctx context.Context, request schemas.MemoryTriageRequest) (open bool, err error) {
	reply, err := client.Ask[schemas.MemoryTriageReply](ctx, a.Client, client.RoleAdmin, "memory triage "+request.ID, schemas.SvcMemoryTriage, request)
	if err != nil {
		return false, err
	}
	if a.JSON {
		if err := a.PrintJSON(reply); err != nil {
			return false, err
		}
	} else {
		a.Printf("%s.\n", reply.Message)
		if reply.Rule != nil {
			for _, r := range reply.Rule.Reasons {
				a.Printf("  %s\n", client.OneLine(r))
			}
		}
	}
	if reply.Decision == "" {
		return true, &client.Fault{Code: 1}
	}
	return false, nil
}

func (a *app) triageMemory(ctx context.Context, request schemas.MemoryProposalsRequest) error {
	list, err := client.Ask[schemas.MemoryProposals](ctx, a.Client, client.RoleAdmin, "memory triage", schemas.SvcMemoryProposals, request)
	if err != nil {
		return err
	}
	interactive := !a.JSON && client.IsTerminal(a.In) && client.IsTerminal(a.Out) && a.IsPerson() == nil
	in := bufio.NewReader(a.In)
	for _, p := range list.Proposals {
		if a.JSON {
			if err := a.PrintJSON(p); err != nil {
				return err
			}
			continue
		}
		a.showMemoryProposal(p)
		if !interactive || p.Decision != "" {
			continue
		}
		if quit, err := a.askAboutProposal(ctx, in, p); quit || err != nil {
			return err
		}
	}
	switch {
	case a.JSON:
	case len(list.Proposals) == 0:
		a.Printf("Nothing is proposed.\n")
	}
	if list.Withheld > 0 && !a.JSON {
		a.Printf("%s withheld: what they rest on is not allowed any more.\n", client.Plural(list.Withheld, "proposal is", "proposals are"))
	}
	return nil
}

func (a *app) showMemoryProposal(p schemas.MemoryProposal) {
	st := a.Env.Style(a.Out)
	a.Printf("\n%s  %s\n", st.Bold(st.Cyan(p.ID)), st.Dim(client.JoinNonEmpty(" · ", p.Kind, p.Decision, p.Reason, "by "+p.By,
		client.Plural(len(p.Observations), "observation", "observations"), p.Time.Local().Format("2006-01-02 15:04"))))
	for _, line := range a.Prose(client.OneLine(p.Text), 2) {
		a.Printf("  %s\n", line)
	}
	if p.Rule != "" {
		a.Printf("  %s\n", st.Dim(client.OneLine(p.Rule)))
	}
}

// askAboutProposal asks about one proposal until there is an answer.
func (a *app) askAboutProposal(ctx context.Context, in *bufio.Reader, p schemas.MemoryProposal) (quit bool, err error) {
	for {
		answer, err := a.AskLine(in, "[a]ccept  [r]eject  [n]ext  [q]uit > ")
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return true, client.Refused("memory triage", err.Error(), "")
		}
		request := schemas.MemoryTriageRequest{ID: p.ID}
		switch strings.ToLower(answer) {
		case "q", "quit":
			return true, nil
		case "", "n", "next":
			return false, nil
		case "a", "accept":
			request.Decision = schemas.ProposalAccepted
		case "r", "reject":
			request.Decision = schemas.ProposalRejected
			if request.Reason, err = a.AskLine(in, "why? "); err != nil {
				return true, nil //nolint:nilerr // the terminal is gone, nothing was decided
			}
		default:
			a.Note("%q is none of the choices.", answer)
			continue
		}
		open, err := a.decideProposal(ctx, request)
		if err == nil || open {
			return false, nil
		}
		a.Note("writ: %v", err)
	}
}
