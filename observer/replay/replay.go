// Package replay is the log as it is read back: stored records as the events that
// people and programs are shown, several streams merged by time, what an event is
// about, and how long to wait before the next one when a stretch happens again.
//
// It guarantees that a stream's own order stands in whatever it is merged with. It
// reads nothing itself: pages are asked of a function that is handed in.
package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
)

// Show returns a record's events. One that cannot be decoded is shown raw, with the
// reason.
func Show(r schemas.Record) []schemas.ReplayEvent {
	events, err := r.Events()
	if err != nil {
		raw := json.RawMessage(r.Message.Body)
		if !json.Valid(raw) {
			raw, _ = json.Marshal(r.Message.Body)
		}
		return []schemas.ReplayEvent{{
			Position: schemas.Position{Stream: r.Stream, Seq: r.Seq}, ID: r.ID(),
			Type: schemas.Type(r.Message.Header.Get(schemas.HeaderType)), Data: raw, Undecodable: err.Error(),
		}}
	}
	shown := make([]schemas.ReplayEvent, 0, len(events))
	for _, e := range events {
		data, err := Marshal(e.Data)
		if err != nil {
			data = []byte("null")
		}
		shown = append(shown, schemas.ReplayEvent{
			Position: e.Position, ID: e.ID, Type: e.Type(), Time: e.Time, Aggregate: e.Aggregate, Actor: e.Actor.String(),
			CausationID: e.CausationID, CorrelationID: e.CorrelationID, Version: e.StoredVersion, Data: data,
		})
	}
	return shown
}

// Marshal is JSON without HTML's escapes.
func Marshal(value any) (json.RawMessage, error) {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimRight(buf.Bytes(), "\n"), err
}

// Stream is the stream of a name such as WRIT_SESSIONS or sessions.
func Stream(name string) (schemas.Stream, bool) {
	for _, stream := range schemas.Streams() {
		if strings.EqualFold(name, string(stream)) || strings.EqualFold("WRIT_"+name, string(stream)) {
			return stream, true
		}
	}
	return "", false
}

// Pages returns the page of the log that a request asks for.
type Pages func(context.Context, schemas.ReplayRequest) (schemas.ReplayPage, error)

// cursor reads one stream page by page.
type cursor struct {
	pages   Pages
	request schemas.ReplayRequest
	page    []schemas.ReplayEvent
	end     bool
}

// head is the cursor's next event, nil at the end.
func (c *cursor) head(ctx context.Context) (*schemas.ReplayEvent, error) {
	for len(c.page) == 0 && !c.end {
		page, err := c.pages(ctx, c.request)
		if err != nil {
			return nil, err
		}
		c.page, c.end = page.Events, page.End || page.Next <= c.request.After
		c.request.After = page.Next
	}
	if len(c.page) == 0 {
		return nil, nil
	}
	return &c.page[0], nil
}

// Merged yields the events of several requests, one for each stream, by time. An
// error is the last that it yields.
func Merged(ctx context.Context, pages Pages, requests ...schemas.ReplayRequest) iter.Seq2[schemas.ReplayEvent, error] {
	return func(yield func(schemas.ReplayEvent, error) bool) {
		cursors := make([]cursor, len(requests))
		for i, r := range requests {
			cursors[i] = cursor{pages: pages, request: r}
		}
		for {
			var from *cursor
			for i := range cursors {
				e, err := cursors[i].head(ctx)
				if err != nil {
					yield(schemas.ReplayEvent{}, err)
					return
				}
				if e != nil && (from == nil || e.Time.Before(from.page[0].Time)) {
					from = &cursors[i]
				}
			}
			if from == nil {
				return
			}
			e := from.page[0]
			from.page = from.page[1:]
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Pacer says how long events were apart, times as fast.
type Pacer struct {
	Speed   float64       // times as fast as it happened; 0 is at once
	Longest time.Duration // no pause is longer
	before  time.Time
}

// Pause is how long an event comes after the one before.
func (p *Pacer) Pause(at time.Time) time.Duration {
	before := p.before
	p.before = at
	if p.Speed == 0 || before.IsZero() || !at.After(before) {
		return 0
	}
	return min(time.Duration(float64(at.Sub(before))/p.Speed), p.Longest)
}

// NamesRule says whether an event is about a rule: its own, one that decided, or one
// that was shown, followed or broken. Every event is about "".
func NamesRule(e schemas.ReplayEvent, rule string) bool {
	if rule == "" || e.Aggregate.Kind == schemas.KindRule && e.Aggregate.ID == rule {
		return true
	}
	var data any
	return bytes.Contains(e.Data, []byte(rule)) && json.Unmarshal(e.Data, &data) == nil && holdsText(data, rule)
}

// holdsText looks for a value, not for a part of one: what a prompt says about a
// rule is not about it.
func holdsText(data any, text string) bool {
	switch v := data.(type) {
	case string:
		return v == text
	case []any:
		return slices.ContainsFunc(v, func(one any) bool { return holdsText(one, text) })
	case map[string]any:
		for key, one := range v {
			if key == text || holdsText(one, text) {
				return true
			}
		}
	}
	return false
}

// Moment reads a time as people write it: RFC 3339, a date with or without a time
// of day in the local zone, or how long before now, in days, too. The empty text is no time.
func Moment(text string, now time.Time) (at time.Time, ok bool) {
	if text == "" {
		return at, true
	}
	if ago, err := time.ParseDuration(text); err == nil {
		return now.Add(-ago.Abs()), true
	}
	if count, days := strings.CutSuffix(text, "d"); days {
		if n, err := strconv.ParseUint(count, 10, 16); err == nil {
			return now.AddDate(0, 0, -int(n)), true
		}
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return at, true
		}
	}
	return at, false
}
