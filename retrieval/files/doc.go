// Package files keeps the index of a project's files: it walks and reads
// them, has each change recorded, and publishes one immutable [Snapshot] after
// another.
//
// Guarantees: a snapshot is the same whatever led to it, a build from nothing
// or a thousand changes; its changes were recorded before it could be seen; a
// file that is as its folder said when it was read last is not read again, and
// one that changed in the same instant is. Nothing outside the project is read,
// whatever links say. What a person has to know of a file - unreadable, too
// large, not text - is counted and named, and stops nothing. An index that was
// saved is taken up where the log has its files in the same state, and is worth
// nothing else: without it, or with a damaged one, all files are read again.
//
// It does not know the log or the daemon: where changes are recorded, what time
// it is and what embeds texts is given to it.
package files
