// Start-up, vectors, and the way into a case and back.
#include "resume.inc"

	.section .text.start, "ax"
	.globl	_start
_start:
	msr	daifset, #15
	ldr	x1, =boot_stack_top
	mov	sp, x1
	ldr	x1, =vectors
	msr	vbar_el1, x1
	mov	x1, #3 << 20		// CPACR_EL1.FPEN: no traps
	msr	cpacr_el1, x1
	isb
	bl	start
	bl	main
	bl	power_off

// PSCI CPU_ON's entry: x0 is the stack's end.
	.weak	secondary_main
	.globl	secondary_start
secondary_start:
	msr	daifset, #15
	mov	sp, x0
	ldr	x1, =vectors
	msr	vbar_el1, x1
	mov	x1, #3 << 20
	msr	cpacr_el1, x1
	isb
	bl	secondary_main
	b	.

	.globl	power_off
power_off:
	movz	w0, #0x0008
	movk	w0, #0x8400, lsl #16	// PSCI SYSTEM_OFF
	hvc	#0
	b	.

// u64 psci(u64 function, u64 a, u64 b, u64 c)
	.globl	psci
psci:	hvc	#0
	ret

// void run(const void *code, u64 spsr, const u64 args[4]): enters `code` by ERET with SPSR_EL1 = spsr, x0 to x3 = args,
// the other registers 0 and SP_EL1 a small stack of its own. Comes back at the first exception of any kind, which
// `caught` then describes.
	.globl	run
run:
	save_caller
	msr	elr_el1, x0
	msr	spsr_el1, x1
	ldp	x0, x1, [x2]
	ldp	x2, x3, [x2, #16]
	ldr	x9, =case_sp
	ldr	x9, [x9]
	mov	sp, x9
	.irp	n, 4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
	mov	x\n, xzr
	.endr
	isb
	.globl	run_eret
run_eret:
	eret

	.macro	vector number
	.balign	128
	msr	tpidr_el1, x30
	mov	x30, #\number
	b	caught_here
	.endm

	.balign	2048
	.globl	vectors
vectors:
	.irp	n, 0x000,0x080,0x100,0x180,0x200,0x280,0x300,0x380,0x400,0x480,0x500,0x580,0x600,0x680,0x700,0x780
	vector	\n
	.endr

	.balign	128
caught_here:
	msr	tpidrro_el0, x29
	ldr	x29, =caught
	stp	x0, x1, [x29]
	stp	x2, x3, [x29, #16]
	stp	x4, x5, [x29, #32]
	stp	x6, x7, [x29, #48]
	mov	x0, sp
	mrs	x1, sp_el0
	stp	x0, x1, [x29, #64]
	mrs	x0, esr_el1
	mrs	x1, far_el1
	stp	x0, x1, [x29, #80]
	mrs	x0, elr_el1
	mrs	x1, spsr_el1
	stp	x0, x1, [x29, #96]
	str	x30, [x29, #112]
	mrs	x0, daif
	str	x0, [x29, #120]
	// A case may have left PSTATE.PAN set.
	ldr	x9, =has_pan
	ldr	x9, [x9]
	cbz	x9, 1f
	.inst	0xd500409f		// msr pan, #0
1:	// Back to run's caller.
	resume_caller

	.data
	.balign	16
	.globl	resume_sp, case_sp, has_pan
has_pan: .quad 0
resume_sp: .quad 0
case_sp: .quad case_stack_top
	.bss
	.balign	4096
	.space	8192
case_stack_top:
	.space	32768
boot_stack_top:
