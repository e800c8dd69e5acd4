package projections

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/writbus/writ/schemas"
)

// quarantine hands records to the quarantine stream, each once. What is there
// already is read from that stream itself: it outlives the store, so neither a
// rebuild nor a deleted store nor a lost acknowledgement doubles an entry.
type quarantine struct {
	log Log

	mu    sync.Mutex
	after uint64
	kept  map[quarantineMark]struct{}
}

// quarantineMark tells a record apart also from another that took its place
// after the log lost its tail.
type quarantineMark struct {
	stream schemas.Stream
	seq    uint64
	sum    [sha256.Size]byte
}

func markOf(s schemas.Stream, seq uint64, subject string, body []byte) quarantineMark {
	h := sha256.New()
	_, _ = h.Write([]byte(subject)) // a hash takes every write
	_, _ = h.Write([]byte{0})
	_, _ = h.Write(body)
	m := quarantineMark{stream: s, seq: seq}
	h.Sum(m.sum[:0])
	return m
}

// keep makes sure that the record is in the quarantine. A record of the
// quarantine stream itself stays where it is.
func (q *quarantine) keep(ctx context.Context, r schemas.Record, why error) error {
	if r.Stream == schemas.StreamQuarantine {
		return nil
	}
	mark := markOf(r.Stream, r.Seq, r.Message.Subject, r.Message.Body)
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, kept := q.kept[mark]; kept {
		return nil
	}
	if err := q.refresh(ctx); err != nil {
		return fmt.Errorf("read %s: %w", schemas.StreamQuarantine, err)
	}
	if _, kept := q.kept[mark]; kept {
		return nil
	}
	r.Message = r.Message.Unfolded()
	if err := q.log.Quarantine(ctx, r, why.Error()); err != nil {
		return fmt.Errorf("quarantine %s/%d: %w", r.Stream, r.Seq, err)
	}
	q.kept[mark] = struct{}{}
	return nil
}

func (q *quarantine) refresh(ctx context.Context) error {
	if q.kept == nil {
		q.kept = map[quarantineMark]struct{}{}
	}
	return q.log.Follow(ctx, schemas.StreamQuarantine, q.after, defaultBatch, true, func(records []schemas.Record) error {
		for _, r := range records {
			q.after = r.Seq
			events, err := r.Events()
			if err != nil {
				continue
			}
			for _, e := range events {
				if p, is := e.Data.(schemas.MessageQuarantined); is {
					q.kept[markOf(p.Stream, p.Seq, p.Subject, p.Body)] = struct{}{}
				}
			}
		}
		return nil
	})
}
