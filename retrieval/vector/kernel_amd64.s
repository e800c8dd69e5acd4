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

// func scorePickedAVX2(out *float32, query, rows *int8, scales *float32, stride int, picked *int32, n int)
TEXT ·scorePickedAVX2(SB), NOSPLIT, $0-56
	MOVQ out+0(FP), DI
	MOVQ query+8(FP), SI
	MOVQ rows+16(FP), R8
	MOVQ scales+24(FP), R13
	MOVQ stride+32(FP), BX
	MOVQ picked+40(FP), R9
	MOVQ n+48(FP), CX

	VPCMPEQW Y15, Y15, Y15
	VPSRLW $15, Y15, Y15 // ones

pick:
	CMPQ CX, $17
	JLT  near
	MOVLQSX 64(R9), R11 // sixteen rows on
	PREFETCHT0 (R13)(R11*4)
	IMULQ BX, R11
	PREFETCHT0 (R8)(R11*1)
	PREFETCHT0 64(R8)(R11*1)

near:
	MOVLQSX (R9), R12
	MOVQ R12, R10
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
	VCVTDQ2PS X4, X4
	VMULSS (R13)(R12*4), X4, X4
	VMOVSS X4, (DI)

	ADDQ $4, DI
	ADDQ $4, R9
	DECQ CX
	JNZ  pick

	VZEROUPPER
	RET

// func dotRowsAVX2(out, query *float32, rows **float32, dim, n int)
TEXT ·dotRowsAVX2(SB), NOSPLIT, $0-40
	MOVQ out+0(FP), DI
	MOVQ query+8(FP), SI
	MOVQ rows+16(FP), R8
	MOVQ dim+24(FP), BX
	MOVQ n+32(FP), CX
	SHLQ $2, BX // bytes

row:
	MOVQ (R8), R9
	MOVQ R9, R10
	CMPQ CX, $5
	JLT  fetched
	MOVQ 32(R8), R10 // four rows on

fetched:
	VXORPS Y0, Y0, Y0
	XORQ DX, DX

eights:
	PREFETCHT0 (R10)(DX*1)
	VMOVUPS (SI)(DX*1), Y1
	VMULPS (R9)(DX*1), Y1, Y1
	VADDPS Y1, Y0, Y0
	VMOVUPS 32(SI)(DX*1), Y2
	VMULPS 32(R9)(DX*1), Y2, Y2
	VADDPS Y2, Y0, Y0
	ADDQ $64, DX
	CMPQ DX, BX
	JLT  eights

	VHADDPS Y0, Y0, Y0
	VHADDPS Y0, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDSS X1, X0, X0
	VMOVSS X0, (DI)
	ADDQ $4, DI
	ADDQ $8, R8
	DECQ CX
	JNZ  row

	VZEROUPPER
	RET
