package vector

import "unsafe"

// lanes is how many codes the kernel takes at once: rows are padded to it with
// zeros, which add nothing.
const lanes = 32

func padded(dim int) int { return (dim + lanes - 1) / lanes * lanes }

// dotCodesPortable is [dotCodes] on any processor. Sums of products of codes
// are whole numbers, so both give the same.
func dotCodesPortable(out []int32, query, rows []int8) {
	for i := range out {
		row := rows[i*len(query) : (i+1)*len(query)]
		var s0, s1, s2, s3 int32
		q := query
		for len(q) >= 4 && len(row) >= 4 {
			s0 += int32(q[0]) * int32(row[0])
			s1 += int32(q[1]) * int32(row[1])
			s2 += int32(q[2]) * int32(row[2])
			s3 += int32(q[3]) * int32(row[3])
			q, row = q[4:], row[4:]
		}
		out[i] = s0 + s1 + s2 + s3
	}
}

// scorePickedPortable is [scorePicked] on any processor.
func scorePickedPortable(out []float32, query, rows []int8, scales []float32, picked []int32) {
	var sum [1]int32
	for i, row := range picked {
		dotCodesPortable(sum[:], query, rows[int(row)*len(query):(int(row)+1)*len(query)])
		out[i] = float32(sum[0]) * scales[row]
	}
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
