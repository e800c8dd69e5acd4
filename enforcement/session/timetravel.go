package session

import (
	"context"
	"errors"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// sessionThen shows a session as it was: its records up to the sequence or the
// moment, folded by the same Evolve that decides. Files are not in the log, so
// drift is what the log says was noticed by then.
func (v *Service) sessionThen(ctx context.Context, q schemas.SessionQuery) (schemas.SessionView, error) {
	if q.At != 0 && !q.Moment.IsZero() {
		return schemas.SessionView{}, schemas.Faultf(schemas.CodeBadRequest, "a sequence and a moment are given: say one of them")
	}
	if _, err := v.known(ctx, q.Session); err != nil {
		return schemas.SessionView{}, err
	}
	then, err := v.foldUntil(ctx, q.Session, q.At, func(e schemas.Event) bool { return q.Moment.IsZero() || !e.Time.After(q.Moment) })
	if err != nil {
		return schemas.SessionView{}, err
	}
	if then.counted.Events == 0 {
		return schemas.SessionView{}, schemas.Faultf(schemas.CodeNotFound, "session %q began later, %s with record %d", q.Session,
			then.begins.Time.Format("2006-01-02 15:04:05Z"), then.begins.Position.Seq)
	}
	drift := map[string][]schemas.FileChange{}
	for name, g := range then.state.Work.Gates {
		drift[name] = g.Drift
	}
	view, err := v.viewOf(then.counted, then.state, drift)
	view.Given.Rules = then.counted.Tokens
	view.Seq, view.AsOf = then.seq, then.counted.Last
	return view, err
}

// moment is a session as it was.
type moment struct {
	state   enforcement.State
	counted projections.SessionSummary
	seq     uint64        // of the last record in it
	begins  schemas.Event // the session's first event
}

// errLater ends a fold.
var errLater = errors.New("session: the rest is later")

// foldUntil folds a session's records up to a sequence, 0 for all, and up to
// the first event that does not belong. A record is in it whole or not at all.
func (v *Service) foldUntil(ctx context.Context, id string, last uint64, belongs func(schemas.Event) bool) (m moment, err error) {
	m.counted.ID = id
	err = v.eachRecord(ctx, id, func(events []schemas.Event) error {
		if m.begins.ID == "" && len(events) > 0 {
			m.begins = events[0]
		}
		for _, e := range events {
			if last != 0 && e.Position.Seq > last || !belongs(e) {
				return errLater
			}
		}
		for _, e := range events {
			m.state, m.seq = enforcement.Evolve(m.state, e), e.Position.Seq
			m.counted = v.sessions.List.Summarise(m.counted, e)
		}
		return nil
	})
	if errors.Is(err, errLater) {
		err = nil
	}
	return m, err
}

// eachRecord hands over the events of each record of a session. What cannot be
// decoded is left out, as every view does.
func (v *Service) eachRecord(ctx context.Context, id string, fn func([]schemas.Event) error) error {
	for record, err := range v.sessions.Conn.Tail(ctx, schemas.Session(id), 0) {
		if err != nil {
			return err
		}
		events, err := record.Events()
		if err != nil {
			continue
		}
		if err := fn(events); err != nil {
			return err
		}
	}
	return nil
}
