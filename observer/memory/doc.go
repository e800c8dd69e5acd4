// Package memory is the service of what is remembered: it takes observations and
// transcripts in, lets the write gate of package observation judge them, seals
// each under a key of its own, recalls what was allowed, reflects on it, and
// hands what it found to a person.
//
// Guarantees: an observation is acknowledged when it is in the log
// (TestObservationsAreRecalledByVerdict in the daemon); what is held or discarded
// is never recalled unasked, and what was forgotten by nobody
// (TestWhatIsKeptBackNeverSurfaces); a failing classifier promotes nothing.
//
// It does not decide what a verdict is, nor what a secret is.
package memory
