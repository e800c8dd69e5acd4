package daemon

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/observer/agent/gatekeeper"
	"github.com/writbus/writ/observer/agent/runs"
	"github.com/writbus/writ/observer/agent/verbs/outside"
	"github.com/writbus/writ/observer/agent/verbs/workspace"
	"github.com/writbus/writ/observer/replay"
)

// beginAgents opens what runs agents and lets it work until stop.
func (d *Daemon) beginAgents(ctx context.Context) (stop func(), err error) {
	kept := runs.Kept{Runtime: d.runtime, Views: d.views.agents}
	set := d.verbsOutside(d.gatekeeper(), kept)
	d.agents = runs.New(runs.Options{
		Conn: d.conn, Log: d.log, Serving: d.services, Kept: kept, Model: d.model, NoModel: d.noModel,
		Find: agentFinder{d.memory.Finder()}, Rules: d.corpus, Outside: set.Handlers, Elsewhere: strings.Fields(d.settings.VerbsElsewhere),
		Limits: d.settings.Limits.OrDefault(), Daemon: cmp.Or(d.endpoint.Daemon, hostname()+":"+d.layout.Root), Sharing: d.endpoint.Daemon, Version: config.Version,
		Shown: replay.Show, StopWithin: stopBudget / 2, Now: d.now, Warn: d.warn, Logger: d.logger,
	})
	stopRuns, err := d.agents.Begin(ctx)
	if err != nil {
		set.Close()
		return nil, err
	}
	return func() { stopRuns(); set.Close() }, nil
}

// gatekeeper decides about what agents of the command language do.
func (d *Daemon) gatekeeper() *gatekeeper.Gate {
	root := d.layout.Root
	return &gatekeeper.Gate{Options: gatekeeper.Options{
		Turn: d.turn, Sessions: d.sessions, Projects: d.projects, Runner: d.runner, DataDir: root,
		Guarded: func(dir string) (string, bool) { return config.FindGuarded(root, dir) },
	}}
}

// verbsOutside makes the handlers that the settings of a data directory ask for.
// Settings that cannot be understood are warned about and count as none.
func (d *Daemon) verbsOutside(gate workspace.Gate, artifacts workspace.Artifacts) *outside.Set {
	var settings outside.Settings
	if err := config.LoadVerbs(d.layout.Root, &settings); err != nil {
		d.warn("the verbs of the command language are not set up: " + err.Error())
		settings = outside.Settings{}
	}
	return outside.New(outside.Options{Gate: gate, Artifacts: artifacts, Private: []string{d.layout.Root}, Settings: settings, Version: config.Version})
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}
