package static

// addRowsPortable is [addRows] on any processor. Sums of products of integers are
// the same on all.
func addRowsPortable(sum []int64, values []byte, picked []int32, weights []int64) {
	for i, row := range picked {
		weight := weights[i]
		for j, q := range values[int(row)*len(sum) : (int(row)+1)*len(sum)] {
			sum[j] += weight * int64(int8(q))
		}
	}
}
