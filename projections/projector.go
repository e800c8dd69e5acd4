package projections

import (
	"iter"

	"github.com/writbus/writ/schemas"
)

// Projector writes one view. Its methods are called by one goroutine at a
// time.
type Projector interface {
	// Name is stable and prefixes every key of the view: a lower-case letter,
	// then up to 63 lower-case letters, digits, "-" or "_". Persisted; a new
	// name is a new view.
	Name() string
	// Version is raised to rebuild the view from the start of the log, which
	// every change of what Apply writes needs.
	Version() int
	// Types names the events that Apply gets; empty means all. A changed list
	// rebuilds the view as a new version does.
	Types() []schemas.Type
	// Apply writes what the event changes. It depends on the view and the
	// event alone, so it has no context, clock or logger. An error stops the
	// projector before the record of this event.
	Apply(View, schemas.Event) error
}

// RecordApplier is implemented by a projector that reads records as they are
// stored, those that nobody can decode among them. Apply is then not called,
// and nothing goes to the quarantine for this view.
type RecordApplier interface {
	Projector
	// ApplyRecord is Apply for one record. Its body and header must not be
	// kept.
	ApplyRecord(View, schemas.Record) error
}

// Batcher is implemented by a projector that keeps decoded values in memory
// while a batch is applied. What it writes must not depend on where batches
// begin and end.
type Batcher interface {
	// Begin starts a batch: whatever is kept in memory must be forgotten. It
	// is called again when a batch is abandoned.
	Begin()
	// Flush writes what is kept in memory; the batch is committed next.
	Flush(View) error
}

// Continuer is implemented by a Batcher that can go on with what it keeps from
// one batch to the next.
type Continuer interface {
	Batcher
	// Continue is called instead of Begin where the batch before was flushed
	// and committed to the same view. What is kept must be worth what reading
	// it again would give.
	Continue()
}

// Committed is implemented by a projector behind which something in memory,
// such as a search index, follows the view.
type Committed interface {
	// Committed is called after each batch that changed the view in use, however
	// many commits it took, and once with Rebuilt set for a view that was just
	// opened or swapped in.
	// WaitFor returns only after it, so the index behind it has the events
	// too. An error stops the projector.
	Committed(Commit) error
}

// Commit tells what a batch did to the view in use.
type Commit struct {
	// Reader shows the view with the batch in it. The runtime closes it when
	// Committed returns.
	Reader Reader
	// Rebuilt says that any key may have changed; Changed is empty then.
	Rebuilt bool
	// Changed lists the keys that were set or deleted, sorted.
	Changed []string
}

// Entry is one key of a view with its value. Both are valid until the
// iteration goes on, and must not be modified.
type Entry struct {
	Key   []byte
	Value []byte
}

// View is what Apply reads and writes. It shows the writes of the batch that
// is not committed yet. Keys are the view's own: no other view's can be
// reached.
type View interface {
	// Get returns the value, which must not be modified and is valid until the
	// key is written.
	Get(key []byte) (value []byte, found bool, err error)
	// Set copies both slices.
	Set(key, value []byte) error
	Delete(key []byte) error
	// Scan yields the keys with this prefix in byte order; an error ends it.
	Scan(prefix []byte) iter.Seq2[Entry, error]
}

// Reader is an immutable snapshot of a view. It is safe for concurrent use
// until it is closed, and must be closed.
type Reader interface {
	Get(key []byte) (value []byte, found bool, err error)
	Scan(prefix []byte) iter.Seq2[Entry, error]
	// Position is the sequence up to which the snapshot holds a stream.
	Position(schemas.Stream) uint64
	// Version is the projector's version that wrote the snapshot: the old one
	// while a new one is being built.
	Version() int
	Close() error
}
