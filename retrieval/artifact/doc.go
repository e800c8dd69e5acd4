// Package artifact is what the index of a project's own files consists of:
// documents with their metadata, chunks, symbols and references.
//
// Guarantees: everything here is a value. A [Document] is a function of a
// file's path, its state on disk and its bytes, and of which other paths the
// project has; the same project gives the same documents in every process,
// whatever the order in which its files were read. Paths are relative to the
// project's folder, with slashes, cleaned, and printable.
//
// It reads no files, watches none and ranks nothing: package files walks and reads,
// [github.com/writbus/writ/retrieval/artifact/search] finds.
package artifact
