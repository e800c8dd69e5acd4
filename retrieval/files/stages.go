package files

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/writbus/writ/retrieval/artifact/catalog"
	"github.com/writbus/writ/retrieval/artifact/search"
)

const (
	// stageFiles and stageBytes bound what is looked at before what came of it is
	// recorded.
	stageFiles = 2 << 10
	stageBytes = 256 << 20
	// savedFirst is from how many documents on an unfinished index is saved,
	// savedAgain by how much it has grown when it is saved again.
	savedFirst = 16 << 10
	savedAgain = 3
)

// stages works off all that is looked at but its last stage. Of a first build, what
// is done is recorded and kept as an index that was restored is, so that one that is
// ended begins again where it was: nobody sees it before the build has ended. Later
// on what is done can be found, and no more is in memory than a stage takes.
//
// Where files left, renames are found among those that came with as many bytes,
// which wait for the last stage.
func (p *Project) stages(ctx context.Context, w *work) error {
	var came []Entry
	if len(w.gone) > 0 {
		w.entries, came = apart(w.entries, w.gone, p.catalog)
	}
	for n := p.stageOf(w.entries); n < len(w.entries); n = p.stageOf(w.entries) {
		part := &work{update: Update{Unasked: w.update.Unasked, Force: w.update.Force, Some: true}, sel: w.sel, entries: w.entries[:n:n], next: map[string]*file{}, before: w.before, begun: w.begun, all: w.all}
		if err := p.readAll(ctx, part); err != nil {
			return err
		}
		if err := p.recordAndIndex(ctx, part); err != nil {
			return err
		}
		if p.begun = p.begun || part.recorded > 0; p.current.Load() != nil {
			p.publish(part)
		} else {
			p.keep(part)
			p.saveKept(ctx)
		}
		w.built.Counts.Add(part.built.Counts)
		w.built.Read += part.built.Read
		w.entries, w.before, w.begun = w.entries[n:], p.latest(), w.begun+n
	}
	if w.entries = append(w.entries[:len(w.entries):len(w.entries)], came...); len(came) > 0 {
		slices.SortFunc(w.entries, byPath)
	}
	return nil
}

// apart parts files that one of those that are gone may have become from the rest.
func apart(entries []Entry, gone []string, by catalog.State) (rest, came []Entry) {
	sizes := map[int64]bool{}
	for _, path := range gone {
		sizes[by.Files[path].File.Bytes] = true
	}
	for _, e := range entries {
		if _, known := by.Files[e.Path]; known || !sizes[e.Size] {
			rest = append(rest, e)
		} else {
			came = append(came, e)
		}
	}
	return rest, came
}

// stageOf is how many files the next stage looks at.
func (p *Project) stageOf(entries []Entry) (n int) {
	size := int64(0)
	for ; n < len(entries) && n < p.stageFiles && size < stageBytes; n++ {
		size += entries[n].Size
	}
	return n
}

// keep takes over what a stage found, for the next one.
func (p *Project) keep(w *work) {
	p.adopted(w)
	next := &Snapshot{Index: w.index}
	next.docs, next.relations = w.documents()
	p.kept = next
}

// saveKept saves an unfinished index where it has grown by much, unless another
// save is under way. That it could not be done shows when the index is saved.
func (p *Project) saveKept(ctx context.Context) {
	if p.options.Saved == "" || p.kept.Len() < max(savedAgain*p.keptSaved, p.savedFirst) || !p.saving.TryLock() {
		return
	}
	defer p.saving.Unlock()
	p.keptSaved = p.kept.Len()
	state, files, now := p.stateNow()
	if write(ctx, p.options.Saved, state, files, now.Index) == nil {
		p.saved.Store(now)
	}
}

// recordAndIndex has what was found recorded, and makes the index of it.
func (p *Project) recordAndIndex(ctx context.Context, w *work) error {
	p.stage.Store(&Progress{Stage: "recording"})
	var made sync.WaitGroup
	var failed error
	made.Go(func() { failed = search.Guarded(func() error { return p.index(w) }) }) // while the log writes
	d := catalog.Decide(p.catalog, p.look(w))
	w.built.Counts.Add(d.Counts)
	w.recorded = len(d.Record)
	err := p.record(ctx, d.Record)
	made.Wait()
	return cmp.Or(err, failed)
}

// latest is the index as far as there is one, published or not.
func (p *Project) latest() *Snapshot { return cmp.Or(p.current.Load(), p.kept) }
