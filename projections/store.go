package projections

import "iter"

// Store keeps the views: an ordered map of byte strings with atomic batches
// and snapshots. Commits become durable in their order; a crash may take the
// last ones, never a part of one. Errors of damaged files wrap
// ErrCorruptStore.
type Store interface {
	// Get returns a copy of the value.
	Get(key []byte) (value []byte, found bool, err error)
	// Scan yields the keys with this prefix in byte order, as they stood when
	// the iteration began; an error ends it.
	Scan(prefix []byte) iter.Seq2[Entry, error]
	// Commit applies everything that write puts into the batch, or nothing if
	// it returns an error. The batch must not be kept.
	Commit(write func(Batch) error) error
	// Snapshot returns the store as it stands.
	Snapshot() (Snapshot, error)
}

// Relaxer is a Store that keeps what was read in memory, and gives it back.
type Relaxer interface {
	// Relax drops what is kept; it is read again when it is needed.
	Relax()
}

// Batch collects the writes of one commit, applied in their order.
type Batch interface {
	Set(key, value []byte) error
	Delete(key []byte) error
	DeletePrefix(prefix []byte) error
}

// Snapshot is a Store that does not change any more. It must be closed.
type Snapshot interface {
	Get(key []byte) (value []byte, found bool, err error)
	Scan(prefix []byte) iter.Seq2[Entry, error]
	Close() error
}
