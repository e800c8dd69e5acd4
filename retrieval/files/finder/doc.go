// Package finder answers what a person or an agent asks about the files of one
// project: searches, and what to read for a task.
//
// Guarantees: an answer is of one snapshot of the index; the text of a hit is
// that of its lines, read when it is asked for; a file that changed since it was
// indexed makes the answer say that it is stale; nothing is read outside the
// project; a context never exceeds its budget and holds whole chunks.
//
// It keeps no index, records nothing, and does not choose the project.
package finder
