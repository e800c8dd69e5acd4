package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/writbus/writ/retrieval/artifact/catalog"
	"github.com/writbus/writ/retrieval/artifact/describe"
	"github.com/writbus/writ/retrieval/artifact/search"
)

// Update says what to bring the index up to.
type Update struct {
	// Globs, if not nil, are from now on what is looked at; empty is the
	// defaults.
	Globs *[]string
	// Force reads every file again.
	Force bool
	// Paths, if not nil, are all that may have changed.
	Paths []string
	// Some says that more than Paths may have changed: how old the index may be
	// does not follow.
	Some bool

	// Unasked says that nobody asked for it: it takes one processor, and returns
	// [ErrUnasked] where an index is not worth what it takes.
	Unasked bool

	enter func(dir string) // see selection.list
}

// ErrUnasked is returned for a project of which an index is made where somebody
// asks for one alone; its text says why.
var ErrUnasked = errors.New("artifacts: none is made by itself")

// The bounds of an index that nobody asked for: with fewer files an agent finds
// its way, and more of them, or a longer look at their folders, cost more than
// somebody expects who did not ask.
const (
	leastUnasked = 20
	mostUnasked  = 20_000
	unaskedBytes = 256 << 20
	unaskedWalk  = 5 * time.Second
)

// unasked looks at all files for an update that nobody asked for.
func (p *Project) unasked(ctx context.Context, w *work) error {
	if far := remote(p.Root()); far != "" {
		return fmt.Errorf("%w: %s is %s", ErrUnasked, p.Root(), far)
	}
	walking, cancel := context.WithTimeoutCause(ctx, unaskedWalk, ErrUnasked)
	defer cancel()
	if err := p.walk(walking, w); err != nil {
		if errors.Is(context.Cause(walking), ErrUnasked) {
			return fmt.Errorf("%w: to look at its folders takes more than %v", ErrUnasked, unaskedWalk)
		}
		return err
	}
	size := int64(0)
	for _, e := range w.entries {
		size += e.Size
	}
	switch n := len(w.entries); {
	case n < leastUnasked:
		return fmt.Errorf("%w: there are fewer than %d files", ErrUnasked, leastUnasked)
	case n > p.mostUnasked || size > unaskedBytes:
		return fmt.Errorf("%w: %d files with %d MB are more than %d or %d MB", ErrUnasked, n, size>>20, p.mostUnasked, unaskedBytes>>20)
	}
	return nil
}

// workersFor is how many files an update reads at once.
func (o Options) workersFor(u Update) int {
	if u.Unasked {
		return 1
	}
	return o.Workers
}

// Built is what an update did.
type Built struct {
	catalog.Counts
	At    time.Time
	Read  int // files whose bytes were read
	Took  time.Duration
	Whole bool // all files were looked at
}

// mostSegments is how many small segments an index may have before they are put
// together.
const mostSegments = 6

// manyRead is from how many files on an update takes much memory for a moment, and
// its workers are not kept for the next one.
const manyRead = 32

// Update brings the index up to the files: it walks, reads what changed, has
// that recorded and publishes a snapshot, of many files one after another. An error
// leaves the index with what was published before.
func (p *Project) Update(ctx context.Context, u Update) (Built, error) {
	p.updating.Lock()
	defer p.updating.Unlock()
	defer p.stage.Store(nil)
	began := p.options.Now()
	globs := p.catalog.Globs
	if u.Globs != nil {
		globs = slices.Clone(*u.Globs)
		p.walked = p.walked && slices.Equal(globs, p.catalog.Globs)
	}
	built, err := p.update(ctx, u, globs)
	if err != nil {
		return Built{}, err
	}
	p.asked.Store(&globs)
	built.At, built.Took = began, p.options.Now().Sub(began)
	return built, search.Guarded(func() error {
		s := p.current.Load()
		if tidied := s.Index.Tidied(mostSegments); tidied != s.Index {
			next := *s
			next.Index = p.outside(tidied)
			p.current.Store(&next)
		}
		return nil
	})
}

// work is one update under way.
type work struct {
	update  Update
	globs   []string // as they were asked for; empty is the defaults
	sel     *selection
	entries []Entry          // that are looked at
	gone    []string         // paths that are no longer there
	next    map[string]*file // in place of those before
	before  *Snapshot        // nil for none; that of the process before this one has no coverage
	put     []*search.Part
	drop    []string      // paths that leave the index
	index   *search.Index // with what was put and without what is dropped
	built   Built
	listing *listing // nil where only some paths are looked at
	begun   int      // files that stages before this one looked at, of
	all     int

	recorded int // events
}

func (p *Project) update(ctx context.Context, u Update, globs []string) (Built, error) {
	p.stage.Store(&Progress{Stage: "walking"})
	sel, err := newSelected(p.options, globs)
	if err != nil {
		return Built{}, err
	}
	w := &work{update: u, globs: globs, sel: sel, next: map[string]*file{}, before: p.latest()}
	if w.before == nil && !u.Force {
		p.kept = p.restored(ctx)
		if p.kept != nil {
			p.saved.Store(p.kept)
			p.keptSaved = p.kept.Len()
		}
		w.before = p.kept
	}
	if u.Paths == nil || !p.walked || u.Force || p.current.Load() == nil || !p.pick(w) {
		walk := p.walk
		if u.Unasked {
			walk = p.unasked
		}
		if err := walk(ctx, w); err != nil {
			return Built{}, err
		}
	}
	w.all = len(w.entries)
	if w.all > manyRead {
		defer p.options.lean()()
	}
	if err := p.stages(ctx, w); err != nil {
		return Built{}, err
	}
	if err := p.readAll(ctx, w); err != nil {
		return Built{}, err
	}
	if err := p.recordAndIndex(ctx, w); err != nil {
		return Built{}, err
	}
	p.publish(w)
	return w.built, nil
}

// walk looks at all files.
func (p *Project) walk(ctx context.Context, w *work) error {
	l, err := w.sel.list(ctx, w.update.enter)
	if err != nil {
		return err
	}
	w.listing, w.built.Whole = l, true
	w.entries, w.gone = nil, nil
	met := make(map[string]bool, len(l.entries))
	for _, e := range l.entries {
		met[e.Path] = true
		if f := p.files.all[e.Path]; f != nil && !w.update.Force && f.same(e) && f.problem == "" {
			if f.info != nil {
				w.built.Unchanged++
			}
			continue
		}
		w.entries = append(w.entries, e)
	}
	for path := range p.files.all {
		if !met[path] {
			w.gone = append(w.gone, path)
		}
	}
	for path := range p.catalog.Files {
		if !met[path] && p.files.all[path] == nil {
			w.gone = append(w.gone, path) // since before this process
		}
	}
	slices.Sort(w.gone)
	return nil
}

// pick looks at some paths alone. It says no where more may have changed than
// the files of these paths.
func (p *Project) pick(w *work) bool {
	for _, file := range slices.Compact(slices.Sorted(slices.Values(w.update.Paths))) {
		if name := path.Base(file); name == ".gitignore" || name == ".writignore" {
			return false
		}
		e, found, plain := w.sel.find(file)
		before := p.files.all[file]
		switch {
		case !plain:
			return false
		case found && (before == nil || !before.same(e) || before.problem != ""):
			w.entries = append(w.entries, e)
		case !found && before != nil:
			w.gone = append(w.gone, file)
		case !found && before == nil && p.files.folders[file] > 0:
			return false // a folder was removed
		}
	}
	return true
}

// find goes the way to one path as the walk does. It is plain unless there is a
// folder, which takes a walk. What is left out is not found; that it is counted
// waits for the next walk.
func (s *selection) find(file string) (e Entry, found, plain bool) {
	in := s.top()
	parts := strings.Split(file, "/")
	for i, name := range parts {
		at := path.Join(in.path, name)
		info, err := os.Lstat(filepath.Join(s.root, filepath.FromSlash(at)))
		if errors.Is(err, fs.ErrNotExist) {
			return e, false, true
		}
		if err != nil {
			return e, false, false
		}
		v := s.judge(in, name, info.IsDir())
		if v.reason != "" {
			return e, false, true
		}
		if info.IsDir() {
			if i == len(parts)-1 {
				return e, false, false
			}
			in = s.with(in, at, v)
			continue
		}
		if i < len(parts)-1 || s.judgeKind(file, info, v.wanted).reason != "" {
			return e, false, true
		}
		e = Entry{Path: file, Size: info.Size(), ModTime: info.ModTime(), changed: changedAt(info), wanted: v.wanted}
	}
	return e, true, true
}

// The clock of a file system may stand still for so long: a file that was
// changed as shortly before it was read may have changed again since without
// showing it.
const (
	fineClock   = 20 * time.Millisecond
	coarseClock = 2 * time.Second // of file systems that keep whole seconds
)

// same says whether a file is, as far as its folder tells, the one that was
// read.
func (f *file) same(e Entry) bool {
	return f.looks(e) && f.settled() && (f.changed == 0 || f.changed == e.changed)
}

// looks says whether a file looks in its folder like the one that was read.
func (f *file) looks(e Entry) bool {
	return f.size == e.Size && f.modTime.Equal(e.ModTime) && f.wanted == e.wanted
}

// settled says whether another change would have shown.
func (f *file) settled() bool {
	clock := fineClock
	if f.modTime.Nanosecond() == 0 {
		clock = coarseClock
	}
	return f.readAt.Sub(f.modTime) > clock
}

// embedder is that of an update's workers.
func (o Options) embedder() search.Embedder {
	if o.Beside {
		return nil
	}
	return o.Embedder
}

// readAll reads and analyses what is looked at, several files at once.
func (p *Project) readAll(ctx context.Context, w *work) error {
	if len(w.entries) == 0 {
		return nil
	}
	root, err := os.OpenRoot(p.options.Root)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrProject, err)
	}
	defer func() { _ = root.Close() }()
	workers := p.options.workersFor(w.update)
	runs := runsOf(w.entries, workers)
	files, put, failed := make([]*file, len(w.entries)), newGathering(len(runs), search.MostJoined), make([]error, len(w.entries))
	var next, done atomic.Int64
	work := func(by *worker) {
		from := &nearby{root: root}
		defer from.Close()
		for i := int(next.Add(1)) - 1; i < len(runs) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			by.begin()
			for at := runs[i].from; at < runs[i].to && ctx.Err() == nil; at++ {
				if files[at] = p.readOne(from, w.entries[at], by, w.update.Force); by.size >= batchBytes {
					failed[at] = by.analyse()
				}
				if n := done.Add(1); n%64 == 0 {
					p.stage.Store(&Progress{Stage: "reading", Done: w.begun + int(n), Total: w.all})
				}
			}
			failed[runs[i].to-1] = cmp.Or(failed[runs[i].to-1], by.analyse())
			put.add(i, by.part())
		}
	}
	var all sync.WaitGroup
	for i := range max(min(workers, len(runs)), 1) {
		if i == len(p.workers) {
			p.workers = append(p.workers, newWorker(p.options.embedder()))
		}
		by := p.workers[i] // the list may still grow
		all.Go(func() { work(by) })
	}
	all.Wait()
	if err := cmp.Or(ctx.Err(), errors.Join(failed...)); err != nil {
		return err
	}
	for i, e := range w.entries {
		if files[i] == nil { // deleted meanwhile
			w.gone = append(w.gone, e.Path)
			continue
		}
		w.built.Read++
		w.next[e.Path] = files[i]
	}
	if len(w.entries) > manyRead {
		p.workers = nil // they remember words of it that few changes will need
	}
	w.put = put.all()
	return nil
}

// readOne reads one file, nil for one that is gone, and gives it to the worker
// unless the entry of the index stays.
func (p *Project) readOne(from opener, e Entry, by *worker, force bool) *file {
	f := &file{size: e.Size, modTime: e.ModTime, changed: e.changed, wanted: e.wanted, readAt: p.options.Now()}
	r, err := readFile(from, e.Path, &by.buffer)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, ErrMoving) && p.files.all[e.Path] != nil && p.files.all[e.Path].info != nil:
		again := *p.files.all[e.Path]
		again.problem = reasonOf(err) + "; the index has it as it was"
		return &again
	case err != nil:
		f.left, f.problem = Unreadable, reasonOf(err)
		return f
	case r.left != "":
		f.left = r.left
		return f
	}
	f.size, f.modTime, f.hash = int64(len(r.bytes)), r.modTime, r.hash
	if v := judgeContent(e.Path, r.bytes, e.wanted); v.reason != "" {
		f.left = v.reason
		return f
	}
	if before := p.files.all[e.Path]; before != nil && before.info != nil && before.hash == r.hash && !force {
		again := *before.info
		again.ModTime = r.modTime.UTC()
		f.info = &again
		return f
	}
	d := describe.Describe(describe.File{Path: e.Path, ModTime: r.modTime, Hash: r.hash, Bytes: r.bytes}, &by.chunks)
	f.info = slim(d)
	d.ModTime = time.Time{} // what is searched is the same whenever the file was written
	by.take(&d.Document)
	return f
}

// index makes the index that comes of what was found.
func (p *Project) index(w *work) error {
	before := w.before
	if before == nil {
		w.index = p.outside(search.New(nil, p.options.Embedder).Put(w.put, nil))
		w.put = nil
		return nil
	}
	for path, f := range w.next {
		if f.info == nil && before.docs.get(path) != nil {
			w.drop = append(w.drop, path)
		}
	}
	for _, path := range w.gone {
		if before.docs.get(path) != nil {
			w.drop = append(w.drop, path)
		}
	}
	w.index = before.Index
	if len(w.put)+len(w.drop) > 0 {
		w.index = p.outside(before.Index.Put(w.put, w.drop))
	}
	w.put = nil
	return nil
}

// adopted remembers the files that were found.
func (p *Project) adopted(w *work) {
	for path, f := range w.next {
		p.files.put(path, f)
	}
	for _, path := range w.gone {
		p.files.remove(path)
	}
}

// documents are those that come of what was found, and what they mention.
func (w *work) documents() (documents, *relations) {
	changes := w.changes()
	switch {
	case w.before == nil:
		docs := documents{}.with(changes)
		return docs, &relations{docs: docs}
	case len(changes) == 0:
		return w.before.docs, w.before.relations
	}
	docs := w.before.docs.with(changes)
	return docs, w.before.relations.after(docs, changes)
}

// publish makes what was found the index.
func (p *Project) publish(w *work) {
	p.adopted(w)
	if w.listing != nil {
		p.folders, p.troubles, p.walked, p.begun = w.listing.left, w.listing.problems, true, false
	}
	now := p.current.Load()
	next := &Snapshot{Revision: 1, Globs: slices.Clone(w.sel.texts), Left: maps.Clone(p.folders), Index: w.index}
	if next.Left == nil {
		next.Left = map[Reason]int{}
	}
	for reason, n := range p.files.left {
		next.Left[reason] += n
	}
	if now != nil && w.listing == nil && !p.files.moved {
		next.Problems = now.Problems
	} else {
		next.Problems = p.files.list(p.troubles)
	}
	next.docs, next.relations = w.documents()
	if w.before != nil {
		next.Revision = max(w.before.Revision, 1)
	}
	if w.listing != nil || !w.update.Some {
		p.saw(true)
	}
	if now != nil {
		if next.relations == now.relations && next.like(now) {
			return
		}
		next.Revision++
	}
	if p.kept != nil && p.saved.Load() == p.kept && next.Index == p.kept.Index && len(w.next)+len(w.gone) == 0 {
		p.saved.Store(next) // as it is in the file
	}
	p.current.Store(next)
	p.kept = nil
	p.changed.tell()
}

// changes are the documents that are others than before, nil for those that
// leave.
func (w *work) changes() map[string]*Info {
	all := make(map[string]*Info, len(w.next)+len(w.drop))
	for path, f := range w.next {
		if f.info != nil && (w.before == nil || w.before.docs.get(path) != f.info) {
			all[path] = f.info
		}
	}
	for _, path := range w.drop {
		all[path] = nil
	}
	return all
}

func notUTF8(bytes int) string {
	if bytes == 1 {
		return "1 byte is not UTF-8; it is indexed as U+FFFD"
	}
	return fmt.Sprintf("%d bytes are not UTF-8; they are indexed as U+FFFD", bytes)
}

// like says whether two snapshots of the same documents are the same but for
// their revisions.
func (s *Snapshot) like(o *Snapshot) bool {
	return s.Index == o.Index && slices.Equal(s.Globs, o.Globs) && maps.Equal(s.Left, o.Left) && slices.Equal(s.Problems, o.Problems)
}
