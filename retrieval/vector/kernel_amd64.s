#include "textflag.h"

// The sign trick: for a query code q and a row's code r, |q| · sign(q)·r is
// q·r, and VPMADDUBSW wants one side without sign. Two products of at most
// 127·127 fit into its 16 bits; VPMADDWD by ones widens them to 32.
//
// One step of 32 codes of a row at R, into the sums ACC.
#define STEP(R, ACC) \
	VMOVDQU (R)(DX*1), Y2  \
	VPSIGNB Y0, Y2, Y2     \
	VPMADDUBSW Y2, Y1, Y2  \
	VPMADDWD Y15, Y2, Y2   \
	VPADDD Y2, ACC, ACC

// func dotCodesAVX2(out *int32, query, rows *int8, stride, n int)
TEXT ·dotCodesAVX2(SB), NOSPLIT, $0-40
	MOVQ out+0(FP), DI
	MOVQ query+8(FP), SI
	MOVQ rows+16(FP), R8
	MOVQ stride+24(FP), BX
	MOVQ n+32(FP), CX

	VPCMPEQW Y15, Y15, Y15
	VPSRLW $15, Y15, Y15 // ones

four:
	CMPQ CX, $4
	JLT  one
	LEAQ (R8)(BX*1), R9
	LEAQ (R8)(BX*2), R10
	LEAQ (R9)(BX*2), R11
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
	XORQ DX, DX

fourstep:
	VMOVDQU (SI)(DX*1), Y0
	VPABSB Y0, Y1
	STEP(R8, Y4)
	STEP(R9, Y5)
	STEP(R10, Y6)
	STEP(R11, Y7)
	ADDQ $32, DX
	CMPQ DX, BX
	JLT  fourstep

	VPHADDD Y5, Y4, Y4
	VPHADDD Y7, Y6, Y6
	VPHADDD Y6, Y4, Y4
	VEXTRACTI128 $1, Y4, X5
	VPADDD X5, X4, X4
	VMOVDQU X4, (DI)
	ADDQ $16, DI
	LEAQ (R8)(BX*4), R8
	SUBQ $4, CX
	JMP  four

one:
	TESTQ CX, CX
	JZ    done
	VPXOR Y4, Y4, Y4
	XORQ DX, DX

onestep:
	VMOVDQU (SI)(DX*1), Y0
	VPABSB Y0, Y1
	STEP(R8, Y4)
	ADDQ $32, DX
	CMPQ DX, BX
	JLT  onestep

	VEXTRACTI128 $1, Y4, X5
	VPADDD X5, X4, X4
	VPHADDD X4, X4, X4
	VPHADDD X4, X4, X4
	VMOVD X4, (DI)
	ADDQ $4, DI
	ADDQ BX, R8
	DECQ CX
	JMP  one

done:
	VZEROUPPER
	RET

// func dotPickedAVX2(out *int32, query, rows *int8, stride int, picked *int32, n int)
TEXT ·dotPickedAVX2(SB), NOSPLIT, $0-48
	MOVQ out+0(FP), DI
	MOVQ query+8(FP), SI
	MOVQ rows+16(FP), R8
	MOVQ stride+24(FP), BX
	MOVQ picked+32(FP), R9
	MOVQ n+40(FP), CX

	VPCMPEQW Y15, Y15, Y15
	VPSRLW $15, Y15, Y15 // ones

pick:
	CMPQ CX, $17
	JLT  near
	MOVLQSX 64(R9), R11 // sixteen rows on
	IMULQ BX, R11
	PREFETCHT0 (R8)(R11*1)
	PREFETCHT0 64(R8)(R11*1)

near:
	MOVLQSX (R9), R10
	IMULQ BX, R10
	ADDQ R8, R10
	VPXOR Y4, Y4, Y4
	XORQ DX, DX

pickstep:
	VMOVDQU (SI)(DX*1), Y0
	VPABSB Y0, Y1
	STEP(R10, Y4)
	ADDQ $32, DX
	CMPQ DX, BX
	JLT  pickstep

	VEXTRACTI128 $1, Y4, X5
	VPADDD X5, X4, X4
	VPHADDD X4, X4, X4
	VPHADDD X4, X4, X4
	VMOVD X4, (DI)
	ADDQ $4, DI
	ADDQ $4, R9
	DECQ CX
	JNZ  pick

	VZEROUPPER
	RET

// func addLanesAVX2(sums *[8]float32, a, b, next *float32, n int)
TEXT ·addLanesAVX2(SB), NOSPLIT, $0-40
	MOVQ sums+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), R8
	MOVQ next+24(FP), R9
	MOVQ n+32(FP), CX
	VMOVUPS (DI), Y0

lanes:
	PREFETCHT0 (R9)
	VMOVUPS (SI), Y1
	VMULPS (R8), Y1, Y1
	VADDPS Y1, Y0, Y0
	ADDQ $32, SI
	ADDQ $32, R8
	ADDQ $32, R9
	SUBQ $8, CX
	JNZ  lanes

	VMOVUPS Y0, (DI)
	VZEROUPPER
	RET
