package static

import (
	"math"

	"golang.org/x/sys/cpu"
)

var hasAVX2 = cpu.X86.HasAVX2

// addRow adds a row's values, which are signed bytes, times a weight.
func addRow(sum []int64, values []byte, weight int64) {
	whole := 0
	if hasAVX2 && 0 <= weight && weight <= math.MaxInt32 { // the kernel multiplies 32 bits
		if whole = len(values) &^ 7; whole > 0 {
			_ = sum[:whole]
			addRowAVX2(&sum[0], &values[0], weight, whole)
		}
	}
	addRowPortable(sum[whole:], values[whole:], weight)
}

//go:noescape
func addRowAVX2(sum *int64, values *byte, weight int64, n int)
