package files

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// eventParts bounds how many events travel in one message: at some 350 bytes
// each it stays well below what a server takes by default.
const eventParts = 2000

// eventsOf lists what is different from what the log has, and ends a build that
// looked at all files with what it covers. A path that left while another came
// with the same bytes was renamed.
func (p *Project) eventsOf(w *work, newGlobs bool) []schemas.Payload {
	var came, changed []schemas.ArtifactIndexed
	var left []string
	for path, f := range w.next {
		was, recorded := p.recorded[path]
		if f.info == nil {
			if recorded {
				left = append(left, path)
			}
			continue
		}
		now := Recorded{SHA256: f.hash, Bytes: f.size, Modified: f.modTime.UTC(), Kind: string(f.info.Type)}
		event := schemas.ArtifactIndexed{File: schemas.FileState{Path: path, SHA256: now.SHA256, Bytes: now.Bytes}, Kind: now.Kind, Modified: now.Modified}
		switch {
		case !recorded:
			came = append(came, event)
		case was.SHA256 != now.SHA256 || was.Bytes != now.Bytes || was.Kind != now.Kind:
			changed = append(changed, event)
			w.built.Changed++
		case !was.Modified.Equal(now.Modified):
			changed = append(changed, event)
			w.built.Touched++
		default:
			w.built.Unchanged++
		}
	}
	for _, path := range w.gone {
		if _, recorded := p.recorded[path]; recorded {
			left = append(left, path)
		}
	}
	slices.Sort(left)
	byPath := func(a, b schemas.ArtifactIndexed) int { return strings.Compare(a.File.Path, b.File.Path) }
	slices.SortFunc(came, byPath)
	slices.SortFunc(changed, byPath)
	left = p.pairRenames(came, left)
	var events []schemas.Payload
	for _, path := range left {
		events = append(events, schemas.ArtifactRemoved{Path: path})
	}
	renamed := 0
	for _, e := range append(came, changed...) {
		if e.From != "" {
			renamed++
		}
		events = append(events, e)
	}
	w.built.Removed += len(left)
	w.built.Renamed += renamed
	w.built.Added += len(came) - renamed
	if w.listing != nil && (len(events) > 0 || newGlobs || p.begun || p.current.Load() == nil && len(p.recorded) == 0) {
		events = append(events, p.coverage(w))
	}
	return events
}

// pairRenames gives each path that came the path that its bytes left, and
// returns the paths that are left over.
func (p *Project) pairRenames(came []schemas.ArtifactIndexed, left []string) []string {
	byHash := map[string][]string{}
	for _, path := range left {
		hash := p.recorded[path].SHA256
		byHash[hash] = append(byHash[hash], path)
	}
	taken := map[string]bool{}
	for i := range came {
		if from := byHash[came[i].File.SHA256]; len(from) > 0 {
			came[i].From, byHash[came[i].File.SHA256] = from[0], from[1:]
			taken[from[0]] = true
		}
	}
	return slices.DeleteFunc(left, func(path string) bool { return taken[path] })
}

func (p *Project) coverage(w *work) schemas.IndexBuilt {
	e := schemas.IndexBuilt{Globs: p.globs, Left: map[string]int{}}
	for reason, n := range w.listing.left {
		e.Left[string(reason)] += n
	}
	seen := func(f *file) {
		if f.info != nil {
			e.Documents++
			e.Bytes += f.size
		} else if f.left != "" {
			e.Left[string(f.left)]++
		}
	}
	for _, f := range w.next {
		seen(f)
	}
	gone := map[string]bool{}
	for _, path := range w.gone {
		gone[path] = true
	}
	for path, f := range p.files.all {
		if w.next[path] == nil && !gone[path] {
			seen(f)
		}
	}
	return e
}

// record appends events and remembers what the log has.
func (p *Project) record(ctx context.Context, events []schemas.Payload) error {
	for part := range slices.Chunk(events, eventParts) {
		if err := p.options.Record(ctx, part); err != nil {
			return fmt.Errorf("record the changes of %s: %w", p.options.Root, err)
		}
		for _, event := range part {
			switch e := event.(type) {
			case schemas.ArtifactIndexed:
				p.recorded[e.File.Path] = Recorded{SHA256: e.File.SHA256, Bytes: e.File.Bytes, Modified: e.Modified, Kind: e.Kind}
				delete(p.recorded, e.From)
			case schemas.ArtifactRemoved:
				delete(p.recorded, e.Path)
			case schemas.IndexBuilt:
				p.begun = false
			}
		}
	}
	return nil
}
