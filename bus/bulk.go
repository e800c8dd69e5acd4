package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/writbus/writ/schemas"
)

const (
	bulkAhead      = 2048    // records that the server may send ahead, without a pause
	bulkAheadBytes = 4 << 20 // the same in bytes, of records of common size
)

// bulkLeast is the backlog from which a connection of its own is worth while.
var bulkLeast uint64 = 1000

// bulk reads a large backlog over a connection of its own, as far as that
// works: what it cannot do is left to the session, which goes on at the
// cursor. It returns the stream's state and only errors that end the session.
func (f *follower) bulk(ctx context.Context, state StreamState) (StreamState, error) {
	for {
		target := min(state.Last, f.end)
		if target < f.cursor+bulkLeast || state.First > target {
			return state, nil
		}
		err := f.bulkTo(ctx, state, target)
		switch {
		case f.failed != nil, ctx.Err() != nil,
			errors.Is(err, ErrGap), errors.Is(err, ErrBeyondEnd), errors.Is(err, ErrNotFound), errors.Is(err, ErrDenied):
			return state, err
		case err != nil:
			return state, nil
		}
		if state, err = f.check(ctx); err != nil {
			return state, err
		}
	}
}

// bulkTo hands over the records up to a target.
func (f *follower) bulkTo(ctx context.Context, state StreamState, target uint64) error {
	w, err := f.conn.openWire(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = w.conn.Close() }()
	consumer, err := f.consumer(ctx)
	if err != nil {
		return err
	}
	name := consumer.CachedInfo().Name
	defer f.release(ctx, name)
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(reading, func() { _ = w.conn.Close() })()
	h := &haul{
		follower: f, wire: w, target: target, cursor: f.cursor, batches: make(chan []schemas.Record, 1),
		subject: "$JS.API.CONSUMER.MSG.NEXT." + string(f.stream) + "." + name,
		ahead:   bulkAhead,
	}
	if size := state.Bytes / max(state.Messages, 1); size > bulkAheadBytes/bulkAhead {
		h.ahead = max(int(bulkAheadBytes/size), 1)
	}
	var failed error
	go func() {
		defer close(h.batches)
		failed = h.run(reading)
	}()
	for batch := range h.batches {
		last := batch[len(batch)-1].Seq
		if err := f.fn(batch); err != nil {
			f.failed = err
			return err
		}
		f.cursor = last
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return failed
}

// haul reads for a follower while that one hands over the batch before.
type haul struct {
	*follower
	wire    *wire
	subject string // of requests for more
	target  uint64
	ahead   int

	cursor  uint64 // last record read
	asked   int    // records asked for that did not come yet
	batches chan []schemas.Record
}

func (h *haul) run(ctx context.Context) error {
	expect := uint64(1)
	for h.cursor < h.target {
		batch, err := h.gather(ctx, &expect)
		if len(batch) > 0 {
			select {
			case h.batches <- batch:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// gather reads one batch. One that was begun is returned together with the
// error that ended it.
func (h *haul) gather(ctx context.Context, expect *uint64) ([]schemas.Record, error) {
	batch := make([]schemas.Record, 0, min(uint64(h.options.MaxBatch), h.target-h.cursor))
	for bytes := 0; len(batch) < h.options.MaxBatch && bytes < h.options.MaxBytes && h.cursor < h.target; {
		if err := h.ask(); err != nil {
			return batch, err
		}
		m, err := h.wire.next()
		if err != nil {
			return batch, err
		}
		at, ok := placeOf(m.reply)
		if !ok {
			// The end of a request, in the server's words.
			return batch, fmt.Errorf("%w: %.100q", errInterrupted, m.header)
		}
		h.asked--
		if err := h.verify(ctx, at, h.cursor, expect); err != nil {
			return batch, err
		}
		if at.stream > h.target {
			return batch, errInterrupted
		}
		batch = append(batch, h.record(at.stream, m))
		h.cursor = at.stream
		bytes += len(m.body)
	}
	return batch, nil
}

func (h *haul) record(seq uint64, m delivered) schemas.Record {
	message := schemas.Message{Subject: h.wire.subject(m.subject), Body: m.body}
	if len(m.header) > 0 {
		message.Block = m.header
	}
	if !h.options.Unparsed {
		message = message.Unfolded()
	}
	return schemas.Record{Stream: h.stream, Seq: seq, Message: message}
}

// ask keeps the server sending.
func (h *haul) ask() error {
	if h.asked > h.ahead/2 {
		return nil
	}
	body, err := json.Marshal(struct {
		Batch   int           `json:"batch"`
		Expires time.Duration `json:"expires"`
	}{h.ahead, followExpiry})
	if err != nil {
		return err
	}
	h.asked += h.ahead
	return h.wire.request(h.subject, body)
}
