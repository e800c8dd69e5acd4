package client

import (
	"strings"

	"github.com/spf13/cobra"
)

// Group is a command that only holds others.
func Group(use, short, example string, children ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Example: example, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(children...)
	return c
}

// Named gives a command another name.
func Named(name string, c *cobra.Command) *cobra.Command {
	_, rest, _ := strings.Cut(c.Use, " ")
	c.Use = strings.TrimSpace(name + " " + rest)
	return c
}

// nowKey is where an older name keeps what the command is called.
const nowKey = "now"

// Old is a command under a name that it had before: it does the same, and no
// list shows it.
func Old(c *cobra.Command, now string) *cobra.Command {
	c.Hidden = true
	c.Annotations = map[string]string{nowKey: now}
	return c
}

// Now is what an older name stands for, "" for a command that has none.
func Now(c *cobra.Command) string {
	for ; c != nil; c = c.Parent() {
		if now := c.Annotations[nowKey]; now != "" {
			return now
		}
	}
	return ""
}
