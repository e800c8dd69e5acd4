package ledger

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// ample bounds what must happen; no result depends on it.
const ample = 5 * time.Minute

// asks appends, and says how that ended once it has.
func (a *archiving) asks(ctx context.Context) <-chan error {
	said := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, ample)
		defer cancel()
		_, err := bus.Record(ctx, a.log, bustest.Event("more", "more-1", "said"))
		said <- err
	}()
	return said
}

// makes has appends that find the stream full ask for room, and says once one has.
func (a *archiving) makes(room func(context.Context) bool) <-chan struct{} {
	full := make(chan struct{}, 1)
	asked := func(ctx context.Context) bool {
		select {
		case full <- struct{}{}:
		default:
		}
		return room(ctx)
	}
	bus.ArchiveOf(a.conn).Room.Store(&asked)
	return full
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
	full := a.makes(func(ctx context.Context) bool { return a.archiver.makeRoom(ctx, context.Background()) })
	ended := make(chan error, 1)
	go func() { _, err := a.archiver.inTurn(context.Background(), true); ended <- err }()
	<-began
	said := a.asks(t.Context())
	<-full
	close(asked)
	must(t, <-said) // the run goes on only after that
	close(over)
	must(t, <-ended)
}

// TestRoomIsWaitedForInTime: an append that may wait no longer is refused, whatever goes on.
func TestRoomIsWaitedForInTime(t *testing.T) {
	a := filled(t)
	defer a.archiver.Begin(t.Context())()
	full := a.makes(*bus.ArchiveOf(a.conn).Room.Load())
	a.archiver.running.Lock()
	defer a.archiver.running.Unlock()
	ctx, giveUp := context.WithCancel(t.Context())
	said := a.asks(ctx)
	<-full
	giveUp()
	select {
	case err := <-said:
		if !errors.Is(err, bus.ErrDiskFull) {
			t.Error(err)
		}
	case <-time.After(ample):
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
			ctx := Holding(t.Context())
			if !own {
				ctx = t.Context()
				time.AfterFunc(2*archiveSoon, a.archiver.Busy.Unlock) // its own looks find it busy too
			}
			must(t, <-a.asks(ctx))
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
	rests, began, over := make(chan struct{}), make(chan struct{}, 1), make(chan struct{})
	begun := sync.OnceFunc(func() { close(rests) })
	a.archiver.Now = func() time.Time {
		if asked.Load() {
			select {
			case began <- struct{}{}:
			default:
			}
			<-over
		}
		begun()
		return time.Now()
	}
	stop := a.archiver.Begin(t.Context())
	<-rests
	asked.Store(true)
	said := a.asks(t.Context())
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
	must(t, a.says("one", strings.Repeat("x", 5<<10), records, true)) // 13 MB, more than a file
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
