// Package schemas is the ground of Writ: the events that the log holds, the
// envelope they travel in, the subjects they are published on, and the
// requests and replies of the daemon's services.
//
// It guarantees that what was written stays readable: a type's name, its
// subject and its JSON field names are persisted and never change; a reshaped
// body is upcast on read, one step at a time, and the version number is the
// number of upcasts plus one. Decode never panics, whatever the bytes.
//
// It does no IO, reads no clock, and imports the standard library and one other:
// go-json-experiment, which becomes the standard library's encoding/json/v2.
// With the semantics of encoding/json it reads an event in half of its time.
package schemas
