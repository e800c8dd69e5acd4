package bus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"

	"github.com/writbus/writ/schemas"
)

// None is the request or the reply of a service that takes or gives nothing.
type None struct{}

// Metadata of an endpoint, by which $SRV.INFO shows what it takes and gives, as
// JSON Schemas.
const (
	MetadataRequest = "request"
	MetadataReply   = "reply"
)

// Answer makes an endpoint of a function from request to reply, both as JSON. A
// request with a field that it does not take is refused. An error that carries no
// code gets the one of its sentinel, else CodeInternal.
func Answer[In, Out any](name, subject string, handle func(context.Context, In) (Out, error)) Endpoint {
	takes, gives := reflect.TypeFor[In](), reflect.TypeFor[Out]()
	return Endpoint{
		Name: name, Subject: subject,
		Metadata: map[string]string{MetadataRequest: string(schemas.RequestSchema(takes)), MetadataReply: string(schemas.ReplySchema(gives))},
		Handle: func(ctx context.Context, r Request) ([]byte, error) {
			var request In
			if len(r.Body) > 0 {
				if err := decodeStrictly(r.Body, &request); err != nil {
					return nil, schemas.Faultf(schemas.CodeBadRequest, "the request is not the JSON that %s takes: %s", subject, whatIsWrong(err, takes))
				}
			}
			reply, err := handle(ctx, request)
			if err != nil {
				return nil, coded(err)
			}
			return json.Marshal(reply)
		},
	}
}

// decodeStrictly reads one JSON value and nothing behind it. A field that is
// misspelt would otherwise be a question that was never asked.
func decodeStrictly(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the value")
	}
	return nil
}

// whatIsWrong names the fields there are where one was given that is not.
func whatIsWrong(err error, takes reflect.Type) string {
	field, unknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	if !unknown {
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	fields := schemas.RequestFields(takes)
	if len(fields) == 0 {
		return "there is no field " + field + "; it takes none"
	}
	return "there is no field " + field + "; it takes " + strings.Join(fields, ", ")
}

// coded gives an error of the layers below the code a client can act on.
func coded(err error) error {
	var f schemas.Fault
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, ErrConflict):
		return schemas.Faultf(schemas.CodeConflict, "%v", err)
	case errors.Is(err, schemas.ErrInvalid), errors.Is(err, schemas.ErrUnknownType), errors.Is(err, schemas.ErrIDTooLong):
		return schemas.Faultf(schemas.CodeBadRequest, "%v", err)
	}
	return schemas.Faultf(schemas.CodeInternal, "%v", err)
}
