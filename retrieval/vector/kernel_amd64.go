package vector

import "golang.org/x/sys/cpu"

var (
	hasAVX2 = cpu.X86.HasAVX2
	hasVNNI = hasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VNNI
)

// dotCodes writes the dot product of the query with each row, which lie one
// after the other at the query's length, a multiple of lanes. Codes are −127 to
// 127: −128 would overflow.
func dotCodes(out []int32, query, rows []int8) {
	if !hasAVX2 || len(query) == 0 || len(out) == 0 {
		dotCodesPortable(out, query, rows)
		return
	}
	_ = rows[:len(out)*len(query)]
	dotCodesAVX2(&out[0], &query[0], &rows[0], len(query), len(out))
}

//go:noescape
func dotCodesAVX2(out *int32, query, rows *int8, stride, n int)

// dotPicked is [dotCodes] for the rows whose numbers are picked. One call for
// many, so that the processor waits for their memory at the same time.
func dotPicked(out []int32, query, rows []int8, picked []int32) {
	if !hasAVX2 || len(query) == 0 || len(picked) == 0 {
		dotPickedPortable(out, query, rows, picked)
		return
	}
	for _, row := range picked {
		_ = rows[int(row)*len(query) : (int(row)+1)*len(query)]
	}
	_ = out[:len(picked)]
	dotPickedAVX2(&out[0], &query[0], &rows[0], len(query), &picked[0], len(picked))
}

//go:noescape
func dotPickedAVX2(out *int32, query, rows *int8, stride int, picked *int32, n int)

// siftRows sets bit i%64 of masks[i/64] for every row of the sieve whose sum of
// products of codes with the query's, doubled, less bias and times its scale, is
// at least bar, and clears the rest. There are whole groups of rows.
func siftRows(masks []uint64, query []int8, rows []byte, scales []float32, bias int32, bar float32) {
	groups, blocks := len(scales)/sieveGroup, len(query)/sieveBlock
	if !hasAVX2 || groups == 0 || blocks == 0 {
		siftPortable(masks, query, rows, scales, bias, bar)
		return
	}
	_ = masks[:(groups+3)/4]
	_ = rows[:groups*sieveGroup*blocks*sieveRow]
	masks[(groups-1)/4] = 0 // its last groups may not be there
	if hasVNNI {
		siftVNNI(&masks[0], &query[0], &rows[0], &scales[0], blocks, groups, bias, bar)
		return
	}
	siftAVX2(&masks[0], &query[0], &rows[0], &scales[0], blocks, groups, bias, bar)
}

//go:noescape
func siftVNNI(masks *uint64, query *int8, rows *byte, scales *float32, blocks, groups int, bias int32, bar float32)

//go:noescape
func siftAVX2(masks *uint64, query *int8, rows *byte, scales *float32, blocks, groups int, bias int32, bar float32)

// addLanes adds the products of values to the sum of their place modulo eight.
// The lengths are the same multiple of eight.
func addLanes(sums *[8]float32, a, b []float32) {
	if !hasAVX2 || len(a) == 0 {
		addLanesPortable(sums, a, b)
		return
	}
	_ = b[:len(a)]
	addLanesAVX2(sums, &a[0], &b[0], len(a))
}

//go:noescape
func addLanesAVX2(sums *[8]float32, a, b *float32, n int)
