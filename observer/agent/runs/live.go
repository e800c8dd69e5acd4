package runs

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/writbus/writ/observer/agent"
	"github.com/writbus/writ/schemas"
)

const (
	// runsAtMost bounds the runs that people and schedules start and that are at
	// work at once. BenchmarkAgentsInParallel says what that many hold.
	runsAtMost = 1024
	// fetchedWithin is how long the end of a run is kept to be fetched.
	fetchedWithin = 2 * time.Minute
)

var errDaemonStops = errors.New("the daemon stops")

// liveRuns are the runs at work, and those whose end may still be fetched.
type liveRuns struct {
	logger *slog.Logger
	ctx    context.Context // of all runs
	cancel context.CancelFunc
	wait   sync.WaitGroup

	mu     sync.Mutex
	byID   map[string]*liveRun
	atWork int
}

// launch begins a run and lets it go on by itself.
func (w *liveRuns) launch(s agent.Start, work func(context.Context, agent.Start, *liveRun) (func(), error)) error {
	w.mu.Lock()
	if w.atWork >= runsAtMost {
		w.mu.Unlock()
		return schemas.Faultf(schemas.CodeRefused, "%d runs are at work. Wait for one of them to end, or stop one", runsAtMost)
	}
	if w.byID[s.Run] != nil {
		w.mu.Unlock()
		return nil // the same request again
	}
	ctx, cancel := context.WithCancelCause(w.ctx)
	l := newLiveRun(s.Run, cancel)
	w.byID[s.Run] = l
	w.atWork++
	w.mu.Unlock()
	s.Watch = l
	proceed, err := work(ctx, s, l)
	if err != nil {
		cancel(nil)
		w.mu.Lock()
		delete(w.byID, s.Run)
		w.atWork--
		w.mu.Unlock()
		return err
	}
	w.wait.Go(func() {
		defer cancel(nil)
		w.guarded(l, proceed)
		w.mu.Lock()
		w.atWork--
		w.mu.Unlock()
		time.AfterFunc(fetchedWithin, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			delete(w.byID, s.Run)
		})
	})
	return nil
}

// guarded does a run's work: what breaks in it ends the run, not the daemon.
func (w *liveRuns) guarded(l *liveRun, work func()) {
	defer func() {
		if p := recover(); p != nil {
			w.logger.Error("agent run: panic", "panic", p, "stack", string(debug.Stack()))
			l.end(schemas.AgentFinished{Outcome: agent.Failed, Reason: "an internal error of writ; the daemon's log says where"}, "")
		}
	}()
	work()
}

// find returns a run that is at work, or whose end may still be fetched.
func (w *liveRuns) find(id string) (*liveRun, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.byID[id]
	if l == nil {
		return nil, schemas.Faultf(schemas.CodeNotFound, "run %q is not at work here. writ agent show %s shows what the log has of it", id, id)
	}
	return l, nil
}

// stopAll ends every run, records that, and lets followers go.
func (w *liveRuns) stopAll() {
	w.mu.Lock()
	for _, l := range w.byID {
		l.cancel(errDaemonStops)
	}
	w.mu.Unlock()
	w.cancel()
	w.wait.Wait()
}
