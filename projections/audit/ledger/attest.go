package ledger

import (
	"bytes"
	"context"
	"errors"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections/audit/attest"
	"github.com/writbus/writ/schemas"
)

// maxAttested bounds the files of one statement.
const maxAttested = 20_000

// attest is the service: what the log says of the files that a commit changed,
// signed. The log is read twice: for the sessions that left a file as it is, and for
// all that happened in those.
func (a *Auditor) attest(ctx context.Context, r schemas.AttestRequest) (schemas.Attested, error) {
	switch {
	case r.Commit == "" || r.Tree == "" || len(r.Roots) == 0:
		return schemas.Attested{}, schemas.Faultf(schemas.CodeBadRequest, "a statement needs the commit, its tree and the roots of the work trees")
	case len(r.Changes) > maxAttested:
		return schemas.Attested{}, schemas.Faultf(schemas.CodeBadRequest, "the commit changes %d files; a statement holds %d. Name a smaller range", len(r.Changes), maxAttested)
	}
	sessions, err := a.writers(ctx, r.Changes)
	if err != nil {
		return schemas.Attested{}, err
	}
	c, err := a.collect(ctx, r, sessions)
	if err != nil {
		return schemas.Attested{}, err
	}
	newest, err := a.newestOf(ctx, schemas.StreamSessions, 0)
	if err != nil {
		return schemas.Attested{}, schemas.Faultf(schemas.CodeRefused, "%v", err)
	}
	raw, err := attest.Sign(attest.New(r, a.key.signer.Name(), a.Now(), c, []string{string(newest.signed)}), a.key.signer)
	return schemas.Attested{Envelope: raw, Key: a.key.public}, err
}

// writers are the sessions that left one of the files as it is, and those that they
// belong to.
func (a *Auditor) writers(ctx context.Context, changes []schemas.AttestChange) (map[string]bool, error) {
	sessions, parents := map[string]bool{}, map[string]string{}
	wanted := attest.Wanted(changes)
	err := a.sessionEvents(ctx, func(r schemas.Record, _ schemas.Aggregate) bool {
		return bytes.Contains(r.Message.Body, []byte(`"parent"`)) || bytes.Contains(r.Message.Body, []byte(`"files"`))
	}, func(e schemas.Event) {
		if p, is := e.Data.(schemas.SessionStarted); is {
			parents[e.Aggregate.ID] = p.Parent
		} else if attest.Wants(e, wanted) {
			sessions[e.Aggregate.ID] = true
		}
	})
	for id := range sessions {
		for up := parents[id]; up != "" && !sessions[up]; up = parents[up] {
			sessions[up] = true
		}
	}
	return sessions, err
}

// collect folds all that happened in some sessions.
func (a *Auditor) collect(ctx context.Context, r schemas.AttestRequest, sessions map[string]bool) (*attest.Collector, error) {
	c := attest.NewCollector(r.Roots, r.Repository)
	if len(sessions) == 0 {
		return c, nil
	}
	err := a.sessionEvents(ctx, func(_ schemas.Record, session schemas.Aggregate) bool { return sessions[session.ID] }, c.Add)
	return c, err
}

// sessionEvents hands over the events of those records of the sessions' stream that
// are wanted, in order. One that cannot be decoded says nothing.
func (a *Auditor) sessionEvents(ctx context.Context, want func(schemas.Record, schemas.Aggregate) bool, take func(schemas.Event)) error {
	err := a.Log.Follow(ctx, schemas.StreamSessions, 0, bus.FollowOptions{MaxBatch: 4096, UntilEnd: true, Unparsed: true}, func(records []schemas.Record) error {
		for _, r := range records {
			session, _, err := schemas.ParseSubject(r.Message.Subject)
			if err != nil || !want(r, session) {
				continue
			}
			events, err := r.Events()
			if err != nil {
				continue
			}
			for _, e := range events {
				take(e)
			}
		}
		return nil
	})
	if errors.Is(err, bus.ErrGap) {
		return schemas.Faultf(schemas.CodeRefused, "the log is damaged: %v. `writ audit verify` says where", err)
	}
	return err
}
