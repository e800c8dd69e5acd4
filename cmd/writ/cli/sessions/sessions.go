// Package sessions holds the commands about sessions and their gates: approve,
// session and mode.
package sessions

import (
	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
)

// app is one run of the client, in which these commands act.
type app struct{ *client.Client }

// Commands are the commands of this package; more are put below session.
func Commands(c *client.Client, more ...*cobra.Command) []*cobra.Command {
	a := &app{c}
	return []*cobra.Command{a.approveCommand(), a.sessionCommand(more...), a.modeCommand()}
}

// Old are the names that commands below these had before.
func Old(c *client.Client) []*cobra.Command {
	a := &app{c}
	return []*cobra.Command{
		client.Old(a.phaseCommand(), "session phase"), client.Old(a.acceptCommand(), "approve settings"), client.Old(a.passkeyCommand(), "approve passkey"),
	}
}
