package rulebook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/pause"
)

// shipped are the rules of this build. Reading them takes a tenth of a second,
// which a start spends while the log is opened.
var shipped shippedRules

type shippedRules struct {
	mu   sync.Mutex
	read []corpus.File // nil until they are asked for
}

// files reads the rules unless somebody did; nobody changes what they get.
func (s *shippedRules) files() ([]corpus.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read != nil {
		return s.read, nil
	}
	files, err := corpus.Embedded()
	s.read = files
	return files, err
}

// forget gives back what was read.
func (s *shippedRules) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = nil
}

// ReadShipped reads the rules of this build for a start that will bring them in.
func ReadShipped() { _, _ = shipped.files() } // its error is that of bringing them in

// ForgetShipped gives back what reading the rules of this build took.
func ForgetShipped() { shipped.forget() }

// roomPause is how long an import waits for room on the disk before it looks again.
const roomPause = time.Second

// again goes on with an import where the log did not answer in time, as on a machine
// under load, or could store nothing: what came in before is not brought again.
func again(ctx context.Context, logger *slog.Logger, bring func(context.Context) error) (err error) {
	for tries, waits := 0, 0; tries < 10; {
		err = bring(ctx)
		full := errors.Is(err, bus.ErrDiskFull) || errors.Is(err, bus.ErrStorage)
		if ctx.Err() != nil || !full && !errors.Is(err, bus.ErrUnavailable) {
			return err
		}
		if waits == 0 {
			logger.Warn("the log did not take all: bring in the rest of the shipped rules", "error", err)
		}
		if !full {
			tries++
			continue
		}
		waits++
		pause.For(ctx, roomPause)
	}
	return err
}

// Begin brings the shipped rules in beside everything else: decisions about
// writes need none, and the first hook of all is answered while the index is
// built. What cannot be brought in is told to Options.Failed; stop waits for the
// import and returns its error.
func (b *Book) Begin(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		err := again(ctx, b.o.Logger, b.bringShipped)
		if err == nil {
			b.filling.Store(false)
			close(b.imported)
		} else if ctx.Err() == nil {
			b.o.Logger.Error("bring in the shipped rules", "error", err)
			if b.o.Failed != nil {
				b.o.Failed()
			}
		} else {
			err = nil // the program stops anyway
		}
		done <- err
	}()
	return func() error {
		cancel()
		return <-done
	}
}

// arrival tells how far the shipped rules have come.
type arrival struct {
	imported chan struct{} // closed once they are there
	filling  atomic.Bool   // most of them are on their way
}

// Imported is closed once the shipped rules are there.
func (a *arrival) Imported() <-chan struct{} { return a.imported }

// Ready waits until the shipped rules are there, and reports whether they are.
func (a *arrival) Ready(ctx context.Context, patience time.Duration) bool {
	select {
	case <-a.imported:
		return true
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-a.imported:
		return true
	case <-ctx.Done():
		return false
	}
}

// Filling says whether an import is bringing in most of the shipped rules for the
// first time: a search would choose among an arbitrary part of them.
func (a *arrival) Filling() bool { return a.filling.Load() }

// bringShipped brings in the rules that this build ships, where they are new or
// changed, and retires those that it no longer ships. Rules that a person edited
// or retired stay as they are.
func (b *Book) bringShipped(ctx context.Context) error {
	// However long the views take to be built: until then nobody knows what is there.
	for _, view := range []string{b.rules.Name(), b.frequency.Name()} {
		if err := b.runtime.AwaitBuilt(ctx, schemas.StreamRules, view); err != nil {
			return err
		}
	}
	there, err := b.shippedThere()
	if err != nil {
		return fmt.Errorf("rulebook: the shipped rules: %w", err)
	}
	if there {
		return b.runtime.AwaitBuilt(ctx, schemas.StreamRules, viewRetrieval)
	}
	var files []corpus.File // none: those of an earlier start are retired below
	if b.shipped {
		if files, err = shipped.files(); err != nil {
			return fmt.Errorf("rulebook: the shipped rules: %w", err)
		}
	}
	report, err := b.bring(ctx, files, func(corpus.File) (string, int) { return rule.SourceShipped, 0 }, false)
	if err == nil {
		report.Retired, err = b.prune(ctx, rule.SourceShipped, files, nil, false)
	}
	if err != nil {
		return fmt.Errorf("rulebook: import the shipped rules: %w", err)
	}
	if len(report.Imported) > 0 || len(report.Retired) > 0 {
		b.o.Logger.Info("imported the shipped rules", "rules", len(report.Imported), "retired", len(report.Retired))
	}
	return nil
}

// shippedThere says whether bringing the shipped rules in would change nothing.
// It reads no rule that came from elsewhere, and parses no file.
func (b *Book) shippedThere() (there bool, err error) {
	var hashes []string
	if b.shipped {
		if hashes, err = corpus.EmbeddedHashes(); err != nil {
			return false, err
		}
	}
	var states []rule.State
	err = b.from(rule.SourceShipped, func(_ string, state rule.State) { states = append(states, state) })
	b.filling.Store(!rule.MostShippedThere(len(hashes), states))
	return err == nil && rule.ShippedThere(hashes, states), err
}
