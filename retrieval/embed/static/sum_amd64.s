#include "textflag.h"

// Four values at OFF of a row at R8, times the weight in Y15, onto ACC.
#define ADDFOUR(OFF, ACC, OTHER) \
	VPMOVSXBQ OFF(R8), OTHER     \
	VPMULDQ Y15, OTHER, OTHER    \
	VPADDQ OTHER, ACC, ACC

// func addRowsAVX2(sum *int64, values *byte, picked *int32, weights *int64, rows, dim int)
//
// Sums of 32 dimensions at a time stay in registers while all rows go by.
TEXT ·addRowsAVX2(SB), NOSPLIT, $0-48
	MOVQ sum+0(FP), DI
	MOVQ values+8(FP), SI
	MOVQ dim+40(FP), DX
	MOVQ DX, R13 // dimensions left

some:
	MOVQ picked+16(FP), R9
	MOVQ weights+24(FP), R10
	MOVQ rows+32(FP), CX
	VMOVDQU (DI), Y0
	VMOVDQU 32(DI), Y1
	VMOVDQU 64(DI), Y2
	VMOVDQU 96(DI), Y3
	VMOVDQU 128(DI), Y4
	VMOVDQU 160(DI), Y5
	VMOVDQU 192(DI), Y6
	VMOVDQU 224(DI), Y7

row:
	CMPQ CX, $9
	JLT  near
	MOVLQSX 32(R9), R11 // eight rows on
	IMULQ DX, R11
	PREFETCHT0 (SI)(R11*1)
	PREFETCHT0 64(SI)(R11*1)

near:
	MOVLQSX (R9), R8
	IMULQ DX, R8
	ADDQ SI, R8
	VPBROADCASTQ (R10), Y15
	ADDFOUR(0, Y0, Y8)
	ADDFOUR(4, Y1, Y9)
	ADDFOUR(8, Y2, Y10)
	ADDFOUR(12, Y3, Y11)
	ADDFOUR(16, Y4, Y8)
	ADDFOUR(20, Y5, Y9)
	ADDFOUR(24, Y6, Y10)
	ADDFOUR(28, Y7, Y11)
	ADDQ $4, R9
	ADDQ $8, R10
	DECQ CX
	JNZ  row

	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	VMOVDQU Y2, 64(DI)
	VMOVDQU Y3, 96(DI)
	VMOVDQU Y4, 128(DI)
	VMOVDQU Y5, 160(DI)
	VMOVDQU Y6, 192(DI)
	VMOVDQU Y7, 224(DI)
	ADDQ $256, DI
	ADDQ $32, SI
	SUBQ $32, R13
	JNZ  some

	VZEROUPPER
	RET
