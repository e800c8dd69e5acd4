package client

import (
	"context"
	"fmt"
	"time"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/launch"
)

// Programs returns the path of a writ that stays, with writd beside it or
// found otherwise. Inside a checkout that is a fresh build of both, when this
// program is a temporary one or no writd is found.
func (a *Client) Programs(ctx context.Context) (self string, err error) {
	checkout, inCheckout := launch.Checkout(a.Env.Dir)
	_, findErr := launch.Find(a.Env.Executable, a.Env.Vars)
	temporary := launch.Temporary(a.Env.Executable)
	if findErr == nil && !temporary {
		return a.Env.Executable, nil
	}
	if !inCheckout {
		if findErr != nil {
			return "", findErr
		}
		return a.Env.Executable, nil
	}
	into, err := launch.BinDir()
	if err != nil {
		return "", err
	}
	defer a.progress("Building writ and writd (the first time takes two or three minutes)")()
	return launch.Build(ctx, checkout, into)
}

// WithDaemon is the app of a program that has its daemon beside it, or found
// otherwise: itself, but where `go run` made it in a checkout.
func (a *Client) WithDaemon(ctx context.Context) (*Client, error) {
	if !launch.Temporary(a.Env.Executable) {
		return a, nil
	}
	self, err := a.Programs(ctx)
	if err != nil {
		return nil, err
	}
	b := *a
	b.Env.Executable = self
	return &b, nil
}

// Writd is the path of the daemon's program, and the app whose world it runs in.
func (a *Client) Writd(ctx context.Context) (path string, in *Client, err error) {
	if in, err = a.WithDaemon(ctx); err == nil {
		path, err = launch.Find(in.Env.Executable, in.Env.Vars)
	}
	return path, in, err
}

// progress says what takes long, and at a terminal for how long already. The
// returned function ends the line.
func (a *Client) progress(what string) (done func()) {
	began := a.Env.Now()
	if a.JSON || !IsTerminal(a.Err) {
		a.Note("%s …", what)
		return func() {}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			fmt.Fprintf(a.Err, "\r%s … %s ", what, a.Env.Now().Sub(began).Truncate(time.Second))
			select {
			case <-stop:
				fmt.Fprintln(a.Err)
				return
			case <-tick.C:
			}
		}
	}()
	return func() { close(stop); <-stopped }
}

// StartWith starts the daemon that lies beside the given writ.
func (a *Client) StartWith(ctx context.Context, dataDir, self string) (config.Endpoint, error) {
	b := *a
	b.Env.Executable = self
	return b.start(ctx, dataDir)
}

// ShellWord quotes a path for a person's shell where it needs it.
func ShellWord(path string) string {
	for _, r := range path {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '/', r == '.', r == '-', r == '_', r == '~', r == '\\', r == ':':
		default:
			return `"` + path + `"`
		}
	}
	return path
}
