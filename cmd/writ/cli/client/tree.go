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

// Only is what a command runs where allowed returns no error, which says who or what
// it is for. It holds for whoever runs the command, as a hook of cobra would not: find
// runs other commands by themselves.
func Only(allowed func() error, run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := allowed(); err != nil {
			return err
		}
		return run(cmd, args)
	}
}

// Named gives a command another name.
func Named(name string, c *cobra.Command) *cobra.Command {
	was, rest, _ := strings.Cut(c.Use, " ")
	c.Annotations = map[string]string{wasKey: was}
	c.Use = strings.TrimSpace(name + " " + rest)
	return c
}

// Was is the name that a command was given another one for, "" for none.
func Was(c *cobra.Command) string { return c.Annotations[wasKey] }

// Tails are a command's words, then all but the first, down to the last alone.
func Tails(path string) []string {
	all := []string{path}
	for _, rest, more := strings.Cut(path, " "); more; _, rest, more = strings.Cut(rest, " ") {
		all = append(all, rest)
	}
	return all
}

// wasKey and nowKey are where a command keeps its other name: the one it has in its
// room, and the one that an older name stands for.
const (
	wasKey = "was"
	nowKey = "now"
)

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
