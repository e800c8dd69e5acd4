package daemon

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/backup"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/schemas"
)

// backUp is the service: copy the data folder while it serves on.
func (d *Daemon) backUp(ctx context.Context, r schemas.BackupRequest) (reply schemas.BackupReply, err error) {
	if d.server == nil {
		return reply, schemas.Faultf(schemas.CodeRefused, "the log is on somebody else's NATS (%s): back it up there, with `nats stream backup` for each stream", d.settings.NATSURL)
	}
	if !filepath.IsAbs(r.Dir) || r.Keep < 0 {
		return reply, schemas.Faultf(schemas.CodeBadRequest, "a backup takes an absolute folder, and keeps 1 or more")
	}
	if root, guarded := config.FindGuarded(d.layout.Root, backup.Resolved(r.Dir)); guarded {
		return reply, schemas.Faultf(schemas.CodeRefused, "%s lies in the guarded project %s, whose agents could read the keys in a backup. Choose a folder elsewhere", r.Dir, root)
	}
	if !d.backingUp.TryLock() {
		return reply, schemas.Faultf(schemas.CodeConflict, "another backup is being written. Wait for it to end")
	}
	defer d.backingUp.Unlock()
	d.audit.Seal(ctx)
	made, err := backup.Create(ctx, r.Dir, d.backupSource())
	if errors.Is(err, backup.ErrPlace) {
		return reply, schemas.Faultf(schemas.CodeRefused, "%v", err)
	}
	if err != nil {
		return reply, err
	}
	reply = schemas.BackupReply{Path: made.Dir, Time: made.Time, Files: len(made.Files), Bytes: made.Bytes(), Streams: made.Reached()}
	if r.Keep > 0 {
		reply.Removed, err = backup.Prune(r.Dir, d.layout.Root, r.Keep)
	}
	return reply, err
}

func (d *Daemon) backupSource() backup.Source {
	return backup.Source{
		Root: d.layout.Root, Writ: config.Version, DataFormat: config.Format(), Now: d.now, Cut: d.cut,
		Log: filepath.Base(d.layout.Log()), Evidence: filepath.Base(d.layout.Audit()), Leave: config.NotInBackups(),
	}
}

// cut is one moment of the streams. Appends wait for it, some milliseconds.
func (d *Daemon) cut() (*embedded.Cut, error) {
	for _, c := range []*bus.Conn{d.conn, d.reading} {
		defer c.Hold()()
	}
	return d.server.Cut()
}
