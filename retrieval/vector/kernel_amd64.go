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

// sift writes the sieve's estimate of every row: the sum of products of codes
// with the query's, doubled, less bias and times its scale. It returns the
// largest. There are whole groups of rows.
func sift(estimates []float32, query []int8, rows []byte, scales []float32, bias int32) (most float32) {
	groups, blocks := len(estimates)/sieveGroup, len(query)/sieveBlock
	if !hasAVX2 || groups == 0 || blocks == 0 {
		return siftPortable(estimates, query, rows, scales, bias)
	}
	_ = scales[:groups*sieveGroup]
	_ = rows[:groups*sieveGroup*blocks*sieveRow]
	if hasVNNI {
		return siftVNNI(&estimates[0], &query[0], &rows[0], &scales[0], blocks, groups, bias)
	}
	return siftAVX2(&estimates[0], &query[0], &rows[0], &scales[0], blocks, groups, bias)
}

//go:noescape
func siftVNNI(estimates *float32, query *int8, rows *byte, scales *float32, blocks, groups int, bias int32) (most float32)

//go:noescape
func siftAVX2(estimates *float32, query *int8, rows *byte, scales *float32, blocks, groups int, bias int32) (most float32)

// above sets bit i%64 of masks[i/64] for every estimate that is at least bar, and
// clears the rest. There are whole groups of estimates.
func above(masks []uint64, estimates []float32, bar float32) {
	if !hasAVX2 || len(estimates) < sieveGroup {
		abovePortable(masks, estimates, bar)
		return
	}
	masks = masks[:(len(estimates)+63)/64]
	masks[len(masks)-1] = 0 // its last groups may not be there
	aboveAVX2(&masks[0], &estimates[0], len(estimates)/8, bar)
}

//go:noescape
func aboveAVX2(masks *uint64, estimates *float32, eights int, bar float32)

// addLanes adds the products of values to the sum of their place modulo eight.
// The lengths are the same multiple of eight. Meanwhile it fetches next, which
// may be anything as long.
func addLanes(sums *[8]float32, a, b, next []float32) {
	if !hasAVX2 || len(a) == 0 {
		addLanesPortable(sums, a, b)
		return
	}
	_, _ = b[:len(a)], next[:len(a)]
	addLanesAVX2(sums, &a[0], &b[0], &next[0], len(a))
}

//go:noescape
func addLanesAVX2(sums *[8]float32, a, b, next *float32, n int)
