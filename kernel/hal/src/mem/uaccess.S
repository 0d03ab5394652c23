// Memory of EL0 by unprivileged loads and stores: they have EL0's rights (and pass PSTATE.PAN), so a kernel address
// faults by itself. A fault that cannot be served goes on at the address beside the instruction's in .extable.

	.macro	user fixup, instruction:vararg
8888:	\instruction
	.pushsection .extable, "a"
	.quad	8888b, \fixup
	.popsection
	.endm

// PSTATE.TCO is 1 since the exception: the accesses that follow are checked as the program's are.
	.macro	check_tags
	alternative_else
	nop
	alternative_if CAP_MTE
	.inst	0xd503409f		// msr tco, #0
	alternative_end
	.endm

	.text
	.globl	user_read
// x0: kernel destination, x1: user source, x2: bytes. Returns how many were not copied.
user_read:
	check_tags
	cmp	x2, #32
	b.lo	2f
1:	user	5f, ldtr x4, [x1]
	user	5f, ldtr x5, [x1, #8]
	user	5f, ldtr x6, [x1, #16]
	user	5f, ldtr x7, [x1, #24]
	add	x1, x1, #32
	stp	x4, x5, [x0], #16
	stp	x6, x7, [x0], #16
	sub	x2, x2, #32
	cmp	x2, #32
	b.hs	1b
2:	cmp	x2, #8
	b.lo	4f
3:	user	5f, ldtr x4, [x1]
	add	x1, x1, #8
	str	x4, [x0], #8
	sub	x2, x2, #8
	cmp	x2, #8
	b.hs	3b
4:	cbz	x2, 6f
	// Byte by byte, also to the very byte that faults.
5:	user	6f, ldtrb w4, [x1]
	add	x1, x1, #1
	strb	w4, [x0], #1
	subs	x2, x2, #1
	b.ne	5b
6:	mov	x0, x2
	ret

	.globl	user_write
// x0: user destination, x1: kernel source, x2: bytes. Returns how many were not copied.
user_write:
	check_tags
	cmp	x2, #32
	b.lo	2f
1:	ldp	x4, x5, [x1]
	ldp	x6, x7, [x1, #16]
	user	5f, sttr x4, [x0]
	user	5f, sttr x5, [x0, #8]
	user	5f, sttr x6, [x0, #16]
	user	5f, sttr x7, [x0, #24]
	add	x1, x1, #32
	add	x0, x0, #32
	sub	x2, x2, #32
	cmp	x2, #32
	b.hs	1b
2:	cmp	x2, #8
	b.lo	4f
3:	ldr	x4, [x1]
	user	5f, sttr x4, [x0]
	add	x1, x1, #8
	add	x0, x0, #8
	sub	x2, x2, #8
	cmp	x2, #8
	b.hs	3b
4:	cbz	x2, 6f
5:	ldrb	w4, [x1]
	user	6f, sttrb w4, [x0]
	add	x1, x1, #1
	add	x0, x0, #1
	subs	x2, x2, #1
	b.ne	5b
6:	mov	x0, x2
	ret

	.globl	user_clear
// x0: user destination, x1: bytes. Returns how many were not cleared.
user_clear:
	check_tags
	cmp	x1, #8
	b.lo	2f
1:	user	3f, sttr xzr, [x0]
	add	x0, x0, #8
	sub	x1, x1, #8
	cmp	x1, #8
	b.hs	1b
2:	cbz	x1, 4f
3:	user	4f, sttrb wzr, [x0]
	add	x0, x0, #1
	subs	x1, x1, #1
	b.ne	3b
4:	mov	x0, x1
	ret

	.globl	user_load32
// x0: user address. Returns the word in x0 and 0 in x1, or 1 in x1.
user_load32:
	check_tags
	user	1f, ldtr w0, [x0]
	mov	x1, #0
	ret
1:	mov	x1, #1
	ret

	.globl	user_cas32
// x0: user address, w1: expected, w2: new. Returns the old word in x0; x1: 0 stored, 1 fault, 2 another value,
// 3 try again. There is no unprivileged exclusive or CAS, so PAN is off meanwhile; and tags are not checked.
user_cas32:
	alternative_else
	nop
	alternative_if CAP_PAN
	.inst	0xd500409f		// msr pan, #0
	alternative_end
	alternative_else
5:	user	3f, ldaxr w4, [x0]
	cmp	w4, w1
	b.ne	1f
	user	3f, stlxr w5, w2, [x0]
1:
	alternative_if CAP_LSE
	mov	w4, w1
	mov	w5, #0
	.inst	0x88e4fc02		// casal w4, w2, [x0]
	cmp	w4, w1
	alternative_end
	mov	x1, #2
	b.ne	2f
	cmp	w5, #0
	mov	x1, #3
	csel	x1, xzr, x1, eq
2:	mov	w0, w4
4:
	alternative_else
	nop
	alternative_if CAP_PAN
	.inst	0xd500419f		// msr pan, #1
	alternative_end
	ret
3:	mov	x1, #1
	b	4b
// Where CASAL is, once it is there.
	.pushsection .extable, "a"
	.quad	5b + 8, 3b
	.popsection

	.globl	page_clear
// x0: page. 4096 bytes, by DC ZVA where it is allowed and its block is no more than a quarter of the page.
page_clear:
	mrs	x1, dczid_el0
	mov	w2, #4
	tbnz	w1, #4, 2f		// DZP
	and	w1, w1, #0xf
	lsl	w1, w2, w1
	cmp	w1, #1024
	b.hi	2f
	add	x2, x1, x1
	add	x3, x2, x1
1:	dc	zva, x0
	add	x4, x0, x1
	dc	zva, x4
	add	x5, x0, x2
	dc	zva, x5
	add	x6, x0, x3
	dc	zva, x6
	add	x0, x0, x1, lsl #2
	tst	x0, #0xfff
	b.ne	1b
	ret
2:	mov	x1, #4096
3:	stp	xzr, xzr, [x0]
	stp	xzr, xzr, [x0, #16]
	stp	xzr, xzr, [x0, #32]
	stp	xzr, xzr, [x0, #48]
	add	x0, x0, #64
	subs	x1, x1, #64
	b.ne	3b
	ret

	.globl	page_copy
// x0: to, x1: from. 4096 bytes.
page_copy:
1:
	.irp	at, 0, 128, 256, 384
	ldp	x2, x3, [x1, #\at]
	ldp	x4, x5, [x1, #\at + 16]
	ldp	x6, x7, [x1, #\at + 32]
	ldp	x8, x9, [x1, #\at + 48]
	ldp	x10, x11, [x1, #\at + 64]
	ldp	x12, x13, [x1, #\at + 80]
	ldp	x14, x15, [x1, #\at + 96]
	ldp	x16, x17, [x1, #\at + 112]
	stp	x2, x3, [x0, #\at]
	stp	x4, x5, [x0, #\at + 16]
	stp	x6, x7, [x0, #\at + 32]
	stp	x8, x9, [x0, #\at + 48]
	stp	x10, x11, [x0, #\at + 64]
	stp	x12, x13, [x0, #\at + 80]
	stp	x14, x15, [x0, #\at + 96]
	stp	x16, x17, [x0, #\at + 112]
	.endr
	add	x1, x1, #512
	add	x0, x0, #512
	tst	x0, #0xfff
	b.ne	1b
	ret

	.purgem	check_tags
	.purgem	user
