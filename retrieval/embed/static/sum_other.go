//go:build !amd64

package static

// addRow adds a row's values, which are signed bytes, times a weight.
func addRow(sum []int64, values []byte, weight int64) { addRowPortable(sum, values, weight) }
