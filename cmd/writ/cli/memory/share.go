package memory

import (
	"bufio"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/observer/observation/scope"
	"github.com/writbus/writ/schemas"
)

// maxCard bounds a file with a card, in bytes.
const maxCard = 64 << 10

// scoped does an act on shared memory: what the daemon asks to be signed is shown, and
// signed with the person's key.
func (a *app) scoped(cmd *cobra.Command, what string, r schemas.ScopeRequest, yes bool) error {
	if err := a.NotForAgents(); err != nil {
		return err
	}
	key, public, _, err := a.PersonKey(what, r.Act != schemas.ScopeList)
	r.Person = public
	for err == nil {
		reply, err := client.Ask[schemas.ScopeReply](cmd.Context(), a.Client, client.RoleAdmin, what, schemas.SvcMemoryScope, r)
		if err != nil || len(reply.Sign) == 0 {
			return errors.Join(err, a.Print(reply, func() { a.Printf("%s\n", client.PrintableLines(reply.Message)) }))
		}
		if reply.Ask != "" && !yes {
			a.Printf("%s", client.PrintableLines(reply.Ask))
			if answer, err := a.AskLine(bufio.NewReader(a.In), "Sign? (yes/no) "); err != nil || answer != "yes" {
				return client.Refused(what, "nothing was signed", "Answer yes, or say --yes.")
			}
		}
		if r.Signed, err = scope.Sign(reply.Sign, key); err != nil {
			return client.Refused(what, client.OneLine(err.Error()), "")
		}
	}
	return err
}

func (a *app) shareCommand() *cobra.Command {
	r, yes := schemas.ScopeRequest{Act: schemas.ScopeShare}, false
	c := &cobra.Command{
		Use: "share ID --scope NAME", Short: "Share an allowed observation with the members of a scope",
		Long:    "Shows what would be read and by how many, and seals and signs it with your key (writ\napprove key). Members' agents are told it as shared by you. writ memory forget ID destroys\nit at the hub and at the members that can be reached; who read it may keep it.",
		Example: "  writ memory share 019f… --scope team", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.ID = args[0]
			return a.scoped(cmd, "memory share", r, yes)
		},
	}
	c.Flags().StringVar(&r.Name, "scope", "", "`name` of the scope: writ memory scope lists them")
	c.Flags().StringVar(&r.From, "from", "", "the project it belongs to, where several have the id")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

func (a *app) scopeCommand() *cobra.Command {
	r, yes := schemas.ScopeRequest{Act: schemas.ScopeList}, false
	c := &cobra.Command{
		Use: "scope [NAME]", Short: "List whom observations are shared with, or change that",
		Long:    "Without a flag it lists the scopes, or one. --card prints the key of this machine,\ncertified with yours; its owner adds it. Each change of the members begins an epoch with\na key of its own: who is out reads nothing that is shared later, and who is new nothing\nthat was shared before, save with --earlier.",
		Example: "  writ memory scope team --new\n  writ memory scope --card > bob.card\n  writ memory scope team --add bob.card\n  writ memory scope team --join alice@example.org+1a2b3c4d+AbC…\n  writ memory scope team --remove bob@example.org\n  writ memory scope team --owner carol@example.org\n  writ memory scope team --out /mnt/share\n  writ memory scope team --take /mnt/share",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Name = strings.Join(args, "")
			for i, one := range r.Add {
				if raw, err := client.ReadBounded(a.Env.Absolute(one), maxCard); err == nil {
					r.Add[i] = strings.TrimSpace(string(raw))
				}
			}
			if r.Dir != "" {
				r.Dir = a.Env.Absolute(r.Dir)
			}
			cmd.Flags().Visit(func(f *pflag.Flag) {
				if slices.Contains(schemas.ScopeActs, f.Name) && r.Act != schemas.ScopeNew {
					r.Act = f.Name
				}
			})
			return a.scoped(cmd, "memory scope", r, yes)
		},
	}
	f := c.Flags()
	f.Bool(schemas.ScopeCard, false, "print the card of this machine")
	f.Bool(schemas.ScopeNew, false, "begin the scope, as its owner")
	f.StringVar(&r.Owner, schemas.ScopeJoin, "", "believe the owner with this public `key`")
	f.StringVar(&r.Owner, schemas.ScopeOwner, "", "`name` of the member who owns the scope from now on, in your place")
	f.Bool(schemas.ScopeLeave, false, "believe nothing of the scope any more")
	f.StringArrayVar(&r.Add, schemas.ScopeAdd, nil, "`card` file of who comes in, or at a hub their public key (may be repeated)")
	f.StringArrayVar(&r.Remove, schemas.ScopeRemove, nil, "`name` of who goes (may be repeated)")
	f.BoolVar(&r.Earlier, "earlier", false, "who comes in reads what was shared before, too")
	f.StringVar(&r.Dir, schemas.ScopeOut, "", "write what others need to a `folder`")
	f.StringVar(&r.Dir, schemas.ScopeTake, "", "read what others wrote to a `folder`")
	f.BoolVar(&yes, "yes", false, "do not ask")
	c.MarkFlagsMutuallyExclusive(schemas.ScopeCard, schemas.ScopeJoin, schemas.ScopeOwner, schemas.ScopeLeave, schemas.ScopeAdd, schemas.ScopeOut, schemas.ScopeTake)
	return c
}
