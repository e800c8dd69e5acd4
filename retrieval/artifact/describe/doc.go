// Package describe makes a document of a file: its type, title, summary, tags,
// phase and language, from its path, its front matter and what it says.
//
// Guarantees: the same file gives the same document in every process; front
// matter goes before the path and the path before the content; front matter
// that is no YAML is text like any other. Bytes that are not UTF-8 are replaced
// and counted, never dropped.
//
// It does not read files or decide which are indexed; it says of one whether a
// program wrote it and whether it is binary.
package describe
