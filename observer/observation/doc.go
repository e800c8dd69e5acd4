// Package observation is the core of what is remembered. Its write gate reads what
// an observer wrote about an observation, decides allow, hold or discard, and says
// what may flow on. [Evolve] folds the events of an observation into a [State],
// and [Decide] answers a [Command] on that state with what is to be recorded;
// [EvolveProposal] and [DecideProposal] do so for what reflection proposes. Views
// and decisions share the fold. The comment of State numbers what holds of it.
//
// An observer puts its verdict in front of the observation, after at most one
// bullet and one priority mark:
//
//	🟡 [gate=hold confidence=0.8 category=jc:operations reason="short words"] text
//
// It is pure: no input or output, no clock, no randomness; the same bytes
// always give the same verdict, and any bytes give one.
//
// Guaranteed:
//
//   - Nothing is lost. Record keeps the bytes as they came beside the cleaned
//     text, whatever the verdict. TestNothingIsLost, FuzzGate.
//   - The gate fails open. What it cannot read is allowed at confidence 0.35,
//     marked as a fallback, with one of five named reasons. TestFallbacks.
//   - A stated hold or discard becomes an allow by those fallbacks only, and is
//     never invented. TestStatedVerdictStands, TestVerdictsAreStated.
//   - The text loses markers and annotation only where an annotation follows
//     the markers, and otherwise surrounding white space alone; a byte that is
//     no UTF-8 reads as U+FFFD there, so that the record survives JSON
//     unchanged. TestNothingIsLost, TestRecordSurvivesTheCodec.
//   - Only allow, or no verdict at all, is reflected on or recalled unasked.
//     TestEligibility.
//   - A sealed observation opens with its own key to what it was, and with
//     nothing else. FuzzSeal, TestOnlyItsOwnKeyOpensAnObservation.
//   - An alarm of drift is raised once until it is over. TestDriftsFireOnce.
//   - Of a transcript only annotated lines of the assistant are observations.
//     TestTranscript, FuzzTranscript.
//
// Not here: the classifier that writes annotations (package classify), the forms
// of secrets (enforcement/redact), keys, the log, the index and the model (package
// memory, the service that carries decisions out), and the counting of verdicts
// (package projections).
package observation
