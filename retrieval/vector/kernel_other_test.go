//go:build !amd64

package vector

type siftKernel = func(estimates []float32, query []int8, rows []byte, scales []float32, bias int32) float32

// siftKernels are all that this processor can run.
func siftKernels() []siftKernel { return []siftKernel{siftPortable} }

type pickKernel = func(out []float32, query, rows []int8, scales []float32, picked []int32)

// pickKernels are all that this processor can run.
func pickKernels() []pickKernel { return []pickKernel{scorePickedPortable} }

type overKernel = func(views []int32, values []float32, query []int8, rows []byte, scales []float32, bias, first int32, bar float32) int

// overKernels are all that this processor can run.
func overKernels() []overKernel { return []overKernel{siftOverPortable} }
