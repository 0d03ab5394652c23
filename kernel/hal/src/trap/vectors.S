// Exception entry and return. The kernel runs with interrupts masked; see `trap` for the frame.
// ELR, SPSR, ESR and FAR by their EL1 names, which with FEAT_VHE reach those of EL2.

	.set	F_PC, 248
	.set	F_PSTATE, 256
	.set	FRAME, 272

	.macro	save_frame
	sub	sp, sp, #FRAME
	save_registers
	.endm

	// In the kernel the stack may be too deep for it. X0 is kept in the sum meanwhile.
	.macro	save_frame_checked
	sub	sp, sp, #FRAME
	add	sp, sp, x0
	sub	x0, sp, x0
	tbz	x0, #OVERFLOW_BIT, stack_overflow
	sub	x0, sp, x0
	sub	sp, sp, x0
	save_registers
	.endm

	.macro	save_registers
	stp	x0, x1, [sp, #0]
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x16, x17, [sp, #128]
	stp	x18, x19, [sp, #144]
	stp	x20, x21, [sp, #160]
	stp	x22, x23, [sp, #176]
	stp	x24, x25, [sp, #192]
	stp	x26, x27, [sp, #208]
	stp	x28, x29, [sp, #224]
	mrs	x9, elr_el1
	mrs	x10, spsr_el1
	stp	x30, x9, [sp, #240]
	str	x10, [sp, #F_PSTATE]
	.endm

	// X2 to X17.
	.macro	restore_scratch
	ldp	x2, x3, [sp, #16]
	ldp	x4, x5, [sp, #32]
	ldp	x6, x7, [sp, #48]
	ldp	x8, x9, [sp, #64]
	ldp	x10, x11, [sp, #80]
	ldp	x12, x13, [sp, #96]
	ldp	x14, x15, [sp, #112]
	ldp	x16, x17, [sp, #128]
	.endm
	// X30, ELR, SPSR. X9 and X10 are written.
	.macro	restore_state
	ldp	x30, x9, [sp, #240]
	ldr	x10, [sp, #F_PSTATE]
	msr	elr_el1, x9
	msr	spsr_el1, x10
	.endm

	.macro	vector label
	.balign	128
	b	\label
	.endm
	.macro	saving_vector label
	.balign	128
	save_frame
	b	\label
	.endm
	.macro	checking_vector label
	.balign	128
	save_frame_checked
	b	\label
	.endm
	.macro	bad_vector number
	.balign	128
	save_frame_checked
	mov	x1, #\number
	b	bad_exception
	.endm

	.macro	vector_table name, sync
	.balign	2048
	.globl	\name
\name:
	bad_vector 0
	bad_vector 1
	bad_vector 2
	bad_vector 3
	checking_vector el1_sync
	checking_vector el1_irq
	bad_vector 6
	bad_vector 7
	saving_vector \sync
	saving_vector el0_irq
	bad_vector 10
	bad_vector 11
	bad_vector 12
	bad_vector 13
	bad_vector 14
	bad_vector 15
	.endm

	.section .vectors, "ax"
	vector_table vectors, el0_sync
	// The same with older ways to look for an asynchronous tag check fault.
	vector_table vectors_flag, el0_sync_flag
	vector_table vectors_feature, el0_sync_feature

	// A system call, from the vector to ERET. check: `folded`, nothing of its own, since what asks for a look at
	// TFSRE0_EL1 is among the flags of FLAGS_ENTRY; `flag`, that flag tested first; `feature`, before it whether the CPUs
	// have FEAT_MTE2.
	.macro	sync_entry name, check
	.balign	64
\name:
	mrs	x9, esr_el1
	mrs	x13, tpidr_el1
	lsr	x10, x9, #26
	cmp	x10, #0x15		// SVC in AArch64 state
	b.ne	el0_other
	ldr	x13, [x13, #PERCPU_THREAD]
	ldr	w14, [x13, #THREAD_FLAGS]
	.ifc	\check, flag
	tbnz	w14, #MTE_ASYNC_BIT, syscall_entry_work
	.endif
	.ifc	\check, feature
	alternative_else
	b	1f
	alternative_if CAP_MTE
	nop
	alternative_end
	tbnz	w14, #MTE_ASYNC_BIT, syscall_entry_work
1:
	.endif
	tst	w14, #FLAGS_ENTRY
	b.ne	syscall_entry_work
	.ifc	\check, folded
syscall_dispatch:
	.endif
	adrp	x11, SYSCALL_TABLE
	cmp	w8, #SYSCALLS
	b.hs	syscall_unknown
	add	x11, x11, :lo12:SYSCALL_TABLE
	ldr	x11, [x11, w8, uxtw #3]
	blr	x11
	.ifc	\check, folded
syscall_return:
	.endif
	mrs	x13, tpidr_el1
	ldr	x13, [x13, #PERCPU_THREAD]
	ldr	w14, [x13, #THREAD_FLAGS]
	tst	w14, #FLAGS_EXIT
	b.ne	syscall_exit_work
	ldr	x1, [sp, #8]
	// X19 to X29 are the user's still: the procedure call standard preserves them.
	restore_state
	restore_scratch
	ldr	x18, [sp, #144]
	add	sp, sp, #FRAME
	eret
	.endm

	.text
	sync_entry el0_sync, folded
	sync_entry el0_sync_flag, flag
	sync_entry el0_sync_feature, feature

syscall_unknown:
	mov	x0, x8
	bl	kernel_syscall_unknown
	b	syscall_return

// Work that a flag asks for before the call runs. Returns 0 to run it (registers anew), else it does not run.
syscall_entry_work:
	mov	x0, sp
	bl	kernel_syscall_entry_work
	cbnz	x0, return_to_user
	ldp	x0, x1, [sp, #0]
	ldp	x2, x3, [sp, #16]
	ldp	x4, x5, [sp, #32]
	ldp	x6, x7, [sp, #48]
	ldr	x8, [sp, #64]
	b	syscall_dispatch

syscall_exit_work:
	mov	x1, x0
	mov	x0, sp
	bl	kernel_syscall_exit_work
	b	return_to_user

el0_other:
	mov	x0, sp
	mov	x1, x9
	mrs	x2, far_el1
	bl	kernel_el0_sync
	// 0: the frame's X19 to X29 are as they were.
	cbnz	x0, return_to_user
el0_return:
	mrs	x13, tpidr_el1
	ldr	x13, [x13, #PERCPU_THREAD]
	ldr	w14, [x13, #THREAD_FLAGS]
	tst	w14, #FLAGS_EXIT
	b.ne	1f
	ldp	x0, x1, [sp, #0]
	restore_state
	restore_scratch
	ldr	x18, [sp, #144]
	add	sp, sp, #FRAME
	eret

el0_irq:
	bl	kernel_irq
	b	el0_return

1:	mov	x0, sp
	bl	kernel_exit_work

	.globl	return_to_user
// All registers from the frame, once no work is left.
return_to_user:
	mrs	x13, tpidr_el1
	ldr	x13, [x13, #PERCPU_THREAD]
	ldr	w14, [x13, #THREAD_FLAGS]
	tst	w14, #FLAGS_EXIT
	b.ne	1b
restore_all:
	restore_state
	ldp	x0, x1, [sp, #0]
	restore_scratch
	ldp	x18, x19, [sp, #144]
	ldp	x20, x21, [sp, #160]
	ldp	x22, x23, [sp, #176]
	ldp	x24, x25, [sp, #192]
	ldp	x26, x27, [sp, #208]
	ldp	x28, x29, [sp, #224]
	add	sp, sp, #FRAME
	eret

el1_sync:
	mov	x0, sp
	mrs	x1, esr_el1
	mrs	x2, far_el1
	bl	kernel_el1_sync
	b	restore_all

el1_irq:
	bl	kernel_irq
	b	restore_all

// X0: the stack pointer that is in nobody's stack. Nothing is kept: there is no way back.
stack_overflow:
	mrs	x9, tpidr_el1
	ldr	x9, [x9, #PERCPU_OVERFLOW]
	mov	sp, x9
	mrs	x1, esr_el1
	mrs	x2, far_el1
	mrs	x3, elr_el1
	bl	kernel_stack_overflow
	b	.

bad_exception:
	mov	x0, sp
	mrs	x2, esr_el1
	mrs	x3, far_el1
	bl	kernel_bad_exception
	b	.

	.globl	thread_switch
// x0: Context of the thread that stops here, x1: of the one that goes on. Returns the former in x0.
thread_switch:
	sub	sp, sp, #96
	stp	x19, x20, [sp, #0]
	stp	x21, x22, [sp, #16]
	stp	x23, x24, [sp, #32]
	stp	x25, x26, [sp, #48]
	stp	x27, x28, [sp, #64]
	stp	x29, x30, [sp, #80]
	mov	x9, sp
	mrs	x10, sp_el0
	mrs	x11, tpidr_el0
	stp	x9, x10, [x0, #THREAD_SP]
	str	x11, [x0, #THREAD_TPIDR]
	mrs	x12, tpidr_el1
	ldp	x9, x10, [x1, #THREAD_SP]
	ldr	x11, [x1, #THREAD_TPIDR]
	mov	sp, x9
	msr	sp_el0, x10
	msr	tpidr_el0, x11
	str	x1, [x12, #PERCPU_THREAD]
	ldp	x19, x20, [sp, #0]
	ldp	x21, x22, [sp, #16]
	ldp	x23, x24, [sp, #32]
	ldp	x25, x26, [sp, #48]
	ldp	x27, x28, [sp, #64]
	ldp	x29, x30, [sp, #80]
	add	sp, sp, #96
	ret

	.globl	thread_begin
// Where a new thread's first switch returns to: x0 is the thread that stopped, as above.
thread_begin:
	bl	kernel_thread_begin
	b	return_to_user

	.globl	fp_save
fp_save:
	.arch_extension fp
	stp	q0, q1, [x0, #0]
	stp	q2, q3, [x0, #32]
	stp	q4, q5, [x0, #64]
	stp	q6, q7, [x0, #96]
	stp	q8, q9, [x0, #128]
	stp	q10, q11, [x0, #160]
	stp	q12, q13, [x0, #192]
	stp	q14, q15, [x0, #224]
	stp	q16, q17, [x0, #256]
	stp	q18, q19, [x0, #288]
	stp	q20, q21, [x0, #320]
	stp	q22, q23, [x0, #352]
	stp	q24, q25, [x0, #384]
	stp	q26, q27, [x0, #416]
	stp	q28, q29, [x0, #448]
	stp	q30, q31, [x0, #480]
	mrs	x9, fpsr
	mrs	x10, fpcr
	add	x0, x0, #512
	stp	w9, w10, [x0]
	ret

	.globl	fp_load
fp_load:
	ldp	q0, q1, [x0, #0]
	ldp	q2, q3, [x0, #32]
	ldp	q4, q5, [x0, #64]
	ldp	q6, q7, [x0, #96]
	ldp	q8, q9, [x0, #128]
	ldp	q10, q11, [x0, #160]
	ldp	q12, q13, [x0, #192]
	ldp	q14, q15, [x0, #224]
	ldp	q16, q17, [x0, #256]
	ldp	q18, q19, [x0, #288]
	ldp	q20, q21, [x0, #320]
	ldp	q22, q23, [x0, #352]
	ldp	q24, q25, [x0, #384]
	ldp	q26, q27, [x0, #416]
	ldp	q28, q29, [x0, #448]
	ldp	q30, q31, [x0, #480]
	add	x0, x0, #512
	ldp	w9, w10, [x0]
	msr	fpsr, x9
	msr	fpcr, x10
	ret
	.arch_extension nofp
