// Package graph holds the command graph: what is around a rule, and the mirror
// in Neo4j.
package graph

import (
	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
)

// app is one run of the client, in which these commands act.
type app struct{ *client.Client }

// Command is the command graph.
func Command(c *client.Client) *cobra.Command { return (&app{c}).graphCommand() }

// Old is the name that it had before.
func Old(c *client.Client) *cobra.Command { return client.Old(Command(c), "rule graph") }
