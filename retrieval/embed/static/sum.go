package static

// addRowPortable is [addRow] on any processor. Sums of products of integers are
// the same on all.
func addRowPortable(sum []int64, values []byte, weight int64) {
	sum = sum[:len(values)]
	for i, q := range values {
		sum[i] += weight * int64(int8(q))
	}
}
