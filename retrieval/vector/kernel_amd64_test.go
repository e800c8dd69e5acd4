package vector

type siftKernel = func(masks []uint64, query []int8, rows []byte, scales []float32, bias int32, bar float32)

// siftKernels are all that this processor can run.
func siftKernels() []siftKernel {
	without := func(masks []uint64, query []int8, rows []byte, scales []float32, bias int32, bar float32) {
		had := hasVNNI
		defer func() { hasVNNI = had }()
		hasVNNI = false
		siftRows(masks, query, rows, scales, bias, bar)
	}
	return []siftKernel{siftPortable, siftRows, without}
}
