// The cheapest system call, ITERATIONS times.

	.set	SYS_getpid, 172

	.macro	work
	ldr	x9, =ITERATIONS
	mov	x8, #SYS_getpid
1:	svc	#0
	subs	x9, x9, #1
	b.ne	1b
	.endm

#include "bench.inc"
