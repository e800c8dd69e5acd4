package daemon

import (
	"context"
	"path/filepath"

	"github.com/writbus/writ/observer/memory"
	"github.com/writbus/writ/observer/sharedmemory"
	"github.com/writbus/writ/projections/hub"
)

// beginSharing opens the memory that is shared, and exchanges it with the hub, if one is
// joined.
func beginSharing(ctx context.Context, d *Daemon) (*sharedmemory.Service, func(), error) {
	o := sharedmemory.Options{
		Folder: filepath.Join(d.layout.Root, "shared"), Memory: memory.Shared{Service: d.memory}, Log: d.log, Now: d.now, Logger: d.logger,
		Persons: func(ctx context.Context) []string { return d.rules.Releases().State(ctx).Persons(d.now()) },
	}
	o.Hub, o.Reached = d.server.Hub()
	is, err := hub.Load(d.layout.Root)
	if err != nil || is.Member == "" {
		o.Hub = nil // the team's service says why
	}
	o.Member, o.Restores = is.Member, d.conn.Restores
	return sharedmemory.Begin(ctx, o)
}
