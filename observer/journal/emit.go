package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/writbus/writ/bus"
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
func (j *Journal) emit(ctx context.Context, r schemas.EmitRequest) (schemas.EmitReply, error) {
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
	id := r.EventID
	if id == "" {
		id = bus.NewID()
	}
	actor := schemas.ParseActor(r.Actor)
	if r.Actor == "" {
		actor = schemas.Agent("", "", "")
	}
	position, err := bus.Record(ctx, j.log, schemas.Event{
		ID: id, Source: "/writ/emit", Actor: actor, Data: data,
		Aggregate: schemas.Aggregate{Kind: t.Kind(), ID: r.ID},
	})
	if err != nil {
		return schemas.EmitReply{}, err
	}
	return schemas.EmitReply{EventID: id, Position: position}, nil
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
