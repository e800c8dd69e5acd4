package ledger

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/bustest"
)

// filled is a log whose stream of sessions takes nothing more.
func filled(t *testing.T) (a *archiving) {
	t.Helper()
	a = newArchiving(t)
	a.session(t, "open", 10, false)
	a.session(t, "one", 30, true)
	state, err := bus.Stored(t.Context(), a.conn, bus.ArchivedStream)
	must(t, err)
	a.bound(t, int64(state.Bytes)) //nolint:gosec // small
	return a
}

// asks appends within a time, and says how that ended once it has.
func (a *archiving) asks(ctx context.Context, within time.Duration) <-chan error {
	said := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		_, err := bus.Record(ctx, a.log, bustest.Event("more", "more-1", "said"))
		said <- err
	}()
	return said
}

// TestRoomIsThereOnceSomethingLeft: an append does not wait for the rest of a run.
func TestRoomIsThereOnceSomethingLeft(t *testing.T) {
	a := filled(t)
	a.audit.Seal(t.Context())
	a.archiver.Settings.After = time.Hour
	asked, began, over := make(chan struct{}), make(chan struct{}, 1), make(chan struct{})
	a.archiver.Now = func() time.Time {
		select {
		case began <- struct{}{}:
		default:
		}
		<-asked
		if state, err := bus.Stored(context.Background(), a.conn, bus.ArchivedStream); err != nil || state.First > 1 {
			<-over // the run goes on with what is next
		}
		return time.Now().Add(48 * time.Hour)
	}
	room := func(ctx context.Context) bool { return a.archiver.makeRoom(ctx, context.Background()) }
	bus.ArchiveOf(a.conn).Room.Store(&room)
	ended := make(chan error, 1)
	go func() { _, err := a.archiver.inTurn(context.Background(), true); ended <- err }()
	<-began
	said := a.asks(t.Context(), time.Minute)
	time.Sleep(200 * time.Millisecond) // it waits
	close(asked)
	select {
	case err := <-said:
		must(t, err)
	case <-time.After(5 * time.Second):
		t.Error("it waits for the whole run")
	}
	close(over)
	must(t, <-ended)
}

// TestRoomIsWaitedForInTime: an append that may wait no longer is refused, whatever goes on.
func TestRoomIsWaitedForInTime(t *testing.T) {
	a := filled(t)
	defer a.archiver.Begin(t.Context())()
	a.archiver.running.Lock()
	defer a.archiver.running.Unlock()
	select {
	case err := <-a.asks(t.Context(), 300*time.Millisecond):
		if !errors.Is(err, bus.ErrDiskFull) {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("it waits on")
	}
}

// TestRoomIsMadeAfterACut: who looks at the streams keeps records from leaving. An append
// waits for its end, and is not refused; one of its own does not wait for itself.
func TestRoomIsMadeAfterACut(t *testing.T) {
	for name, own := range map[string]bool{"by others": false, "its own": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := filled(t)
			defer a.archiver.Begin(t.Context())()
			a.archiver.Busy.Lock()
			ctx, within := Holding(t.Context()), 10*time.Second
			if !own {
				ctx = t.Context()
				time.AfterFunc(2*archiveSoon, a.archiver.Busy.Unlock) // its own looks find it busy too
			}
			must(t, <-a.asks(ctx, within))
			if own {
				a.archiver.Busy.Unlock()
			}
		})
	}
}

// TestStopWaitsForRoom: nothing is archived for an append any more once it has stopped.
func TestStopWaitsForRoom(t *testing.T) {
	a := filled(t)
	var asked atomic.Bool
	began, over := make(chan struct{}, 1), make(chan struct{})
	a.archiver.Now = func() time.Time {
		if asked.Load() {
			select {
			case began <- struct{}{}:
			default:
			}
			<-over
		}
		return time.Now()
	}
	stop := a.archiver.Begin(t.Context())
	time.Sleep(100 * time.Millisecond) // it rests
	asked.Store(true)
	said := a.asks(t.Context(), 500*time.Millisecond)
	<-began
	stopped := make(chan struct{})
	go func() { defer close(stopped); stop() }()
	select {
	case <-stopped:
		t.Error("it did not wait")
	case <-time.After(300 * time.Millisecond):
	}
	close(over)
	<-stopped
	<-said
}

// TestACutOutlivesWhatLeaves copies a moment of the log after all that can leave has left:
// a backup takes long, and nobody waits for it.
func TestACutOutlivesWhatLeaves(t *testing.T) {
	a := newArchiving(t)
	const records = 130
	must(t, a.says("one", strings.Repeat("x", 100<<10), records, true)) // more than a file
	cut, err := a.server.Cut()
	must(t, err)
	if left := a.run(t); left == 0 {
		t.Fatal("nothing left")
	}
	b := &archiving{dir: t.TempDir(), now: a.now, ctx: a.ctx}
	for _, part := range cut.Parts {
		path := filepath.Join(b.file("streams"), filepath.FromSlash(part.Name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		file, err := os.Create(path)
		must(t, err)
		must(t, errors.Join(part.Copy(file), file.Close()))
	}
	must(t, cut.Close())
	b.open(t)
	defer b.stop()
	if state, err := bus.Stored(t.Context(), b.conn, bus.ArchivedStream); err != nil || state.First != 1 || state.Messages != records {
		t.Errorf("it has %+v, %v", state, err)
	}
	if left, err := filepath.Glob(filepath.Join(a.file("streams"), ".probe-*")); err != nil || len(left) > 0 {
		t.Errorf("of the cut is left %v, %v", left, err)
	}
}
