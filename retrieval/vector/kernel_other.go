//go:build !amd64

package vector

// dotCodes writes the dot product of the query with each row, which lie one
// after the other at the query's length, a multiple of lanes.
func dotCodes(out []int32, query, rows []int8) { dotCodesPortable(out, query, rows) }

// scorePicked writes, for the rows whose numbers are picked, the dot product of
// codes times the row's scale.
func scorePicked(out []float32, query, rows []int8, scales []float32, picked []int32) {
	scorePickedPortable(out, query, rows, scales, picked)
}

// sift writes the sieve's estimate of every row: the sum of products of codes
// with the query's, doubled, less bias and times its scale. It returns the
// largest. There are whole groups of rows.
func sift(estimates []float32, query []int8, rows []byte, scales []float32, bias int32) (most float32) {
	return siftPortable(estimates, query, rows, scales, bias)
}

// siftOver lists the views, numbered from first on, whose estimates by [sift] are
// at least bar, and these, and returns how many there are. There is room for all
// and a group more.
func siftOver(views []int32, values []float32, query []int8, rows []byte, scales []float32, bias, first int32, bar float32) int {
	return siftOverPortable(views, values, query, rows, scales, bias, first, bar)
}

// above sets bit i%64 of masks[i/64] for every estimate that is at least bar, and
// clears the rest. There are whole groups of estimates.
func above(masks []uint64, estimates []float32, bar float32) {
	abovePortable(masks, estimates, bar)
}

// dotRows writes the dot product of the query with each row of its length, added
// in eight fixed lanes, so that every processor gives the same bits.
func dotRows(out, query []float32, rows []*float32) { dotRowsPortable(out, query, rows) }
