// Package benchmark measures how well and how fast the files of projects are
// found: judged queries in, figures with intervals out.
//
// Guarantees: the quality of a method depends on the documents, the queries, the
// embedder and the seed alone; every figure has a 95 % interval from a bootstrap
// over queries, every difference between methods one from a paired bootstrap.
// Durations come from the clock that is passed in. A relevant path that is not
// indexed counts as a miss and is listed.
//
// It reads no files and prints nothing: it takes readers and writers.
package benchmark
