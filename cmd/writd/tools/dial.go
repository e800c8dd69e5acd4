package tools

import (
	"context"
	"os"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/cmd/internal/reach"
)

// dialAs connects to the daemon of a data directory in a role, starting it
// where it does not run.
func dialAs(ctx context.Context, dataDir, role string) (*bus.Conn, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return reach.Daemon(ctx, launch.Options{DataDir: dataDir, Executable: executable, Vars: os.Environ()}, role, bus.Options{Name: "writ " + role})
}
