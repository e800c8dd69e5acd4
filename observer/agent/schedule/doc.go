// Package schedule reads the phrases of /schedule and says when they fire.
//
// A phrase is read once, with the moment it was given and a zone; everything
// that follows is computed from that, so a plan read again from the log fires
// at the same moments. No clock is read.
//
// Guaranteed:
//
//   - Parse refuses what it does not understand, with the reason, and never
//     guesses. FuzzParse, TestRefusals.
//   - Every fire of a plan lies after the moment the phrase was given, and Next
//     is strictly increasing. TestNextIncreases.
//   - Due gives each moment once, whatever the restarts, and joins those that
//     were missed. TestEachFireOnce.
//
// A time of day that the zone skips fires as much later as the clock was put
// forward; one that occurs twice fires the first time. Days and weeks after
// "in" are 24 hours and seven times that.
//
// Not here: list, cancel, pause and resume, the log that remembers plans, and
// the timer that waits.
package schedule
