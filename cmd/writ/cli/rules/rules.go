// Package rules holds the commands about rules: query, rule and check.
package rules

import (
	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
)

// app is one run of the client, in which these commands act.
type app struct{ *client.Client }

// Commands are the commands of this package.
func Commands(c *client.Client) []*cobra.Command {
	a := &app{c}
	return []*cobra.Command{a.queryCommand(), a.ruleCommand(), (&checks{c}).checkCommand()}
}
