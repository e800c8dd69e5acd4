package objects

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/writbus/writ/bus/backup"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// stopAfter is when a daemon whose folder was moved stops by itself.
const stopAfter = 2 * time.Second

// Keeper is the service that writes backups of a data folder, when it is asked to
// and by plan.
type Keeper struct {
	Source func() backup.Source
	Ready  func(ctx context.Context, place string) error // says why a place does not do, else prepares the folder
	Moved  string                                        // the file that marks the folder as moved
	Stop   func()                                        // the daemon, once that is so

	Busy   sync.Mutex  // held while a backup is written, or must not be
	Store  sync.Mutex  // held while the streams are cut or rewritten, or records leave them
	Moving atomic.Bool // nothing is to be appended: the last backup is written
	*backup.Planner
}

// BackUp copies the data folder while it is in use, plans such copies, or copies it
// for the last time.
func (k *Keeper) BackUp(ctx context.Context, r schemas.BackupRequest) (reply schemas.BackupReply, err error) {
	switch remote := Is(r.Dir); {
	case r.Dir == "" && r.Every < 0:
		return reply, k.Set(backup.Plan{})
	case !remote && !filepath.IsAbs(r.Dir) || r.Keep < 0 || r.Every < 0:
		return reply, schemas.Faultf(schemas.CodeBadRequest, "a backup takes an absolute folder or s3://BUCKET/PREFIX, and keeps 1 or more")
	case !k.Busy.TryLock():
		return reply, schemas.Faultf(schemas.CodeConflict, "another backup is being written. Wait for it to end")
	}
	defer k.Busy.Unlock()
	if r.Move {
		k.Moving.Store(true)
		defer func() { k.Moving.Store(err == nil) }()
	}
	if err := k.Ready(ctx, r.Dir); err != nil {
		return reply, err
	}
	made, removed, err := Create(ctx, r.Dir, k.Source(), r.Keep)
	if errors.Is(err, backup.ErrPlace) {
		return reply, schemas.Faultf(schemas.CodeRefused, "%v", err)
	}
	if err != nil {
		return reply, err
	}
	reply = schemas.BackupReply{Path: made.Dir, Time: made.Time, Files: len(made.Files), Bytes: made.Bytes(), Written: made.Written, Streams: made.Reached(), Removed: removed}
	if Is(r.Dir) {
		reply.Path = r.Dir
	}
	switch {
	case r.Move:
		text := fmt.Sprintf("It was moved on %s: its last backup, of %s, is in %s\n", made.Time.Format(time.RFC3339), made.Time.Format(backup.Stamp), r.Dir)
		if err := atomicfile.Write(k.Moved, []byte(text), 0o600); err != nil {
			return reply, err
		}
		reply.Note = "This data folder is marked as moved: nothing is lost, and nothing is added to it any more.\n"
		time.AfterFunc(stopAfter, k.Stop) // whoever asked stops it sooner, and waits for that
	case r.Every > 0:
		err = k.Set(backup.Plan{Place: r.Dir, Every: r.Every, Keep: r.Keep, Last: made.Time})
	}
	return reply, err
}

// Begin writes backups as they are planned; stop ends that. failed is told why one
// was not written.
func (k *Keeper) Begin(ctx context.Context, now func() time.Time, failed func(error)) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		k.Run(ctx, now, func(ctx context.Context, p backup.Plan) error {
			_, err := k.BackUp(ctx, schemas.BackupRequest{Dir: p.Place, Keep: p.Keep})
			return err
		}, failed)
	}()
	return func() { cancel(); <-ended }
}
