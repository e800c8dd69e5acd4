package daemon

import (
	"context"
	"fmt"
	"slices"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement/keyring"
	"github.com/writbus/writ/enforcement/session"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// serviceName is how the daemon's services are found by NATS discovery.
const serviceName = "writ"

// serve announces the services.
func (d *Daemon) serve(ctx context.Context) (stop func(), err error) {
	if d.memory, err = d.openMemory(); err != nil {
		return nil, err
	}
	var stops []func()
	unwind := func() {
		for _, stop := range slices.Backward(stops) {
			stop()
		}
	}
	defer func() {
		if err != nil {
			unwind()
		}
	}()
	stopReading, stopMemory := d.memory.Begin(ctx)
	stops = append(stops, timed(d, "memory", stopMemory), timed(d, "files", d.files.Begin(ctx)), timed(d, "transcripts", stopReading))
	stopAgents, err := d.beginAgents(ctx)
	if err != nil {
		return nil, err
	}
	shared, stopSharing, err := beginSharing(ctx, d)
	if err != nil {
		stopAgents()
		return nil, fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	stops = append(stops, timed(d, "sharing", stopSharing))
	passkeys := keyring.New(keyring.Options{Conn: d.conn, Log: d.log, Now: d.now, Link: func(page string) (schemas.DashReply, error) { return d.link(page, false) }, Origin: d.pages.origin})
	d.gates = session.NewService(d.sessions, passkeys)
	shut, err := bus.Serve(ctx, []*bus.Conn{d.services, d.confined}, bus.Service{
		Name: serviceName, Version: config.Version, Description: "rules, gates and the log of coding agents",
		Endpoints: slices.Concat(d.agents.Endpoints(), d.audit.Endpoints(), d.team.Endpoints(), d.memory.Endpoints(), shared.Endpoints(), d.events.Endpoints(), d.gates.Endpoints(), passkeys.Endpoints(), d.afterRules(slices.Concat(d.rules.Endpoints(), d.graph.Endpoints())), d.files.Endpoints(), []bus.Endpoint{
			beforeBuilds(d.runtime, d.turn.Endpoint()),
			bus.Answer("dash", schemas.SvcDash, d.dash),
			bus.Answer("backup", schemas.SvcBackup, d.backups.BackUp),
			bus.Answer("forget", schemas.SvcForget, func(ctx context.Context, r schemas.ForgetRequest) (schemas.ForgetReply, error) {
				return forgetSaid(ctx, d, r)
			}),
			bus.Answer("settings", schemas.SvcSettings, d.acceptSettings),
			bus.Answer("status", schemas.SvcStatus, d.status),
			bus.Answer("view", schemas.SvcView, d.runtime.Ask),
			bus.Answer("stop", schemas.SvcStop, func(context.Context, bus.None) (bus.None, error) {
				d.stop()
				return bus.None{}, nil
			}),
		}),
	})
	if err != nil {
		stopAgents()
		return nil, err
	}
	return func() {
		defer unwind()
		timed(d, "agents", stopAgents)() // what follows their runs is answered, and then stops
		ctx, cancel := context.WithTimeout(context.Background(), stopBudget/2)
		defer cancel()
		timed(d, "services", func() {
			if err := shut(ctx); err != nil {
				d.logger.Error("stop the services", "error", err)
			}
		})()
	}, nil
}

// beforeBuilds lets the building of views stand still while an endpoint answers.
func beforeBuilds(views *projections.Runtime, e bus.Endpoint) bus.Endpoint {
	handle := e.Handle
	e.Handle = func(ctx context.Context, r bus.Request) ([]byte, error) {
		defer views.First()()
		return handle(ctx, r)
	}
	return e
}
