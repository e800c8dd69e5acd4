package static

import (
	"math"

	"golang.org/x/sys/cpu"
)

var hasAVX2 = cpu.X86.HasAVX2

// addRows adds the values, which are signed bytes, of the rows that are picked,
// each times its weight. There are as many values a row as sums.
func addRows(sum []int64, values []byte, picked []int32, weights []int64) {
	if !hasAVX2 || len(sum)%32 != 0 || len(sum) == 0 || len(picked) == 0 {
		addRowsPortable(sum, values, picked, weights)
		return
	}
	weights = weights[:len(picked)]
	for i, row := range picked {
		_ = values[int(row)*len(sum) : (int(row)+1)*len(sum)]
		if weight := weights[i]; weight < 0 || weight > math.MaxInt32 { // the kernel multiplies 32 bits
			addRowsPortable(sum, values, picked, weights)
			return
		}
	}
	addRowsAVX2(&sum[0], &values[0], &picked[0], &weights[0], len(picked), len(sum))
}

//go:noescape
func addRowsAVX2(sum *int64, values *byte, picked *int32, weights *int64, rows, dim int)
