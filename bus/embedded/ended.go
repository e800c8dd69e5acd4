package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/writbus/writ/bus/blockfile"
	"github.com/writbus/writ/schemas/atomicfile"
)

// endedDir holds files as they were before the server ended them, until they are
// put back. Persisted; never change.
const endedDir = "cut"

// ended are files that the server ended at a damaged record. Copies of them outlive
// the process.
type ended struct {
	store string // the folder
	find  func(Finding)

	mu  sync.Mutex
	any bool // in this run, and not put back
}

func (e *ended) copies() string { return filepath.Join(e.store, keptDir, endedDir) }

// before copies a file aside that the server is about to end at a damaged record.
// The server holds its lock meanwhile.
func (e *ended) before(file string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, err := blockfile.Keep(e.copies(), file); err != nil {
		return err
	}
	e.any = true
	return nil
}

// some says whether the server ended a file since all were put back.
func (e *ended) some() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.any
}

// alone writes to a file of records beside the server, unless that has ended one:
// all are looked at then while it has none open.
func (e *ended) alone(write func() error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.any {
		return nil
	}
	return write()
}

// putBack puts the files back that the server ended, in this run or an earlier one,
// while it has none open. Where something was written behind the end, that stays.
func (e *ended) putBack() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	entries, err := os.ReadDir(e.copies())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		copied := filepath.Join(e.copies(), entry.Name())
		path, whole := "", true
		if !atomicfile.Temporary(entry.Name()) { // else the file was not ended yet
			path, whole, err = blockfile.PutBack(streamsDir(e.store), copied)
		}
		if err == nil && !whole {
			err = e.written(path, copied)
		}
		if err == nil {
			err = os.Remove(copied)
		}
		if err != nil {
			return err
		}
	}
	e.any = false
	return nil
}

// written tells of a file that was ended and then written on, and keeps what it
// was.
func (e *ended) written(path, copied string) error {
	was, err := os.ReadFile(copied)
	if err != nil {
		return err
	}
	kept := filepath.Join(e.store, keptDir, filepath.Base(copied))
	stream := filepath.Base(filepath.Dir(filepath.Dir(path)))
	e.find(Finding{Stream: stream, Err: fmt.Errorf("%w: a file of %s was ended at a damaged record and then written on: records are missing, or others stand under their numbers. The file as it was is kept in %s. `writ audit verify` tells which were signed, and `writ backup restore` brings them back from a backup", ErrLogDamaged, stream, kept)})
	return atomicfile.Write(kept, was, 0o600)
}
