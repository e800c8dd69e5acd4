// Package evidence is what the tamper evidence of the log consists of, without
// the log: the leaf that stands for a record, the signed checkpoint of a
// stream, proofs that anybody with the public key can check, the files in which
// checkpoints and hashes are kept, and the comparison that names what was done
// to a stream.
//
// Each stream has a Merkle tree of its own (RFC 6962, section 2.1), since
// streams have no common order. Its leaf number i stands for the record with
// the stream sequence First+i, and hashes exactly this:
//
//	SHA-256(0x00 ‖ leaf)
//	leaf    = "writ.leaf.v1\n" ‖ text(subject) ‖ count ‖ header… ‖ text(body)
//	header  = text(name) ‖ text(value), ordered by name, values of one name in
//	          their order; count is their number
//	text(x) = the length of x in bytes ‖ x
//
// with numbers as unsigned varints (encoding/binary). Left out are the headers
// that begin with "Nats-Expected-", which say what an append expected and not
// what it wrote, and what no reader of the log is told: the order of headers of
// different names and the blanks between a header's colon and its value. The
// server's own time of receipt is no part of a record; the event's time is the
// header ce-time.
//
// A leaf holds a record as it is stored. What an observation says is stored
// sealed, so its leaf hashes ciphertext: erasing the key erases the text
// everywhere and changes no hash.
//
// It does not: read or write files, know the time, or make keys; nor can it
// tell who changed a record, only that it is not the one that was signed.
package evidence
