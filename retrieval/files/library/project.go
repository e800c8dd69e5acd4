package library

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/artifact/catalog"
	"github.com/writbus/writ/retrieval/files"
	"github.com/writbus/writ/retrieval/files/finder"
	"github.com/writbus/writ/schemas"
)

// idleAfter is how long the index of a project that nobody asks for stays in
// memory.
const idleAfter = 30 * time.Minute

// project is the index of one project, and what goes on with it.
type project struct {
	*files.Project
	id     string        // its aggregate's
	opened chan struct{} // closed once what is above is set, or closed is
	closed error         // why it could not be opened
	finder *finder.Finder

	mu        sync.Mutex
	exists    bool // it was built once, by this process or another
	used      time.Time
	checked   time.Time     // when somebody last began to compare it with the files
	comparing time.Duration // how long that took
	building  chan struct{} // closed when the update that runs ends; nil while none does
	last      *files.Built
	failed    error  // of the last update
	declined  string // why no index was made by itself, "" where none was to be
	fresh     freshness
	left      bool // it is no longer one of the library's
	meaning   embedding
}

// open returns the index of a project, taken up from the log where this
// process does not have it yet. It is [errOpening] where that takes its time.
func (l *Library) open(ctx context.Context, folder string) (*project, error) {
	p, err := l.beginOpening(folder)
	if err != nil {
		return nil, err
	}
	if !within(ctx, l.o.Waits.Open, p.opened) {
		return p, errOpening
	}
	return p, p.closed
}

// errOpening says that a project is not open yet; it will be.
var errOpening = schemas.Faultf(schemas.CodeNotReady, "%s", "what the log has of the project's files is still being read")

// beginOpening begins to take a project up, unless that was begun.
func (l *Library) beginOpening(folder string) (*project, error) {
	if !filepath.IsAbs(folder) {
		return nil, schemas.Faultf(schemas.CodeBadRequest, "the project %q is no absolute path", folder)
	}
	root := resolved(folder)
	if len(root) > schemas.MaxIDBytes {
		return nil, schemas.Faultf(schemas.CodeBadRequest, "the project's path has %d bytes, at most %d can be indexed", len(root), schemas.MaxIDBytes)
	}
	if data := resolved(l.o.Data); root == data || strings.HasPrefix(root, data+string(filepath.Separator)) {
		return nil, schemas.Faultf(schemas.CodeRefused, "%s is Writ's own data", root)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.o.Now()
	for id, p := range l.projects {
		if id != root && p.idle(now, idleAfter) {
			l.letGo(p)
		}
	}
	p := l.projects[root]
	if p == nil {
		p = &project{id: root, opened: make(chan struct{})}
		l.projects[root] = p
		before := l.leaving[root]
		l.wait.Go(func() {
			defer close(p.opened)
			if before != nil {
				<-before // what it saves is read
			}
			if p.closed = l.load(l.running, p); p.closed != nil {
				l.mu.Lock()
				defer l.mu.Unlock()
				delete(l.projects, root)
			}
		})
	}
	p.touch(now)
	return p, nil
}

func (p *project) touch(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used = now
}

// isOpen says whether the project can be used; whoever got it from
// [Library.open] without an error knows.
func (p *project) isOpen() bool {
	select {
	case <-p.opened:
		return p.closed == nil
	default:
		return false
	}
}

// isAway says whether the index of an open project exists and is not in memory.
func (p *project) isAway() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exists && p.Current() == nil
}

// idle says whether nobody asked for a project for so long, and nothing is done
// for it but to watch its files.
func (p *project) idle(now time.Time, after time.Duration) bool {
	if !p.isOpen() {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.building == nil && p.fresh.telling == nil && p.fresh.looking == nil && !p.meaning.running && now.Sub(p.used) > after
}

func (p *project) lastUsed() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// load reads what the log says of a project.
func (l *Library) load(ctx context.Context, p *project) (err error) {
	root := p.id
	if err := l.o.Runtime.Await(ctx, schemas.StreamArtifacts, l.o.View.Name()); err != nil {
		return err
	}
	o := files.Options{
		Root: root, Private: resolved(l.o.Data), Now: l.o.Now, Workers: runtime.GOMAXPROCS(0),
		Record: func(ctx context.Context, events []schemas.Payload) error { return l.record(ctx, root, events) },
		Saved:  l.file(root), Warn: l.o.Warn, Watches: l.watches, Lean: l.o.Lean,
	}
	if e := l.o.Embedder; e.Embedder != nil {
		o.Embedder, o.Beside = e.Embedder, e.Beside
	}
	err = l.o.Runtime.Read(l.o.View.Name(), func(r projections.Reader) error {
		was, found, err := l.o.View.Project(r, root)
		if err != nil {
			return err
		}
		if p.exists = found; found {
			o.Catalog = catalog.Evolve(o.Catalog, was.Built)
		}
		for f, err := range l.o.View.Files(r, root) {
			if err != nil {
				return err
			}
			o.Catalog = catalog.Evolve(o.Catalog, f)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if p.Project, err = files.Open(o); err != nil {
		return schemas.Faultf(schemas.CodeNotFound, "%s", plainly(err))
	}
	p.finder = finder.New(p.Project, l.o.Now)
	p.finder.Refresh = func(paths []string) bool { return within(l.running, l.o.Waits.Compare, l.tell(p, paths)) }
	return nil
}

// record appends the events of one change as one message.
func (l *Library) record(ctx context.Context, project string, events []schemas.Payload) error {
	_, err := bus.Record(ctx, l.o.Log, schemas.Event{Actor: schemas.Writ("artifacts"), Aggregate: schemas.Artifact(project), Data: events[0]}, events[1:]...)
	return err
}

// ready returns the index of a project to search in. One that exists and is not
// in memory is loaded first.
func (l *Library) ready(ctx context.Context, folder string) (*project, *files.Snapshot, error) {
	p, err := l.open(ctx, folder)
	if err != nil {
		return nil, nil, err
	}
	p.mu.Lock()
	exists, running, why := p.exists, p.building != nil, ""
	if p.declined != "" {
		why = ", and " + p.declined
	}
	p.mu.Unlock()
	if !exists && !running {
		return nil, nil, schemas.Faultf(schemas.CodeNotFound, "there is no index of %s yet%s. Run `writ index build` in it", p.id, why)
	}
	if s := p.Current(); s != nil {
		return p, s, nil
	}
	if !within(ctx, l.o.Waits.Load, l.begin(p, files.Update{})) {
		return nil, nil, schemas.Faultf(schemas.CodeNotReady, "the index of %s is being loaded: %s", p.id, progressText(p.Progress()))
	}
	if s := p.Current(); s != nil {
		return p, s, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return nil, nil, schemas.Faultf(schemas.CodeInternal, "the index of %s cannot be loaded: %v", p.id, p.failed)
}

func progressText(p *files.Progress) string {
	if p == nil || p.Total == 0 {
		return "the files are looked at"
	}
	return fmt.Sprintf("%s, %d of %d", p.Stage, p.Done, p.Total)
}

// resolved follows symlinks where the path exists, and cleans it where not.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
