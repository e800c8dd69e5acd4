//go:build linux

#include "textflag.h"

// func onto(flags, stack uintptr, ends *int32, s *startup, command, entry uintptr) (pid uintptr)
TEXT ·onto(SB), NOSPLIT|NOFRAME, $0-56
	MOVD flags+0(FP), R0
	MOVD stack+8(FP), R1
	MOVD ends+16(FP), R2
	MOVD s+24(FP), R10
	MOVD command+32(FP), R11
	MOVD entry+40(FP), R12
	MOVD $0, R3
	MOVD $0, R4
	MOVD $220, R8 // clone
	SVC
	CBZ  R0, copy
	MOVD R0, pid+48(FP)
	RET

copy:
	MOVD $0, R29
	MOVD R10, R0 // where the language's own calls have their arguments
	MOVD R11, R1
	CALL (R12)
	BRK

// func hearing() (heard, back uintptr)
TEXT ·hearing(SB), NOSPLIT, $0-16
	MOVD $hear<>(SB), R0
	MOVD R0, heard+0(FP)
	MOVD $back<>(SB), R0
	MOVD R0, back+8(FP)
	RET

// hear writes the number of a signal.
TEXT hear<>(SB), NOSPLIT|NOFRAME, $0
	SUB  $16, RSP
	MOVD R0, 0(RSP)
	MOVD ·hears(SB), R0
	MOVD RSP, R1
	MOVD $1, R2
	MOVD $64, R8 // write
	SVC
	ADD  $16, RSP
	RET

TEXT back<>(SB), NOSPLIT|NOFRAME, $0
	MOVD $139, R8 // rt_sigreturn
	SVC
	BRK
