#include "textflag.h"

// func addRowAVX2(sum *int64, values *byte, weight int64, n int)
TEXT ·addRowAVX2(SB), NOSPLIT, $0-32
	MOVQ sum+0(FP), DI
	MOVQ values+8(FP), SI
	MOVQ n+24(FP), CX
	VPBROADCASTQ weight+16(FP), Y0

eight:
	VPMOVSXBQ (SI), Y1
	VPMOVSXBQ 4(SI), Y2
	VPMULDQ Y0, Y1, Y1
	VPMULDQ Y0, Y2, Y2
	VPADDQ (DI), Y1, Y1
	VPADDQ 32(DI), Y2, Y2
	VMOVDQU Y1, (DI)
	VMOVDQU Y2, 32(DI)
	ADDQ $8, SI
	ADDQ $64, DI
	SUBQ $8, CX
	JNZ  eight

	VZEROUPPER
	RET
