package fulltext

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
)

var (
	// ErrDamaged is returned when the files of an index are not what was written.
	// Close it and [Open] it again, which builds it anew.
	ErrDamaged = errors.New("fulltext: the index is damaged")
	// ErrBusy is returned by [Open] while another process has the index open.
	ErrBusy = errors.New("fulltext: another process has the index open")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("fulltext: the index is closed")
)

// State is what an index holds.
type State struct {
	// Version names how documents are made from the log: of another version, the
	// index is built again.
	Version string
	// Sequence is the last one of the rules' log that is in the index.
	Sequence uint64
}

func (s State) String() string { return fmt.Sprintf("%s/%s@%d", layout, s.Version, s.Sequence) }

var stateKey = []byte("writ-state")

// batchSize is how many rules are written at once; from 500 on Bleve is as fast
// as it gets.
const batchSize = 500

// Index is an open index.
type Index struct {
	dir     string
	version string
	bleve   bleve.Index
	close   func() error
}

func newIndex(dir, version string, b bleve.Index) *Index {
	return &Index{dir: dir, version: version, bleve: b, close: sync.OnceValue(func() error {
		if err := b.Close(); err != nil {
			return err
		}
		return seal(dir)
	})}
}

// Opened tells what Open did.
type Opened struct {
	Rebuilt bool
	Reason  string // why it was rebuilt
	Rules   int    // in the index
}

// Open returns the index in a folder, holding the state wanted. An index that
// does not is built again from all, which is asked only then; the old one stays
// until the new one is whole. [ErrBusy] is returned as it is.
func Open(dir string, want State, all func() ([]Document, error)) (*Index, Opened, error) {
	ix, reason, err := reopen(dir, want)
	if err != nil {
		return nil, Opened{}, err
	}
	if reason == "" {
		n, err := ix.bleve.DocCount()
		return ix, Opened{Rules: int(n)}, err
	}
	docs, err := all()
	if err != nil {
		return nil, Opened{}, fmt.Errorf("rules for the full-text index: %w", err)
	}
	if err := build(dir, want, docs); err != nil {
		return nil, Opened{}, fmt.Errorf("build the full-text index in %s: %w", dir, err)
	}
	ix, again, err := reopen(dir, want)
	if err != nil {
		return nil, Opened{}, err
	}
	if again != "" {
		return nil, Opened{}, fmt.Errorf("%w: just built in %s, and yet %s", ErrDamaged, dir, again)
	}
	return ix, Opened{Rebuilt: true, Reason: reason, Rules: len(docs)}, nil
}

// reopen opens what lies in the folder; a reason says why it cannot be used.
func reopen(dir string, want State) (ix *Index, reason string, err error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, "there was none", nil
	}
	if busy(dir) {
		return nil, "", fmt.Errorf("%w: %s", ErrBusy, dir)
	}
	if err := breakSeal(dir); err != nil {
		return nil, err.Error(), nil
	}
	opened, err := openBleve(dir)
	if err != nil {
		return nil, "it does not open: " + err.Error(), nil
	}
	got, err := opened.GetInternal(stateKey)
	if err == nil && string(got) == want.String() {
		return newIndex(dir, want.Version, opened), "", nil
	}
	reason = fmt.Sprintf("it holds %q, wanted is %q", got, want)
	if err := opened.Close(); err != nil { // unsealed: it is replaced
		return nil, "", fmt.Errorf("close the old full-text index in %s: %w", dir, err)
	}
	return nil, reason, nil
}

// openBleve turns what Bleve panics about, like a file cut short, into an error.
func openBleve(dir string) (ix bleve.Index, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, r)
		}
	}()
	return bleve.OpenUsing(dir, map[string]any{"bolt_timeout": "500ms"})
}

// build writes a new index beside the old one and puts it in its place.
func build(dir string, state State, docs []Document) error {
	fresh := dir + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	b, err := bleve.NewUsing(fresh, newMapping(), scorch.Name, scorch.Name, nil)
	if err != nil {
		return err
	}
	ix := newIndex(fresh, state.Version, b)
	for from := 0; ; from += batchSize {
		part := docs[min(from, len(docs)):min(from+batchSize, len(docs))]
		if len(part) == 0 {
			break
		}
		if err := ix.write(part, nil, nil); err != nil {
			return errors.Join(err, b.Close())
		}
	}
	// The state comes last: an index that was not finished has none.
	if err := ix.write(nil, nil, &state); err != nil {
		return errors.Join(err, b.Close())
	}
	if err := ix.Close(); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(fresh, dir)
}

// Update puts and removes rules and records the sequence that brought the
// change, all at once.
func (ix *Index) Update(put []Document, removed []string, sequence uint64) error {
	if err := ix.write(put, removed, &State{Version: ix.version, Sequence: sequence}); err != nil {
		return fmt.Errorf("update the full-text index in %s to %d: %w", ix.dir, sequence, err)
	}
	return nil
}

func (ix *Index) write(put []Document, removed []string, state *State) error {
	batch := ix.bleve.NewBatch()
	for _, id := range removed {
		batch.Delete(id)
	}
	for _, d := range put {
		if err := batch.Index(d.Rule.ID, record(d)); err != nil {
			return fmt.Errorf("index rule %s: %w", d.Rule.ID, err)
		}
	}
	if state != nil {
		batch.SetInternal(stateKey, []byte(state.String()))
	}
	return ix.bleve.Batch(batch)
}

// Len is the number of rules.
func (ix *Index) Len() (int, error) {
	n, err := ix.bleve.DocCount()
	return int(n), err
}

// Close releases the folder. More than once is once.
func (ix *Index) Close() error { return ix.close() }
