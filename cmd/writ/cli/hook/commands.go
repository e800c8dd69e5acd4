// Package hook holds the commands that other programs run: hook, statusline and
// confine. Each runs before any command tree is built.
//
// A hook never hangs (two seconds), never prints a stack trace, and refuses a
// write that it could not have judged. It decides nothing else.
package hook

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
)

// app is one run of the client, in which these commands act.
type app struct{ *client.Client }

// Commands are the commands of this package, for their help.
func Commands(c *client.Client) []*cobra.Command {
	a := &app{c}
	return []*cobra.Command{a.hookCommand(), a.statuslineCommand(), a.confineCommand()}
}

// Runs are the commands that run before any command tree is built, by name.
var Runs = map[string]func(ctx context.Context, c *client.Client, args []string) int{
	"hook":       func(ctx context.Context, c *client.Client, args []string) int { return (&app{c}).runHook(ctx, args) },
	"confine":    func(_ context.Context, c *client.Client, args []string) int { return (&app{c}).runConfine(args) },
	"statusline": func(ctx context.Context, c *client.Client, _ []string) int { return (&app{c}).runStatusline(ctx) },
}
