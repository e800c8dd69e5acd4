// Package blockfile reads the files in which nats-server keeps the records of a
// stream, finds what is damaged in them, and mends it while no server runs.
//
// It guarantees that a record is taken for sound only where the server's own
// checksum holds and its headers are whole; that a damaged file is kept aside
// before it is changed ([Repair]); that one wrong byte of a record is put right
// from the record's checksum, where the record is not long; and that records
// behind a damaged one stay where they are, under their sequences: what cannot be
// had again is replaced by the mark that the server itself writes for an erased
// record.
//
// It knows nothing of what records say, writes to no log, and reads no stream
// that is encrypted or compressed.
package blockfile
