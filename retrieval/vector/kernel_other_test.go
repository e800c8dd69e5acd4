//go:build !amd64

package vector

type siftKernel = func(masks []uint64, query []int8, rows []byte, scales []float32, bias int32, bar float32)

// siftKernels are all that this processor can run.
func siftKernels() []siftKernel { return []siftKernel{siftPortable} }
