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
	bulkInTurn     = 512     // records that are asked for at once where none are read ahead
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
		follower: f, wire: w, target: target, cursor: f.cursor,
		subject: "$JS.API.CONSUMER.MSG.NEXT." + string(f.stream) + "." + name,
		ahead:   bulkAhead,
	}
	if size := state.Bytes / max(state.Messages, 1); size > bulkAheadBytes/bulkAhead {
		h.ahead = max(int(bulkAheadBytes/size), 1)
	}
	hand := func(batch []schemas.Record) error {
		last := batch[len(batch)-1].Seq
		if f.failed = f.fn(batch); f.failed != nil {
			return f.failed
		}
		f.cursor = last
		return context.Cause(ctx)
	}
	if f.options.InTurn {
		return h.run(ctx, hand)
	}
	var failed error
	batches := make(chan []schemas.Record, 1)
	go func() {
		defer close(batches)
		failed = h.run(reading, func(batch []schemas.Record) error {
			select {
			case batches <- batch:
				return nil
			case <-reading.Done():
				return context.Cause(reading)
			}
		})
	}()
	for batch := range batches {
		if err := hand(batch); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return failed
}

// haul reads for a follower: while that one hands over the batch before, or in turn
// with it.
type haul struct {
	*follower
	wire    *wire
	subject string // of requests for more
	target  uint64
	ahead   int

	cursor uint64 // last record read
	asked  int    // records asked for that did not come yet
}

func (h *haul) run(ctx context.Context, hand func([]schemas.Record) error) error {
	expect := uint64(1)
	for h.cursor < h.target {
		batch, err := h.gather(ctx, &expect)
		if len(batch) > 0 {
			if err := hand(batch); err != nil {
				return err
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
		if err := h.ask(h.options.MaxBatch - len(batch)); err != nil {
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

// ask keeps the server sending; in turn, no more than the batch lacks.
func (h *haul) ask(lacks int) error {
	more := h.ahead
	if h.options.InTurn {
		more = min(more, lacks, bulkInTurn)
	}
	if h.asked > more/2 || h.options.InTurn && h.asked > 0 {
		return nil
	}
	body, err := json.Marshal(struct {
		Batch   int           `json:"batch"`
		Expires time.Duration `json:"expires"`
	}{more, followExpiry})
	if err != nil {
		return err
	}
	h.asked += more
	return h.wire.request(h.subject, body)
}
