//go:build !purego

#include "textflag.h"

// One float32 per constant; see kernel_portable.go for their sources.

DATA log2e<>+0(SB)/4, $0x3fb8aa3b // 1.44269504088896341
GLOBL log2e<>(SB), RODATA|NOPTR, $4
DATA ln2High<>+0(SB)/4, $0x3f318000 // 0.693359375
GLOBL ln2High<>(SB), RODATA|NOPTR, $4
DATA ln2Low<>+0(SB)/4, $0xb95e8083 // -2.12194440e-4
GLOBL ln2Low<>(SB), RODATA|NOPTR, $4
DATA exp0<>+0(SB)/4, $0x39506967 // 1.9875691500e-4
GLOBL exp0<>(SB), RODATA|NOPTR, $4
DATA exp1<>+0(SB)/4, $0x3ab743ce // 1.3981999507e-3
GLOBL exp1<>(SB), RODATA|NOPTR, $4
DATA exp2<>+0(SB)/4, $0x3c088908 // 8.3334519073e-3
GLOBL exp2<>(SB), RODATA|NOPTR, $4
DATA exp3<>+0(SB)/4, $0x3d2aa9c1 // 4.1665795894e-2
GLOBL exp3<>(SB), RODATA|NOPTR, $4
DATA exp4<>+0(SB)/4, $0x3e2aaaaa // 1.6666665459e-1
GLOBL exp4<>(SB), RODATA|NOPTR, $4
DATA exp5<>+0(SB)/4, $0x3f000000 // 5.0000001201e-1
GLOBL exp5<>(SB), RODATA|NOPTR, $4
DATA one<>+0(SB)/4, $0x3f800000 // 1.0
GLOBL one<>(SB), RODATA|NOPTR, $4
DATA lowest<>+0(SB)/4, $0xc2aeac4f // -87.33654
GLOBL lowest<>(SB), RODATA|NOPTR, $4
DATA erfP<>+0(SB)/4, $0x3ea7ba05 // 0.3275911
GLOBL erfP<>(SB), RODATA|NOPTR, $4
DATA erf1<>+0(SB)/4, $0x3e827906 // 0.254829592
GLOBL erf1<>(SB), RODATA|NOPTR, $4
DATA erf2<>+0(SB)/4, $0xbe91a98e // -0.284496736
GLOBL erf2<>(SB), RODATA|NOPTR, $4
DATA erf3<>+0(SB)/4, $0x3fb5f0e3 // 1.421413741
GLOBL erf3<>(SB), RODATA|NOPTR, $4
DATA erf4<>+0(SB)/4, $0xbfba00e3 // -1.453152027
GLOBL erf4<>(SB), RODATA|NOPTR, $4
DATA erf5<>+0(SB)/4, $0x3f87dc22 // 1.061405429
GLOBL erf5<>(SB), RODATA|NOPTR, $4
DATA rootHalf<>+0(SB)/4, $0x3f3504f3 // 0.70710678118654752
GLOBL rootHalf<>(SB), RODATA|NOPTR, $4
DATA half<>+0(SB)/4, $0x3f000000 // 0.5
GLOBL half<>(SB), RODATA|NOPTR, $4
DATA signless<>+0(SB)/4, $0x7fffffff // all but the sign
GLOBL signless<>(SB), RODATA|NOPTR, $4
// EXP replaces Y0, which holds x ≤ 0, by e^x, using Y1 to Y3. Y8 to Y15 hold the
// constants LOADEXP loads; the others are broadcast where they are used.
#define LOADEXP \
	VBROADCASTSS log2e<>(SB), Y15   \
	VBROADCASTSS ln2High<>(SB), Y14 \
	VBROADCASTSS ln2Low<>(SB), Y13  \
	VBROADCASTSS exp0<>(SB), Y12    \
	VBROADCASTSS exp1<>(SB), Y11    \
	VBROADCASTSS exp2<>(SB), Y10    \
	VBROADCASTSS lowest<>(SB), Y9   \
	VBROADCASTSS one<>(SB), Y8

// VMAXPS gives its second source where one is no number: Y9, the lowest.
#define EXP \
	VMAXPS Y9, Y0, Y0                \
	VMULPS Y15, Y0, Y1               \
	VROUNDPS $0, Y1, Y1              \
	VFNMADD231PS Y14, Y1, Y0         \
	VFNMADD231PS Y13, Y1, Y0         \
	VCVTPS2DQ Y1, Y1                 \
	VPSLLD $23, Y1, Y1               \
	VMOVAPS Y12, Y2                  \
	VFMADD213PS Y11, Y0, Y2          \
	VFMADD213PS Y10, Y0, Y2          \
	VBROADCASTSS exp3<>(SB), Y3      \
	VFMADD213PS Y3, Y0, Y2           \
	VBROADCASTSS exp4<>(SB), Y3      \
	VFMADD213PS Y3, Y0, Y2           \
	VBROADCASTSS exp5<>(SB), Y3      \
	VFMADD213PS Y3, Y0, Y2           \
	VMULPS Y0, Y0, Y3                \
	VFMADD213PS Y0, Y3, Y2           \
	VADDPS Y8, Y2, Y2                \
	VPADDD Y1, Y2, Y0

// func expSum(x *float32, n int, scale, max float32) float32
TEXT ·expSum(SB), NOSPLIT, $0-28
	MOVQ x+0(FP), AX
	MOVQ n+8(FP), CX
	VBROADCASTSS scale+16(FP), Y6
	VBROADCASTSS max+20(FP), Y7
	VXORPS Y5, Y5, Y5
	LOADEXP

expNext:
	VMOVUPS (AX), Y0
	VFMSUB213PS Y7, Y6, Y0
	EXP
	VMOVUPS Y0, (AX)
	VADDPS Y0, Y5, Y5
	ADDQ $32, AX
	SUBQ $8, CX
	JG expNext

	VEXTRACTF128 $1, Y5, X0
	VADDPS X0, X5, X5
	VHADDPS X5, X5, X5
	VHADDPS X5, X5, X5
	VMOVSS X5, ret+24(FP)
	VZEROUPPER
	RET

// func gelu8(x *float32, n int)
TEXT ·gelu8(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), AX
	MOVQ n+8(FP), CX
	LOADEXP

geluNext:
	VMOVUPS (AX), Y4
	VBROADCASTSS signless<>(SB), Y5
	VANDPS Y5, Y4, Y5
	VBROADCASTSS rootHalf<>(SB), Y0
	VMULPS Y0, Y5, Y5              // z = |x|/√2
	VBROADCASTSS erfP<>(SB), Y6
	VFMADD213PS Y8, Y5, Y6         // 1 + p·z
	VDIVPS Y6, Y8, Y6              // t
	VBROADCASTSS erf5<>(SB), Y7
	VBROADCASTSS erf4<>(SB), Y0
	VFMADD213PS Y0, Y6, Y7
	VBROADCASTSS erf3<>(SB), Y0
	VFMADD213PS Y0, Y6, Y7
	VBROADCASTSS erf2<>(SB), Y0
	VFMADD213PS Y0, Y6, Y7
	VBROADCASTSS erf1<>(SB), Y0
	VFMADD213PS Y0, Y6, Y7
	VMULPS Y6, Y7, Y7
	VBROADCASTSS half<>(SB), Y0
	VMULPS Y0, Y7, Y7              // polynomial·t/2
	VXORPS Y0, Y0, Y0
	VFNMADD231PS Y5, Y5, Y0        // −z²
	EXP
	VMULPS Y0, Y7, Y7              // the tail
	VSUBPS Y7, Y8, Y0              // 1 − the tail
	VXORPS Y1, Y1, Y1
	VCMPPS $14, Y1, Y4, Y1         // x > 0
	VBLENDVPS Y1, Y0, Y7, Y7
	VMULPS Y7, Y4, Y4
	VMOVUPS Y4, (AX)
	ADDQ $32, AX
	SUBQ $8, CX
	JG geluNext
	VZEROUPPER
	RET
