package files

import (
	"context"
	"fmt"
	"slices"

	"github.com/writbus/writ/retrieval/artifact/catalog"
	"github.com/writbus/writ/schemas"
)

// eventParts bounds how many events travel in one message: at some 350 bytes
// each it stays well below what a server takes by default.
const eventParts = 2000

// look is what an update found, as the catalog asks for it.
func (p *Project) look(w *work) catalog.Look {
	l := catalog.Look{Gone: slices.Clone(w.gone), Begun: p.begun}
	for path, f := range w.next {
		if f.info == nil {
			l.Gone = append(l.Gone, path)
			continue
		}
		l.Found = append(l.Found, schemas.ArtifactIndexed{
			File: schemas.FileState{Path: path, SHA256: f.hash, Bytes: f.size}, Kind: string(f.info.Type), Modified: f.modTime.UTC(),
		})
	}
	if w.listing != nil {
		l.Whole = &schemas.IndexBuilt{Globs: w.globs, Left: p.leftOut(w)}
	}
	return l
}

// leftOut counts the files that a look at all of them left out, by reason.
func (p *Project) leftOut(w *work) map[string]int {
	all := map[string]int{}
	for reason, n := range w.listing.left {
		all[string(reason)] += n
	}
	for reason, n := range p.files.left {
		all[string(reason)] += n
	}
	add := func(f *file, sign int) {
		if f != nil && f.left != "" {
			count(all, string(f.left), sign)
		}
	}
	for path, f := range w.next {
		add(p.files.all[path], -1)
		add(f, 1)
	}
	for _, path := range w.gone {
		add(p.files.all[path], -1)
	}
	return all
}

// record appends events and folds them into what the log has.
func (p *Project) record(ctx context.Context, events []schemas.Payload) error {
	for part := range slices.Chunk(events, eventParts) {
		if err := p.options.Record(ctx, part); err != nil {
			return fmt.Errorf("record the changes of %s: %w", p.options.Root, err)
		}
		for _, event := range part {
			p.catalog = catalog.Evolve(p.catalog, event)
		}
	}
	return nil
}
