package vector

import (
	"encoding/binary"
	"unsafe"
)

// lanes is how many codes the kernel takes at once: rows are padded to it with
// zeros, which add nothing.
const lanes = 32

func padded(dim int) int { return (dim + lanes - 1) / lanes * lanes }

// dotCodesPortable is [dotCodes] on any processor. Sums of products of codes
// are whole numbers, so both give the same.
func dotCodesPortable(out []int32, query, rows []int8) {
	q := pairCodes(query)
	for i := range out {
		out[i] = q.dot(rows[i*len(query):][:len(query)])
	}
}

// scorePickedPortable is [scorePicked] on any processor.
func scorePickedPortable(out []float32, query, rows []int8, scales []float32, picked []int32) {
	q := pairCodes(query)
	for i, row := range picked {
		out[i] = float32(q.dot(rows[int(row)*len(query):][:len(query)])) * scales[row]
	}
}

// paired is a query of which one multiplication takes two codes: the upper half of
// (a + b·2^32)·(d + c·2^32) is a·c + b·d. Rows are raised by 128 for it.
type paired struct {
	codes  [][4]int64 // of eight: each of the first four with the one four on
	raised int32      // what raised rows give too much
}

func pairCodes(query []int8) paired {
	q := paired{codes: make([][4]int64, len(query)/8)}
	for i := range q.codes {
		for j := range 4 {
			first, second := query[8*i+j], query[8*i+j+4]
			q.codes[i][j] = int64(first)<<32 + int64(second)
			q.raised += 128 * (int32(first) + int32(second))
		}
	}
	return q
}

func (q paired) dot(row []int8) int32 {
	const raise, pair = 0x8080808080808080, 0x000000ff000000ff
	var a, b, c, d int64
	eights := unsafe.Slice((*[8]byte)(unsafe.Pointer(unsafe.SliceData(row))), len(row)/8)[:len(q.codes)]
	for i, codes := range q.codes {
		v := binary.LittleEndian.Uint64(eights[i][:]) ^ raise
		a += int64(v&pair) * codes[0]
		b += int64(v>>8&pair) * codes[1]
		c += int64(v>>16&pair) * codes[2]
		d += int64(v>>24&pair) * codes[3]
	}
	sum := a + b + c + d
	return int32((sum-int64(int32(sum)))>>32) - q.raised
}

// dotRowsPortable is [dotRows] on any processor, and for any length.
func dotRowsPortable(out, query []float32, rows []*float32) {
	for i, row := range rows {
		out[i] = Dot(query, unsafe.Slice(row, len(query)))
	}
}

// Dot is the dot product of two vectors of one length. It adds in eight lanes, what
// is left over to the first.
func Dot(a, b []float32) float32 {
	var s [8]float32
	b = b[:len(a)]
	for len(a) >= 8 && len(b) >= 8 {
		s[0] += float32(a[0] * b[0])
		s[1] += float32(a[1] * b[1])
		s[2] += float32(a[2] * b[2])
		s[3] += float32(a[3] * b[3])
		s[4] += float32(a[4] * b[4])
		s[5] += float32(a[5] * b[5])
		s[6] += float32(a[6] * b[6])
		s[7] += float32(a[7] * b[7])
		a, b = a[8:], b[8:]
	}
	for i := range a {
		s[0] += float32(a[i] * b[i])
	}
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}
