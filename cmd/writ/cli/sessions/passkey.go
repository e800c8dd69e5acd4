package sessions

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

func (a *app) passkeyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "passkey",
		Short: "Enrol, list and remove the passkeys that approve",
		Long: `With a passkey you approve in the dashboard by signing exactly what is approved,
by a finger, a face, a PIN or a key that you touch. The signature is kept in the
log, and writ audit verify checks it from the public key alone. Where approval:
passkey is set, nothing else approves; writ help gates explains the ladder.

These commands are for a person at a terminal; they refuse to run for an agent.`,
		Example: `  writ approve passkey add laptop
  writ approve passkey list`,
	}
	c.AddCommand(a.passkeyAddCommand(), a.passkeyListCommand(), a.passkeyRemoveCommand())
	return c
}

func (a *app) passkeyAddCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "add NAME",
		Short: "Print a link that enrols a passkey, once",
		Long: `Prints a link into the dashboard that enrols one passkey under this name. The link
has to be opened within two minutes, and the passkey made within five.`,
		Example: `  writ approve passkey add laptop`,
		Args:    cobra.ExactArgs(1),
		RunE: client.Only(a.IsPerson, func(cmd *cobra.Command, args []string) error {
			return client.Show(cmd.Context(), a.Client, client.RoleAdmin, "passkey add", schemas.SvcPasskeyAdd, schemas.PasskeyAddRequest{Name: args[0]}, func(reply schemas.DashReply) {
				a.Note("Open this link within %s in the browser that has or reaches the passkey:", time.Until(reply.Expires).Round(time.Second))
				a.Printf("%s\n", reply.URL)
			})
		}),
	}
}

func (a *app) passkeyListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the passkeys that approve",
		Example: `  writ approve passkey list`,
		Args:    cobra.NoArgs,
		RunE: client.Only(a.IsPerson, func(cmd *cobra.Command, _ []string) error {
			return client.Show(cmd.Context(), a.Client, client.RoleAdmin, "passkey list", schemas.SvcPasskeys, struct{}{}, func(reply schemas.PasskeyList) {
				if len(reply.Passkeys) == 0 {
					a.Printf("No passkey is enrolled. writ approve passkey add NAME enrols one.\n")
				}
				for _, p := range reply.Passkeys {
					a.Printf("%-20s %s  enrolled %s, %s\n", client.Printable(p.Name), client.Shorten(p.CredentialID, 13), p.Enrolled.Local().Format(time.DateTime), usesText(p))
				}
			})
		}),
	}
}

func usesText(p schemas.Passkey) string {
	text := "never used"
	if p.Uses > 0 {
		text = client.Plural(p.Uses, "approval", "approvals") + ", last " + p.Used.Local().Format(time.DateTime)
	}
	if p.CounterFell > 0 {
		text += "; its counter fell: it may have been copied, remove it if you do not know why"
	}
	return text
}

func (a *app) passkeyRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME",
		Short:   "Let a passkey approve no more",
		Long:    `Removes a passkey, by its name or by the beginning of its credential id. What it approved stays approved.`,
		Example: `  writ approve passkey remove laptop`,
		Args:    cobra.ExactArgs(1),
		RunE: client.Only(a.IsPerson, func(cmd *cobra.Command, args []string) error {
			return client.Show(cmd.Context(), a.Client, client.RoleAdmin, "passkey remove", schemas.SvcPasskeyRemove, schemas.PasskeyRemoveRequest{Passkey: args[0]}, func(reply schemas.Passkey) {
				a.Printf("Removed %s.\n", client.Printable(reply.Name))
			})
		}),
	}
}
