package daemon

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/writd/heap"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/files"
	"github.com/writbus/writ/retrieval/files/finder"
	"github.com/writbus/writ/schemas"
)

const (
	// artifactIdle is how long the index of a project that nobody asks for stays
	// in memory.
	artifactIdle = 30 * time.Minute
	// artifactCheck is how often searches have the files compared with the index,
	// at the least, where nothing watches them.
	artifactCheck = 2 * time.Second
	// manyRead is from how many files on an update is kept for the next process
	// at once; after smaller ones that waits for the daemon's end.
	manyRead = 256
)

// Variables for tests, which grant more: what they find must not depend on how
// fast the machine is.
var (
	// artifactWait is how long a search waits for an index that is being loaded.
	artifactWait = 8 * time.Second
	// artifactPatience is how long a search waits to hear whether its index is
	// up to date.
	artifactPatience = 100 * time.Millisecond
	// lastSaves is how long the daemon's end waits for indexes to be saved. What
	// is not saved by then is read again at the next start.
	lastSaves = 3 * time.Second
	// openPatience is how long a request waits to hear what the log says of a
	// project before it is answered without.
	openPatience = 2 * time.Second
)

// artifactStore is the indexes of the projects that somebody asked for.
type artifactStore struct {
	view    projections.Artifacts
	running context.Context // ends with the services
	stop    context.CancelFunc
	saving  context.Context // ends a while later
	wait    sync.WaitGroup

	mu       sync.Mutex
	save     func(*liveProject) // after an update that read many files
	projects map[string]*liveProject
	loading  map[string]bool // projects that are being taken up for a prompt
	served   map[string]bool // sessions that have their block

	showing sync.Mutex // while it is found out what a session was shown
}

// liveProject is the index of one project, and what goes on with it.
type liveProject struct {
	*files.Project
	id     string        // its aggregate's
	opened chan struct{} // closed once what is above is set, or closed is
	closed error         // why it could not be opened
	finder *finder.Finder

	mu        sync.Mutex
	exists    bool // it was built once, now or before this process
	used      time.Time
	checked   time.Time     // when somebody last began to compare it with the files
	comparing time.Duration // how long that took
	building  chan struct{} // closed when the update that runs ends; nil while none does
	last      *files.Built
	failed    error // of the last update
	lease     time.Time
	watching  context.CancelFunc // nil while nothing watches
	meaning   embedding
}

func newArtifactStore() *artifactStore {
	return &artifactStore{view: projections.NewArtifacts(), projects: map[string]*liveProject{}, loading: map[string]bool{}, served: map[string]bool{}}
}

// beginArtifacts makes the store usable until stop, which ends what runs.
func (d *Daemon) beginArtifacts(ctx context.Context) (stop func()) {
	s := d.views.artifacts
	s.running, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	saving, stopSaving := context.WithCancel(context.WithoutCancel(ctx))
	s.saving = saving
	s.save = d.saveArtifacts
	s.wait.Go(d.pruneArtifacts)
	return func() {
		s.stop()
		last := time.AfterFunc(lastSaves, stopSaving)
		defer stopSaving()
		defer last.Stop()
		s.wait.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, p := range s.projects {
			if p.Project != nil {
				d.saveArtifacts(p)
			}
		}
	}
}

// saveArtifacts keeps an index for the next process.
func (d *Daemon) saveArtifacts(p *liveProject) {
	switch err := p.Save(d.views.artifacts.saving); {
	case err == nil:
	case errors.Is(err, context.Canceled):
		d.logger.Info("an index was not saved before the daemon's end; the next one reads its files again", "project", p.id)
	default:
		d.warn(err.Error() + ". Until that is mended, each start reads the project's files again")
	}
}

// artifactFile is where the index of a project is kept, beside the views: it can
// be deleted at any time.
func (d *Daemon) artifactFile(root string) string {
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(d.layout.Root, "artifacts", hex.EncodeToString(sum[:16])+".index")
}

// artifactsOf returns the index of a project, taken up from the log where this
// process does not have it yet. It is [errOpening] where that takes its time.
func (d *Daemon) artifactsOf(ctx context.Context, folder string) (*liveProject, error) {
	p, err := d.openArtifacts(folder)
	if err != nil {
		return nil, err
	}
	patience := time.NewTimer(openPatience)
	defer patience.Stop()
	select {
	case <-p.opened:
		return p, p.closed
	case <-patience.C:
	case <-ctx.Done():
	}
	return p, errOpening
}

// errOpening says that a project is not open yet; it will be.
var errOpening = schemas.Faultf(schemas.CodeNotReady, "%s", "what the log has of the project's files is still being read")

// openArtifacts begins to take a project up, unless that was begun.
func (d *Daemon) openArtifacts(folder string) (*liveProject, error) {
	if !filepath.IsAbs(folder) {
		return nil, schemas.Faultf(schemas.CodeBadRequest, "the project %q is no absolute path", folder)
	}
	root := resolved(folder)
	if len(root) > schemas.MaxIDBytes {
		return nil, schemas.Faultf(schemas.CodeBadRequest, "the project's path has %d bytes, at most %d can be indexed", len(root), schemas.MaxIDBytes)
	}
	if data := resolved(d.layout.Root); root == data || strings.HasPrefix(root, data+string(filepath.Separator)) {
		return nil, schemas.Faultf(schemas.CodeRefused, "%s is Writ's own data", root)
	}
	s := d.views.artifacts
	s.mu.Lock()
	defer s.mu.Unlock()
	now := d.now()
	for id, p := range s.projects {
		if id != root && p.idle(now) {
			delete(s.projects, id)
			s.wait.Go(func() { d.saveArtifacts(p) })
		}
	}
	p := s.projects[root]
	if p == nil {
		p = &liveProject{id: root, opened: make(chan struct{})}
		s.projects[root] = p
		s.wait.Go(func() {
			defer close(p.opened)
			if p.closed = d.takeUp(s.running, p); p.closed != nil {
				s.mu.Lock()
				defer s.mu.Unlock()
				delete(s.projects, root)
			}
		})
	}
	p.touch(now)
	return p, nil
}

func (p *liveProject) touch(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used = now
}

// isOpen says whether the project can be used; whoever got it from
// [Daemon.artifactsOf] without an error knows.
func (p *liveProject) isOpen() bool {
	select {
	case <-p.opened:
		return p.closed == nil
	default:
		return false
	}
}

func (p *liveProject) idle(now time.Time) bool {
	if !p.isOpen() {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.building == nil && p.watching == nil && !p.meaning.running && now.Sub(p.used) > artifactIdle
}

// takeUp reads what the log says of a project.
func (d *Daemon) takeUp(ctx context.Context, p *liveProject) (err error) {
	s, root := d.views.artifacts, p.id
	if err := d.runtime.Await(ctx, schemas.StreamArtifacts, s.view.Name()); err != nil {
		return err
	}
	o := files.Options{
		Root: root, Private: resolved(d.layout.Root), Now: d.now, Workers: runtime.GOMAXPROCS(0), Recorded: map[string]files.Recorded{},
		Record: func(ctx context.Context, events []schemas.Payload) error { return d.recordArtifacts(ctx, root, events) },
		Saved:  d.artifactFile(root), Warn: d.warn,
	}
	if e := d.corpus.Embedder(); e.Embedder != nil {
		o.Embedder, o.Beside = e.Embedder, e.Beside
	}
	err = d.runtime.Read(s.view.Name(), func(r projections.Reader) error {
		was, found, err := s.view.Project(r, root)
		if err != nil {
			return err
		}
		p.exists, o.Globs, o.Begun = found, was.Built.Globs, !found
		for f, err := range s.view.Files(r, root) {
			if err != nil {
				return err
			}
			o.Recorded[f.File.Path] = files.Recorded{SHA256: f.File.SHA256, Bytes: f.File.Bytes, Modified: f.Modified, Kind: f.Kind}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if p.Project, err = files.Open(o); err != nil {
		return schemas.Faultf(schemas.CodeNotFound, "%s", plainly(err))
	}
	p.finder = finder.New(p.Project, d.now)
	return nil
}

// recordArtifacts appends the events of one change as one message.
func (d *Daemon) recordArtifacts(ctx context.Context, project string, events []schemas.Payload) error {
	_, err := bus.Record(ctx, d.log, schemas.Event{Actor: schemas.Writ("artifacts"), Aggregate: schemas.Artifact(project), Data: events[0]}, events[1:]...)
	return err
}

// begin starts an update unless one runs, and returns what is closed when that
// one ends. An update that was asked for with other globs, or with force, waits
// its turn. All of them wait until the project is open; where that fails, nothing
// is updated.
func (s *artifactStore) begin(p *liveProject, u files.Update) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.building
	if before != nil && u.Globs == nil && !u.Force {
		return before
	}
	done := make(chan struct{})
	p.building = done
	s.wait.Go(func() {
		if before != nil {
			<-before
		}
		var built files.Built
		if <-p.opened; p.closed == nil {
			var err error
			built, err = s.update(p, u)
			p.ended(built, err)
			s.embed(p)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.building == done {
			p.building = nil
		}
		close(done)
		if built.Read > manyRead {
			s.wait.Go(func() {
				s.save(p)
				if s.running.Err() == nil {
					debug.FreeOSMemory() // what such an update throws away is several times what it keeps
				}
			})
		}
	})
	return done
}

// update brings an index up to its files. All of them are mostly looked at here,
// which takes much memory for a moment.
func (s *artifactStore) update(p *liveProject, u files.Update) (files.Built, error) {
	defer heap.Lean()()
	return p.Update(s.running, u)
}

// ended takes down how an update ended.
func (p *liveProject) ended(built files.Built, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed = err; err == nil {
		p.exists, p.last = true, &built
	}
}

// watch keeps a project's index up to its files until the lease ends.
func (s *artifactStore) watch(p *liveProject, now time.Time, anew bool, warn func(string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lease = now.Add(schemas.WatchLease)
	if p.watching != nil && !anew {
		return
	}
	if p.watching != nil {
		p.watching()
	}
	ctx, cancel := context.WithCancel(s.running)
	p.watching = cancel
	var said string
	s.wait.Go(func() { p.keepLease(ctx) })
	s.wait.Go(func() {
		_ = p.Watch(ctx, func(built files.Built, err error) {
			if built.At.IsZero() {
				p.ended(built, cmp.Or(err, errors.New("the update ended early")))
			} else {
				p.ended(built, nil)
				s.embed(p)
			}
			if err != nil && err.Error() != said {
				said = err.Error()
				warn(said)
			}
		})
	})
}

// keepLease stops watching when nobody asked for it again in time.
func (p *liveProject) keepLease(ctx context.Context) {
	left := time.NewTimer(schemas.WatchLease)
	defer left.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-left.C:
			p.mu.Lock()
			rest := p.lease.Sub(now)
			if rest <= 0 && ctx.Err() == nil {
				p.watching()
				p.watching = nil
			}
			p.mu.Unlock()
			left.Reset(max(rest, time.Millisecond))
		}
	}
}

// ready returns the index of a project to search in. One that exists and is not
// in memory is loaded first.
func (d *Daemon) readyArtifacts(ctx context.Context, folder string, wait time.Duration) (*liveProject, *files.Snapshot, error) {
	p, err := d.artifactsOf(ctx, folder)
	if err != nil {
		return nil, nil, err
	}
	p.mu.Lock()
	exists, running := p.exists, p.building != nil
	p.mu.Unlock()
	if !exists && !running {
		return nil, nil, schemas.Faultf(schemas.CodeNotFound, "there is no index of %s yet. Run `writ index build` in it", p.id)
	}
	if s := p.Current(); s != nil {
		return p, s, nil
	}
	done := d.views.artifacts.begin(p, files.Update{})
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
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
