package bus

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/schemas"
)

// lostRecords are what the log says of records that were given up, as far as it
// was read.
type lostRecords struct {
	mu    sync.Mutex
	after uint64
	all   []schemas.RecordsLost
	shut  []schemas.SessionsClosed
}

// Lost returns what the log itself says of a stream's records that were damaged
// and given up, or whose texts were erased, in the order of their sequences.
func (c *Conn) Lost(ctx context.Context, s schemas.Stream) (lost []schemas.RecordsLost, err error) {
	c.lost.mu.Lock()
	defer c.lost.mu.Unlock()
	if err := c.readLost(ctx); err != nil {
		return nil, fmt.Errorf("records of %s that were given up: %w", s, err)
	}
	for _, p := range c.lost.all {
		if p.Stream == s {
			lost = append(lost, p)
		}
	}
	slices.SortStableFunc(lost, func(a, b schemas.RecordsLost) int { return cmp.Compare(a.First, b.First) })
	return lost, nil
}

// Closed returns for which records that a stream lacks the gates of sessions were
// closed.
func (c *Conn) Closed(ctx context.Context) ([]schemas.SessionsClosed, error) {
	c.lost.mu.Lock()
	defer c.lost.mu.Unlock()
	if err := c.readLost(ctx); err != nil {
		return nil, fmt.Errorf("sessions that were closed: %w", err)
	}
	return slices.Clone(c.lost.shut), nil
}

// readLost reads what the log says of lost records since it was read last.
func (c *Conn) readLost(ctx context.Context) error {
	for record, err := range c.Tail(ctx, schemas.LostRecords(), c.lost.after) {
		if err != nil {
			return err
		}
		c.lost.after = record.Seq
		events, err := record.Events()
		if err != nil {
			continue // the views tell of what nobody understands
		}
		for _, e := range events {
			switch p := e.Data.(type) {
			case schemas.RecordsLost:
				c.lost.all = append(c.lost.all, p)
			case schemas.SessionsClosed:
				c.lost.shut = append(c.lost.shut, p)
			}
		}
	}
	return nil
}

// After returns the sequence of the record of its aggregate behind which a record
// was appended, 0 for the first; known is false where its append expected none. It
// returns ErrNotFound for a record that is not there.
func (c *Conn) After(ctx context.Context, s schemas.Stream, seq uint64) (after uint64, known bool, err error) {
	answer, err := c.roundTrip(ctx, &nats.Msg{Subject: "$JS.API.DIRECT.GET." + string(s), Data: fmt.Appendf(nil, `{"seq":%d}`, seq)})
	if err != nil {
		return 0, false, fmt.Errorf("record %d of %s: %w", seq, s, err)
	}
	stated := answer.Header.Get(jetstream.ExpectedLastSubjSeqHeader)
	if statusOf(answer) != "" {
		if err = ErrNotFound; s == ArchivedStream {
			stated, err = c.options.Archive.expectedBefore(ctx, c, seq)
		}
		if err != nil {
			return 0, false, fmt.Errorf("record %d of %s: %w", seq, s, err)
		}
	}
	if stated == "" {
		return 0, false, nil
	}
	after, err = strconv.ParseUint(stated, 10, 64)
	return after, err == nil, err
}

// NextOf returns the sequence of a stream's first record at or behind one, or
// ErrNotFound.
func (c *Conn) NextOf(ctx context.Context, s schemas.Stream, from uint64) (uint64, error) {
	record, err := firstOf(ctx, c, s, from)
	return record.Seq, err
}

// GivenUp says whether all records of a range were given up.
func GivenUp(lost []schemas.RecordsLost, first, last uint64) bool {
	for _, p := range lost {
		if p.First <= first && p.Last >= first && p.Reason == "" {
			first = p.Last + 1
		}
	}
	return first > last
}

// Erased are the leaves of records whose texts were erased, by sequence, as Lost
// tells them; one that was lost since is none of them.
func Erased(lost []schemas.RecordsLost) map[uint64]schemas.LostLeaf {
	all := map[uint64]schemas.LostLeaf{}
	for _, p := range lost {
		for i, leaf := range p.Leaves {
			if len(leaf.Now) > 0 {
				all[p.First+uint64(i)] = leaf //nolint:gosec // an index
			}
		}
	}
	for _, p := range lost {
		for seq := p.First; p.Reason == "" && seq <= p.Last; seq++ {
			delete(all, seq)
		}
	}
	return all
}

// Restores returns what the log itself says of backups that it was restored from.
func (c *Conn) Restores(ctx context.Context) (all []schemas.LogRestored, err error) {
	for record, err := range c.Tail(ctx, schemas.RestoredLog(), 0) {
		if err != nil {
			return nil, fmt.Errorf("restores of the log: %w", err)
		}
		events, err := record.Events()
		if err != nil {
			continue // the views tell of what nobody understands
		}
		for _, e := range events {
			if p, is := e.Data.(schemas.LogRestored); is {
				all = append(all, p)
			}
		}
	}
	return all, nil
}
