package catalog

import (
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// State is what the log says of a project's index. The zero value is that of a
// project without events.
type State struct {
	Files map[string]schemas.ArtifactIndexed // by path, without From
	Bytes int64                              // of the files
	Globs []string                           // of the last build that ended
	Built bool                               // one did
}

// Effect is what an event does to the files of an index: the path that leaves it,
// "" for none, and the file that it holds from then on, nil for none.
func Effect(p schemas.Payload) (leaves string, holds *schemas.ArtifactIndexed) {
	switch p := p.(type) {
	case schemas.ArtifactIndexed:
		leaves, p.From = p.From, ""
		return leaves, &p
	case schemas.ArtifactRemoved:
		return p.Path, nil
	}
	return "", nil
}

// Evolve folds one event. It cannot fail. As append does, it may write into the
// state that it was given: only the one that it returns counts.
func Evolve(s State, p schemas.Payload) State {
	if s.Files == nil {
		s.Files = map[string]schemas.ArtifactIndexed{}
	}
	leaves, holds := Effect(p)
	s.Bytes -= s.Files[leaves].File.Bytes
	delete(s.Files, leaves)
	if holds != nil {
		s.Bytes += holds.File.Bytes - s.Files[holds.File.Path].File.Bytes
		s.Files[holds.File.Path] = *holds
	}
	if built, is := p.(schemas.IndexBuilt); is {
		s.Globs, s.Built = built.Globs, true
	}
	return s
}

// Look is what somebody found who looked at files of a project.
type Look struct {
	// Found are the files that belong in the index, each as the event that would
	// record it.
	Found []schemas.ArtifactIndexed
	// Gone are paths of others, whether the index has them or not. None is among
	// Found.
	Gone []string
	// Whole, if not nil, says that no file is left to be looked at, with which
	// globs, and what was left out. Documents and Bytes are not read.
	Whole *schemas.IndexBuilt
	// Begun says that events of the same build were recorded before.
	Begun bool
}

// Counts are files by what became of them.
type Counts struct {
	Added, Changed, Renamed, Removed, Unchanged int
	Touched                                     int // only their time is another
}

// Add adds other counts.
func (c *Counts) Add(o Counts) {
	c.Added += o.Added
	c.Changed += o.Changed
	c.Renamed += o.Renamed
	c.Removed += o.Removed
	c.Unchanged += o.Unchanged
	c.Touched += o.Touched
}

// Decision is what Decide answers.
type Decision struct {
	Record []schemas.Payload // to be appended, in this order
	Counts Counts            // of the files that were looked at
}

// Decide says what is different from what the log has. A path that left while
// another came with the same bytes was renamed.
func Decide(s State, l Look) (d Decision) {
	var came, changed []schemas.ArtifactIndexed
	bytes := s.Bytes
	for _, f := range l.Found {
		was, indexed := s.Files[f.File.Path]
		bytes += f.File.Bytes - was.File.Bytes
		switch {
		case !indexed:
			came = append(came, f)
		case was.File != f.File || was.Kind != f.Kind:
			changed = append(changed, f)
			d.Counts.Changed++
		case !was.Modified.Equal(f.Modified):
			changed = append(changed, f)
			d.Counts.Touched++
		default:
			d.Counts.Unchanged++
		}
	}
	var left []string
	for _, path := range l.Gone {
		if was, indexed := s.Files[path]; indexed {
			left = append(left, path)
			bytes -= was.File.Bytes
		}
	}
	documents := len(s.Files) + len(came) - len(left)
	byPath := func(a, b schemas.ArtifactIndexed) int { return strings.Compare(a.File.Path, b.File.Path) }
	slices.Sort(left)
	slices.SortFunc(came, byPath)
	slices.SortFunc(changed, byPath)
	removed := s.rename(came, left)
	for _, path := range removed {
		d.Record = append(d.Record, schemas.ArtifactRemoved{Path: path})
	}
	for _, f := range append(came, changed...) {
		d.Record = append(d.Record, f)
	}
	d.Counts.Removed, d.Counts.Renamed = len(removed), len(left)-len(removed)
	d.Counts.Added = len(came) - d.Counts.Renamed
	if l.Whole != nil && (len(d.Record) > 0 || l.Begun || !s.Built || !slices.Equal(s.Globs, l.Whole.Globs)) {
		built := *l.Whole
		built.Documents, built.Bytes = documents, bytes
		d.Record = append(d.Record, built)
	}
	return d
}

// rename gives each file that came the path that its bytes left, and returns the
// paths that are left over.
func (s State) rename(came []schemas.ArtifactIndexed, left []string) (removed []string) {
	byHash := map[string][]string{}
	for _, path := range left {
		hash := s.Files[path].File.SHA256
		byHash[hash] = append(byHash[hash], path)
	}
	taken := map[string]bool{}
	for i := range came {
		if from := byHash[came[i].File.SHA256]; len(from) > 0 {
			came[i].From, byHash[came[i].File.SHA256] = from[0], from[1:]
			taken[from[0]] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(left), func(path string) bool { return taken[path] })
}
