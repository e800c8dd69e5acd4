// Package history holds the commands about the log and its views: log and audit.
package history

import (
	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
)

// app is one run of the client, in which these commands act.
type app struct{ *client.Client }

// Commands are the commands of this package; more are put below log.
func Commands(c *client.Client, more ...*cobra.Command) []*cobra.Command {
	a := &app{c}
	audit := a.auditCommand()
	audit.AddCommand(attests{a}.command())
	return []*cobra.Command{a.logCommand(more...), audit}
}

// Find finds events by their text.
func Find(c *client.Client) *cobra.Command { return (&app{c}).findCommand() }

// Old are the names that these commands had before.
func Old(c *client.Client) []*cobra.Command {
	a := &app{c}
	return []*cobra.Command{
		client.Old(a.replayCommand(), "log"), client.Old(a.watchCommand(), "log --follow"), client.Old(a.diffCommand(), "log --diff"),
		client.Old(a.emitCommand(), "log emit"), client.Old(a.viewCommand(), "log view"), client.Old(attests{a}.command(), "audit attest"),
	}
}

// OldSessionReplay is the name that a session's log had below session.
func OldSessionReplay(c *client.Client) *cobra.Command {
	return client.Old((&app{c}).sessionReplayCommand(), "log --session S")
}
