package team

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/retrieval/corpus/folder"
	"github.com/writbus/writ/retrieval/rulerelease"
	"github.com/writbus/writ/schemas"
)

func (a *app) releaseCommand() *cobra.Command {
	return client.Group("release", "Rules of an organisation: make, follow and leave signed releases",
		"  writ team release follow /mnt/rules --root rules@acme+1a2b3c4d+AbC…\n  writ team release make ./rules --name acme --after acme-3.release",
		a.makeCommand(), a.showCommand(), a.followCommand(), a.updateCommand(), a.leaveCommand(), a.proposeCommand(), a.reviewCommand())
}

func (a *app) desk(act string) rulerelease.Desk {
	return rulerelease.Desk{Dir: a.Env.Dir, Ask: func(ctx context.Context, r schemas.ReleaseRequest) (schemas.ReleaseReply, error) {
		return client.AskWithin[schemas.ReleaseReply](ctx, a.Client, client.RoleAdmin, "team release "+act, client.ImportBudget, schemas.SvcRelease, r)
	}}
}

// done shows what came of an act, and that it may have failed.
func (a *app) done(act string, reply schemas.ReleaseReply, err error) error {
	if err != nil {
		return client.Explain("team release "+act, err)
	}
	return a.Print(reply, func() {
		for _, f := range reply.Followed {
			until := ""
			if f.Terms.Until != "" {
				until = ", until " + f.Terms.Until
				if rulerelease.Expired(f.Terms, a.Env.Now()) {
					until += ", which is over: its persons and policies count no more"
				}
			}
			a.Printf("%s  release %d, %s%s, under %s, from %s\n", f.Name, f.Number, f.Layer, until, f.Key, f.Place)
		}
		a.Printf("%s came or changed, %d went.\n", client.Plural(len(reply.Imported), "rule", "rules"), len(reply.Retired))
		if len(reply.Behind) > 0 {
			a.Printf("prompts cannot carry all that is mandatory; these are found like others: %s\n", strings.Join(reply.Behind, ", "))
		}
	})
}

func (a *app) makeCommand() *cobra.Command {
	var after, out, terms string
	var r schemas.ReleaseRequest
	c := &cobra.Command{
		Use: "make DIR", Short: "Sign the rules of a folder as a release",
		Long: `Makes a release of the rule files in DIR and signs it with your key (writ approve key),
whose public part its members pin. A release is whole: what the one before had and DIR
has not gets a tombstone, with --reason. Where one file is not sound, nothing is made.
Put what is written into a folder or behind a URL.`,
		Example: "  writ team release make ./rules --name acme\n  writ team release make ./rules --name acme --after acme-1.release --reason \"the linter does it\"",
		Args:    cobra.ExactArgs(1),
		RunE: client.Only(a.NotForAgents, func(cmd *cobra.Command, args []string) (err error) {
			key, _, _, err := a.PersonKey("team release make", true)
			if err != nil {
				return err
			}
			if r.Files, err = folder.Read(a.Env.Absolute(args[0])); err != nil {
				return client.Explain("team release make", err)
			}
			if terms != "" {
				if r.Terms, err = rulerelease.ReadTerms(a.Env.Absolute(terms)); err != nil {
					return client.Explain("team release make", err)
				}
			}
			made, path, err := a.desk("make").Make(cmd.Context(), r, key, after, out)
			if err != nil {
				return client.Explain("team release make", err)
			}
			a.Note("written to %s", path)
			return a.Print(made, func() { a.Printf("%s", made.Lines(true)) })
		}),
	}
	c.Flags().StringVar(&r.Name, "name", "", "whose `name` the release bears")
	c.Flags().StringVar(&r.Layer, "layer", schemas.LayerOrganisation, "organisation or team")
	c.Flags().IntVar(&r.Number, "number", 0, "its number, which rises (default: the next)")
	c.Flags().StringVar(&after, "after", "", "`file` or folder of the release before")
	c.Flags().StringVar(&terms, "terms", "", "`file` with its last day, persons, policies and what it revokes (default: as before)")
	c.Flags().StringVar(&r.Reason, "reason", "", "why rules of the release before are out")
	c.Flags().StringVar(&out, "out", ".", "`file` or folder to write it to")
	return c
}

func (a *app) showCommand() *cobra.Command {
	return a.rooted(&cobra.Command{
		Use: "show FILE|DIR|URL", Short: "Show a release, and with --root check its signature",
		Example: "  writ team release show acme-4.release --root rules@acme+1a2b3c4d+AbC…",
	}, func(ctx context.Context, place, root string) error {
		r, signed, err := a.desk("show").Show(ctx, place, root)
		if err != nil {
			return client.Explain("team release show", err)
		}
		return a.Print(r, func() { a.Printf("%s", r.Lines(signed)) })
	})
}

// rooted is a command on what lies at a place, under a key that is named.
func (a *app) rooted(c *cobra.Command, do func(ctx context.Context, place, root string) error) *cobra.Command {
	var root string
	c.Args = cobra.ExactArgs(1)
	c.RunE = func(cmd *cobra.Command, args []string) error { return do(cmd.Context(), args[0], root) }
	c.Flags().StringVar(&root, "root", "", "`key` that has to have signed it, or its SHA-256")
	return c
}

func (a *app) followCommand() *cobra.Command {
	return a.rooted(&cobra.Command{
		Use: "follow FILE|DIR|URL --root KEY", Short: "Pin whose releases count here, and take the newest",
		Long: `Takes the rules of a release and pins its key: what that key did not sign is refused
from now on, and so are older numbers, and a number with another content than it had.
KEY is the public key, or its SHA-256, as the maintainers told you by another way than
the release came. A rule of yours goes before a released one of the same id, unless that
is mandatory; writ team release leave takes all of them out again.`,
		Example: "  writ team release follow https://rules.acme.example/newest --root rules@acme+1a2b3c4d+AbC…",
	}, func(ctx context.Context, place, root string) error {
		if err := a.NotForAgents(); err != nil {
			return err
		}
		reply, err := a.desk("follow").Follow(ctx, place, root)
		return a.done("follow", reply, err)
	})
}

func (a *app) updateCommand() *cobra.Command {
	return &cobra.Command{
		Use: "update", Short: "Show whose releases are followed, and take the newest of each",
		Example: "  writ team release update", Args: cobra.NoArgs,
		RunE: client.Only(a.NotAgents, func(cmd *cobra.Command, _ []string) error {
			reply, err := a.desk("update").Update(cmd.Context())
			return a.done("update", reply, err)
		}),
	}
}

func (a *app) proposals(act string) rulerelease.Proposals {
	what := "team release " + act
	return rulerelease.Proposals{
		Desk: a.desk(act),
		Export: func(ctx context.Context, r schemas.RuleExportRequest) (schemas.RuleExportPage, error) {
			return client.Ask[schemas.RuleExportPage](ctx, a.Client, client.RoleHook, what, schemas.SvcRuleExport, r)
		},
		Propose: func(ctx context.Context, r schemas.RuleProposeRequest) (schemas.RuleProposeReply, error) {
			return client.Ask[schemas.RuleProposeReply](ctx, a.Client, client.RoleHook, what, schemas.SvcRulePropose, r)
		},
	}
}

func (a *app) proposeCommand() *cobra.Command {
	var p rulerelease.Proposal
	var out string
	c := &cobra.Command{
		Use: "propose ID --to NAME --reason TEXT", Short: "Offer a rule of yours to who releases, as a signed file",
		Long: `Writes the rule as you have it, provisional or not, to a file under your key (writ
approve key). Send it to the maintainers: they review it, and it comes back in a release.`,
		Example: "  writ team release propose GO-LOOP-DEFER-001 --to acme --reason \"bit us twice\"",
		Args:    cobra.ExactArgs(1),
		RunE: client.Only(a.NotForAgents, func(cmd *cobra.Command, args []string) error {
			key, _, _, err := a.PersonKey("team release propose", true)
			if err != nil {
				return err
			}
			p.Rule.ID, p.Made = args[0], a.Env.Now().UTC()
			out = cmp.Or(out, args[0]+".proposal")
			path, err := a.proposals("propose").Write(cmd.Context(), p, key, out)
			if err != nil {
				return client.Explain("team release propose", err)
			}
			return a.Print(map[string]string{"file": path}, func() { a.Printf("written to %s, for the maintainers of %s\n", path, p.To) })
		}),
	}
	c.Flags().StringVar(&p.To, "to", "", "whose releases it is for")
	c.Flags().StringVar(&p.Reason, "reason", "", "why they should have it")
	c.Flags().StringVar(&out, "out", "", "`file` to write (default: ID.proposal)")
	return c
}

func (a *app) reviewCommand() *cobra.Command {
	return &cobra.Command{
		Use: "review FILE", Short: "Take what a member proposes as a provisional rule",
		Long: `Checks that the proposal is as it was signed, and brings its rule before the structural
gate. What that admits waits for writ rule review; once promoted, put its file among
those that you release.`,
		Example: "  writ team release review GO-LOOP-DEFER-001.proposal", Args: cobra.ExactArgs(1),
		RunE: client.Only(a.NotForAgents, func(cmd *cobra.Command, args []string) error {
			p, reply, err := a.proposals("review").Review(cmd.Context(), args[0])
			switch {
			case err != nil:
				return client.Explain("team release review", err)
			case !reply.Admitted:
				return client.Refused("team release review", "the gate refuses "+p.Rule.ID+": "+strings.Join(reply.Reasons, "; "), "")
			}
			return a.Print(reply, func() {
				a.Printf("%s of %s, for %s: %s\nprovisional: writ rule review %s\n", reply.ID, client.Printable(p.Key), client.Printable(p.To), client.Printable(p.Reason), reply.ID)
			})
		}),
	}
}

func (a *app) leaveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "leave NAME", Short: "Follow somebody's releases no more, and take their rules out",
		Example: "  writ team release leave acme", Args: cobra.ExactArgs(1),
		RunE: client.Only(a.NotForAgents, func(cmd *cobra.Command, args []string) error {
			reply, err := a.desk("leave").Ask(cmd.Context(), schemas.ReleaseRequest{Act: schemas.ReleaseLeave, Name: args[0]})
			return a.done("leave", reply, err)
		}),
	}
}
