package daemon

import (
	"context"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// readyPatience is how long a request for rules waits for them to be there. A
// variable for tests.
var readyPatience = 8 * time.Second

// beginRules brings the shipped rules in beside the services: the gate decides
// without them, and the first hook of all is answered while the index is built.
// What cannot be imported stops the daemon; stop waits for the import and
// returns its error.
func (d *Daemon) beginRules(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	d.imported = make(chan struct{})
	done := make(chan error, 1)
	go func() {
		err := d.importEmbedded(ctx)
		if err == nil {
			close(d.imported)
		} else if ctx.Err() == nil {
			d.logger.Error("bring in the shipped rules", "error", err)
			d.stop()
		} else {
			err = nil // the daemon stops anyway
		}
		done <- err
	}()
	return func() error {
		cancel()
		return <-done
	}
}

// awaitRules waits until the rules are there, and reports whether they are.
func (d *Daemon) awaitRules(ctx context.Context, patience time.Duration) bool {
	select {
	case <-d.imported:
		return true
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-d.imported:
		return true
	case <-ctx.Done():
		return false
	}
}

// afterRules makes endpoints wait for the rules, those apart that must answer
// at once: a decision about a write never waits for an index.
func (d *Daemon) afterRules(endpoints []bus.Endpoint) []bus.Endpoint {
	for i, e := range endpoints {
		switch e.Subject {
		case schemas.SvcHook, schemas.SvcStatus, schemas.SvcStop, schemas.SvcMode, schemas.SvcModeByUser, schemas.SvcSession, schemas.SvcSessions:
			continue
		}
		endpoints[i].Handle = func(ctx context.Context, r bus.Request) ([]byte, error) {
			if !d.awaitRules(ctx, readyPatience) {
				return nil, schemas.Faultf(schemas.CodeNotReady, "the shipped rules are still being brought in")
			}
			return e.Handle(ctx, r)
		}
	}
	return endpoints
}
