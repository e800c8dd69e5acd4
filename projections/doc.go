// Package projections turns the log into views that can be read: a runtime
// that feeds projectors from the log and keeps what they write in a store, and
// the views of Writ, one file each.
//
// It guarantees:
//
//   - A view is a function of the log. Its checkpoint is committed in the same
//     batch as its writes, so whatever the batch sizes and wherever the process
//     died, the view equals a single pass over the log, byte for byte. Deleting
//     the store changes no answer.
//   - A checkpoint that the log does not confirm (beyond its end, or another
//     event at its sequence) leads to a rebuild, never to skipped events.
//   - Readers see whole views only. A rebuild happens beside the view in use
//     and replaces it in one commit; a reader keeps the snapshot it opened.
//   - A projector that fails stops before the record it failed on, says which
//     event that was, and its last good view stays readable. A record that
//     cannot be decoded goes to the quarantine, once, and the view goes on.
//   - All events of one record become visible together.
//
// Where things are: projector.go what a view is, runner.go and take.go its life
// and its batches, generation.go builds beside the view in use, rebuild.go those
// that somebody asks for, quarantine.go what does not decode, status.go lag and
// troubles. The rest are the views.
//
// It does not: read the clock or draw random numbers for a view; order events
// of different streams (a projector that reads several must not depend on
// their interleaving); know the bus or the database, both of which it takes as
// interfaces; or recover by itself from a corrupt store, which
// pebblestore.OpenOrReset does before the runtime starts.
package projections
