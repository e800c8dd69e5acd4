package bus

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/schemas"
)

const (
	chunk        = 256 << 10 // bytes of a snapshot that are in one message
	chunkWindow  = 4 << 20   // bytes of a snapshot that are on their way
	chunkTimeout = 30 * time.Second
	// lastChunk is how long a server may take to make a stream of all that it was sent.
	lastChunk = 10 * time.Minute
)

// fencedSize is the largest message, in bytes, of a stream that takes none: every event
// is larger.
const fencedSize = 1

// Labels are what its makers noted with a stream, by name. It returns ErrNotFound.
func Labels(ctx context.Context, c *Conn, s schemas.Stream) (map[string]string, error) {
	info, err := infoOf(ctx, c, s)
	if err != nil {
		return nil, err
	}
	labels := maps.Clone(info.Config.Metadata)
	maps.DeleteFunc(labels, func(name, _ string) bool { return strings.HasPrefix(name, "_nats.") }) // the server's own
	return labels, nil
}

// Copied returns nil once every replica of a stream has all of it.
func Copied(ctx context.Context, c *Conn, s schemas.Stream) error {
	info, err := infoOf(ctx, c, s)
	if err != nil {
		return err
	}
	if info.Cluster == nil || info.Config.Replicas <= 1 {
		return nil
	}
	if info.Cluster.Leader == "" || len(info.Cluster.Replicas) < info.Config.Replicas-1 {
		return fmt.Errorf("%w: %s has %d of %d replicas, and the leader %q", ErrUnavailable, s, len(info.Cluster.Replicas)+1, info.Config.Replicas, info.Cluster.Leader)
	}
	for _, r := range info.Cluster.Replicas {
		if !r.Current || r.Offline || r.Lag > 0 {
			return fmt.Errorf("%w: the replica of %s on %s is behind", ErrUnavailable, s, r.Name)
		}
	}
	return nil
}

func infoOf(ctx context.Context, c *Conn, s schemas.Stream) (*jetstream.StreamInfo, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	guarded, release := c.guards.watch(ctx, "$JS.API.STREAM.>")
	defer release()
	stream, err := c.js.Stream(guarded, string(s))
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", s, causeOf(guarded, err))
	}
	return stream.CachedInfo(), nil
}

// Drop deletes a stream with all that is in it. One that is not there is no error.
func Drop(ctx context.Context, c *Conn, s schemas.Stream) error {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	guarded, release := c.guards.watch(ctx, "$JS.API.STREAM.>")
	defer release()
	err := c.js.DeleteStream(guarded, string(s))
	if err == nil || errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	return fmt.Errorf("delete %s: %w", s, causeOf(guarded, err))
}

// Transfer copies a stream to where another connection leads, as the server's snapshot
// of it: sequences, times and headers stay. The copy keeps what the retention says. It
// returns ErrMismatch where there is such a stream already. What was cut off may leave one
// there, without all records: it bears the labels.
func Transfer(ctx context.Context, from, to *Conn, s schemas.Stream, r Retention) error {
	if err := transfer(ctx, from, to, s, r); err != nil {
		return fmt.Errorf("copy %s: %w", s, err)
	}
	return nil
}

func transfer(ctx context.Context, from, to *Conn, s schemas.Stream, r Retention) error {
	inbox := from.nc.NewRespInbox()
	sub, err := from.nc.SubscribeSync(inbox)
	if err != nil {
		return translate(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return translate(err)
	}
	var taken struct {
		State json.RawMessage `json:"state"`
	}
	if err := askJetStream(ctx, from, "$JS.API.STREAM.SNAPSHOT."+string(s), map[string]any{
		"deliver_subject": inbox, "no_consumers": true, "chunk_size": chunk, "window_size": chunkWindow,
	}, &taken, chunkTimeout); err != nil {
		return err
	}
	var begun struct {
		Deliver string `json:"deliver_subject"`
	}
	if err := askJetStream(ctx, to, "$JS.API.STREAM.RESTORE."+string(s), map[string]any{"config": r.config(s), "state": taken.State}, &begun, chunkTimeout); err != nil {
		return err
	}
	for {
		waiting, cancel := context.WithTimeout(ctx, chunkTimeout)
		m, err := sub.NextMsgWithContext(waiting)
		cancel()
		if err != nil {
			return cmp.Or(context.Cause(ctx), translate(err))
		}
		if len(m.Data) == 0 {
			if status := m.Header.Get("Status"); status != "" && status != "204" {
				return fmt.Errorf("%w: the snapshot ended with %s %s", ErrUnavailable, status, m.Header.Get("Description"))
			}
			return askJetStream(ctx, to, begun.Deliver, nil, &struct{}{}, lastChunk)
		}
		if err := askJetStream(ctx, to, begun.Deliver, m.Data, &struct{}{}, chunkTimeout); err != nil {
			return err
		}
		if m.Reply != "" {
			if err := m.Respond(nil); err != nil {
				return translate(err)
			}
		}
	}
}

// askJetStream asks JetStream something that its client library has no call for: a body of bytes
// as they are, or as JSON. An empty answer is good.
func askJetStream(ctx context.Context, c *Conn, subject string, body, answer any, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	raw, is := body.([]byte)
	if !is && body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return err
		}
	}
	m, err := c.roundTrip(ctx, &nats.Msg{Subject: subject, Data: raw})
	if err != nil || len(m.Data) == 0 {
		return err
	}
	var told struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := errors.Join(json.Unmarshal(m.Data, &told), json.Unmarshal(m.Data, answer)); err != nil {
		return err
	}
	if told.Error != nil {
		return translate(told.Error)
	}
	return nil
}
