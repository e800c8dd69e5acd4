package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/writ/cli/launch"
	"github.com/writbus/writ/cmd/writd/config"
)

// dialAs connects to the daemon of a data directory in a role, starting it
// where it does not run.
func dialAs(ctx context.Context, dataDir, role string) (*bus.Conn, error) {
	if at, err := config.ReadEndpoint(dataDir); err == nil {
		conn, err := connectAs(ctx, at, dataDir, role)
		if err == nil || !errors.Is(err, bus.ErrUnavailable) {
			return conn, err
		}
	}
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var kept *bus.Conn
	_, err = launch.Start(ctx, launch.Options{
		DataDir: dataDir, Executable: executable, Vars: os.Environ(),
		Probe: func(ctx context.Context, at config.Endpoint) error {
			conn, err := connectAs(ctx, at, dataDir, role)
			if err == nil {
				kept = conn
			}
			return err
		},
	})
	if err != nil {
		if kept != nil {
			kept.Close()
		}
		return nil, err
	}
	if kept == nil {
		return nil, fmt.Errorf("%w: %s", config.ErrNoDaemon, dataDir)
	}
	return kept, nil
}

// connectAs takes the role's credential. A daemon on somebody else's NATS makes
// none; there its own settings say how to connect.
func connectAs(ctx context.Context, at config.Endpoint, dataDir, role string) (*bus.Conn, error) {
	o := bus.Options{URL: at.URL, Name: "writ " + role, WriteThrough: true}
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
	return bus.Connect(ctx, o)
}
