package projections

import (
	"context"

	"github.com/writbus/writ/schemas"
)

// Read runs fn on a view as it stands. A view that is not there yet is a fault
// with CodeNotReady.
func (r *Runtime) Read(view string, fn func(Reader) error) error {
	reader, err := r.Reader(view)
	if err != nil {
		return schemas.Faultf(schemas.CodeNotReady, "the view %s is not there yet: %v", view, err)
	}
	defer func() { _ = reader.Close() }()
	return fn(reader)
}

// Await waits until a view holds what a stream has at the call.
func (r *Runtime) Await(ctx context.Context, s schemas.Stream, view string) error {
	_, last, err := r.log.Bounds(ctx, s)
	if err != nil {
		return err
	}
	return r.WaitFor(ctx, view, schemas.Position{Stream: s, Seq: last})
}
