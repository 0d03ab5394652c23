// Start-up at EL2 in place of start.S, vectors of EL2 and EL1, and the way into a case and back.
#include "resume.inc"

	.section .text.start, "ax"
	.globl	_start
_start:
	msr	daifset, #15
	ldr	x1, =boot_stack_top
	mov	sp, x1
	ldr	x1, =vectors2
	msr	vbar_el2, x1
	isb
	bl	start
	bl	start2
	bl	main
	bl	power_off

// PSCI CPU_ON's entry: x0 is the stack's end. Translation is as CPU 0 has it.
	.weak	secondary_main
	.globl	secondary_start
secondary_start:
	msr	daifset, #15
	mov	sp, x0
	ldr	x1, =vectors2
	msr	vbar_el2, x1
	isb
	bl	regime2
	bl	secondary_main
	b	.

	.globl	power_off
power_off:
	movz	w0, #0x0008
	movk	w0, #0x8400, lsl #16	// PSCI SYSTEM_OFF
	smc	#0
	b	.

// u64 psci(u64 function, u64 a, u64 b, u64 c)
	.globl	psci
psci:	smc	#0
	ret

// void run(const void *code, u64 spsr, const u64 args[4]): enters `code` by ERET with HCR_EL2 = case_hcr and
// SPSR_EL2 = spsr, x0 to x3 = args and the other registers 0. SP_EL1 is a small stack of the case's own; so is SP_EL2,
// which a case at EL2 finds. Comes back at the first exception that EL2 takes, or that EL1 takes and hands over, which
// `caught` then describes.
	.globl	run
run:
	save_caller
	msr	elr_el2, x0
	msr	spsr_el2, x1
	ldp	x0, x1, [x2]
	ldp	x2, x3, [x2, #16]
	ldr	x9, =case_sp
	ldr	x9, [x9]
	msr	sp_el1, x9
	ldr	x9, =case_sp2
	ldr	x9, [x9]
	mov	sp, x9
	ldr	x9, =case_hcr
	ldr	x9, [x9]
	.irp	n, 4,5,6,7,8,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
	mov	x\n, xzr
	.endr
	msr	hcr_el2, x9
	mov	x9, xzr
	isb
	.globl	run_eret
run_eret:
	eret

	.macro	vector2 number
	.balign	128
	msr	tpidr_el2, x30
	ldr	x30, =caught
	stp	x28, x29, [x30, #CAUGHT_X + 28 * 8]
	mov	x29, #\number
	b	caught2_here
	.endm

	.equ	CAUGHT_ESR, 80
	.equ	CAUGHT_ELR, 96
	.equ	CAUGHT_VECTOR, 112
	.equ	CAUGHT_HPFAR, 128
	.equ	CAUGHT_LEVEL, 144
	.equ	CAUGHT_X, 152

	.balign	2048
	.globl	vectors2
vectors2:
	.irp	n, 0x000,0x080,0x100,0x180,0x200,0x280,0x300,0x380,0x400,0x480,0x500,0x580,0x600,0x680,0x700,0x780
	vector2	\n
	.endr

	.balign	128
caught2_here:
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27
	str	x\n, [x30, #CAUGHT_X + 8 * \n]
	.endr
	mrs	x9, tpidr_el2
	str	x9, [x30, #CAUGHT_X + 8 * 30]
	stp	x0, x1, [x30]
	stp	x2, x3, [x30, #16]
	stp	x4, x5, [x30, #32]
	stp	x6, x7, [x30, #48]
	mrs	x9, hcr_el2
	mrs	x10, hpfar_el2
	stp	x10, x9, [x30, #CAUGHT_HPFAR]
	// What runs here is not to be a host's, whatever the case was.
	ldr	x9, =own_hcr
	ldr	x9, [x9]
	msr	hcr_el2, x9
	isb
	mov	x9, sp
	mrs	x10, sp_el0
	stp	x9, x10, [x30, #64]
	mrs	x9, daif
	str	x9, [x30, #CAUGHT_VECTOR + 8]
	mov	x11, #2
	mrs	x9, esr_el2
	mrs	x10, far_el2
	mrs	x12, elr_el2
	mrs	x13, spsr_el2
	// An interrupt writes no ESR_EL2.
	tst	x29, #0x180
	b.ne	2f
	// HVC #0x7e00 + n is EL1's vector n: what it took is in its own registers.
	movz	x14, #0x7e00
	movk	x14, #0x5a00, lsl #16
	sub	x15, x9, x14
	cmp	x15, #16
	b.lo	1f
	// The same by SMC.
	movk	x14, #0x5e00, lsl #16
	sub	x15, x9, x14
	cmp	x15, #16
	b.hs	2f
1:	mov	x11, #1
	lsl	x29, x15, #7
	mrs	x9, esr_el1
	mrs	x10, far_el1
	mrs	x12, elr_el1
	mrs	x13, spsr_el1
2:	stp	x9, x10, [x30, #CAUGHT_ESR]
	stp	x12, x13, [x30, #CAUGHT_ELR]
	str	x29, [x30, #CAUGHT_VECTOR]
	str	x11, [x30, #CAUGHT_LEVEL]
	// A case may have left PSTATE.PAN set.
	ldr	x9, =has_pan
	ldr	x9, [x9]
	cbz	x9, 1f
	mrs	x9, S3_0_C4_C2_3	// PAN
	str	x9, [x30, #CAUGHT_X + 8 * 31]
	.inst	0xd500409f		// msr pan, #0
1:	// Back to run's caller.
	resume_caller

// EL1's vectors: each hands over to EL2 by one instruction, which touches no register of EL1's. With the cases, so that
// stage 1 and stage 2 let EL1 execute them. vectors1_smc is for cases where HVC is disabled; they set HCR_EL2.TSC.
	.pushsection .cases, "ax"
	.balign	2048
	.globl	vectors1, vectors1_smc
vectors1:
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	.balign	128
	hvc	#0x7e00 + \n
	.endr
	.balign	2048
vectors1_smc:
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	.balign	128
	smc	#0x7e00 + \n
	.endr
	.popsection

	.data
	.balign	16
	.globl	resume_sp, case_sp, case_sp2, has_pan, case_hcr, own_hcr
has_pan: .quad 0
resume_sp: .quad 0
case_sp: .quad case_stack_top
case_sp2: .quad case_stack2_top
case_hcr: .quad 1 << 31
own_hcr: .quad 1 << 31
	.bss
	.balign	4096
	.space	8192
case_stack_top:
	.space	8192
case_stack2_top:
	.space	32768
boot_stack_top:
