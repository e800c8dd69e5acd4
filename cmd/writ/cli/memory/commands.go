// Package memory holds the commands about observations: memory, and finding
// them.
package memory

import (
	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
)

// app is one run of the client, in which these commands act.
type app struct{ *client.Client }

// Command is the command memory.
func Command(c *client.Client) *cobra.Command { return (&app{c}).memoryCommand() }

// Find finds what was observed.
func Find(c *client.Client) *cobra.Command { return (&app{c}).recallCommand() }

// Old are the names that these commands had before.
func Old(c *client.Client) []*cobra.Command {
	return []*cobra.Command{client.Old((&app{c}).observeCommand(), "memory add"), client.Old(Find(c), "find --in memory")}
}
