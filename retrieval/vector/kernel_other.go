//go:build !amd64

package vector

// dotCodes writes the dot product of the query with each row, which lie one
// after the other at the query's length, a multiple of lanes.
func dotCodes(out []int32, query, rows []int8) { dotCodesPortable(out, query, rows) }

// dotPicked is [dotCodes] for the rows whose numbers are picked.
func dotPicked(out []int32, query, rows []int8, picked []int32) {
	dotPickedPortable(out, query, rows, picked)
}

// sift writes the sieve's estimate of every row: the sum of products of codes
// with the query's, doubled, less bias and times its scale. It returns the
// largest. There are whole groups of rows.
func sift(estimates []float32, query []int8, rows []byte, scales []float32, bias int32) (most float32) {
	return siftPortable(estimates, query, rows, scales, bias)
}

// above sets bit i%64 of masks[i/64] for every estimate that is at least bar, and
// clears the rest. There are whole groups of estimates.
func above(masks []uint64, estimates []float32, bar float32) {
	abovePortable(masks, estimates, bar)
}

// addLanes adds the products of values to the sum of their place modulo eight.
// The lengths are the same multiple of eight.
func addLanes(sums *[8]float32, a, b, _ []float32) { addLanesPortable(sums, a, b) }
