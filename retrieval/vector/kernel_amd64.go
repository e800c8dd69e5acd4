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

// scorePicked writes, for the rows whose numbers are picked, the dot product of
// codes times the row's scale. One call for many, so that the processor waits for
// their memory at the same time.
func scorePicked(out []float32, query, rows []int8, scales []float32, picked []int32) {
	if !hasAVX2 || len(query) == 0 || len(picked) == 0 {
		scorePickedPortable(out, query, rows, scales, picked)
		return
	}
	n := min(len(scales), len(rows)/len(query))
	for _, row := range picked {
		_ = scales[:n][row]
	}
	_ = out[:len(picked)]
	if hasVNNI && len(query)%64 == 0 {
		bias := int32(0)
		for _, c := range query {
			bias += 128 * int32(c)
		}
		scorePickedVNNI(&out[0], &query[0], &rows[0], &scales[0], len(query), &picked[0], len(picked), bias)
		return
	}
	scorePickedAVX2(&out[0], &query[0], &rows[0], &scales[0], len(query), &picked[0], len(picked))
}

//go:noescape
func scorePickedAVX2(out *float32, query, rows *int8, scales *float32, stride int, picked *int32, n int)

//go:noescape
func scorePickedVNNI(out *float32, query, rows *int8, scales *float32, stride int, picked *int32, n int, bias int32)

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

// siftOver lists the views, numbered from first on, whose estimates by [sift] are
// at least bar, and these, and returns how many there are. There is room for all
// and a group more.
func siftOver(views []int32, values []float32, query []int8, rows []byte, scales []float32, bias, first int32, bar float32) int {
	groups, blocks := len(scales)/sieveGroup, len(query)/sieveBlock
	if !hasVNNI || groups == 0 || blocks == 0 {
		return siftOverPortable(views, values, query, rows, scales, bias, first, bar)
	}
	_, _ = views[:(groups+1)*sieveGroup], values[:(groups+1)*sieveGroup]
	_ = rows[:groups*sieveGroup*blocks*sieveRow]
	return siftOverVNNI(&views[0], &values[0], &query[0], &rows[0], &scales[0], blocks, groups, bias, first, bar)
}

//go:noescape
func siftOverVNNI(views *int32, values *float32, query *int8, rows *byte, scales *float32, blocks, groups int, bias, first int32, bar float32) int

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

// dotRows writes the dot product of the query with each row of its length, added
// in eight fixed lanes, so that every processor gives the same bits.
func dotRows(out, query []float32, rows []*float32) {
	if !hasAVX2 || len(query) == 0 || len(query)%16 != 0 || len(rows) == 0 {
		dotRowsPortable(out, query, rows)
		return
	}
	_ = out[:len(rows)]
	dotRowsAVX2(&out[0], &query[0], &rows[0], len(query), len(rows))
}

//go:noescape
func dotRowsAVX2(out, query *float32, rows **float32, dim, n int)
