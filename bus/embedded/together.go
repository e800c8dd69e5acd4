package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/blockfile"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// Sync returns once all that a stream held when it was called is on the disk:
// what bus.Options.Synced is to be with Options.Together. Those who wait at the
// same time share a sync. It returns bus.ErrStorage where the disk failed: it is
// not known then what of the stream is there, and nothing more is acknowledged
// until the streams were opened again.
func (s *Server) Sync(ctx context.Context, stream schemas.Stream) error {
	return bring(ctx, s, s.together, string(stream))
}

// bring is Sync of a stream among those.
func bring(ctx context.Context, s *Server, of *together, stream string) error {
	err := of.of(stream).wait(ctx)
	if err != nil && ctx.Err() == nil {
		reason := fmt.Sprintf("sync the stream %s: %v", stream, err)
		s.log.stopped(reason)
		return fmt.Errorf("%w: %s", bus.ErrStorage, reason)
	}
	return err
}

// SyncFiles brings all files of a stream's records to the disk, with either durability:
// where records leave, the server writes what stays of their file to another one.
func SyncFiles(dir, stream string) error {
	all := syncs{dir: StreamDir(dir, stream)}
	defer all.shut()
	if err := all.begin(); err != nil {
		return fmt.Errorf("%w: sync the stream %s: %w", bus.ErrStorage, stream, err)
	}
	return nil
}

// together are the syncs of all streams; nil where nothing is left to them.
type together struct {
	dir string // of the streams

	mu  sync.Mutex
	all map[string]*syncs // by stream
}

// together returns the syncs that appends wait for, and those that a note of the
// streams' ends does, with either durability.
func (o Options) together() (appends, notes *together) {
	notes = &together{dir: streamsDir(o.Dir), all: map[string]*syncs{}}
	if o.Together && o.Durability == PowerLoss {
		appends = notes
	}
	return appends, notes
}

func (t *together) of(stream string) *syncs {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.all[stream]
	if one == nil {
		one = &syncs{dir: filepath.Join(t.dir, stream)}
		t.all[stream] = one
	}
	return one
}

// each calls a function with the syncs of every stream that was synced.
func (t *together) each(do func(*syncs) error) error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range t.all {
		if err := do(one); err != nil {
			return err
		}
	}
	return nil
}

var errStopped = errors.New("the server has stopped")

// syncFile is what brings a file to the disk; tests count it, and have it fail.
var syncFile = (*os.File).Sync

// syncs bring the records of a stream to the disk.
//
// Invariants: all of the files before last were synced after they were written for
// the last time; running is set while somebody syncs, and whoever comes then waits
// for the sync after that one.
type syncs struct {
	dir string // of the stream

	mu      sync.Mutex
	running bool
	next    *round
	failed  error // since then nothing is known of what is on the disk

	// Of whoever syncs.
	last blockfile.File
	open *os.File
}

// round is a sync for those who wait for it.
type round struct {
	done chan struct{}
	err  error
}

func (s *syncs) wait(ctx context.Context) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	if s.failed != nil {
		defer s.mu.Unlock()
		return s.failed
	}
	mine := s.next
	if mine == nil {
		mine = &round{done: make(chan struct{})}
		s.next = mine
	}
	begins := !s.running
	s.running = true
	s.mu.Unlock()
	if begins {
		go s.run() // a disk that does not answer must not hold who asks beyond its time
	}
	select {
	case <-mine.done:
		return mine.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// run syncs for those who came, and leaves those who come meanwhile to another.
func (s *syncs) run() {
	s.mu.Lock()
	mine, failed := s.next, s.failed
	s.next = nil
	s.mu.Unlock()
	if mine.err = failed; failed == nil {
		mine.err = s.sync()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if mine.err != nil && s.failed == nil {
		s.failed = mine.err
	}
	if s.running = s.next != nil; s.running {
		go s.run()
	} else if errors.Is(s.failed, errStopped) {
		s.shut()
	}
	close(mine.done)
}

// sync writes to the disk the file that records are added to, and those that were
// begun since.
func (s *syncs) sync() error {
	if s.open == nil || !s.still() {
		return s.begin()
	}
	for {
		// Once the next file is there, nothing more is written to this one. What was
		// appended when a sync begins is in files that were there then.
		next := s.last.Next()
		_, ends := os.Stat(next.Path)
		if err := syncFile(s.open); err != nil {
			return err
		}
		switch {
		case errors.Is(ends, fs.ErrNotExist):
			return nil
		case ends != nil:
			return ends
		}
		if err := s.take(next); err != nil {
			return err
		}
	}
}

// still says whether the open file is the one that has its name.
func (s *syncs) still() bool {
	has, err := s.open.Stat()
	named, errNamed := os.Stat(s.last.Path)
	return err == nil && errNamed == nil && os.SameFile(has, named)
}

// begin syncs all files, and keeps the last one open.
func (s *syncs) begin() error {
	all, err := blockfile.Files(s.dir)
	if err != nil || len(all) == 0 {
		return err
	}
	for _, file := range all {
		if err := s.take(file); err != nil {
			return err
		}
		if err := syncFile(s.open); err != nil {
			return err
		}
	}
	return s.sync()
}

// take opens a file, and syncs that it is there.
func (s *syncs) take(file blockfile.File) error {
	f, err := os.OpenFile(file.Path, os.O_RDWR, 0) // Windows syncs no other
	if err != nil {
		return err
	}
	s.shut()
	s.last, s.open = file, f
	return atomicfile.Sync(filepath.Dir(file.Path))
}

func (s *syncs) shut() {
	if s.open != nil {
		_ = s.open.Close() // it was synced, or the error was told
	}
	s.open = nil
}

// stop ends it for good. Whoever syncs now shuts the file.
func (s *syncs) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = errStopped
	if !s.running {
		s.shut()
	}
	return nil
}

// again replaces the files whose sync failed by what they hold, while the server has
// none open: the system may take what it failed to write for written.
func (s *syncs) again() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		return nil
	}
	s.shut()
	all, err := blockfile.Files(s.dir)
	if err != nil {
		return err
	}
	for _, file := range all {
		if file.Index < s.last.Index {
			continue
		}
		body, err := os.ReadFile(file.Path)
		if err == nil {
			err = atomicfile.WriteWith(file.Path, body, atomicfile.Options{Mode: 0o640, Keep: true})
		}
		if err != nil {
			return err
		}
	}
	s.failed = nil
	return nil
}
