package classify

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

// reseal makes the checksum right again.
func reseal(m []byte) []byte {
	binary.LittleEndian.PutUint32(m[fileSize-4:], crc32.ChecksumIEEE(m[:fileSize-4]))
	return m
}

// putFloat replaces a number of the header.
func putFloat(m []byte, n int, x float64) {
	binary.LittleEndian.PutUint64(m[len(magic)+1+8*n:], math.Float64bits(x))
}
