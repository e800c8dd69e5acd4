#include "textflag.h"

// Rows of the sieve lie in groups of sixteen, a word of 32 bits of each beside
// the other's; see sieveRow. A byte holds four dimensions, so a group's words
// are met by four words of the query.

// One word of a block's rows, at 64·W, against the query's words of its four
// dimensions. Codes stay where they are in their byte: sums of the second are
// four times as large, of the third sixteen times, and of the last 64 times. A
// product is at most 192·127.
#define SIFTWORD(W) \
	VMOVDQU32 (64*W)(R8), Z8              \
	PREFETCHT0 (64*W+4096)(R8)            \
	VPANDD Z8, Z28, Z9                    \
	VPDPBUSD.BCST (4*W)(DX), Z9, Z0       \
	VPANDD Z8, Z29, Z10                   \
	VPDPBUSD.BCST (32+4*W)(DX), Z10, Z1   \
	VPANDD Z8, Z30, Z11                   \
	VPDPBUSD.BCST (64+4*W)(DX), Z11, Z2   \
	VPANDD Z8, Z31, Z12                   \
	VPDPBUSD.BCST (96+4*W)(DX), Z12, Z3

// The masks of the four codes of every byte.
#define SIFTMASKS \
	MOVL $0x03030303, AX   \
	VPBROADCASTD AX, Z28   \
	VPSLLD $2, Z28, Z29    \
	VPSLLD $4, Z28, Z30    \
	VPSLLD $6, Z28, Z31

// All words of a block's rows.
#define SIFTBLOCK \
	SIFTWORD(0) \
	SIFTWORD(1) \
	SIFTWORD(2) \
	SIFTWORD(3) \
	SIFTWORD(4) \
	SIFTWORD(5) \
	SIFTWORD(6) \
	SIFTWORD(7) \
	ADDQ $512, R8 \
	ADDQ $128, DX

// The estimates of a group whose sums are in Z0 to Z3, to Z0: bias in Z14.
#define SIFTSUM \
	VPSRAD $2, Z1, Z1    \
	VPSRAD $4, Z2, Z2    \
	VPSRAD $6, Z3, Z3    \
	VPADDD Z1, Z0, Z0    \
	VPADDD Z3, Z2, Z2    \
	VPADDD Z2, Z0, Z0    \
	VPADDD Z0, Z0, Z0    \
	VPSUBD Z14, Z0, Z0   \
	VCVTDQ2PS Z0, Z0     \
	VMULPS (R13), Z0, Z0

// 0 to 15.
DATA counting<>+0(SB)/8, $0x0000000100000000
DATA counting<>+8(SB)/8, $0x0000000300000002
DATA counting<>+16(SB)/8, $0x0000000500000004
DATA counting<>+24(SB)/8, $0x0000000700000006
DATA counting<>+32(SB)/8, $0x0000000900000008
DATA counting<>+40(SB)/8, $0x0000000b0000000a
DATA counting<>+48(SB)/8, $0x0000000d0000000c
DATA counting<>+56(SB)/8, $0x0000000f0000000e
GLOBL counting<>(SB), RODATA|NOPTR, $64

// The largest of eight values in Y, of which X is the lower half, to X.
#define LARGEST(Y, X, OTHER) \
	VEXTRACTF128 $1, Y, OTHER   \
	VMAXPS OTHER, X, X          \
	VPERMILPS $0x0e, X, OTHER   \
	VMAXPS OTHER, X, X          \
	VPERMILPS $0x01, X, OTHER   \
	VMAXPS OTHER, X, X

// func siftVNNI(estimates *float32, query *int8, rows *byte, scales *float32, blocks, groups int, bias int32) (most float32)
TEXT ·siftVNNI(SB), NOSPLIT, $0-60
	MOVQ estimates+0(FP), DI
	MOVQ query+8(FP), SI
	MOVQ rows+16(FP), R8
	MOVQ scales+24(FP), R13
	MOVQ blocks+32(FP), BX
	MOVQ groups+40(FP), CX
	MOVL bias+48(FP), AX
	VPBROADCASTD AX, Z14
	MOVL $0xff800000, AX // less than any
	VPBROADCASTD AX, Z15
	SIFTMASKS

group:
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	MOVQ SI, DX
	MOVQ BX, R9

block:
	SIFTBLOCK
	DECQ R9
	JNZ  block

	SIFTSUM
	VMAXPS Z0, Z15, Z15
	VMOVUPS Z0, (DI)
	ADDQ $64, R13
	ADDQ $64, DI
	DECQ CX
	JNZ  group

	VEXTRACTF64X4 $1, Z15, Y0
	VMAXPS Y0, Y15, Y0
	LARGEST(Y0, X0, X1)
	VMOVSS X0, most+56(FP)
	VZEROUPPER
	RET

// func siftOverVNNI(views *int32, values *float32, query *int8, rows *byte, scales *float32, blocks, groups int, bias, first int32, bar float32) int
TEXT ·siftOverVNNI(SB), NOSPLIT, $0-80
	MOVQ views+0(FP), R11
	MOVQ values+8(FP), DI
	MOVQ query+16(FP), SI
	MOVQ rows+24(FP), R8
	MOVQ scales+32(FP), R13
	MOVQ blocks+40(FP), BX
	MOVQ groups+48(FP), CX
	MOVL bias+56(FP), AX
	VPBROADCASTD AX, Z14
	MOVL first+60(FP), AX
	VPBROADCASTD AX, Z16
	VPADDD counting<>(SB), Z16, Z16
	MOVL $16, AX
	VPBROADCASTD AX, Z17
	VBROADCASTSS bar+64(FP), Z18
	SIFTMASKS
	XORQ R12, R12 // how many there are

group:
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	MOVQ SI, DX
	MOVQ BX, R9

block:
	SIFTBLOCK
	DECQ R9
	JNZ  block

	SIFTSUM
	VCMPPS $13, Z18, Z0, K1 // at least
	VCOMPRESSPS.Z Z0, K1, Z1
	VPCOMPRESSD.Z Z16, K1, Z2
	VMOVUPS Z1, (DI)(R12*4)
	VMOVDQU32 Z2, (R11)(R12*4)
	KMOVW K1, AX
	POPCNTL AX, AX
	ADDQ AX, R12
	VPADDD Z17, Z16, Z16
	ADDQ $64, R13
	DECQ CX
	JNZ  group

	MOVQ R12, ret+72(FP)
	VZEROUPPER
	RET

// Four dimensions of eight rows' words, in Y8, against the query's words in Y9
// to Y12, into sums of 16 bits. A product is at most 3·127, so 64 of them fit.
#define SIFTHALF(OFF, ACC) \
	VMOVDQU OFF(R8), Y8       \
	VPAND Y8, Y14, Y13        \
	VPMADDUBSW Y9, Y13, Y13   \
	VPADDW Y13, ACC, ACC      \
	VPSRLW $2, Y8, Y13        \
	VPAND Y14, Y13, Y13       \
	VPMADDUBSW Y10, Y13, Y13  \
	VPADDW Y13, ACC, ACC      \
	VPSRLW $4, Y8, Y13        \
	VPAND Y14, Y13, Y13       \
	VPMADDUBSW Y11, Y13, Y13  \
	VPADDW Y13, ACC, ACC      \
	VPSRLW $6, Y8, Y13        \
	VPAND Y14, Y13, Y13       \
	VPMADDUBSW Y12, Y13, Y13  \
	VPADDW Y13, ACC, ACC

// Eight rows' sums in ACC, of which the scales and estimates are at OFF, the
// largest so far in Y5.
#define SIFTOUT(ACC, OFF) \
	VPADDD ACC, ACC, ACC      \
	VPSUBD Y6, ACC, ACC       \
	VCVTDQ2PS ACC, ACC        \
	VMULPS OFF(R13), ACC, ACC \
	VMAXPS ACC, Y5, Y5    \
	VMOVUPS ACC, OFF(DI)

// func siftAVX2(estimates *float32, query *int8, rows *byte, scales *float32, blocks, groups int, bias int32) (most float32)
TEXT ·siftAVX2(SB), NOSPLIT, $0-60
	MOVQ estimates+0(FP), DI
	MOVQ query+8(FP), SI
	MOVQ rows+16(FP), R8
	MOVQ scales+24(FP), R13
	MOVQ blocks+32(FP), BX
	MOVQ groups+40(FP), CX
	MOVL bias+48(FP), AX
	VMOVD AX, X6
	VPBROADCASTD X6, Y6
	MOVL $0xff800000, AX // less than any
	VMOVD AX, X5
	VPBROADCASTD X5, Y5

	VPCMPEQW Y15, Y15, Y15
	VPABSB Y15, Y14
	VPSRLW $15, Y15, Y15 // ones
	VPADDB Y14, Y14, Y0
	VPADDB Y0, Y14, Y14  // threes

group:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	MOVQ SI, DX
	MOVQ BX, R9

block:
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	MOVQ $8, R10

word:
	VPBROADCASTD (DX), Y9
	VPBROADCASTD 32(DX), Y10
	VPBROADCASTD 64(DX), Y11
	VPBROADCASTD 96(DX), Y12
	SIFTHALF(0, Y2)
	SIFTHALF(32, Y3)
	ADDQ $64, R8
	ADDQ $4, DX
	DECQ R10
	JNZ  word

	VPMADDWD Y15, Y2, Y2
	VPMADDWD Y15, Y3, Y3
	VPADDD Y2, Y0, Y0
	VPADDD Y3, Y1, Y1
	ADDQ $96, DX
	DECQ R9
	JNZ  block

	SIFTOUT(Y0, 0)
	SIFTOUT(Y1, 32)
	ADDQ $64, R13
	ADDQ $64, DI
	DECQ CX
	JNZ  group

	LARGEST(Y5, X5, X1)
	VMOVSS X5, most+56(FP)
	VZEROUPPER
	RET

// func aboveAVX2(masks *uint64, estimates *float32, eights int, bar float32)
TEXT ·aboveAVX2(SB), NOSPLIT, $0-28
	MOVQ masks+0(FP), DI
	MOVQ estimates+8(FP), SI
	MOVQ eights+16(FP), CX
	VBROADCASTSS bar+24(FP), Y0

eight:
	VMOVUPS (SI), Y1
	VCMPPS $13, Y0, Y1, Y1 // at least
	VMOVMSKPS Y1, AX
	MOVB AX, (DI)
	ADDQ $32, SI
	INCQ DI
	DECQ CX
	JNZ  eight

	VZEROUPPER
	RET
