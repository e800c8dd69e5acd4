package search

import "encoding/binary"

// A posting is a document that holds a term. Encoded; persisted; never change
// without formatVersion:
//
//	gap     uvarint   to the document before, the first from −1
//	head    1 byte    low half: a bit for each field but content that holds it;
//	                  high half: chunks that hold it, 15 for as many or more
//	counts  a byte for each such bit: how often, 255 for as often or more
//	chunks  uvarint   only if the high half is 15
//	chunk   uvarint, for each: gap to the one before within the document,
//	                  doubled, and 1 if the term stands there more than once
//	often   uvarint   only in that case
//
// What follows the gap is the payload, the same in every segment.
const manyChunks = 15

// varint reads an unsigned integer of up to 35 bits.
func varint(b []byte, at int) (uint32, int) {
	v := b[at]
	if v < 0x80 {
		return uint32(v), at + 1
	}
	x, n := binary.Uvarint(b[at:])
	return uint32(x), at + max(n, 1)
}

// skipPayload returns where the payload at a place ends.
func skipPayload(b []byte, at int) int {
	head := b[at]
	at++
	for mask := head & 15; mask != 0; mask &= mask - 1 {
		at++
	}
	n := uint32(head >> 4)
	if n == manyChunks {
		n, at = varint(b, at)
	}
	for ; n > 0; n-- {
		var v uint32
		if v, at = varint(b, at); v&1 != 0 {
			_, at = varint(b, at)
		}
	}
	return at
}
