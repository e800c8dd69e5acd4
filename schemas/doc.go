// Package schemas is the ground of Writ: the events that the log holds, the
// envelope they travel in, the subjects they are published on, and the
// requests and replies of the daemon's services.
//
// It guarantees that what was written stays readable: a type's name, its
// subject and its JSON field names are persisted and never change; a reshaped
// body is upcast on read, one step at a time, and the version number is the
// number of upcasts plus one. Decode never panics, whatever the bytes.
//
// It imports the standard library only, does no IO and reads no clock.
package schemas
