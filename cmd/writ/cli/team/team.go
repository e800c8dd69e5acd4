// Package team holds the commands about a NATS that belongs to several: how the roles
// of this machine sign in there.
//
// It writes secrets and settings of this machine, and nothing at the NATS.
package team

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
)

// app is one run of the client, in which these commands act.
type app struct{ *client.Client }

// Command is `writ team`.
func Command(c *client.Client) *cobra.Command {
	a := &app{c}
	team := &cobra.Command{
		Use: "team", Short: "Sign in to a NATS that belongs to several",
		Long:    "Keeps what the roles of this machine sign in with to a NATS of somebody else.\nwrit help log says how a daemon uses one (nats_url).",
		Example: "  writ team credential daemon daemon.creds",
	}
	team.AddCommand(a.credentialCommand())
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
seed of an NKey. A file that is in the data directory already counts before the keyring.

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
	if err := a.NotAgents(); err != nil {
		return err
	}
	if !slices.Contains(roles, role) {
		return client.Usage(what+": there is no role "+client.Printable(role), "The roles are "+strings.Join(roles, ", ")+".")
	}
	in := a.In
	if file != "-" {
		opened, err := os.Open(a.Env.Absolute(file))
		if err != nil {
			return client.Refused(what, err.Error(), "Name the file that the administrator of that NATS gave you.")
		}
		defer func() { _ = opened.Close() }()
		in = opened
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxCredential))
	if err != nil {
		return client.Refused(what, err.Error(), "")
	}
	secrets, err := a.Secrets()
	if err != nil {
		return client.Explain(what, err)
	}
	place, err := secrets.KeepCredential(role, string(raw))
	if err != nil {
		return client.Refused(what, client.OneLine(err.Error()), "Ask the administrator of that NATS for one of these.")
	}
	return a.Print(map[string]string{"role": role, "place": place}, func() { a.Printf("The credential of %s is kept in %s.\n", role, place) })
}
