package bus

import (
	"bytes"
	"context"
	"net"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/schemas"
)

// Append is append, for the suite of promises.
func (c *Conn) Append(ctx context.Context, main schemas.Event, also []schemas.Payload, e Expect) (schemas.Position, error) {
	return c.append(ctx, main, also, e)
}

// Sent is how many bytes of messages the connection has published.
func (c *Conn) Sent() uint64 { return c.nc.Stats().OutBytes }

// SetBulkLeast sets the backlog from which Follow reads in bulk, and returns
// how to undo it.
func SetBulkLeast(records uint64) (undo func()) {
	was := bulkLeast
	bulkLeast = records
	return func() { bulkLeast = was }
}

// WireWorks says whether bulk reading finds its connection.
func (c *Conn) WireWorks() error {
	w, err := c.openWire(context.Background())
	if err != nil {
		return err
	}
	return w.conn.Close()
}

// PlaceOf is placeOf.
func PlaceOf(reply string) (stream, consumer uint64, ok bool) {
	p, ok := placeOf([]byte(reply))
	return p.stream, p.consumer, ok
}

// ReadWire reads what a server said and returns the messages' bodies.
func ReadWire(said []byte) (bodies [][]byte) {
	w := &wire{conn: script{bytes.NewReader(said)}, chunk: make([]byte, 16), subjects: map[string]string{}}
	for {
		m, err := w.next()
		if err != nil {
			return bodies
		}
		placeOf(m.reply)
		w.subject(m.subject)
		bodies = append(bodies, m.body)
	}
}

// script is a server that says what it has to say and hears nothing.
type script struct{ said *bytes.Reader }

func (s script) Read(b []byte) (int, error)     { return s.said.Read(b) }
func (script) Write(b []byte) (int, error)      { return len(b), nil }
func (script) Close() error                     { return nil }
func (script) LocalAddr() net.Addr              { return nil }
func (script) RemoteAddr() net.Addr             { return nil }
func (script) SetDeadline(time.Time) error      { return nil }
func (script) SetReadDeadline(time.Time) error  { return nil }
func (script) SetWriteDeadline(time.Time) error { return nil }

// Unanswered has the connection count an append of sessions that nobody heard of, a large
// one where it had a connection of its own.
func (c *Conn) Unanswered(large bool) { c.unanswered.end(0, context.DeadlineExceeded, large) }

// Limit has a stream refuse what is more than some bytes.
func (c *Conn) Limit(ctx context.Context, s schemas.Stream, bytes int64) error {
	config := Retention{}.config(s)
	config.MaxBytes = bytes
	_, err := c.js.UpdateStream(ctx, config)
	return err
}

// LeaveTrimming has the archived stream keep its newest records alone and the connection
// take none for it, as a trim leaves them that was cut off.
func (c *Conn) LeaveTrimming(ctx context.Context, records int64) error {
	config := Retention{}.config(ArchivedStream)
	config.Discard, config.MaxMsgs = jetstream.DiscardOld, records
	c.trimming.Store(true)
	_, err := c.js.UpdateStream(ctx, config)
	return err
}
