// Package team holds the commands about what this machine shares with others: how its
// roles sign in to a NATS that belongs to several, and what of its log may leave.
//
// It writes secrets and files of this machine, and nothing elsewhere.
package team

import (
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/projections/audit/leaving"
	"github.com/writbus/writ/schemas"
)

// app is one run of the client, in which these commands act.
type app struct{ *client.Client }

// Command is `writ team`.
func Command(c *client.Client) *cobra.Command {
	a := &app{c}
	team := &cobra.Command{
		Use: "team", Short: "Say what may leave this machine, follow rules, sign in elsewhere",
		Long:    "Follows the rules that an organisation releases, shows and writes what of the log may leave this machine, kind by kind, and keeps\nwhat its roles sign in with to a NATS of somebody else (nats_url, writ help log).",
		Example: "  writ team leaving\n  writ team credential daemon daemon.creds",
	}
	team.AddCommand(a.leavingCommand(), a.credentialCommand(), a.releaseCommand())
	return team
}

// roles are whose credentials may be kept. That of agents stays a file, which
// confined commands can be shown.
var roles = []string{"daemon", "hook", "dashboard", "admin"}

// maxCredential bounds one, in bytes.
const maxCredential = 64 << 10

func (a *app) credentialCommand() *cobra.Command {
	return &cobra.Command{
		Use: "credential ROLE FILE|-", Short: "Keep how a role signs in, in the system's keyring",
		Long: `Keeps what FILE says in the keyring of the operating system – the Secret Service, the
Keychain, the Credential Manager –, or where there is none in the data directory, in a
file that you alone read. FILE is what that NATS' administrator gives out: a user and a
password in JSON ({"user": …, "password": …}), what nsc generate creds writes, or the
seed of an NKey. A file that is in the data directory already counts before the
keyring and is never replaced: remove it first.

The roles are daemon, hook, dashboard and admin.`,
		Example:   "  writ team credential daemon daemon.creds\n  writ team credential hook - < hook.nk",
		ValidArgs: roles,
		Args:      cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.keep(args[0], args[1])
		},
	}
}

func (a *app) keep(role, file string) error {
	const what = "team credential"
	if !slices.Contains(roles, role) {
		return client.Usage(what+": there is no role "+client.Printable(role), "The roles are "+strings.Join(roles, ", ")+".")
	}
	raw, err := os.ReadFile(a.Env.Absolute(file))
	if file == "-" {
		raw, err = io.ReadAll(io.LimitReader(a.In, maxCredential))
	}
	if err != nil {
		return client.Refused(what, err.Error(), "Name the file that the administrator of that NATS gave you.")
	}
	secrets, err := a.Secrets()
	if err != nil {
		return client.Explain(what, err)
	}
	place, err := secrets.KeepCredential(role, string(raw))
	if err != nil {
		return client.Refused(what, client.OneLine(err.Error()), "")
	}
	return a.Print(map[string]string{"role": role, "place": place}, func() { a.Printf("The credential of %s is kept in %s.\n", role, place) })
}

func (a *app) leavingCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "leaving", Short: "Show what of the log may leave this machine, or write it",
		Long: `Shows, kind by kind, which fields of which events may leave this machine: all others
stay, and so do prompts, code, commands, reasons and words. With --out it writes the
copies of the whole log to a file, one JSON object a line, secrets and paths outside of
projects taken out, and under a Merkle tree of their own whose root the audit's key
signs. writ audit verify FILE --key KEY checks such a file without the log. Each copy
has a nonce, so that nobody finds out by guessing what a copy that he lacks says.

Nothing is sent.`,
		Example: "  writ team leaving\n  writ team leaving --out copies.jsonl && writ audit verify copies.jsonl",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return client.Each(a.Client, leaving.Kinds(), "", func() error {
					for _, k := range leaving.Kinds() {
						a.Printf("%-20s %s\n", k.Type, client.Dash(strings.Join(k.Fields, ", ")))
					}
					return nil
				})
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
