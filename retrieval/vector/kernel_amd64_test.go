package vector

type siftKernel = func(estimates []float32, query []int8, rows []byte, scales []float32, bias int32) float32

// siftKernels are all that this processor can run.
func siftKernels() []siftKernel {
	without := func(estimates []float32, query []int8, rows []byte, scales []float32, bias int32) float32 {
		had := hasVNNI
		defer func() { hasVNNI = had }()
		hasVNNI = false
		return sift(estimates, query, rows, scales, bias)
	}
	return []siftKernel{siftPortable, sift, without}
}
