// Package hub brings the copies of what may leave this machine to a hub, and is the
// hub's witness of what members brought.
//
// A member brings, for each stream of its log, batches of copies ([leaving]) to a subject
// of its own. Each expects the one before it to be the last there, and bears a signed
// checkpoint over all copies of the stream so far. The hub's last message is the cursor:
// whoever goes on reads it, draws its copies from the log anew and compares.
//
// It guarantees that in an epoch the hub has each copy once, in the order of the stream
// (TestMemberBringsEachCopyOnce), that nothing is brought before a person has accepted
// the list of what leaves, and that a log which is not the one that the hub has from
// this member – restored, copied, joined again – begins an epoch of its own, in which
// all is brought anew (TestARestoredLogBeginsAnEpoch). A daemon that finds a later
// epoch that it did not begin stops: of two with one name, one goes on
// (TestOneOfTwoGoesOn).
//
// The witness guarantees that it cosigns nothing that does not extend what it cosigned
// in the epoch, and that it names an epoch which does not go on from the one before
// (TestWitnessShowsForksAndRollbacks, TestAWitnessCosignsNothingForged). It does not vouch for what copies say.
package hub
