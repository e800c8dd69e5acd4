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

// One row of the sieve at R, 32 bytes of a block: the four dimensions of each
// byte against the query's in Y8 to Y11. A product is at most 3·127, so eight of
// them fit into 16 bits.
#define SIFT(R, ACC) \
	VMOVDQU (R)(DX*1), Y0  \
	VPAND Y14, Y0, Y1      \
	VPMADDUBSW Y8, Y1, Y2  \
	VPSRLW $2, Y0, Y1      \
	VPAND Y14, Y1, Y1      \
	VPMADDUBSW Y9, Y1, Y3  \
	VPADDW Y3, Y2, Y2      \
	VPSRLW $4, Y0, Y1      \
	VPAND Y14, Y1, Y1      \
	VPMADDUBSW Y10, Y1, Y3 \
	VPADDW Y3, Y2, Y2      \
	VPSRLW $6, Y0, Y1      \
	VPAND Y14, Y1, Y1      \
	VPMADDUBSW Y11, Y1, Y3 \
	VPADDW Y3, Y2, Y2      \
	VPMADDWD Y15, Y2, Y2   \
	VPADDD Y2, ACC, ACC

// func siftAVX2(masks *byte, query *int8, rows *byte, scales *float32, blocks, fours int, bias int32, bar float32)
TEXT ·siftAVX2(SB), NOSPLIT, $0-56
	MOVQ masks+0(FP), DI
	MOVQ query+8(FP), SI
	MOVQ rows+16(FP), R8
	MOVQ scales+24(FP), R13
	MOVQ blocks+32(FP), BX
	MOVQ fours+40(FP), CX
	MOVL bias+48(FP), AX
	VMOVD AX, X12
	VPBROADCASTD X12, X12
	VBROADCASTSS bar+52(FP), X13
	SHLQ $5, BX // bytes of a row

	VPCMPEQW Y15, Y15, Y15
	VPABSB Y15, Y14
	VPSRLW $15, Y15, Y15 // ones
	VPADDB Y14, Y14, Y0
	VPADDB Y0, Y14, Y14  // threes

sift:
	LEAQ (R8)(BX*1), R9
	LEAQ (R8)(BX*2), R10
	LEAQ (R9)(BX*2), R11
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
	XORQ DX, DX
	MOVQ SI, R12

siftblock:
	VMOVDQU (R12), Y8
	VMOVDQU 32(R12), Y9
	VMOVDQU 64(R12), Y10
	VMOVDQU 96(R12), Y11
	SIFT(R8, Y4)
	SIFT(R9, Y5)
	SIFT(R10, Y6)
	SIFT(R11, Y7)
	ADDQ $128, R12
	ADDQ $32, DX
	CMPQ DX, BX
	JLT  siftblock

	VPHADDD Y5, Y4, Y4
	VPHADDD Y7, Y6, Y6
	VPHADDD Y6, Y4, Y4
	VEXTRACTI128 $1, Y4, X5
	VPADDD X5, X4, X4
	VPADDD X4, X4, X4
	VPSUBD X12, X4, X4
	VCVTDQ2PS X4, X4
	VMULPS (R13), X4, X4
	VCMPPS $13, X13, X4, X4 // at least
	VMOVMSKPS X4, AX
	ADDQ $16, R13
	MOVB AX, (DI)
	INCQ DI
	LEAQ (R8)(BX*4), R8
	DECQ CX
	JNZ  sift

	VZEROUPPER
	RET

// Two rows of the sieve at OFF(R8), into the sums ACC: the first in its lower
// half.
#define SIFT2(OFF, ACC)        \
	VMOVDQU32 OFF(R8), Z0      \
	VPXORD ACC, ACC, ACC       \
	VPANDD Z14, Z0, Z1         \
	VPDPBUSD Z8, Z1, ACC       \
	VPSRLD $2, Z0, Z1          \
	VPANDD Z14, Z1, Z1         \
	VPDPBUSD Z9, Z1, ACC       \
	VPSRLD $4, Z0, Z1          \
	VPANDD Z14, Z1, Z1         \
	VPDPBUSD Z10, Z1, ACC      \
	VPSRLD $6, Z0, Z1          \
	VPANDD Z14, Z1, Z1         \
	VPDPBUSD Z11, Z1, ACC

// func siftVNNI(masks *byte, query *int8, rows *byte, scales *float32, eights int, bias int32, bar float32)
TEXT ·siftVNNI(SB), NOSPLIT, $0-48
	MOVQ masks+0(FP), DI
	MOVQ query+8(FP), SI
	MOVQ rows+16(FP), R8
	MOVQ scales+24(FP), R13
	MOVQ eights+32(FP), CX
	MOVL bias+40(FP), AX
	VMOVD AX, X12
	VPBROADCASTD X12, Y12
	VBROADCASTSS bar+44(FP), Y13
	MOVL $0x03030303, AX
	VMOVD AX, X14
	VPBROADCASTD X14, Z14
	VBROADCASTI64X4 (SI), Z8
	VBROADCASTI64X4 32(SI), Z9
	VBROADCASTI64X4 64(SI), Z10
	VBROADCASTI64X4 96(SI), Z11

eight:
	SIFT2(0, Z4)
	SIFT2(64, Z5)
	SIFT2(128, Z6)
	SIFT2(192, Z7)
	VEXTRACTI64X4 $1, Z4, Y0
	VEXTRACTI64X4 $1, Z5, Y1
	VEXTRACTI64X4 $1, Z6, Y2
	VEXTRACTI64X4 $1, Z7, Y3
	VPHADDD Y0, Y4, Y4
	VPHADDD Y1, Y5, Y5
	VPHADDD Y2, Y6, Y6
	VPHADDD Y3, Y7, Y7
	VPHADDD Y5, Y4, Y4
	VPHADDD Y7, Y6, Y6
	VPERM2I128 $0x20, Y6, Y4, Y0
	VPERM2I128 $0x31, Y6, Y4, Y1
	VPADDD Y1, Y0, Y0
	VPADDD Y0, Y0, Y0
	VPSUBD Y12, Y0, Y0
	VCVTDQ2PS Y0, Y0
	VMULPS (R13), Y0, Y0
	VCMPPS $13, Y13, Y0, Y0 // at least
	VMOVMSKPS Y0, AX
	MOVL AX, DX
	SHRL $4, DX
	ANDL $15, AX
	MOVB AX, (DI)
	MOVB DX, 1(DI)
	ADDQ $2, DI
	ADDQ $32, R13
	ADDQ $256, R8
	DECQ CX
	JNZ  eight

	VZEROUPPER
	RET

// func addLanesAVX2(sums *[8]float32, a, b *float32, n int)
TEXT ·addLanesAVX2(SB), NOSPLIT, $0-32
	MOVQ sums+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), R8
	MOVQ n+24(FP), CX
	VMOVUPS (DI), Y0

lanes:
	VMOVUPS (SI), Y1
	VMULPS (R8), Y1, Y1
	VADDPS Y1, Y0, Y0
	ADDQ $32, SI
	ADDQ $32, R8
	SUBQ $8, CX
	JNZ  lanes

	VMOVUPS Y0, (DI)
	VZEROUPPER
	RET
