// Package agents holds the commands of the command language: agent with what is
// below it, and the older names of that.
package agents

import (
	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
)

// app is one run of the client, in which these commands act.
type app struct{ *client.Client }

// Command is the command agent.
func Command(c *client.Client) *cobra.Command { return (&app{c}).agentCommand() }

// Old are the names that commands below agent had before.
func Old(c *client.Client) []*cobra.Command {
	a := &app{c}
	return []*cobra.Command{
		client.Old(a.runCommand(), "agent run"), client.Old(a.dispatchCommand(), "agent dispatch"),
		client.Old(a.scheduleCommand(), "agent schedule"), client.Old(a.lintStreamCommand(), "agent lint"),
	}
}
