package projections

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/writbus/writ/schemas"
)

// reader is a snapshot of a generation. Which one that is, is read from the
// snapshot itself, so a swap cannot come between.
type reader struct {
	view   string
	gen    manifest
	snap   Snapshot
	prefix []byte
}

func (v *runner) reader() (Reader, error) { return v.open(activeKey(v.p.Name())) }

// current opens the view in use if this version of the projector wrote it, else
// the build in progress, as far as it is.
func (v *runner) current() (Reader, error) {
	r, err := v.reader()
	if err == nil && r.Version() == v.p.Version() {
		return r, nil
	}
	if err == nil {
		_ = r.Close() // nothing was read that could be lost
		err = fmt.Errorf("projections: read view %s: %w", v.p.Name(), ErrNotReady)
	}
	v.mu.Lock()
	building := v.state == Rebuilding // so it was compared with the log
	v.mu.Unlock()
	if !errors.Is(err, ErrNotReady) || !building {
		return nil, err
	}
	r, err = v.open(buildingKey(v.p.Name()))
	if errors.Is(err, ErrNotReady) {
		return v.reader() // it was put in its place meanwhile
	}
	return r, err
}

// open opens the generation that a manifest key names.
func (v *runner) open(key []byte) (Reader, error) {
	snap, err := v.store.Snapshot()
	if err != nil {
		return nil, fmt.Errorf("projections: read view %s: %w", v.p.Name(), err)
	}
	r := &reader{view: v.p.Name(), snap: snap}
	found, err := getJSON(snap.Get, key, &r.gen)
	if err == nil && !found {
		err = ErrNotReady
	}
	if err != nil {
		_ = snap.Close() // nothing was read that could be lost
		return nil, fmt.Errorf("projections: read view %s: %w", r.view, err)
	}
	r.prefix = dataPrefix(r.view, r.gen.Generation)
	return r, nil
}

// Get implements Reader.
func (r *reader) Get(key []byte) ([]byte, bool, error) {
	return r.snap.Get(slices.Concat(r.prefix, key))
}

// Scan implements Reader.
func (r *reader) Scan(prefix []byte) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range r.snap.Scan(slices.Concat(r.prefix, prefix)) {
			e.Key = bytes.TrimPrefix(e.Key, r.prefix)
			if err == nil && len(e.Key) == 0 {
				continue // the checkpoints
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// Position implements Reader. It is 0 where the checkpoint cannot be read:
// too low is safe.
func (r *reader) Position(s schemas.Stream) uint64 {
	var c checkpoints
	if _, err := getJSON(r.snap.Get, r.prefix, &c); err != nil {
		return 0
	}
	return c[s].Seq
}

// Version implements Reader.
func (r *reader) Version() int { return r.gen.Version }

// Close implements Reader.
func (r *reader) Close() error { return r.snap.Close() }
