package tools

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/cmd/internal/reach"
	"github.com/writbus/writ/observer/mcp"
)

// serveMCP answers an agent's host over standard input and output.
func serveMCP(ctx context.Context, args []string, out, errw io.Writer) error {
	flags := newFlags("mcp", "Serve the tools query, recall, status, propose and advance_phase to an agent's host.",
		"writ mcp", errw)
	session := flags.String("session", "", "the agent's session (default: the live one of the project)")
	project := flags.String("project", "", "`folder` the agent works in (default: CLAUDE_PROJECT_DIR, else the working folder)")
	if err := parse(flags, args); err != nil {
		return err
	}
	dataDir, err := config.DataDir()
	if err != nil {
		return err
	}
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	return mcp.Serve(ctx, os.Stdin, out, mcp.Options{
		Dial:       forAgents(launch.Options{DataDir: dataDir, Executable: executable, Vars: os.Environ()}),
		NotRunning: func(err error) bool { return errors.Is(err, config.ErrNoDaemon) }, Session: *session, HostSession: os.Getenv("CLAUDE_CODE_SESSION_ID"),
		Project: projectAround(dataDir, *project), Version: config.Version,
	})
}

// forAgents reaches the daemon in the only role that an agent's tools connect
// in: it asks and proposes, and neither approves nor administers.
func forAgents(daemon launch.Options) func(context.Context) (mcp.Service, error) {
	return func(ctx context.Context) (mcp.Service, error) {
		conn, err := reach.Daemon(ctx, daemon, "hook", bus.Options{Name: "writ mcp", Timeout: mcp.AskBudget})
		if err != nil {
			return nil, err
		}
		return conn, nil
	}
}

// projectAround is the root of the guarded project around the folder that is
// named, else the one around the host's or the working folder; "" for none.
func projectAround(dataDir, named string) string {
	working, _ := os.Getwd()
	folders := []string{os.Getenv("CLAUDE_PROJECT_DIR"), working}
	if named != "" {
		folders = []string{named}
	}
	for _, dir := range folders {
		if !filepath.IsAbs(dir) {
			continue
		}
		if root, found := config.FindGuarded(dataDir, dir); found {
			return root
		}
	}
	return ""
}
