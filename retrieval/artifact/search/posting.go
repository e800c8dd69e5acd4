package search

import (
	"encoding/binary"
	"math/bits"
)

// A posting is a document that holds a term. Encoded; persisted; never change
// without formatVersion:
//
//	gap     uvarint   to the document before, the first from −1
//	head    1 byte    low half: a bit for each field but content that holds it;
//	                  high half: chunks that hold it, 15 for as many or more
//	counts  a byte for each such bit: how often, 255 for as often or more
//	chunks  uvarint   only if the high half is 15
//	often   uvarint   in all chunks together; with size, only if they are several
//	size    uvarint   bytes of what follows, so that it can be passed over
//	chunk   uvarint, for each: gap to the one before within the document,
//	                  doubled, and 1 if the term stands there more than once
//	times   uvarint   only in that case: how often in this chunk
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

// reading is where the reading of a list of postings stands.
type reading struct {
	b       []byte
	doc     int32 // that was read last, −1 before the first
	payload int   // where its payload begins
	next    int   // where the next posting begins
}

// to reads on to the first posting of a document or of one behind it, and says
// whether it is that of the document.
func (r *reading) to(doc int32) bool {
	for r.doc < doc && r.next < len(r.b) {
		gap, payload := varint(r.b, r.next)
		r.doc += int32(gap)
		r.payload, r.next = payload, skipPayload(r.b, payload)
	}
	return r.doc == doc
}

// skipPayload returns where the payload at a place ends.
func skipPayload(b []byte, at int) int {
	head := b[at]
	_, at = inChunks(b, at+1+bits.OnesCount8(head&(1<<Content-1)), uint32(head>>4))
	return at
}

// chunkCount reads how many chunks hold the term, of which the head says so
// many, and where the chunks begin.
func chunkCount(b []byte, at int, n uint32) (chunks uint32, begin int) {
	if n == manyChunks {
		n, at = varint(b, at)
	}
	if n > 1 {
		_, at = varint(b, at)
		_, at = varint(b, at)
	}
	return n, at
}

// chunkWalk walks the chunks of a payload.
type chunkWalk struct {
	b            []byte
	at           int
	left         uint32
	chunk, times uint32 // its place in the document, and how often the term stands in it
}

func walkChunks(b []byte, at int) chunkWalk {
	head := b[at]
	n, at := chunkCount(b, at+1+bits.OnesCount8(head&(1<<Content-1)), uint32(head>>4))
	return chunkWalk{b: b, at: at, left: n}
}

func (w *chunkWalk) next() bool {
	if w.left == 0 {
		return false
	}
	w.left--
	var x uint32
	x, w.at = varint(w.b, w.at)
	w.chunk += x >> 1
	if w.times = 1; x&1 != 0 {
		w.times, w.at = varint(w.b, w.at)
	}
	return true
}

// inChunks reads how often the term stands in a document's chunks together, of
// which the head counts n, and where the payload ends.
func inChunks(b []byte, at int, n uint32) (often uint32, end int) {
	if n == manyChunks {
		n, at = varint(b, at)
	}
	switch {
	case n == 0:
		return 0, at
	case n == 1:
		x, at := varint(b, at)
		if x&1 == 0 {
			return 1, at
		}
		return varint(b, at)
	}
	often, at = varint(b, at)
	size, at := varint(b, at)
	return often, at + int(size)
}
