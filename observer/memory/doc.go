// Package memory is the service of what is remembered: it takes observations and
// transcripts in, seals each under a key of its own, recalls what was allowed,
// reflects on it, and carries out what people want of it. What may become of an
// observation or a proposal is decided by its core, package observation: this
// package loads the state, hands it a command, erases keys, appends what was
// decided, and answers.
//
// Guarantees: an observation is acknowledged when it is in the log
// (TestObservationsAreRecalledByVerdict in the daemon); what is held or discarded
// is never recalled unasked, and what was forgotten by nobody
// (TestWhatIsKeptBackNeverSurfaces); a key is erased before the forgetting is
// recorded, so that a crash between leaves nothing readable; a failing classifier
// promotes nothing.
//
// It does not decide what a verdict is, when it may change, which merges there
// may be, nor what a secret is.
package memory
