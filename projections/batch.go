package projections

import (
	"bytes"
	"iter"
	"slices"
	"strings"
)

// buildCache and liveCache bound what a view that is built, and one that serves, keeps of
// committed values for the next batch. Counters that every event touches then need no read
// of the store. Few are built at a time, and all of them serve.
const buildCache, liveCache = 8 << 20, 512 << 10

// batch is the View that Apply gets: the writes since the last commit over the
// store, with recently used values kept. Nothing else writes these keys, so
// the kept values cannot be stale.
type batch struct {
	store  Store
	prefix []byte // of the generation

	cells map[string]*cell
	spare []cell // to hand out; one at a time they cost more than they hold
	round uint32 // number of this batch
	size  int
	// fresh knows the keys of a build that began in this process, nil for any
	// other generation.
	fresh *keySet
	dirty []string // keys to write, sorted while ordered is set
	// ordered is set by the first Scan of a batch.
	ordered bool
	key     []byte // scratch
	// turn is called at each write while a large batch is applied, and may wait;
	// nil otherwise.
	turn func()
}

type cell struct {
	value   []byte
	present bool
	dirty   bool
	used    uint32 // round of the last use
}

// cellBytes is what a kept value takes beyond its own bytes and those of its
// key, about.
const cellBytes = 128

func newBatch(store Store, prefix []byte) *batch {
	return &batch{store: store, prefix: prefix, cells: map[string]*cell{}}
}

func (b *batch) full(key []byte) []byte {
	b.key = append(append(b.key[:0], b.prefix...), key...)
	return b.key
}

// Get implements View.
func (b *batch) Get(key []byte) ([]byte, bool, error) {
	if b.fresh != nil && !b.fresh.mayHave(key) {
		return nil, false, nil
	}
	if c, kept := b.cells[string(key)]; kept {
		c.used = b.round
		return slices.Clip(c.value), c.present, nil
	}
	value, found, err := b.store.Get(b.full(key))
	if err != nil {
		return nil, false, err
	}
	c := b.newCell(string(key))
	c.value, c.present = value, found
	b.size += len(value)
	return slices.Clip(value), found, nil
}

// Set implements View.
func (b *batch) Set(key, value []byte) error {
	if b.turn != nil {
		b.turn()
	}
	c := b.touch(key)
	b.size += len(value) - len(c.value)
	c.value, c.present = append(c.value[:0], value...), true
	return nil
}

// Delete implements View.
func (b *batch) Delete(key []byte) error {
	c := b.touch(key)
	b.size -= len(c.value)
	c.value, c.present = nil, false
	return nil
}

func (b *batch) touch(key []byte) *cell {
	var c *cell
	if b.fresh == nil || b.fresh.mayHave(key) {
		if c = b.cells[string(key)]; c != nil && c.dirty {
			return c
		}
	}
	name := string(key)
	if c == nil {
		c = b.newCell(name)
	}
	if b.fresh != nil && !b.fresh.add(key) {
		b.fresh = nil
	}
	c.dirty, c.used = true, b.round
	if b.ordered {
		at, _ := slices.BinarySearch(b.dirty, name)
		b.dirty = slices.Insert(b.dirty, at, name)
	} else {
		b.dirty = append(b.dirty, name)
	}
	return c
}

func (b *batch) newCell(name string) *cell {
	if len(b.spare) == 0 {
		b.spare = make([]cell, 256)
	}
	c := &b.spare[0]
	b.spare = b.spare[1:]
	c.used = b.round
	b.cells[name] = c
	b.size += len(name) + cellBytes
	return c
}

func (b *batch) order() {
	if !b.ordered {
		slices.Sort(b.dirty)
		b.ordered = true
	}
}

// Scan implements View: it merges the store with the writes of the batch.
func (b *batch) Scan(prefix []byte) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		b.order()
		from, _ := slices.BinarySearch(b.dirty, string(prefix))
		to := from
		for to < len(b.dirty) && strings.HasPrefix(b.dirty[to], string(prefix)) {
			to++
		}
		// Apply may write while it scans.
		writes := slices.Clone(b.dirty[from:to])
		own := func(name string) bool {
			c := b.cells[name]
			return !c.present || yield(Entry{Key: []byte(name), Value: c.value}, nil)
		}
		for e, err := range b.store.Scan(slices.Concat(b.prefix, prefix)) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			key := bytes.TrimPrefix(e.Key, b.prefix)
			if len(key) == 0 {
				continue // the checkpoints
			}
			for len(writes) > 0 && writes[0] < string(key) {
				if !own(writes[0]) {
					return
				}
				writes = writes[1:]
			}
			if len(writes) > 0 && writes[0] == string(key) {
				continue
			}
			if !yield(Entry{Key: key, Value: e.Value}, nil) {
				return
			}
		}
		for _, name := range writes {
			if !own(name) {
				return
			}
		}
	}
}

// writeTo puts the writes into a commit of the store.
func (b *batch) writeTo(out Batch) error {
	b.order()
	for _, name := range b.dirty {
		if b.turn != nil {
			b.turn()
		}
		key := append(append(b.key[:0], b.prefix...), name...)
		b.key = key
		c := b.cells[name]
		if !c.present {
			if err := out.Delete(key); err != nil {
				return err
			}
			continue
		}
		if err := out.Set(key, c.value); err != nil {
			return err
		}
	}
	return nil
}

// committed keeps the values for the next batch, within bounds, and returns
// the keys that were written.
func (b *batch) committed(most int) []string {
	written := b.dirty
	for _, name := range written {
		b.cells[name].dirty = false
	}
	b.dirty, b.ordered = make([]string, 0, len(written)), false
	if b.size > most {
		b.trim(most)
	}
	b.round++
	return written
}

// trim drops what the last batch did not use, or all if that is still much.
func (b *batch) trim(most int) {
	b.spare = nil
	for name, c := range b.cells {
		if c.used != b.round {
			b.size -= len(name) + len(c.value) + cellBytes
			delete(b.cells, name)
		}
	}
	if b.size > most {
		b.cells, b.size = map[string]*cell{}, 0
	}
}

// forget drops the writes and everything kept.
func (b *batch) forget() {
	b.cells, b.spare = map[string]*cell{}, nil
	b.size, b.dirty, b.ordered = 0, nil, false
}
