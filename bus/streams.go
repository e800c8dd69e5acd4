package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/schemas"
)

// DefaultDuplicates is how long the server remembers event ids by default. It
// covers a publisher's retries; a longer window costs memory and a slower
// start, because the ids are read back from the log.
const DefaultDuplicates = 20 * time.Second

// Retention says how streams keep their records. The zero value keeps
// everything on one server.
type Retention struct {
	Replicas   int           // copies of each record; 0 is 1. More need a cluster.
	Duplicates time.Duration // how long event ids are remembered; 0 is DefaultDuplicates
	// Silence is how long the server keeps a reader that asks for nothing, whoever
	// made it and whatever it asked for; 0 leaves that to the reader.
	Silence time.Duration
	// Labels are noted with each stream, as [Labels] returns them; nil changes none.
	Labels map[string]string
	// Fenced has the streams take no event, from whomever.
	Fenced bool
}

// ReaderSilence is longer than any reader of Follow is silent.
const ReaderSilence = followInactive + 3*time.Minute

// StreamState is where a stream stands.
type StreamState struct {
	First, Last uint64 // sequences of the first and last record; in an empty stream First is Last+1, or both are 0
	Messages    uint64
	Bytes       uint64
}

// EnsureStreams creates the streams of the log, or brings existing ones to the
// wanted retention. It is idempotent and may be called by several at once. It
// returns ErrMismatch for a stream that cannot be changed and ErrDenied for a
// role that may not.
func (c *Conn) EnsureStreams(ctx context.Context, r Retention) error {
	for _, s := range schemas.Streams() {
		if err := c.ensureStream(ctx, r.config(s)); err != nil {
			return fmt.Errorf("stream %s: %w", s, err)
		}
	}
	return nil
}

// Configurations are those of the log's streams, as JSON, by name.
func (r Retention) Configurations() (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, s := range schemas.Streams() {
		body, err := json.Marshal(r.config(s))
		if err != nil {
			return nil, err
		}
		all[string(s)] = body
	}
	return all, nil
}

func (r Retention) config(s schemas.Stream) jetstream.StreamConfig {
	duplicates := r.Duplicates
	if duplicates <= 0 {
		duplicates = DefaultDuplicates
	}
	largest := int32(-1)
	if r.Fenced {
		largest = fencedSize
	}
	return jetstream.StreamConfig{
		Name:           string(s),
		Subjects:       []string{s.Subjects()},
		Storage:        jetstream.FileStorage,
		Retention:      jetstream.LimitsPolicy,
		Discard:        jetstream.DiscardNew,
		Replicas:       max(r.Replicas, 1),
		MaxBytes:       -1, // the disk's alone: a full stream would refuse writes
		MaxMsgs:        -1,
		MaxMsgSize:     largest,
		Metadata:       r.Labels,
		Duplicates:     duplicates,
		DenyDelete:     true,
		DenyPurge:      true,
		ConsumerLimits: jetstream.StreamConsumerLimits{InactiveThreshold: r.Silence},
		// A direct read may be answered by a replica that lags behind, so
		// replicated streams are read at their leader.
		AllowDirect: r.Replicas <= 1,
	}
}

// EnsureStream makes a stream that a definition in JSON describes, as the server takes
// it, or makes one of its name be so.
func EnsureStream(ctx context.Context, c *Conn, definition []byte) error {
	var want jetstream.StreamConfig
	if err := json.Unmarshal(definition, &want); err != nil {
		return fmt.Errorf("bus: the definition of a stream: %w", err)
	}
	if err := c.ensureStream(ctx, want); err != nil {
		return fmt.Errorf("make the stream %s: %w", want.Name, err)
	}
	return nil
}

func (c *Conn) ensureStream(ctx context.Context, want jetstream.StreamConfig) error {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	guarded, release := c.guards.watch(ctx, "$JS.API.STREAM.>")
	defer release()
	have, err := c.js.Stream(guarded, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = c.js.CreateStream(guarded, want)
		if !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return causeOf(guarded, err)
		}
		have, err = c.js.Stream(guarded, want.Name)
	}
	if err != nil {
		return causeOf(guarded, err)
	}
	if want.Metadata == nil {
		want.Metadata = have.CachedInfo().Config.Metadata
	}
	if sameConfig(have.CachedInfo().Config, want) {
		return nil
	}
	if _, err = c.js.UpdateStream(guarded, want); err != nil {
		return causeOf(guarded, err)
	}
	return nil
}

// sameConfig compares what Retention sets; the server adds defaults of its own
// to the rest.
func sameConfig(have, want jetstream.StreamConfig) bool {
	for name, label := range want.Metadata {
		if have.Metadata[name] != label {
			return false
		}
	}
	return have.MaxMsgSize == want.MaxMsgSize && len(have.Subjects) == 1 && have.Subjects[0] == want.Subjects[0] &&
		have.Storage == want.Storage && have.Retention == want.Retention && have.Discard == want.Discard &&
		have.Replicas == want.Replicas && have.MaxMsgs == want.MaxMsgs && have.MaxBytes == want.MaxBytes && have.MaxAge == want.MaxAge &&
		have.Duplicates == want.Duplicates && have.AllowDirect == want.AllowDirect &&
		have.DenyDelete == want.DenyDelete && have.DenyPurge == want.DenyPurge && have.ConsumerLimits == want.ConsumerLimits
}

// State returns where a stream stands, with the records of it that are archived, or
// ErrNotFound. Its bytes are those of the stream alone.
func (c *Conn) State(ctx context.Context, s schemas.Stream) (StreamState, error) {
	state, err := Stored(ctx, c, s)
	if err != nil || s != ArchivedStream || state.First <= 1 {
		return state, err
	}
	return c.options.Archive.joined(ctx, c, state)
}

// Stored returns where a stream stands without what is archived, or ErrNotFound.
func Stored(ctx context.Context, c *Conn, s schemas.Stream) (StreamState, error) {
	info, err := infoOf(ctx, c, s)
	if err != nil {
		return StreamState{}, err
	}
	state := info.State
	return StreamState{First: state.FirstSeq, Last: state.LastSeq, Messages: state.Msgs, Bytes: state.Bytes}, nil
}
