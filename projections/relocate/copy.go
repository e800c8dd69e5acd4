package relocate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/pause"
)

func (m *mover) copy(ctx context.Context) error {
	r := m.retention(m.to)
	if m.to.URL != "" {
		r.Labels = m.place.labels(m.daemon, newID(), m.place.Moving.ID)
	}
	for _, s := range schemas.Streams() {
		m.Note(fmt.Sprintf("copy %s", s))
		if m.Step != nil {
			m.Step("copy " + string(s))
		}
		err := m.makeRoom(ctx, s)
		if err == nil {
			err = m.transfer(ctx, s, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// abandonedWithin is longer than a cluster keeps the name of a stream of which nobody
// sends the rest.
const abandonedWithin = time.Minute

// transfer copies a stream. A move that was killed may have left its name taken, with no
// stream behind it, and a cluster that elects answers nothing.
func (m *mover) transfer(ctx context.Context, s schemas.Stream, r bus.Retention) error {
	for began := time.Now(); ; {
		err := bus.Transfer(ctx, m.from.conn, m.to.conn, s, r)
		if !errors.Is(err, bus.ErrMismatch) && !errors.Is(err, bus.ErrUnavailable) || time.Since(began) > abandonedWithin {
			return err
		}
		switch _, there := bus.Labels(ctx, m.to.conn, s); {
		case errors.Is(there, bus.ErrNotFound):
			_ = bus.Drop(ctx, m.to.conn, s) // where it cannot, the next try says so
		case there == nil:
			if err := m.makeRoom(ctx, s); err != nil {
				return err
			}
		}
		if !pause.For(ctx, 200*time.Millisecond) {
			return context.Cause(ctx)
		}
	}
}

// replicateWithin is how long replicas may take to have everything.
const replicateWithin = 10 * time.Minute

func (m *mover) compare(ctx context.Context) error {
	m.done.Parts = nil
	for _, s := range schemas.Streams() {
		if err := copied(ctx, m.to.conn, s); err != nil {
			return err
		}
		was, err := read(ctx, m.from.conn, s)
		if err != nil {
			return err
		}
		is, err := read(ctx, m.to.conn, s)
		if err != nil {
			return err
		}
		if was != is {
			return fmt.Errorf("%s came out otherwise: %d records up to %d with the root %s, and %d up to %d with %s",
				s, was.Records, was.Last, was.Root, is.Records, is.Last, is.Root)
		}
		m.done.Parts = append(m.done.Parts, is.Part)
	}
	return nil
}

// copied waits until all replicas of a stream have it.
func copied(ctx context.Context, c *bus.Conn, s schemas.Stream) error {
	ctx, cancel := context.WithTimeout(ctx, replicateWithin)
	defer cancel()
	for {
		err := bus.Copied(ctx, c, s)
		if err == nil {
			return nil
		}
		if !pause.For(ctx, 100*time.Millisecond) {
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// content is all that is compared of a stream.
type content struct {
	Part
	stamps [sha256.Size]byte // over sequences
	state  bus.StreamState
}

func read(ctx context.Context, c *bus.Conn, s schemas.Stream) (content, error) {
	state, err := bus.Stored(ctx, c, s)
	if err != nil {
		return content{}, err
	}
	one := content{Part: Part{Stream: s, Last: state.Last, Records: state.Messages}, state: state}
	one.state.Bytes = 0 // headers of the server's own may be counted in another way
	if state.First > state.Last || state.Messages == 0 {
		one.state.First = 0 // of an empty stream it is 0 or 1
		return one, nil
	}
	var tree evidence.Frontier
	var hasher evidence.Hasher
	stamps := sha256.New()
	err = c.Follow(ctx, s, state.First-1, bus.FollowOptions{UntilEnd: true, Unparsed: true}, func(records []schemas.Record) error {
		for _, r := range records {
			tree.Add(hasher.Leaf(r.Message))
			_, _ = stamps.Write(binary.BigEndian.AppendUint64(nil, r.Seq)) // never fails
		}
		return nil
	})
	one.Root = tree.Root()
	stamps.Sum(one.stamps[:0])
	return one, err
}
