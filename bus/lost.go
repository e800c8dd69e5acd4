package bus

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/writbus/writ/schemas"
)

// lostRecords are what the log says of records that were given up, as far as it
// was read.
type lostRecords struct {
	mu    sync.Mutex
	after uint64
	all   []schemas.RecordsLost
}

// Lost returns what the log itself says of a stream's records that were damaged
// and given up, in the order of their sequences.
func (c *Conn) Lost(ctx context.Context, s schemas.Stream) (lost []schemas.RecordsLost, err error) {
	c.lost.mu.Lock()
	defer c.lost.mu.Unlock()
	for record, err := range c.Tail(ctx, schemas.LostRecords(), c.lost.after) {
		if err != nil {
			return nil, fmt.Errorf("records of %s that were given up: %w", s, err)
		}
		c.lost.after = record.Seq
		events, err := record.Events()
		if err != nil {
			continue // the views tell of what nobody understands
		}
		for _, e := range events {
			if p, is := e.Data.(schemas.RecordsLost); is {
				c.lost.all = append(c.lost.all, p)
			}
		}
	}
	for _, p := range c.lost.all {
		if p.Stream == s {
			lost = append(lost, p)
		}
	}
	slices.SortStableFunc(lost, func(a, b schemas.RecordsLost) int { return cmp.Compare(a.First, b.First) })
	return lost, nil
}

// GivenUp says whether all records of a range were given up.
func GivenUp(lost []schemas.RecordsLost, first, last uint64) bool {
	for _, p := range lost {
		if p.First <= first && p.Last >= first {
			first = p.Last + 1
		}
	}
	return first > last
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
