// Package relocate says where the log of a data directory lies, brings it to another place,
// and keeps daemons from writing to one that it left.
//
// A log lies here, in the streams of the daemon's own server, or on a NATS of somebody
// else, in streams that belong to it alone and bear its labels. A move has steps: both
// places are reached and looked at, the old one is noted as left, the log says so in an
// event, a NATS that is left takes no more events, the streams are copied as the server's snapshots, both are read and compared,
// and one file is written, after which the log lies at the new place. Killed at any
// moment, the log lies whole where that file says, and the same move goes on.
//
// It guarantees that sequences, times, bytes and so the tree over them are the same
// (TestMove), that of two places one takes events (TestStaleCopyIsRefused), and that no
// daemon goes on with streams of another one that still answers
// (TestStreamsOfAnotherAreRefused), and that a place which cannot be had changes nothing
// (TestAMoveThatReachesNothingChangesNothing), and that what a move left is told
// (TestWhatAMoveLeftIsTold). It does not know what disks a NATS has.
package relocate
