// An integer loop: ITERATIONS times INTEGER_LOOP instructions, no memory.

	.macro	work
	ldr	x9, =ITERATIONS
	mov	x10, #1
	mov	x11, #3
	mov	x12, #5
	mov	x13, #7
1:	add	x10, x10, x11
	eor	x12, x12, x10, lsr #7
	madd	x13, x12, x11, x13
	and	x14, x13, #0xffff
	orr	x11, x11, x14
	sub	x15, x10, x12
	ror	x10, x15, #13
	add	w12, w12, w14
	subs	x9, x9, #1
	b.ne	1b
2:
	.if	(2b - 1b) != 4 * INTEGER_LOOP
	.error	"the loop has another length than the bench believes"
	.endif
	.endm

#include "bench.inc"
