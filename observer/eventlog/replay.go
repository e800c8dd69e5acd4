package eventlog

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/observer/replay"
	"github.com/writbus/writ/schemas"
)

const (
	replayPage  = 500     // events of a page, by default
	replayBytes = 4 << 20 // of a page, about
	replayBatch = 256
)

var errPageFull = errors.New("eventlog: the page is full")

// replay returns a stretch of the log. A session is read by its own subject,
// everything else stream by stream.
func (l *Log) replay(ctx context.Context, r schemas.ReplayRequest) (schemas.ReplayPage, error) {
	if r.Limit <= 0 || r.Limit > 10*replayPage {
		r.Limit = replayPage
	}
	p := pager{request: r, page: schemas.ReplayPage{Events: []schemas.ReplayEvent{}, Next: r.After}}
	if r.Session != "" {
		for record, err := range l.conn.Tail(ctx, schemas.Session(r.Session), r.After) {
			if err != nil {
				return schemas.ReplayPage{}, err
			}
			if p.add(record) != nil {
				return p.page, nil
			}
		}
		p.page.End = true
		return p.page, nil
	}
	if !slices.Contains(schemas.Streams(), r.Stream) {
		return schemas.ReplayPage{}, schemas.Faultf(schemas.CodeBadRequest, "there is no stream %q, only %q", r.Stream, schemas.Streams())
	}
	err := l.conn.Follow(ctx, r.Stream, r.After, bus.FollowOptions{MaxBatch: replayBatch, UntilEnd: true}, func(records []schemas.Record) error {
		for _, record := range records {
			if err := p.add(record); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case errors.Is(err, errPageFull):
		return p.page, nil
	case errors.Is(err, bus.ErrBeyondEnd):
		return schemas.ReplayPage{}, schemas.Faultf(schemas.CodeNotFound, "%s has no record %d: it ends before", r.Stream, r.After+1)
	}
	p.page.End = err == nil
	return p.page, err
}

// pager collects a page.
type pager struct {
	request schemas.ReplayRequest
	page    schemas.ReplayPage
	bytes   int
}

// add takes a record into the page, or returns errPageFull.
func (p *pager) add(r schemas.Record) error {
	if len(p.page.Events) >= p.request.Limit || p.bytes > replayBytes {
		return errPageFull
	}
	for _, e := range replay.Show(r) {
		if p.wants(e) {
			p.page.Events = append(p.page.Events, e)
			p.bytes += len(e.Data)
		}
	}
	p.page.Next = r.Seq
	return nil
}

func (p *pager) wants(e schemas.ReplayEvent) bool {
	q := p.request
	return (q.Type == "" || slices.Contains(strings.Split(q.Type, ","), string(e.Type))) &&
		(q.Since.IsZero() || !e.Time.Before(q.Since)) &&
		(q.Until.IsZero() || e.Time.Before(q.Until))
}
