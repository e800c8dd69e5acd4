// Package pebblestore keeps views in a Pebble database. It is the only
// importer of Pebble.
//
// Commits are atomic and ordered but not synced: after a crash of the process
// or the machine the last of them may be missing, and the checkpoint inside
// each says from where the log is read again. Damaged files are reported as
// projections.ErrCorruptStore, never repaired; OpenOrReset moves them aside.
// One process opens a folder at a time.
//
// It does not survive a disk that refuses to write: Pebble ends the process where
// its log or manifest cannot be written, and waits for ever for room while it
// opens a folder. Options.Room keeps commits from getting there. It knows no keys:
// their layout is package projections' (layout.go), and in each view's own file.
package pebblestore

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/writbus/writ/projections"
)

// ErrClosed is returned by a store that was closed.
var ErrClosed = errors.New("pebblestore: store is closed")

// Options of a store. The zero value is good.
type Options struct {
	// FS is the file system, nil for the machine's own.
	FS vfs.FS
	// CacheBytes is the size of the block cache; 0 means 20 MiB.
	CacheBytes int64
	// Log hears of Pebble's errors, nil for silence.
	Log func(message string)
	// Room is asked before a commit whether the disk has so many bytes. Its error is
	// returned, and nothing is written; nil for no question.
	Room func(bytes int64) error
}

const (
	// memTable is how much is written before it is sorted into a file. Larger
	// ones save processor time where a view is rebuilt (32 MiB some 20 %), but
	// Pebble takes each, and a used one that it keeps, off the block cache.
	memTable = 8 << 20
	// roomBytes is what a commit may need beside itself: the next log, which Pebble
	// claims whole, and the files of what it sorts meanwhile.
	roomBytes = 2*memTable + memTable/4
	// cacheBytes leaves blocks some room beside two of them.
	cacheBytes = 20 << 20
	// retryPause is how long a write into a file that failed is not tried again. Pebble
	// holds its lock meanwhile.
	retryPause = 100 * time.Millisecond
)

// Store implements projections.Store. It is safe for concurrent use.
type Store struct {
	dir   string
	fs    vfs.FS
	db    *pebble.DB
	cache *pebble.Cache // the database's
	room  func(bytes int64) error
	// lock is held before Pebble opens anything, so that a folder in use is
	// not taken for a damaged one.
	lock *pebble.Lock

	mu     sync.RWMutex // held for reading while the database is in use
	closed bool
}

// Open opens the views in a folder and creates it if it is missing. It
// returns projections.ErrCorruptStore for damaged files.
func Open(dir string, opt Options) (*Store, error) {
	if opt.FS == nil {
		opt.FS = vfs.Default
	}
	opt.CacheBytes = cmp.Or(opt.CacheBytes, cacheBytes)
	if opt.Room == nil {
		opt.Room = func(int64) error { return nil }
	}
	s := &Store{dir: dir, fs: opt.FS, room: opt.Room}
	if err := s.open(opt); err != nil {
		return nil, fmt.Errorf("pebblestore: open %s: %w", dir, err)
	}
	return s, nil
}

func (s *Store) open(opt Options) error {
	if err := s.fs.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	lock, err := pebble.LockDirectory(s.dir, s.fs)
	if err != nil {
		return err
	}
	if err := inspect(s.fs, s.dir); err != nil {
		return errors.Join(err, lock.Close())
	}
	cache := pebble.NewCache(opt.CacheBytes)
	defer cache.Unref() // the database holds its own reference
	o := s.pebbleOptions(cache, &logger{write: opt.Log})
	o.Lock = lock
	if s.db, err = pebble.Open(s.dir, o); err != nil {
		return errors.Join(openError(err), lock.Close())
	}
	s.lock, s.cache = lock, cache
	return nil
}

// Relax implements projections.Relaxer: it empties the block cache, and writes
// into a file what waits in memory for it if that is more than is usual, as
// after a large commit, which is kept whole. What is read again comes from the
// system's cache of the files.
func (s *Store) Relax() {
	_ = s.use(func() error { // a store that was closed has none
		s.cache.Reserve(int(s.cache.MaxSize()))()
		if s.db.Metrics().MemTable.Size <= memTable || s.room(roomBytes) != nil {
			return nil
		}
		return s.db.Flush() // of which an error is told by the next commit
	})
}

func (s *Store) pebbleOptions(cache *pebble.Cache, l *logger) *pebble.Options {
	o := &pebble.Options{
		FS:                 s.fs,
		Cache:              cache,
		Logger:             l,
		FormatMajorVersion: pebble.FormatNewest,
		MemTableSize:       memTable,
		EventListener: &pebble.EventListener{
			// Pebble's own reaction to damage is to end the process.
			DataCorruption: func(info pebble.DataCorruptionInfo) {
				l.Errorf("%s", info)
				if err := s.condemn(info.String()); err != nil {
					l.Errorf("%s", err)
				}
			},
			// What it cannot write, as on a full disk, it tries again without a pause.
			BackgroundError: func(error) { time.Sleep(retryPause) },
		},
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return o
}

// use runs f while the database is open, and gives its error a name.
func (s *Store) use(f func() error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return ErrClosed
	}
	return s.named(f())
}

// Get implements projections.Store.
func (s *Store) Get(key []byte) (value []byte, found bool, err error) {
	err = s.use(func() error {
		value, found, err = get(s.db, key)
		return err
	})
	return value, found, err
}

func get(from pebble.Reader, key []byte) ([]byte, bool, error) {
	shared, release, err := from.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	value := append(make([]byte, 0, len(shared)), shared...)
	return value, true, release.Close()
}

// Scan implements projections.Store.
func (s *Store) Scan(prefix []byte) iter.Seq2[projections.Entry, error] {
	return s.scan(s.db, prefix)
}

func (s *Store) scan(from pebble.Reader, prefix []byte) iter.Seq2[projections.Entry, error] {
	return func(yield func(projections.Entry, error) bool) {
		// Held by reference, not through use: the body of the loop may call
		// the store again.
		var it *pebble.Iterator
		err := s.use(func() (err error) {
			bounds := &pebble.IterOptions{UpperBound: prefixEnd(prefix)}
			if len(prefix) > 0 {
				bounds.LowerBound = prefix
			}
			it, err = from.NewIter(bounds)
			return err
		})
		if err != nil {
			yield(projections.Entry{}, err)
			return
		}
		defer func() { _ = it.Close() }() // its error was reported by it.Error
		for ok := it.First(); ok; ok = it.Next() {
			value, err := it.ValueAndErr()
			if err != nil {
				yield(projections.Entry{}, s.named(err))
				return
			}
			if !yield(projections.Entry{Key: it.Key(), Value: value}, nil) {
				return
			}
		}
		if err := it.Error(); err != nil {
			yield(projections.Entry{}, s.named(err))
		}
	}
}

// prefixEnd is the first key behind all keys with the prefix, nil if none is.
func prefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xFF {
			end := append([]byte(nil), prefix[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}

// Commit implements projections.Store.
func (s *Store) Commit(write func(projections.Batch) error) error {
	return s.use(func() error {
		b := s.db.NewBatch()
		if err := write(batch{b}); err != nil {
			return errors.Join(err, b.Close())
		}
		if err := s.room(roomBytes + int64(b.Len())); err != nil {
			return errors.Join(err, b.Close())
		}
		return errors.Join(b.Commit(pebble.NoSync), b.Close())
	})
}

type batch struct{ b *pebble.Batch }

func (b batch) Set(key, value []byte) error { return b.b.Set(key, value, nil) }
func (b batch) Delete(key []byte) error     { return b.b.Delete(key, nil) }

func (b batch) DeletePrefix(prefix []byte) error {
	end := prefixEnd(prefix)
	if end == nil {
		return fmt.Errorf("pebblestore: prefix %q has no end", prefix)
	}
	return b.b.DeleteRange(prefix, end, nil)
}

// Snapshot implements projections.Store.
func (s *Store) Snapshot() (projections.Snapshot, error) {
	snap := &snapshot{store: s}
	err := s.use(func() error {
		snap.snap = s.db.NewSnapshot()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return snap, nil
}

type snapshot struct {
	store *Store
	snap  *pebble.Snapshot
	once  sync.Once
}

func (s *snapshot) Get(key []byte) (value []byte, found bool, err error) {
	err = s.store.use(func() error {
		value, found, err = get(s.snap, key)
		return err
	})
	return value, found, err
}

func (s *snapshot) Scan(prefix []byte) iter.Seq2[projections.Entry, error] {
	return s.store.scan(s.snap, prefix)
}

// Close may be called more than once.
func (s *snapshot) Close() (err error) {
	s.once.Do(func() { err = s.store.use(s.snap.Close) })
	return err
}

// Close makes every commit durable and closes the files. Snapshots and scans
// must have ended.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if err := errors.Join(s.db.Close(), s.lock.Close()); err != nil {
		return fmt.Errorf("pebblestore: close %s: %w", s.dir, s.named(err))
	}
	return nil
}
