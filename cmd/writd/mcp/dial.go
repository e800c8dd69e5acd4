package mcp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/writ/cli/launch"
	"github.com/writbus/writ/cmd/writd/config"
)

// role is the only one that this package connects in: it asks and proposes,
// and neither approves nor administers.
const role = "hook"

// Daemon returns a Dial for the daemon of a data directory, which it starts
// where it does not run. Executable is this program, beside which writd is;
// vars are its environment.
func Daemon(dataDir, executable string, vars []string) func(context.Context) (Service, error) {
	return func(ctx context.Context) (Service, error) {
		at, err := config.ReadEndpoint(dataDir)
		if err == nil {
			conn, err := connect(ctx, at, dataDir)
			if err == nil || !gone(err) {
				return conn, err
			}
		}
		var kept Service
		_, err = launch.Start(ctx, launch.Options{
			DataDir: dataDir, Executable: executable, Vars: vars,
			Probe: func(ctx context.Context, at config.Endpoint) error {
				s, err := connect(ctx, at, dataDir)
				if err == nil {
					kept = s
				}
				return err
			},
		})
		if err == nil && kept != nil {
			return kept, nil
		}
		if kept != nil {
			kept.Close()
		}
		return nil, err
	}
}

// gone tells an endpoint that nobody serves any more, or that another daemon
// has taken over, from one that answers no.
func gone(err error) bool {
	return errors.Is(err, bus.ErrUnavailable) || errors.Is(err, bus.ErrBadCredentials) || errors.Is(err, bus.ErrClosed)
}

// connect reaches a daemon with the hook credential. A daemon on somebody
// else's NATS makes no credentials; its own settings say how to connect.
func connect(ctx context.Context, at config.Endpoint, dataDir string) (Service, error) {
	o := bus.Options{URL: at.URL, Name: "writ mcp", Timeout: askBudget, WriteThrough: true}
	own, err := bus.LoadCredential(filepath.Dir(config.CredentialPath(dataDir, role)), role)
	switch {
	case err == nil:
		o.User, o.Password = own.User, own.Password
	case errors.Is(err, bus.ErrNotFound):
		settings, loadErr := config.Load(dataDir)
		if loadErr != nil || settings.NATSURL == "" {
			return nil, fmt.Errorf("%w: there is no %s", bus.ErrBadCredentials, config.CredentialPath(dataDir, role))
		}
	default:
		return nil, err
	}
	conn, err := bus.Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	return conn, nil
}
