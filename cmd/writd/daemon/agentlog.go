package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/writd/agents"
	"github.com/writbus/writ/cmd/writd/verbs"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// agentLog is the log and the views as the agents see them. Secrets are taken
// out of what is stored.
type agentLog struct{ d *Daemon }

// Append implements agents.Log.
func (l agentLog) Append(ctx context.Context, e agents.Entry) error {
	event := schemas.Event{ID: bus.NewID(), Time: e.Time, Source: source, Aggregate: e.Aggregate, Actor: e.Actor, CorrelationID: e.Aggregate.ID}
	if len(event.CorrelationID) > 128 || e.Aggregate.Kind != schemas.KindAgent {
		event.CorrelationID = ""
	}
	if event.Time.IsZero() {
		event.Time = l.d.now()
	}
	also := make([]schemas.Payload, 0, len(e.Payloads))
	for _, p := range e.Payloads {
		also = append(also, withoutSecrets(p))
	}
	event.Data, also = also[0], also[1:]
	expect := bus.Any()
	if e.Expect != nil {
		expect = bus.LastSeq(*e.Expect)
	}
	_, err := l.d.conn.Append(ctx, event, also, expect)
	if errors.Is(err, bus.ErrUnavailable) && ctx.Err() == nil {
		_, err = l.d.conn.Append(ctx, event, also, expect) // the same event is stored once
	}
	if errors.Is(err, bus.ErrConflict) {
		err = fmt.Errorf("%w: %w", agents.ErrConflict, err)
	}
	return err
}

// Read implements agents.Views.
func (l agentLog) Read(ctx context.Context, view string, fn func(projections.Reader) error) error {
	if err := l.d.runtime.Await(ctx, schemas.StreamAgents, view); err != nil {
		return err
	}
	return l.d.runtime.Read(view, fn)
}

// withoutSecrets replaces secrets in the texts of an event. Artifacts stay as
// they are: what an agent fetched it reads again.
func withoutSecrets(p schemas.Payload) schemas.Payload {
	clean := func(texts ...*string) {
		for _, t := range texts {
			*t = redactText(*t)
		}
	}
	switch e := p.(type) {
	case schemas.AgentStarted:
		clean(&e.Message)
		return e
	case schemas.AgentMessaged:
		clean(&e.Message)
		return e
	case schemas.AgentReplied:
		clean(&e.Text)
		return e
	case schemas.AgentFinished:
		clean(&e.Answer, &e.Reason)
		return e
	case schemas.AdviceGiven:
		clean(&e.Question, &e.Text)
		return e
	case schemas.CommandDispatched:
		clean(&e.Args)
		return e
	case schemas.CommandDenied:
		clean(&e.Args, &e.Reason)
		return e
	case schemas.CommandFinished:
		clean(&e.Result)
		return e
	case schemas.DiagnosticReported:
		clean(&e.Note)
		return e
	case schemas.NoteWritten:
		clean(&e.Text)
		return e
	case schemas.EntryAdded:
		clean(&e.Title, &e.Text)
		return e
	case schemas.TodoAdded:
		clean(&e.Subject, &e.Description)
		return e
	case schemas.TodoChanged:
		clean(&e.Subject, &e.Description)
		return e
	case schemas.LessonRecorded:
		clean(&e.Signature, &e.Text)
		return e
	case schemas.ScheduleAdded:
		clean(&e.Line)
		return e
	}
	return p
}

// Artifacts lists what a conversation keeps, without the data.
func (l agentLog) Artifacts(ctx context.Context, run string) (all []verbs.Artifact, err error) {
	err = l.Read(ctx, projections.ViewAgentArtifacts, func(r projections.Reader) error {
		list, err := l.d.views.agents.artifacts.List(r, run)
		for _, a := range list {
			all = append(all, verbs.Artifact{ID: a.ID, Name: a.Name, MIME: a.MIME, Size: a.Size})
		}
		return err
	})
	return all, err
}

// Artifact returns one whole; ok is false where there is none of this id.
func (l agentLog) Artifact(ctx context.Context, run, id string) (a verbs.Artifact, ok bool, err error) {
	err = l.Read(ctx, projections.ViewAgentArtifacts, func(r projections.Reader) error {
		kept, content, found, err := l.d.views.agents.artifacts.Artifact(r, run, id)
		a = verbs.Artifact{ID: kept.ID, Name: kept.Name, MIME: kept.MIME, Size: kept.Size, Data: append([]byte(nil), content...)}
		ok = found
		return err
	})
	return a, ok, err
}
