package mcp

import (
	"context"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/cmd/internal/reach"
)

// role is the only one that this package connects in: it asks and proposes,
// and neither approves nor administers.
const role = "hook"

// Daemon returns a Dial for the daemon of a data directory, which it starts
// where it does not run. Executable is this program, beside which writd is;
// vars are its environment.
func Daemon(dataDir, executable string, vars []string) func(context.Context) (Service, error) {
	return func(ctx context.Context) (Service, error) {
		conn, err := reach.Daemon(ctx, launch.Options{DataDir: dataDir, Executable: executable, Vars: vars}, role,
			bus.Options{Name: "writ mcp", Timeout: askBudget})
		if err != nil {
			return nil, err
		}
		return conn, nil
	}
}
