package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/writbus/writ/schemas/digest"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/artifact/strategy"
	"github.com/writbus/writ/retrieval/embed/choice"
	"github.com/writbus/writ/retrieval/files"
	"github.com/writbus/writ/schemas"
)

// Options are what a library works with. All are required but where they say so.
type Options struct {
	Log     *bus.Writer
	Runtime *projections.Runtime
	View    projections.Artifacts // a view of the runtime
	// Data is Writ's own folder, absolute: indexes are saved below it, and
	// nothing in it is indexed.
	Data     string
	Embedder choice.Embedder
	// Strategies are those of a project's settings.
	Strategies func(root string) (strategy.Set, error)
	Waits      Waits
	Now        func() time.Time
	Logger     *slog.Logger
	// Memory bounds what the indexes of all projects take together, bytes; 0 is
	// mostMemory. One project may take more.
	Memory int64
	// Warn remembers what the user has to be told.
	Warn func(string)
	// Lean lets less garbage gather until it is undone.
	Lean func() (undo func())
}

// Waits bound what somebody waits for.
type Waits struct {
	// Open is how long a request waits to hear what the log says of a project
	// before it is answered without.
	Open time.Duration
	// Load is how long a search waits for an index that is being loaded.
	Load time.Duration
	// Compare is how long a search waits until its index is up to its files.
	Compare time.Duration
	// Answer bounds how long a request waits that asks to wait.
	Answer time.Duration
	// Quiet is how long after a session's start an index is begun that nobody
	// asked for.
	Quiet time.Duration
	// Save is how long the end waits for indexes to be saved. What is not saved
	// by then is read again at the next start.
	Save time.Duration
}

// Library is the service of projects' files. It is safe for concurrent use.
type Library struct {
	o       Options
	watches *files.Watches
	running context.Context // ends with the services
	saving  context.Context // ends a while later
	wait    sync.WaitGroup

	mu       sync.Mutex
	projects map[string]*project      // that somebody asked for
	leaving  map[string]chan struct{} // by the project; closed once it is saved
	loading  map[string]bool          // projects that are being taken up for a prompt
	served   map[string]bool          // sessions that have their block

	showing sync.Mutex // while it is found out what a session was shown

	forgotten sync.Map // roots of projects whose index is not to be saved by this process
}

// New returns the service; it answers once it has begun.
func New(o Options) *Library {
	o.Memory = cmp.Or(o.Memory, mostMemory)
	return &Library{o: o, watches: files.NewWatches(0), leaving: map[string]chan struct{}{}, projects: map[string]*project{}, loading: map[string]bool{}, served: map[string]bool{}}
}

// Endpoints are the requests that the service answers.
func (l *Library) Endpoints() []bus.Endpoint {
	return []bus.Endpoint{
		bus.Answer("artifact", schemas.SvcArtifact, l.search),
		bus.Answer("artifact_context", schemas.SvcArtifactContext, l.context),
		bus.Answer("artifact_build", schemas.SvcArtifactBuild, l.build),
		bus.Answer("artifact_status", schemas.SvcArtifactStatus, l.status),
		bus.Answer("artifact_deps", schemas.SvcArtifactDeps, l.deps),
		bus.Answer("artifact_explain", schemas.SvcArtifactExplain, l.explain),
	}
}

// Begin makes the library usable until stop, which ends what runs.
func (l *Library) Begin(ctx context.Context) (stop func()) {
	running, stopRunning := context.WithCancel(context.WithoutCancel(ctx))
	saving, stopSaving := context.WithCancel(context.WithoutCancel(ctx))
	l.running, l.saving = running, saving
	l.wait.Go(l.prune)
	return func() {
		stopRunning()
		last := time.AfterFunc(l.o.Waits.Save, stopSaving)
		defer stopSaving()
		defer last.Stop()
		l.wait.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, p := range l.projects {
			if p.Project != nil {
				l.save(p)
			}
		}
	}
}

// save keeps an index for the next process.
func (l *Library) save(p *project) {
	switch err := p.Save(l.saving); {
	case err == nil:
	case errors.Is(err, context.Canceled):
		l.o.Logger.Info("an index was not saved before the daemon's end; the next one reads its files again", "project", p.id)
	default:
		l.o.Warn(err.Error() + ". Until that is mended, each start reads the project's files again")
	}
	if _, forgotten := l.forgotten.Load(p.id); forgotten {
		_ = l.Forget(p.id) // whose first call told of what the disk could not do
	}
}

// Forget removes the saved index of a project, which holds excerpts of its files, and
// lets this process save none any more.
func (l *Library) Forget(folder string) error {
	root := resolved(folder)
	l.forgotten.Store(root, true)
	if err := os.Remove(l.file(root)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the saved index of %s: %w", root, err)
	}
	return nil
}

// file is where the index of a project is kept, beside the views: it can be
// deleted at any time.
func (l *Library) file(root string) string {
	return filepath.Join(l.o.Data, "artifacts", digest.Name(root)+savedSuffix)
}

// within waits for what is closed when something is done, at most so long, and
// says whether it was.
func within(ctx context.Context, most time.Duration, done <-chan struct{}) bool {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}
