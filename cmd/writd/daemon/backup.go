package daemon

import (
	"context"
	"path/filepath"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/backup"
	"github.com/writbus/writ/bus/backup/objects"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/projections/audit/ledger"
	"github.com/writbus/writ/projections/relocate"
	"github.com/writbus/writ/schemas"
)

// openBackups opens what copies the data folder while it serves on.
func (d *Daemon) openBackups() {
	planner, err := backup.OpenPlanner(filepath.Join(d.layout.Root, "backups.json"))
	if err != nil {
		d.warn(err.Error())
	}
	instance, err := relocate.DaemonID(d.layout.Root)
	if err != nil {
		d.warn(err.Error())
	}
	d.backups = &objects.Keeper{Source: func() backup.Source { return d.backupSource(instance) }, Moved: d.layout.Moved(), Stop: d.stop, Planner: planner}
	d.backups.Ready = func(ctx context.Context, place string) error {
		if d.server == nil {
			return schemas.Faultf(schemas.CodeRefused, "the log is on somebody else's NATS (%s): back it up there, with `nats stream backup` for each stream", d.settings.NATSURL)
		}
		if root, guarded := config.FindGuarded(d.layout.Root, backup.Resolved(place)); guarded && !objects.Is(place) {
			return schemas.Faultf(schemas.CodeRefused, "%s lies in the guarded project %s, whose agents could read the keys in a backup. Choose a folder elsewhere", place, root)
		}
		d.audit.Seal(ctx)
		return nil
	}
}

func (d *Daemon) backupSource(instance string) backup.Source {
	return backup.Source{
		Root: d.layout.Root, Host: hostname(), Identity: ledger.Identity(d.audit), Instance: instance, Writ: config.Version, DataFormat: config.Format(), Now: d.now, Cut: d.cut,
		Log: filepath.Base(d.layout.Log()), Evidence: filepath.Base(d.layout.Audit()), Leave: config.NotInBackups(),
	}
}

// cut is one moment of the streams. Appends wait for it, some milliseconds.
func (d *Daemon) cut() (*embedded.Cut, error) {
	d.backups.Store.Lock()
	defer d.backups.Store.Unlock()
	for _, c := range []*bus.Conn{d.conn, d.reading} {
		defer c.Hold()()
	}
	return d.server.Cut()
}

// retention is what the streams of the settings keep.
func retention(s config.Settings) bus.Retention {
	r := bus.Retention{Replicas: s.Replicas}
	if s.NATSURL == "" {
		r.Silence = bus.ReaderSilence
	}
	return r
}

// beginArchive lets old events leave the log, as the settings say.
func beginArchive(ctx context.Context, d *Daemon) (stop func()) {
	if d.server == nil {
		return func() {}
	}
	o := d.settings.Archive
	if root, guarded := config.FindGuarded(d.layout.Root, backup.Resolved(o.To)); guarded && o.To != "" {
		d.warn("nothing is archived: " + o.To + " (archive.to) lies in the guarded project " + root + ", whose agents could change what was said. Choose a folder elsewhere")
		o = bus.ArchiveSettings{}
	}
	d.archive = ledger.NewArchiver(ledger.ArchiveOptions{
		Audit: d.audit, Log: d.conn, Writer: d.log, Server: d.server, Store: d.layout.Log(), Settings: o,
		Most: d.settings.MaxBytes, Retention: retention(d.settings), Busy: &d.backups.Store, Now: d.now, Logger: d.logger,
	})
	return d.archive.Begin(ctx)
}
