//go:build !amd64

package static

// addRows adds the values, which are signed bytes, of the rows that are picked,
// each times its weight. There are as many values a row as sums.
func addRows(sum []int64, values []byte, picked []int32, weights []int64) {
	addRowsPortable(sum, values, picked, weights)
}
