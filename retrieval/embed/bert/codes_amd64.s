//go:build !purego

#include "textflag.h"

// A tile of four rows of 16-bit states and sixteen columns of 8-bit weights:
// per pair of inputs two loads of the panel, widened, and one broadcast a row;
// each multiplication adds the products of a pair, eight columns at once.

#define ROW(FROM, LOW, HIGH) \
	VPBROADCASTD FROM, Y10     \
	VPMADDWD Y8, Y10, Y11      \
	VPADDD Y11, LOW, LOW       \
	VPMADDWD Y9, Y10, Y12      \
	VPADDD Y12, HIGH, HIGH

#define PAIR(A, B) \
	VPMOVSXBW B(BX), Y8            \
	VPMOVSXBW 16+B(BX), Y9         \
	ROW(A(AX), Y0, Y1)             \
	ROW(A(AX)(R8*1), Y2, Y3)       \
	ROW(A(AX)(R8*2), Y4, Y5)       \
	ROW(A(AX)(R9*1), Y6, Y7)

// Y13 and Y14 hold the columns' scales.
#define STORE(SCALE, LOW, HIGH, TO) \
	VBROADCASTSS SCALE(SI), Y10     \
	VCVTDQ2PS LOW, LOW              \
	VCVTDQ2PS HIGH, HIGH            \
	VMULPS Y10, LOW, LOW            \
	VMULPS Y10, HIGH, HIGH          \
	VMOVUPS (TO), Y11               \
	VMOVUPS 32(TO), Y12             \
	VFMADD231PS Y13, LOW, Y11       \
	VFMADD231PS Y14, HIGH, Y12      \
	VMOVUPS Y11, (TO)               \
	VMOVUPS Y12, 32(TO)

// func codes4x16(k int, a *int16, panel *byte, cols, rows *float32, c *float32, ldc int)
TEXT ·codes4x16(SB), NOSPLIT, $0-56
	MOVQ k+0(FP), CX
	MOVQ a+8(FP), AX
	MOVQ panel+16(FP), BX
	MOVQ cols+24(FP), DI
	MOVQ rows+32(FP), SI
	MOVQ c+40(FP), DX
	MOVQ ldc+48(FP), R10
	MOVQ CX, R8
	SHLQ $1, R8
	LEAQ (R8)(R8*2), R9
	SHLQ $2, R10
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
	SUBQ $4, CX
	JLT  rest
	PCALIGN $32

two:
	PAIR(0, 0)
	PAIR(4, 32)
	ADDQ $8, AX
	ADDQ $64, BX
	SUBQ $4, CX
	JGE  two

rest:
	ADDQ $4, CX
	JZ   done
	PAIR(0, 0)

done:
	VMOVUPS (DI), Y13
	VMOVUPS 32(DI), Y14
	STORE(0, Y0, Y1, DX)
	ADDQ R10, DX
	STORE(4, Y2, Y3, DX)
	ADDQ R10, DX
	STORE(8, Y4, Y5, DX)
	ADDQ R10, DX
	STORE(12, Y6, Y7, DX)
	VZEROUPPER
	RET

// func round16(to *int16, x *float32, n int, limit float32) float32
TEXT ·round16(SB), NOSPLIT, $0-36
	MOVQ to+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VMOVSS limit+24(FP), X4
	VPCMPEQD Y5, Y5, Y5
	VPSRLD $1, Y5, Y5 // all but the sign
	VPXOR Y0, Y0, Y0
	XORQ DX, DX

most:
	VPAND (SI)(DX*4), Y5, Y1
	VPAND 32(SI)(DX*4), Y5, Y2
	VMAXPS Y1, Y0, Y0
	VMAXPS Y2, Y0, Y0
	ADDQ $16, DX
	CMPQ DX, CX
	JLT  most
	VEXTRACTF128 $1, Y0, X1
	VMAXPS X1, X0, X0
	VPSHUFD $0x4e, X0, X1
	VMAXPS X1, X0, X0
	VPSHUFD $0xb1, X0, X1
	VMAXPS X1, X0, X0
	VDIVSS X4, X0, X6
	VMOVSS X6, ret+32(FP)
	VDIVSS X0, X4, X4
	VBROADCASTSS X4, Y4
	XORQ DX, DX

sixteen:
	VMULPS (SI)(DX*4), Y4, Y1
	VMULPS 32(SI)(DX*4), Y4, Y2
	VCVTPS2DQ Y1, Y1
	VCVTPS2DQ Y2, Y2
	VPACKSSDW Y2, Y1, Y1
	VPERMQ $0xd8, Y1, Y1
	VMOVDQU Y1, (DI)(DX*2)
	ADDQ $16, DX
	CMPQ DX, CX
	JLT  sixteen
	VZEROUPPER
	RET
