// Package files holds the commands about a project's own files: index, search
// and context.
package files

import (
	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
)

// app is one run of the client, in which these commands act.
type app struct{ *client.Client }

// Commands are the commands of this package.
func Commands(c *client.Client) []*cobra.Command {
	a := &app{c}
	return []*cobra.Command{a.indexCommand(), a.contextCommand()}
}

// Find finds files of a project.
func Find(c *client.Client) *cobra.Command { return (&app{c}).searchCommand() }

// Old is the name that finding files had before.
func Old(c *client.Client) *cobra.Command { return client.Old(Find(c), "find --in files") }
