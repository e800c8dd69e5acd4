package blockfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"

	"github.com/minio/highwayhash"
)

// The server's layout of a record (nats-server, server/filestore.go): length,
// sequence, time, length of the subject, subject, length of the headers where
// there are any, headers, body, checksum. Numbers are little endian.
const (
	headSize    = 22
	sumSize     = 8
	leastRecord = headSize + sumSize
	mostRecord  = 32 << 20

	hasHeaders = 1 << 31 // in the length
	isErased   = 1 << 63 // in the sequence: what stood here was erased
	isDeletion = 1 << 62 // in the sequence: another record was deleted
)

// block is one file of records.
type block struct {
	index int
	path  string
	body  []byte
	sum   hash.Hash64
}

func newBlock(stream string, index int, path string, body []byte) (*block, error) {
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", stream, index))
	sum, err := highwayhash.New64(key[:])
	return &block{index: index, path: path, body: body, sum: sum}, err
}

// record is where a sound record stands in a block.
type record struct {
	at, size int
	seq      uint64
	time     int64
	erased   bool
	deletion bool
}

// at reads the record that begins at a place, if it is sound.
func (b *block) at(i int) (r record, sound bool) {
	if i+leastRecord > len(b.body) {
		return r, false
	}
	head := b.body[i : i+headSize]
	length := binary.LittleEndian.Uint32(head)
	size, subject := int(length&^hasHeaders), int(binary.LittleEndian.Uint16(head[20:]))
	if size < leastRecord || size > mostRecord || i+size > len(b.body) {
		return r, false
	}
	sum, fits := b.sumOf(b.body[i : i+size])
	if !fits || !bytes.Equal(sum, b.body[i+size-sumSize:i+size]) {
		return r, false
	}
	data := b.body[i+headSize : i+size-sumSize]
	seq := binary.LittleEndian.Uint64(head[4:])
	r = record{
		at: i, size: size, seq: seq &^ (isErased | isDeletion), time: int64(binary.LittleEndian.Uint64(head[12:])), //nolint:gosec // as the server has it
		erased: seq&isErased != 0, deletion: seq&isDeletion != 0,
	}
	if r.erased || r.deletion {
		return r, true
	}
	// The checksum leaves out how long the headers are.
	return r, subject > 0 && (length&hasHeaders == 0 || headersEnd(data[subject:]))
}

// headersEnd says whether headers are as long as the number before them says.
func headersEnd(data []byte) bool {
	n := uint64(binary.LittleEndian.Uint32(data))
	data = data[4:]
	return n <= uint64(len(data)) && bytes.HasPrefix(data, []byte("NATS/1.0")) && bytes.Index(data, []byte("\r\n\r\n"))+4 == int(n) //nolint:gosec // within data
}

// partsOf cuts a sound record.
func partsOf(raw []byte) (subject, header, body []byte) {
	n := int(binary.LittleEndian.Uint16(raw[20:]))
	data := raw[headSize : len(raw)-sumSize]
	subject, data = data[:n], data[n:]
	if binary.LittleEndian.Uint32(raw)&hasHeaders == 0 {
		return subject, nil, data
	}
	n = int(binary.LittleEndian.Uint32(data))
	return subject, data[4 : 4+n], data[4+n:]
}

// assembled is a record, without its checksum, that begins as another one does.
func assembled(head, subject, header, body []byte) []byte {
	raw := append(bytes.Clone(head), subject...)
	flag := uint32(0)
	if len(header) > 0 {
		flag = hasHeaders
		raw = append(binary.LittleEndian.AppendUint32(raw, uint32(len(header))), header...) //nolint:gosec // at most mostRecord
	}
	raw = append(append(raw, body...), make([]byte, sumSize)...)
	binary.LittleEndian.PutUint32(raw, uint32(len(raw))|flag) //nolint:gosec // at most mostRecord
	return raw
}

// sumOf is the checksum of a record of some length, and whether its parts fit into
// that.
func (b *block) sumOf(raw []byte) (sum []byte, fits bool) {
	subject := int(binary.LittleEndian.Uint16(raw[20:]))
	data, rest := raw[headSize:len(raw)-sumSize], subject
	if binary.LittleEndian.Uint32(raw)&hasHeaders != 0 {
		rest += 4
	}
	if rest > len(data) {
		return nil, false
	}
	b.sum.Reset()
	for _, part := range [...][]byte{raw[4:20], data[:subject], data[rest:]} {
		_, _ = b.sum.Write(part) // a hash takes every write
	}
	return b.sum.Sum(nil), true
}

// next is where the first sound record behind a damaged one begins, or the end.
func (b *block) next(damaged int, after uint64) int {
	follows := func(i int) bool {
		r, sound := b.at(i)
		return sound && r.seq > after
	}
	if damaged+headSize <= len(b.body) {
		stated := damaged + int(binary.LittleEndian.Uint32(b.body[damaged:])&^hasHeaders)
		if stated > damaged && stated < len(b.body) && follows(stated) {
			return stated
		}
	}
	for i := damaged + 1; i+leastRecord <= len(b.body); i++ {
		// The highest bytes of a sequence and of a length are 0, which spares
		// nearly all checksums.
		if b.body[i+10] == 0 && b.body[i+3]&^(hasHeaders>>24) <= mostRecord>>24 && follows(i) {
			return i
		}
	}
	return len(b.body)
}

// erasure is the server's mark that a record was erased.
func (b *block) erasure(seq uint64, time int64) []byte {
	mark := make([]byte, leastRecord)
	binary.LittleEndian.PutUint32(mark, leastRecord)
	binary.LittleEndian.PutUint64(mark[4:], seq|isErased)
	binary.LittleEndian.PutUint64(mark[12:], uint64(time)) //nolint:gosec // as the server has it
	return b.adopt(mark)
}

// adopt returns a record with the checksum that it has in this block.
func (b *block) adopt(raw []byte) []byte {
	own := bytes.Clone(raw)
	if sum, fits := b.sumOf(own); fits {
		copy(own[len(own)-sumSize:], sum)
	}
	return own
}
