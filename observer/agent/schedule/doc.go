// Package schedule is the life of a schedule, a message of an agent to itself at
// a later time: [Parse] reads its phrase as a [Plan] that says when it fires,
// [Evolve] folds its events into a [State], and [Decide] answers a [Command] on
// that state with what is to be recorded. All of it is pure: no clock is read,
// and a plan read again from the log fires at the same moments.
//
// What holds of plans:
//
//  1. Parse refuses what it does not understand, with the reason, and never
//     guesses. FuzzParse, TestRefusals.
//  2. Every fire of a plan lies after the moment the phrase was given, and Next
//     is strictly increasing. TestNextIncreases.
//  3. Due gives each moment once, whatever the restarts, and joins those that
//     were missed. TestEachFireOnce.
//
// What holds of every state:
//
//  4. It begins with what was added, which never changes; what comes before it
//     changes nothing. TestASchedulesFirstEventAddsIt.
//  5. Seq is the sequence of the last event that it was folded from. TestModel.
//
// What holds of every state that decisions led to, besides (TestModel):
//
//  6. One that is cancelled or over stays so, and nothing more is recorded of it.
//  7. One that is paused does not fire. A recurring one that is resumed goes on
//     from there; a single one makes up for what it missed.
//  8. Fires are due when they are recorded, and each lies after the one before.
//  9. A decision records one event or none, and a refusal records none. An agent
//     is refused the schedules of others as if there were none.
//
// A time of day that the zone skips fires as much later as the clock was put
// forward; one that occurs twice fires the first time. Days and weeks after
// "in" are 24 hours and seven times that.
//
// Not here: the log, the timer that waits, and the runs that fires start.
package schedule
