//go:build !purego

package bert

import (
	"math"

	"golang.org/x/sys/cpu"
)

// kernels lists what this machine can run, the fastest first.
func kernels() []*kernel {
	var all []*kernel
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		all = append(all, &kernel{name: "avx512", rows: 4, cols: 48, multiply: multiplyAVX512, softmax: softmaxVector, gelu: geluVector, codes: codesAVX2, round: roundAVX2})
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		all = append(all, &kernel{name: "avx2", rows: 4, cols: 24, multiply: multiplyAVX2, softmax: softmaxVector, gelu: geluVector, codes: codesAVX2, round: roundAVX2})
	}
	return append(all, &portable)
}

// The wrappers take the last element each kernel touches, so that a wrong
// length is a Go panic and not a stray write.

func multiplyAVX2(k int, a []float32, lda int, panel []float32, c []float32, ldc int) {
	_, _, _ = a[3*lda+k-1], panel[24*k-1], c[3*ldc+23]
	tile4x24(k, &a[0], lda, &panel[0], &c[0], ldc)
}

func multiplyAVX512(k int, a []float32, lda int, panel []float32, c []float32, ldc int) {
	_, _, _ = a[3*lda+k-1], panel[48*k-1], c[3*ldc+47]
	tile4x48(k, &a[0], lda, &panel[0], &c[0], ldc)
}

func codesAVX2(k int, a []int16, panel []byte, cols, rows []float32, c []float32, ldc int) {
	_, _, _, _, _ = a[codeRows*k-1], panel[codeCols*k-1], cols[codeCols-1], rows[codeRows-1], c[(codeRows-1)*ldc+codeCols-1]
	codes4x16(k, &a[0], &panel[0], &cols[0], &rows[0], &c[0], ldc)
}

// roundAVX2 leaves to [roundPortable] what it cannot divide by, and lengths that
// are no multiple of sixteen.
func roundAVX2(to []int16, x []float32, limit float32) float32 {
	if len(x) == 0 || len(x)%16 != 0 {
		return roundPortable(to, x, limit)
	}
	_ = to[len(x)-1]
	scale := round16(&to[0], &x[0], len(x), limit)
	if !(scale > 0 && scale <= math.MaxFloat32) {
		return roundPortable(to, x, limit)
	}
	return scale
}

func softmaxVector(x []float32, scale, max float32) float32 {
	if len(x) == 0 {
		return 0
	}
	_ = x[roundUp(len(x), lanes)-1]
	return expSum(&x[0], len(x), scale, max)
}

func geluVector(x []float32) {
	if len(x) > 0 {
		_ = x[roundUp(len(x), lanes)-1]
		gelu8(&x[0], len(x))
	}
}

// tile4x24 adds a 4 × k by k × 24 product to c, with AVX2 and FMA; k ≥ 1.
//
//go:noescape
func tile4x24(k int, a *float32, lda int, panel *float32, c *float32, ldc int)

// tile4x48 adds a 4 × k by k × 48 product to c, with AVX-512F; k ≥ 1.
//
//go:noescape
func tile4x48(k int, a *float32, lda int, panel *float32, c *float32, ldc int)

// expSum is [softmaxPortable] with AVX2 and FMA; n is a multiple of 8.
//
//go:noescape
func expSum(x *float32, n int, scale, max float32) float32

// gelu8 is [geluPortable] with AVX2 and FMA; n is a multiple of 8.
//
//go:noescape
func gelu8(x *float32, n int)

// codes4x16 adds a 4 × k by k × 16 product of codes, times the scales of columns
// and rows, to c, with AVX2; k is even and ≥ 2.
//
//go:noescape
func codes4x16(k int, a *int16, panel *byte, cols, rows *float32, c *float32, ldc int)

// round16 is [roundPortable] with AVX2 for x that is neither zero nor infinite; n
// is a multiple of 16 and greater than 0.
//
//go:noescape
func round16(to *int16, x *float32, n int, limit float32) float32
