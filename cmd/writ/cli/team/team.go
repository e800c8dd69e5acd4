// Package team holds the commands about what this machine shares with others: what of
// its log may leave, and the hub to which it leaves.
//
// It writes files of this machine; what is brought to a hub, the daemon brings.
package team

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/projections/hub"
	"github.com/writbus/writ/projections/hubcopies"
	"github.com/writbus/writ/schemas"
)

// app is one run of the client, in which these commands act.
type app struct{ *client.Client }

// Command is `writ team`.
func Command(c *client.Client) *cobra.Command {
	a := &app{c}
	all := &cobra.Command{
		Use: "team", Short: "Share what may leave this machine, and follow an organisation's rules",
		Long:    "Shows what of the log may leave this machine, kind by kind, and brings it to a hub\nthat the team runs (writ help team). Follows the rules that an organisation releases.",
		Example: "  writ team leaving\n  writ team join tls://hub.example.org:7422 --creds alice.creds\n  writ team release follow https://rules.acme.example/newest --root rules@acme+1a2b3c4d+AbC…",
	}
	all.AddCommand(a.leavingCommand(), a.joinCommand(),
		a.act(schemas.TeamStatus, "Show what of the log is at the hub"), a.act(schemas.TeamDoctor, "Look for what keeps copies from the hub"),
		a.act(schemas.TeamLeave, "Bring nothing more to the hub, and forget its credential"), a.manifestCommand(), a.witnessCommand(), a.releaseCommand())
	return all
}

// maxCredential bounds one, in bytes.
const maxCredential = 64 << 10

func (a *app) leavingCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "leaving", Short: "Show what of the log may leave this machine, or write it",
		Long:    hub.LeavingWords,
		Example: "  writ team leaving\n  writ team leaving --out copies.jsonl && writ audit verify copies.jsonl",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return client.Each(a.Client, hubcopies.Kinds(), "", func() error { a.Printf("%s", hub.KindsText("")); return nil })
			}
			reply, err := client.AskWithin[schemas.LeavingReply](cmd.Context(), a.Client, client.RoleAdmin, "team leaving", time.Hour,
				schemas.SvcLeaving, schemas.LeavingRequest{File: a.Env.Absolute(out)})
			if err != nil {
				return err
			}
			return a.Print(reply, func() {
				a.Printf("%s in %s, signed with %s; of %d records that could not be understood nothing leaves\n", client.Plural(int(reply.Copies), "copy", "copies"), reply.File, reply.Key, reply.Unread)
			})
		},
	}
	c.Flags().StringVar(&out, "out", "", "`file` to write the copies to; there must be none yet")
	return c
}
