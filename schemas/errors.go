package schemas

import "errors"

var (
	// ErrUnknownType is returned by Decode and ParseType for a type that this
	// build does not know: a message of a newer Writ or of somebody else.
	ErrUnknownType = errors.New("schemas: unknown event type")
	// ErrFutureVersion is returned by Decode for a body newer than this build
	// can read. The message is left alone; a newer Writ will read it.
	ErrFutureVersion = errors.New("schemas: event version is newer than this build")
	// ErrMalformed is returned by Decode for headers or a body that do not
	// have the shape their type promises.
	ErrMalformed = errors.New("schemas: malformed event")
	// ErrInvalid is returned by Encode and Validate for an event that must not
	// be written: a missing id, a wrong aggregate, a required field left empty.
	ErrInvalid = errors.New("schemas: invalid event")
	// ErrIDTooLong is returned where an aggregate's id exceeds MaxIDBytes.
	ErrIDTooLong = errors.New("schemas: id is too long")
	// ErrBadToken is returned by DecodeToken for a token that EncodeToken
	// cannot have made.
	ErrBadToken = errors.New("schemas: not an encoded subject token")
)
