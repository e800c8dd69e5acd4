package relocate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// commit has the log lie at the new place.
func (m *mover) commit(ctx context.Context) error {
	if m.to.URL == "" {
		if err := m.to.close(ctx); err != nil {
			return err
		}
		if err := syncAll(m.to.folder); err != nil {
			return err
		}
		if err := m.install(); err != nil {
			return err
		}
	}
	next := m.place
	next.NATS, next.Moving, next.Arriving, next.Leaving = m.To, nil, m.to.credentials != m.Credentials, &m.from.NATS
	if err := next.save(m.Dir); err != nil {
		return err
	}
	m.place = next
	return m.place.arrive(m.Dir, m.Credentials)
}

// moveFile is in a folder of streams that a move made, with its id.
const moveFile = "move"

// install gives the folder that was copied to its name. One that has the name is older,
// or that of this move, if that was killed here before; what is neither is kept.
func (m *mover) install() error {
	was, err := os.ReadFile(filepath.Join(m.Streams, moveFile))
	if err == nil && string(was) == m.place.Moving.ID {
		err = os.RemoveAll(m.Streams)
	} else if err = os.Rename(m.Streams, m.Streams+".before-"+m.place.Moving.ID); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(m.Streams+leftBehind), os.Rename(m.to.folder, m.Streams)); err != nil {
		return err
	}
	return atomicfile.Sync(m.Dir)
}

// leftBehind ends the name of the folder with the streams that a log left.
const leftBehind = ".moved"

// leave puts the old streams aside, or deletes them at a NATS. They take no events; that
// they are still there is no error.
func (m *mover) leave(ctx context.Context) error {
	if m.from.URL == "" {
		return errors.Join(m.from.close(ctx), m.aside())
	}
	for _, s := range schemas.Streams() {
		if err := bus.Drop(ctx, m.from.conn, s); err != nil {
			m.done.Left = fmt.Sprintf("%s, which did not let it be deleted: %v", m.from.URL, err)
		}
	}
	return m.left()
}

// aside renames the folder of the old streams, where that was not done yet.
func (m *mover) aside() error {
	m.done.Left = m.Streams + leftBehind
	if _, err := os.Lstat(m.Streams); err == nil {
		if err := errors.Join(os.RemoveAll(m.done.Left), os.Rename(m.Streams, m.done.Left)); err != nil {
			return err
		}
	}
	return m.left()
}

// left notes that nothing is to be put away any more.
func (m *mover) left() error {
	m.place.Leaving = nil
	return m.place.save(m.Dir)
}

// putAway ends a move that was cut off when the log lay at its new place. What another
// log has at the old one by now stays.
func putAway(ctx context.Context, o Options, p *Place) (done Moved, err error) {
	old := &end{NATS: *p.Leaving, credentials: o.Credentials}
	m := &mover{Options: o, place: *p, from: old, to: old}
	m.done = Moved{From: old.Name(), To: p.Name(), Epoch: p.Epoch}
	defer func() { *p, err = m.place, errors.Join(err, old.close(context.WithoutCancel(ctx))) }()
	if old.URL == "" {
		return m.done, m.aside()
	}
	if err := m.open(ctx, old); err != nil {
		return m.done, fmt.Errorf("reach the copy at %s: %w. Where that is gone for good, take leaving out of %s", old.URL, err, filepath.Join(m.Dir, placeFile))
	}
	for _, s := range schemas.Streams() {
		if err := m.makeRoom(ctx, s); err != nil && !errors.Is(err, ErrElsewhere) {
			return m.done, err
		}
	}
	return m.done, m.left()
}

// callOff leaves the log where it lies. Its daemon has the streams take events again.
func callOff(ctx context.Context, o Options, p Place) (Moved, error) {
	o.To = p.Moving.To
	m := newMover(o, p)
	m.useBrought()
	done := Moved{From: p.Name(), To: p.Name(), Epoch: p.Epoch, Kept: true}
	err := os.RemoveAll(m.to.folder)
	if m.to.URL != "" {
		reached := m.open(ctx, m.to)
		for _, s := range schemas.Streams() {
			if reached != nil {
				break
			}
			if dropErr := m.makeRoom(ctx, s); !errors.Is(dropErr, ErrElsewhere) {
				err = errors.Join(err, dropErr)
			}
		}
		err = errors.Join(err, reached, m.to.close(context.WithoutCancel(ctx)))
	}
	if err != nil {
		done.Left = fmt.Sprintf("%s: %v", p.Moving.To.Name(), err)
	}
	p.Moving = nil
	if err := p.save(o.Dir); err != nil {
		return done, err // the move may yet go on, with what was brought for it
	}
	return done, os.RemoveAll(filepath.Join(o.Credentials, brought))
}

// syncAll brings a folder with all that is in it to the disk.
func syncAll(folder string) error {
	return filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return atomicfile.Sync(path)
	})
}
