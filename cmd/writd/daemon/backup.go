package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/backup"
	"github.com/writbus/writ/bus/backup/objects"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// backUp is the service: copy the data folder while it serves on, plan such copies,
// or copy it for the last time.
func (d *Daemon) backUp(ctx context.Context, r schemas.BackupRequest) (reply schemas.BackupReply, err error) {
	if r.Dir == "" && r.Every < 0 {
		return reply, d.planned.Set(backup.Plan{})
	}
	if d.server == nil {
		return reply, schemas.Faultf(schemas.CodeRefused, "the log is on somebody else's NATS (%s): back it up there, with `nats stream backup` for each stream", d.settings.NATSURL)
	}
	remote := objects.Is(r.Dir)
	if !remote && !filepath.IsAbs(r.Dir) || r.Keep < 0 || r.Every < 0 {
		return reply, schemas.Faultf(schemas.CodeBadRequest, "a backup takes an absolute folder or s3://BUCKET/PREFIX, and keeps 1 or more")
	}
	if root, guarded := config.FindGuarded(d.layout.Root, backup.Resolved(r.Dir)); guarded && !remote {
		return reply, schemas.Faultf(schemas.CodeRefused, "%s lies in the guarded project %s, whose agents could read the keys in a backup. Choose a folder elsewhere", r.Dir, root)
	}
	if !d.backingUp.TryLock() {
		return reply, schemas.Faultf(schemas.CodeConflict, "another backup is being written. Wait for it to end")
	}
	defer d.backingUp.Unlock()
	if r.Move {
		d.moving.Store(true) // nothing is appended from now on
		defer func() { d.moving.Store(err == nil) }()
	}
	d.audit.Seal(ctx)
	made, removed, err := objects.Create(ctx, r.Dir, d.backupSource(), r.Keep)
	if errors.Is(err, backup.ErrPlace) {
		return reply, schemas.Faultf(schemas.CodeRefused, "%v", err)
	}
	if err != nil {
		return reply, err
	}
	if remote {
		made.Dir = r.Dir
	}
	reply = schemas.BackupReply{Path: made.Dir, Time: made.Time, Files: len(made.Files), Bytes: made.Bytes(), Written: made.Written, Streams: made.Reached(), Removed: removed}
	switch {
	case r.Move:
		text := fmt.Sprintf("It was moved on %s: its last backup, of %s, is in %s", made.Time.Format(time.RFC3339), made.Time.Format(backup.Stamp), r.Dir)
		if err := atomicfile.Write(d.layout.Moved(), []byte(text+"\n"), 0o600); err != nil {
			return reply, err
		}
		d.stop()
	case r.Every > 0:
		err = d.planned.Set(backup.Plan{Place: r.Dir, Every: r.Every, Keep: r.Keep, Last: made.Time})
	}
	return reply, err
}

// beginBackups writes backups as they are planned; stop ends that.
func beginBackups(ctx context.Context, d *Daemon) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.planned.Run(ctx, d.now, func(ctx context.Context, p backup.Plan) error {
			_, err := d.backUp(ctx, schemas.BackupRequest{Dir: p.Place, Keep: p.Keep})
			return err
		}, func(err error) { d.logger.Warn("a planned backup", "error", err) })
	}()
	return func() { cancel(); <-ended }
}

func (d *Daemon) backupSource() backup.Source {
	return backup.Source{
		Root: d.layout.Root, Host: hostname(), Writ: config.Version, DataFormat: config.Format(), Now: d.now, Cut: d.cut,
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
