// Package benchmark measures rule retrieval: how good its answers are on judged
// queries, how often it injects rules into prompts that ask for none, and how
// fast it is on texts it has never seen, at the size of the corpus and on grown
// ones.
//
// Guarantees: quality depends on the rules, the truth, the embedder, the
// profile and the seed alone; every figure has an interval from a bootstrap
// that resamples whole targets, so that ten wordings of one question are not
// ten answers. Durations come from the clock that is passed in.
//
// It reads no files and prints nothing: it takes readers and writers.
package benchmark
