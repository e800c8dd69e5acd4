// Package sessions holds the commands about sessions and their gates: mode,
// phase, approve, accept, passkey and session.
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
	return []*cobra.Command{a.modeCommand(), a.phaseCommand(), a.approveCommand(), a.acceptCommand(), a.passkeyCommand(), a.sessionCommand(more...)}
}
