// Package history holds the commands about the log and its views: emit, replay,
// watch, diff, audit, attest and view.
package history

import (
	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
)

// app is one run of the client, in which these commands act.
type app struct{ *client.Client }

// Commands are the commands of this package.
func Commands(c *client.Client) []*cobra.Command {
	a := &app{c}
	return []*cobra.Command{a.emitCommand(), a.replayCommand(), a.watchCommand(), a.diffCommand(), a.auditCommand(), attests{a}.command(), a.viewCommand()}
}

// SessionReplay is the replay of one session.
func SessionReplay(c *client.Client) *cobra.Command { return (&app{c}).sessionReplayCommand() }
