// Many CPUs of which some or all work, for `cargo xtask bench spin`. Bare, at EL2, MMU off; PSCI by SMC.
//
// CPU 0 switches on all others. WAY says what they do while it works:
// 1 WFE, 2 YIELD, 3 loads, 4 loads and ISB, 5 exclusives: wait for its lock in that way; 6 WFI: sleep;
// 7: all work, each its part; 8: they hand a ticket lock to each other and work in turn.
// ROUNDS times the loop `work` in all are done, whatever the number of CPUs; CPU 0 then ends the machine.

	.equ	LOCK, 0x40300000	// a line each
	.equ	DONE, LOCK + 0x100
	.equ	TICKET, LOCK + 0x200
	.equ	SERVED, LOCK + 0x300
	.equ	DATA, LOCK + 0x10000	// a page each
	.equ	PIECE, 64		// rounds behind a ticket

// `count` rounds of 16 instructions on this CPU's page, x28
	.macro	work count
	mov	x9, \count
1:	ldr	x10, [x28]
	add	x11, x10, x9
	eor	x12, x11, x10, lsl #3
	str	x12, [x28, #8]
	ldr	x13, [x28, #16]
	and	x14, x13, #0xff0
	add	x14, x14, x28
	ldr	x15, [x14]
	add	x13, x13, #64
	str	x13, [x28, #16]
	sub	x16, x15, x12
	lsr	x17, x16, #5
	str	x17, [x14]
	add	x10, x10, x17
	subs	x9, x9, #1
	b.ne	1b
	.endm

	.text
	.globl	_start
_start:	ldr	x20, =LOCK
	mov	x0, #1
	str	x0, [x20]
	mov	x27, #0			// own number
	mov	x21, #1
2:	ldr	w0, =0xc4000003		// CPU_ON, until there is none of that number
	and	x1, x21, #15		// 16 in a cluster
	lsr	x2, x21, #4
	orr	x1, x1, x2, lsl #8
	adr	x2, other
	mov	x3, x21
	smc	#0
	cbnz	x0, 3f
	add	x21, x21, #1
	b	2b
3:	str	x21, [x20, #8]		// how many there are
	dsb	sy
	bl	own_page
#if WAY < 7
	ldr	x22, =ROUNDS
	work	x22
	stlr	xzr, [x20]
	sev
#else
	stlr	xzr, [x20]
	sev
	b	join
done:	ldr	x22, [x20, #8]		// until all are done
	ldr	x1, =DONE
4:	ldr	x0, [x1]
	cmp	x0, x22
	b.eq	5f
	wfe
	b	4b
5:
#endif
	ldr	w0, =0x84000008		// SYSTEM_OFF
	smc	#0
	b	.

own_page:
	ldr	x28, =DATA
	add	x28, x28, x27, lsl #12
	ret

other:	mov	x27, x0
	ldr	x20, =LOCK
	bl	own_page
#if WAY == 1
6:	ldaxr	x0, [x20]
	cbz	x0, 7f
	wfe
	b	6b
#elif WAY == 2
6:	ldr	x0, [x20]
	cbz	x0, 7f
	yield
	b	6b
#elif WAY == 3
6:	ldar	x0, [x20]
	cbnz	x0, 6b
#elif WAY == 4
6:	isb
	ldar	x0, [x20]
	cbnz	x0, 6b
#elif WAY == 5
6:	ldaxr	x0, [x20]
	cbnz	x0, 6b
	mov	x1, #1
	stxr	w2, x1, [x20]
	cbnz	w2, 6b
	stlr	xzr, [x20]
#elif WAY == 6
6:	wfi
	b	6b
#else
6:	ldar	x0, [x20]
	cbz	x0, join
	wfe
	b	6b
#endif
7:	wfi
	b	7b

#if WAY >= 7
join:	ldr	x22, [x20, #8]
	ldr	x23, =ROUNDS
	udiv	x23, x23, x22
#if WAY == 7
	work	x23
#else
	mov	x24, #PIECE
	udiv	x23, x23, x24
	ldr	x1, =TICKET
	ldr	x2, =SERVED
8:	ldxr	x4, [x1]
	add	x5, x4, #1
	stxr	w6, x5, [x1]
	cbnz	w6, 8b
	sevl
9:	wfe
	ldaxr	x5, [x2]
	cmp	x5, x4
	b.ne	9b
	work	#PIECE
	add	x4, x4, #1
	stlr	x4, [x2]
	sev
	subs	x23, x23, #1
	b.ne	8b
#endif
	ldr	x1, =DONE
10:	ldxr	x0, [x1]
	add	x0, x0, #1
	stxr	w2, x0, [x1]
	cbnz	w2, 10b
	sev
	cbz	x27, done
11:	wfi
	b	11b
#endif
