// Package rules holds the commands about rules: rule, check, and finding rules.
package rules

import (
	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
)

// app is one run of the client, in which these commands act.
type app struct{ *client.Client }

// Commands are the commands of this package; more are put below rule.
func Commands(c *client.Client, more ...*cobra.Command) []*cobra.Command {
	rule := (&app{c}).ruleCommand()
	rule.AddCommand(more...)
	return []*cobra.Command{rule, (&checks{c}).checkCommand()}
}

// Find finds the rules that matter for a text.
func Find(c *client.Client) *cobra.Command { return (&app{c}).queryCommand() }

// FindWords finds rules by their words.
func FindWords(c *client.Client) *cobra.Command { return (&app{c}).ruleSearchCommand() }

// Old is the name that finding rules had before.
func Old(c *client.Client) *cobra.Command { return client.Old(Find(c), "find --in rules") }
