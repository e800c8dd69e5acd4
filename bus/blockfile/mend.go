package blockfile

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// mendWork bounds how many bytes are hashed to find one wrong byte: a second or
// two.
const mendWork = 4 << 30

// mend returns the record that a stretch of the block is but for one wrong byte.
// The server's checksum has 64 bits, so that a record which fits by chance is not
// to be expected.
func (b *block) mend(from, to int, seq uint64) (whole []byte, done bool) {
	m := &mending{block: *b, seq: seq}
	m.body = bytes.Clone(b.body[from:to])
	if len(m.body) < leastRecord || len(m.body) > mostRecord {
		return nil, false
	}
	for _, try := range []func() bool{m.length, m.subject, m.headers, m.checksum, m.anyByte} {
		if try() {
			return m.body, true
		}
	}
	return nil, false
}

// mending is one record that somebody tries to put right. Each try leaves it as
// it was, or whole.
type mending struct {
	block
	seq uint64
}

func (m *mending) whole() bool {
	r, sound := m.at(0)
	return sound && r.size == len(m.body) && r.seq == m.seq && !r.erased && !r.deletion
}

// try holds whether a change of some bytes makes the record whole.
func (m *mending) try(at, n int, change func([]byte)) bool {
	was := bytes.Clone(m.body[at : at+n])
	change(m.body[at : at+n])
	if m.whole() {
		return true
	}
	copy(m.body[at:], was)
	return false
}

// length is known from where the next record begins.
func (m *mending) length() bool {
	for _, flag := range []uint32{hasHeaders, 0} {
		if m.try(0, 4, func(b []byte) { binary.LittleEndian.PutUint32(b, uint32(len(m.body))|flag) }) { //nolint:gosec // at most mostRecord
			return true
		}
	}
	return false
}

func (m *mending) subject() bool {
	for n := range min(len(m.body)-leastRecord, 1<<12) {
		if m.try(20, 2, func(b []byte) { binary.LittleEndian.PutUint16(b, uint16(n)) }) { //nolint:gosec // bounded above
			return true
		}
	}
	return false
}

// headers end at their first empty line.
func (m *mending) headers() bool {
	at := headSize + int(binary.LittleEndian.Uint16(m.body[20:]))
	if at+4 > len(m.body)-sumSize {
		return false
	}
	end := bytes.Index(m.body[at+4:], []byte("\r\n\r\n"))
	return end >= 0 && m.try(at, 4, func(b []byte) { binary.LittleEndian.PutUint32(b, uint32(end)+4) }) //nolint:gosec // within the record
}

// checksum finds one wrong byte in the checksum itself: the seven others hold.
func (m *mending) checksum() bool {
	stored := len(m.body) - sumSize
	right, fits := m.sumOf(m.body)
	if !fits {
		return false
	}
	differ := 0
	for i, c := range right {
		if c != m.body[stored+i] {
			differ++
		}
	}
	return differ == 1 && m.try(stored, sumSize, func(b []byte) { copy(b, right) })
}

// anyByte tries every value of every byte, or every bit where that is too much.
func (m *mending) anyByte() bool {
	size := uint64(len(m.body))
	values := 255
	if hi, work := bits.Mul64(size*size, 255); hi > 0 || work > mendWork {
		values = 8
	}
	if size*size*uint64(values) > mendWork { //nolint:gosec // 8 or 255
		return false
	}
	for i := range m.body {
		for v := 1; v <= values; v++ {
			change := byte(v) //nolint:gosec // at most 255
			if values == 8 {
				change = 1 << (v - 1)
			}
			if m.try(i, 1, func(b []byte) { b[0] ^= change }) {
				return true
			}
		}
	}
	return false
}
