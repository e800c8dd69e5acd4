// Package turn answers the hooks of agents' hosts: it takes a call from a host's
// payload to the decision, to what the log acknowledged, and to the host's answer.
//
// It guarantees that an answer leaves only after the fact behind it was
// acknowledged by the log; that a call which cannot be decided is refused where
// its hook can refuse; that a call which a host makes twice counts once; and that
// a hook keeps to its budget; and that sessions take turns, so that the hooks of one,
// however many, keep none of another waiting for more than one of them, and what
// cannot be answered in time is refused at once (folder admission). It holds no policy: what may be written is the
// business of the parent package, which rules matter is retrieval's, and what a
// host understands is the host package's. Of other services it knows the
// interfaces that it declares.
//
// The way of a payload leads down and back, never up, through 15 packages at most.
// Each step names those that it is in:
//
//  1. bus has the request of a hook's process and calls [Service.Handle], here.
//  2. enforcement/host reads the payload into a call that is free of its host, which
//     then waits here for its session's turn.
//  3. enforcement/confine/runner finds the user's command in the line that Writ
//     put in its place.
//  4. enforcement/project has the project's settings, layout and files.
//  5. Here, a call that was answered already gets the same answer, and the kind of
//     the call says what follows; most kinds take one decision.
//  6. enforcement/session, behind [Sessions], locks the session and has bus.Decide
//     go through with the decision. What bus is handed for that are functions:
//     one loads the state, from a view of projections and from the events since
//     then, and one is this package's, over that state.
//  7. Here, the decision gathers its facts: enforcement/shell says what a command
//     does, enforcement/check which credentials a file would hold,
//     enforcement/confine/worktree what stands to be lost in a repository, and
//     enforcement/project what the approved files are.
//  8. enforcement decides: a verdict, and the events to be recorded.
//  9. retrieval/rulebook/index, behind [Rules], has retrieval find the rules for a
//     prompt or a file.
//  10. bus takes credentials out of the events and appends them, as schemas writes
//     them, at the place that the decision was made for; on a conflict, it goes
//     back to step 6.
//  11. Here, what has to wait for the record is done: a tree is remembered, a
//     memory and files are added.
//  12. enforcement/host writes the answer as the host understands it.
//
// observer/metrics, behind [Meter], times the steps.
package turn
