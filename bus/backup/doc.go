// Package backup copies a data folder whose log is being written, and puts a
// copy back.
//
// It guarantees that a backup is one moment of all streams, the one that a
// process killed then would have left; that its signed evidence is of no record
// that it lacks, and its keys open every observation that it has, but those that
// were forgotten meanwhile; that a folder that looks like a backup is whole,
// since it is renamed into place last; and that nothing is restored of which one
// byte is not what was written.
//
// It copies no view and takes no lock on the folder it copies. It does not
// encrypt: a backup holds the keys in the clear.
package backup
