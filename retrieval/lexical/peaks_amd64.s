#include "textflag.h"

// func peaksAVX2(peaks, scores *float64, run, runs int)
TEXT ·peaksAVX2(SB), NOSPLIT, $0-32
	MOVQ peaks+0(FP), DI
	MOVQ scores+8(FP), SI
	MOVQ run+16(FP), BX
	MOVQ runs+24(FP), CX

run:
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	MOVQ BX, DX

eight:
	VMAXPD (SI), Y0, Y0
	VMAXPD 32(SI), Y1, Y1
	ADDQ $64, SI
	SUBQ $8, DX
	JNZ  eight

	VMAXPD Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VMAXPD X1, X0, X0
	VPERMILPD $1, X0, X1
	VMAXSD X1, X0, X0
	VMOVSD X0, (DI)
	ADDQ $8, DI
	DECQ CX
	JNZ  run

	VZEROUPPER
	RET
