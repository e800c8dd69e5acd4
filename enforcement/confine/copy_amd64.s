//go:build linux

#include "textflag.h"

// func onto(flags, stack uintptr, ends *int32, s *startup, command, entry uintptr) (pid uintptr)
TEXT ·onto(SB), NOSPLIT|NOFRAME, $0-56
	MOVQ flags+0(FP), DI
	MOVQ stack+8(FP), SI
	MOVQ ends+16(FP), DX
	MOVQ s+24(FP), R12
	MOVQ command+32(FP), R13
	MOVQ entry+40(FP), R15
	XORL R10, R10
	XORL R8, R8
	MOVL $56, AX // clone
	SYSCALL
	TESTQ AX, AX
	JEQ  copy
	MOVQ AX, pid+48(FP)
	RET

copy:
	XORL BP, BP
	XORPS X15, X15
	MOVQ R12, AX // where the language's own calls have their arguments
	MOVQ R13, BX
	CALL R15
	INT  $3

// func hearing() (heard, back uintptr)
TEXT ·hearing(SB), NOSPLIT, $0-16
	MOVQ $hear<>(SB), AX
	MOVQ AX, heard+0(FP)
	MOVQ $back<>(SB), AX
	MOVQ AX, back+8(FP)
	RET

// hear writes the number of a signal.
TEXT hear<>(SB), NOSPLIT|NOFRAME, $0
	SUBQ $24, SP
	MOVQ DI, 0(SP)
	MOVQ ·hears(SB), DI
	MOVQ SP, SI
	MOVL $1, DX
	MOVL $1, AX // write
	SYSCALL
	ADDQ $24, SP
	RET

TEXT back<>(SB), NOSPLIT|NOFRAME, $0
	MOVL $15, AX // rt_sigreturn
	SYSCALL
	INT  $3
