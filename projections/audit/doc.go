// Package audit is the view that makes the log tamper-evident: a Merkle
// tree over each stream (RFC 6962), kept as tiles of 256 hashes, and the ids of
// the records beside them. Package evidence says what a leaf hashes and what
// is made of a tree.
//
// It guarantees: a tree is a function of its stream alone; the hash of a record
// is of the record as it is stored, whether anybody can decode it or not; and
// what a tree said of its first n records never changes while it grows.
//
// It does not sign or keep checkpoints, which package ledger does, or compare the
// log with the tree, which package verify does; and it is a view like any other, so that one who can
// change the log can also have it built anew. What it said before is kept
// outside, in signed checkpoints.
package audit
