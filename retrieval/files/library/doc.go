// Package library is the service of projects' files: it keeps the indexes of the
// projects that somebody asks for, answers what is in them, and picks what goes
// with a session's first prompt.
//
// It guarantees that a search never sees half of a first build, that no session is
// given a chunk of a file twice, and that no prompt waits for an index: one that is
// not in memory is loaded for the next. The files of an index in memory are watched,
// or looked at before a search; an index that nobody asks for is saved and leaves
// memory after half an hour, or sooner where all together take too much. Without its saved indexes it reads the files again.
//
// How files are walked, read and indexed is package files', how an answer is found
// in an index is package finder's.
package library
