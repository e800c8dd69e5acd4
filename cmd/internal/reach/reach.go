// Package reach connects to the daemon of a data directory over the bus, in a
// role. What a client may do follows from the role's credential alone.
package reach

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/filelock"
)

// Connect reaches a running daemon with a role's credential, which it adds to
// the options, as it does the address. A daemon on somebody else's NATS makes no
// credentials; there it is asked only while it holds the data directory. It returns
// config.ErrNewerDaemon, bus.ErrBadCredentials where the credential is missing, fs.ErrPermission where
// it may not be read, and the errors of [bus.Connect].
func Connect(ctx context.Context, at config.Endpoint, dataDir, role string, o bus.Options) (*bus.Conn, error) {
	if err := at.Understood(); err != nil {
		return nil, err
	}
	if role == "agent" && at.DoorURL != "" {
		at.URL, at.TLS, at.Daemon = at.DoorURL, bus.TLS{CA: at.DoorCA}, ""
	}
	trust, err := at.TLS.Config()
	if err != nil {
		return nil, err
	}
	own, err := bus.CredentialOf(filepath.Dir(config.CredentialPath(dataDir, role)), role, at.Daemon != "")
	switch missing := errors.Is(err, bus.ErrNotFound); {
	case err != nil && !missing: // who runs confined reads the lock as little
		return nil, err
	case at.Daemon != "" && !filelock.Held(config.Layout{Root: dataDir}.Lock()): // its NATS would answer
		return nil, fmt.Errorf("%w: the daemon of %s has ended", bus.ErrUnavailable, dataDir)
	case missing && at.Daemon == "":
		return nil, fmt.Errorf("%w: there is no %s", bus.ErrBadCredentials, config.CredentialPath(dataDir, role))
	}
	o = o.As(own)
	o.Archive = bus.NewArchive(filepath.Join(dataDir, "archive"))
	o.URL, o.Daemon, o.TLS, o.WriteThrough = at.URL, at.Daemon, trust, true
	return bus.Connect(ctx, o)
}

// Daemon connects like [Connect], and starts the daemon where it does not run;
// the launch options need no probe. It returns the errors of both.
func Daemon(ctx context.Context, l launch.Options, role string, o bus.Options) (*bus.Conn, error) {
	if at, err := config.ReadEndpoint(l.DataDir); err == nil && !at.Older(config.Version, config.Protocol) {
		conn, err := Connect(ctx, at, l.DataDir, role, o)
		// Nobody serves it any more, or another daemon has taken over.
		gone := errors.Is(err, bus.ErrUnavailable) || errors.Is(err, bus.ErrBadCredentials) || errors.Is(err, bus.ErrClosed)
		if !gone {
			return conn, err
		}
	}
	var kept *bus.Conn
	l.Probe = func(ctx context.Context, at config.Endpoint) (err error) {
		kept, err = Connect(ctx, at, l.DataDir, role, o)
		return err
	}
	l.Stop = func(ctx context.Context, at config.Endpoint) error { return Stop(ctx, at, l.DataDir) }
	_, err := launch.Start(ctx, l)
	if err == nil && kept == nil {
		err = fmt.Errorf("%w: %s", config.ErrNoDaemon, l.DataDir)
	}
	if err != nil && kept != nil {
		kept.Close()
		kept = nil
	}
	return kept, err
}

// Stop asks a daemon to end, with the admin's credential. It finishes what it has
// begun after it answered.
func Stop(ctx context.Context, at config.Endpoint, dataDir string) error {
	conn, err := Connect(ctx, at, dataDir, "admin", bus.Options{Name: "writ upgrade"})
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Request(ctx, bus.Request{Subject: schemas.SvcStop, Header: schemas.Header{}, Body: []byte("{}")})
	if errors.Is(err, bus.ErrUnavailable) {
		return nil // it was gone before its answer had left
	}
	return err
}
