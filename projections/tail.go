package projections

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

const (
	// tailBytes bounds a stream's newest records that wait for views to take them.
	tailBytes = 1 << 20
	// recordBytes is what a record takes beside its header and its body, about.
	recordBytes = 256
)

// errBehind says that records a view did not take are no longer kept.
var errBehind = errors.New("projections: behind the tail of the stream")

// tails read each stream once for all views that follow it. The server handing a
// record to every view by itself costs more than the views do.
type tails struct {
	conn *bus.Conn
	mu   sync.Mutex // guards of, and the tails
	of   map[schemas.Stream]*tail
}

// tail is the end of a stream: all its records after start.
type tail struct {
	start   uint64
	records []schemas.Record
	bytes   int
	taken   []*uint64     // by view, the last record that it took
	changed chan struct{} // closed when something above, or err, does
	err     error
	stop    context.CancelFunc
	stopped chan struct{}
}

// follow hands the records after a sequence to fn until ctx ends. A view that is
// slower than the log reads what it missed by itself, and goes on with the others.
func (l *tails) follow(ctx context.Context, s schemas.Stream, after uint64, o bus.FollowOptions, fn func([]schemas.Record) error) error {
	o.UntilEnd = true
	for {
		err := l.share(ctx, s, &after, o.MaxBatch, fn)
		if !errors.Is(err, errBehind) {
			return err
		}
		err = l.conn.Follow(ctx, s, after, o, func(records []schemas.Record) error {
			after = records[len(records)-1].Seq
			return fn(records)
		})
		if err != nil {
			return err
		}
	}
}

// share follows the tail for as long as it holds all that comes after taken.
func (l *tails) share(ctx context.Context, s schemas.Stream, taken *uint64, most int, fn func([]schemas.Record) error) error {
	t := l.join(s, taken)
	defer l.leave(s, t, taken)
	for {
		records, changed, err := l.take(t, taken, most)
		if err == nil && len(records) > 0 {
			err = fn(records)
		}
		if err != nil {
			return err
		}
		if len(records) > 0 && ctx.Err() == nil {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// join makes the tail where nobody follows the stream yet.
func (l *tails) join(s schemas.Stream, taken *uint64) *tail {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.of[s]
	if t == nil {
		ctx, stop := context.WithCancel(context.Background())
		t = &tail{start: *taken, changed: make(chan struct{}), stop: stop, stopped: make(chan struct{})}
		l.of[s] = t
		go l.read(ctx, s, t)
	}
	t.taken = append(t.taken, taken)
	return t
}

// leave ends the tail with the last view that follows it.
func (l *tails) leave(s schemas.Stream, t *tail, taken *uint64) {
	l.mu.Lock()
	t.taken = slices.DeleteFunc(t.taken, func(other *uint64) bool { return other == taken })
	last := len(t.taken) == 0
	if last && l.of[s] == t {
		delete(l.of, s)
	}
	l.mu.Unlock()
	if last {
		t.stop()
		<-t.stopped
	}
}

func (l *tails) read(ctx context.Context, s schemas.Stream, t *tail) {
	defer close(t.stopped)
	err := l.conn.Follow(ctx, s, t.start, bus.FollowOptions{Unparsed: true}, func(records []schemas.Record) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		t.add(records)
		t.tell()
		return nil
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[s] == t {
		delete(l.of, s)
	}
	t.err = err
	t.tell()
}

func (t *tail) tell() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// take returns what a view did not take yet, or what tells of the next record.
func (l *tails) take(t *tail, taken *uint64, most int) (some []schemas.Record, changed <-chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if *taken < t.start {
		return nil, nil, errBehind
	}
	from, _ := slices.BinarySearchFunc(t.records, *taken+1, func(r schemas.Record, seq uint64) int { return cmp.Compare(r.Seq, seq) })
	some = slices.Clone(t.records[from:min(len(t.records), from+most)])
	if len(some) == 0 {
		return nil, t.changed, t.err
	}
	*taken = some[len(some)-1].Seq
	oldest := *taken
	for _, other := range t.taken {
		oldest = min(oldest, *other)
	}
	t.drop(oldest)
	return some, nil, nil
}

func (t *tail) add(records []schemas.Record) {
	for _, r := range records {
		t.bytes += size(r.Message)
	}
	t.records = append(t.records, records...)
	t.drop(0)
}

// drop lets go of what every view took, and of the oldest records beyond what is kept
// for the slowest.
func (t *tail) drop(taken uint64) {
	n := 0
	for ; n < len(t.records) && (t.records[n].Seq <= taken || t.bytes > tailBytes); n++ {
		t.start = t.records[n].Seq
		t.bytes -= size(t.records[n].Message)
	}
	clear(t.records[:n])
	if t.records = t.records[n:]; len(t.records) == 0 {
		t.records = nil
	}
}

func size(m schemas.Message) int {
	n := recordBytes + len(m.Block) + len(m.Body)
	for name, values := range m.Header {
		for _, value := range values {
			n += len(name) + len(value)
		}
	}
	return n
}
