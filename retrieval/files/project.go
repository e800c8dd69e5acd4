package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/writbus/writ/retrieval/artifact/catalog"
	"github.com/writbus/writ/retrieval/artifact/search"
	"github.com/writbus/writ/schemas"
)

// ErrProject is returned for a folder that cannot be a project.
var ErrProject = errors.New("artifacts: not a project folder")

// Options say how a project is indexed.
type Options struct {
	Root string // absolute
	// Private is a folder that is left out, absolute; "" for none.
	Private string
	// Embedder turns chunks into vectors; nil is words alone.
	Embedder search.Embedder
	// Beside says that the embedder takes its time or may fail: updates do not
	// wait for it, and Embed makes the vectors.
	Beside bool
	// Record appends events of one change, in one message, and returns once they
	// are durable.
	Record func(context.Context, []schemas.Payload) error
	Now    func() time.Time
	// Workers is how many files are read at once.
	Workers int
	// Catalog is what the log says of the project. It is the project's from then
	// on.
	Catalog catalog.State
	// Saved is the file that keeps the index for the next process; "" for none.
	// It can be deleted at any time.
	Saved string
	// Watches bounds the folders that are watched, of all projects that share it;
	// nil bounds nothing.
	Watches *Watches
	// Lean lets less garbage gather until it is undone, which is while many files,
	// or a saved index, are read; nil lets gather what gathers.
	Lean func() (undo func())
	// Warn is told of a saved index that cannot be used; nil tells nobody.
	Warn func(string)
}

// Project keeps the index of one project. Its methods may be called from any
// goroutine.
type Project struct {
	options Options
	current atomic.Pointer[Snapshot]
	stage   atomic.Pointer[Progress]

	changed *broadcast // hears of each new snapshot

	asked     atomic.Pointer[[]string] // the globs of the last update that ended
	compared  atomic.Int64             // when the files were last as the index has them, Unix nanoseconds
	differing atomic.Int64

	updating    gate // and what is below
	catalog     catalog.State
	files       *known
	folders     map[Reason]int // left out on the way to the files
	troubles    []Problem      // of the last walk
	walked      bool           // folders and troubles are of these globs
	workers     []*worker
	tried       bool      // to restore what was saved
	kept        *Snapshot // that was restored, or of stages, until the first update ends
	begun       bool      // stages of an update that has not ended recorded something
	stageFiles  int       // the constant, but for tests
	savedFirst  int       // the constant, but for tests
	mostUnasked int       // the constant, but for tests
	keptSaved   int       // documents of what was kept when it was saved

	embedding sync.Mutex        // while vectors are made beside
	meaning   sync.Mutex        // and what is below
	meant     map[string]string // hashes of the files whose vectors were asked for, by path

	saving sync.Mutex
	saved  atomic.Pointer[Snapshot] // that is in the file
}

// file is what is remembered of one file so that it need not be read again.
type file struct {
	size    int64
	modTime time.Time
	changed int64 // as in its [Entry]
	readAt  time.Time
	hash    string
	left    Reason // "" for one in the index
	problem string
	wanted  bool
	info    *Info // nil for one that is not in the index
}

// Progress says how far an update is.
type Progress struct {
	Stage string // walking, reading, recording, indexing
	Done  int
	Total int // 0 while unknown
}

// Open takes up a project. It reads nothing of it but the folder's name.
func Open(o Options) (*Project, error) {
	info, err := os.Stat(o.Root)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrProject, err)
	case !info.IsDir():
		return nil, fmt.Errorf("%w: %s is a file", ErrProject, o.Root)
	case !filepath.IsAbs(o.Root):
		return nil, fmt.Errorf("%w: %s is not absolute", ErrProject, o.Root)
	}
	p := &Project{
		options: o, changed: newBroadcast(), updating: newGate(), catalog: o.Catalog,
		stageFiles: stageFiles, savedFirst: savedFirst, mostUnasked: mostUnasked, files: newKnown(0), meant: map[string]string{},
	}
	p.asked.Store(&o.Catalog.Globs)
	return p, nil
}

func (o Options) lean() (undo func()) {
	if o.Lean == nil {
		return func() {}
	}
	return o.Lean()
}

// Root is the project's folder.
func (p *Project) Root() string { return p.options.Root }

// Current is the index as it is now, nil before the first update of this
// process.
func (p *Project) Current() *Snapshot { return p.current.Load() }

// Progress is how far the update that runs is, nil where none runs.
func (p *Project) Progress() *Progress { return p.stage.Load() }

// Await waits for a snapshot beyond a revision, or for the context to end.
func (p *Project) Await(ctx context.Context, after uint64) *Snapshot {
	for {
		heard := p.changed.listen()
		if s := p.current.Load(); s != nil && s.Revision > after {
			return s
		}
		select {
		case <-ctx.Done():
			return p.current.Load()
		case <-heard:
		}
	}
}

// newSelected is what globs select, or the defaults.
func newSelected(o Options, globs []string) (*selection, error) {
	usual := len(globs) == 0
	if usual {
		globs = usualGlobs
	}
	s, err := newSelection(o.Root, globs, o.Private)
	if err == nil {
		s.usual = usual
	}
	return s, err
}

// Explain says why a path, relative to the project, is in the index or not.
func (p *Project) Explain(file string) (Explanation, error) {
	s, err := newSelected(p.options, *p.asked.Load())
	if err != nil {
		return Explanation{}, err
	}
	return s.explain(file), nil
}

// Differences counts the files that are not as the index has them. It reads only
// those whose folder cannot tell. It waits for an update that runs, or for the
// context to end.
func (p *Project) Differences(ctx context.Context) (int, error) {
	if err := p.updating.enter(ctx); err != nil {
		return 0, err
	}
	defer p.updating.Unlock()
	s, err := newSelected(p.options, p.catalog.Globs)
	if err != nil {
		return 0, err
	}
	l, err := s.list(ctx, nil)
	if err != nil {
		return 0, err
	}
	n, met := 0, 0
	for _, e := range l.entries {
		f := p.files.all[e.Path]
		if f == nil {
			n++
			continue
		}
		met++
		if !f.same(e) && !(f.looks(e) && p.stillIs(f, e.Path)) {
			n++
		}
	}
	n += len(p.files.all) - met
	p.differing.Store(int64(n))
	p.saw(n == 0)
	return n, nil
}

// stillIs reads a file that changed too shortly before it was read, to know
// whether it changed once more.
func (p *Project) stillIs(f *file, path string) bool {
	root, err := os.OpenRoot(p.options.Root)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	now := p.options.Now()
	r, err := readFile(root, path, new([]byte))
	if err != nil || r.left != f.left && r.left != "" || r.hash != f.hash || !r.modTime.Equal(f.modTime) {
		return false
	}
	f.readAt = now
	return true
}

// saw notes that the files were compared with the index.
func (p *Project) saw(same bool) {
	if same {
		p.differing.Store(0)
		p.compared.Store(p.options.Now().UnixNano())
	}
}

// Age is how long ago the files were last as the index has them, and how many
// were not when they were last looked at.
func (p *Project) Age() (age time.Duration, differing int) {
	return p.options.Now().Sub(time.Unix(0, p.compared.Load())), int(p.differing.Load())
}

// gate is a lock for which nobody has to wait any longer than a context lasts.
type gate chan struct{}

func newGate() gate { return make(gate, 1) }

func (g gate) Lock() { g <- struct{}{} }

func (g gate) Unlock() { <-g }

// enter is Lock, or the error of a context that ended before.
func (g gate) enter(ctx context.Context) error {
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("artifacts: wait for an update: %w", ctx.Err())
	}
}

// broadcast tells everybody who waits.
type broadcast struct {
	mu   sync.Mutex
	next chan struct{}
}

func newBroadcast() *broadcast { return &broadcast{next: make(chan struct{})} }

// listen is closed by the next tell.
func (b *broadcast) listen() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.next
}

func (b *broadcast) tell() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.next)
	b.next = make(chan struct{})
}
