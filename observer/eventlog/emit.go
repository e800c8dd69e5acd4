package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections/audit"
	"github.com/writbus/writ/schemas"
)

// emittable lists what anybody with the hook's credential may put into the
// log. Whatever opens a gate, changes a mode or says that a tool was allowed is
// written by the daemon alone, as the outcome of a decision.
var emittable = map[schemas.Type]bool{
	"hook.observed": true,
	"proposal.made": true,
}

// emit appends one event of a client after checking it against its schema.
func (l *Log) emit(ctx context.Context, r schemas.EmitRequest) (schemas.EmitReply, error) {
	t, err := schemas.ParseType(r.Type)
	if err != nil {
		return schemas.EmitReply{}, schemas.Faultf(schemas.CodeBadRequest, "there is no event type %q", r.Type)
	}
	if !emittable[t] {
		return schemas.EmitReply{}, schemas.Faultf(schemas.CodeRefused, "%s is recorded by Writ itself when it happens and cannot be emitted", t)
	}
	if err := validateBody(t, r.Data); err != nil {
		return schemas.EmitReply{}, schemas.Faultf(schemas.CodeBadRequest, "the data of %s: %v", t, err)
	}
	data, err := schemas.DecodePayload(t, t.Version(), r.Data)
	if err != nil {
		return schemas.EmitReply{}, schemas.Faultf(schemas.CodeBadRequest, "%v", err)
	}
	aggregate, id := schemas.Aggregate{Kind: t.Kind(), ID: r.ID}, r.EventID
	if id == "" {
		id = bus.NewID()
	} else if at, err := l.emitted(ctx, aggregate, t, id); err != nil || at.Seq > 0 {
		return schemas.EmitReply{EventID: id, Position: at}, err
	}
	actor := schemas.ParseActor(r.Actor)
	if r.Actor == "" {
		actor = schemas.Agent("", "", "")
	}
	position, err := bus.Record(ctx, l.log, schemas.Event{
		ID: id, Source: "/writ/emit", Actor: actor, Data: data,
		Aggregate: aggregate,
	})
	if err != nil {
		return schemas.EmitReply{}, err
	}
	return schemas.EmitReply{EventID: id, Position: position}, nil
}

// emitted is where an event with an id is in the log already, zero where it is not:
// the server forgets ids after seconds, and who repeats does so whenever it can.
func (l *Log) emitted(ctx context.Context, a schemas.Aggregate, t schemas.Type, id string) (at schemas.Position, err error) {
	seq, err := l.find(ctx, a.Kind.Stream(), id)
	if errors.Is(err, audit.ErrNoRecord) {
		return at, nil
	}
	if err != nil {
		return at, err
	}
	record, err := l.conn.Get(ctx, a.Kind.Stream(), seq)
	if err != nil {
		return at, err
	}
	if of, is, err := schemas.ParseSubject(record.Message.Subject); err != nil || of != a || is != t {
		return at, schemas.Faultf(schemas.CodeBadRequest, "the event id %.60q is that of another event, record %d of %s. Give this one an id of its own", id, seq, record.Stream)
	}
	return schemas.Position{Stream: record.Stream, Seq: seq}, nil
}

var bodySchemas sync.Map // schemas.Type → *jsonschema.Resolved

// validateBody checks an event's body against the schema that is shipped.
func validateBody(t schemas.Type, body []byte) error {
	resolved, known := bodySchemas.Load(t)
	if !known {
		raw, err := schemas.JSONSchema(t, t.Version())
		if err != nil {
			return err
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(raw, &schema); err != nil {
			return fmt.Errorf("schema of %s: %w", t, err)
		}
		r, err := schema.Resolve(nil)
		if err != nil {
			return fmt.Errorf("schema of %s: %w", t, err)
		}
		resolved, _ = bodySchemas.LoadOrStore(t, r)
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	return resolved.(*jsonschema.Resolved).Validate(value)
}
