// From the loader to Rust: the Image header, EL2 or EL1, the first tables, and the way of the other CPUs.
// Everything in .idmap.text runs at physical addresses, so it addresses PC-relatively only.

	.set	PAGE, 4096
	.set	BLOCK_NORMAL, (1 << 54) | (1 << 10) | (3 << 8) | (1 << 2) | 1	// UXN, AF, inner shareable, AttrIndx 1
	.set	TABLE, 3

	.section .head.text, "ax"
	.globl	_start
// Documentation/arch/arm64/booting.rst: 64 bytes.
_start:
	b	primary_entry
	.long	0
	.quad	0			// text_offset
	.quad	__image_size
	.quad	0xa			// little-endian, 4K pages, anywhere in RAM
	.quad	0, 0, 0
	.ascii	"ARM\x64"
	.long	0

	.section .idmap.text, "ax"
primary_entry:
	mov	x20, x0			// device tree
	bl	settle_level
	mov	x21, x0
	bl	first_tables
	adrp	x1, first_l0
	bl	mmu_registers
	ldr	x8, =primary_high
	msr	sctlr_el1, x0
	isb
	br	x8

	.globl	secondary_entry
// x0: physical address of a SecondaryBoot { stack, percpu, ttbr1 }.
secondary_entry:
	mov	x20, x0
	bl	settle_level
	ldp	x21, x22, [x20]		// stack, percpu
	ldr	x1, [x20, #16]
	bl	mmu_registers
	ldr	x8, =secondary_high
	msr	sctlr_el1, x0
	isb
	br	x8

// Stays at EL2 with E2H and TGE where there is FEAT_VHE, else goes to EL1. Returns the level in x0.
// Interrupts stay masked. Clobbers x1 to x3.
settle_level:
	msr	daifset, #0xf
	mrs	x0, CurrentEL
	cmp	x0, #(2 << 2)
	b.eq	1f
	ldr	x0, =0x30d00800		// SCTLR_EL1: RES1 bits, MMU and caches off
	msr	sctlr_el1, x0
	isb
	mov	x0, #1
	ret
1:	mrs	x3, id_aa64pfr1_el1
	ubfx	x3, x3, #8, #4		// MTE
	cmp	x3, #2
	cset	x3, hs
	lsl	x3, x3, #56		// HCR_EL2.ATA
	mrs	x1, id_aa64isar1_el1
	mrs	x2, S3_0_C0_C6_2	// ID_AA64ISAR2_EL1
	ubfx	x1, x1, #4, #8		// APA, API
	ubfx	x2, x2, #12, #4		// APA3
	orr	x1, x1, x2
	cmp	x1, #0
	cset	x1, ne
	add	x1, x1, x1, lsl #1
	orr	x3, x3, x1, lsl #40	// HCR_EL2.API, APK
	mrs	x1, id_aa64pfr0_el1
	ubfx	x1, x1, #24, #4		// GIC: system registers
	cbz	x1, 2f
	mov	x1, #0xf		// ICC_SRE_EL2: SRE, DFB, DIB, Enable
	msr	S3_4_C12_C9_5, x1
	isb
	msr	S3_4_C12_C11_0, xzr	// ICH_HCR_EL2
2:	msr	cntvoff_el2, xzr
	msr	vttbr_el2, xzr
	msr	hstr_el2, xzr
	mrs	x1, midr_el1
	msr	vpidr_el2, x1
	mrs	x1, mpidr_el1
	msr	vmpidr_el2, x1
	mrs	x1, id_aa64dfr0_el1
	ubfx	x1, x1, #8, #4		// PMUVer
	sub	x2, x1, #1
	cmp	x2, #14			// 0 and 15: no PMUv3
	mov	x1, #0
	b.hs	3f
	mrs	x1, pmcr_el0
	ubfx	x1, x1, #11, #5		// N, into MDCR_EL2.HPMN
3:	msr	mdcr_el2, x1
	mrs	x1, id_aa64mmfr1_el1
	ubfx	x1, x1, #8, #4		// VH
	cbz	x1, 4f
	ldr	x1, =((1 << 34) | (1 << 31) | (1 << 27))	// HCR_EL2: E2H, RW, TGE
	orr	x1, x1, x3
	msr	hcr_el2, x1
	isb
	ldr	x0, =0x30d00800
	msr	sctlr_el1, x0		// SCTLR_EL2 now
	isb
	mov	x0, #2
	ret
4:	mov	x1, #(1 << 31)		// HCR_EL2: RW
	orr	x1, x1, x3
	msr	hcr_el2, x1
	mov	x1, #3			// CNTHCTL_EL2: EL1PCTEN, EL1PCEN
	msr	cnthctl_el2, x1
	mov	x1, #0x33ff		// CPTR_EL2: RES1, no traps
	msr	cptr_el2, x1
	ldr	x1, =0x30d00800
	msr	sctlr_el1, x1
	mov	x1, #0x3c5		// EL1h, DAIF
	msr	spsr_el2, x1
	msr	elr_el2, x30
	mov	x0, #1
	eret

// Identity map of the image, the image at its virtual address, and the device tree beside it. x20: device tree.
first_tables:
	adrp	x9, first_tables_start
	adrp	x10, first_tables_end
	mov	x0, x9
1:	stp	xzr, xzr, [x0], #16
	cmp	x0, x10
	b.lo	1b

	ldr	x7, =BLOCK_NORMAL
	adrp	x1, _start
	adrp	x2, idmap_l0
	adrp	x3, idmap_l1
	orr	x4, x3, #TABLE
	ubfx	x5, x1, #39, #9
	str	x4, [x2, x5, lsl #3]
	ubfx	x5, x1, #30, #9
	lsr	x4, x1, #30
	orr	x6, x7, x4, lsl #30
	str	x6, [x3, x5, lsl #3]
	add	x5, x5, #1		// the image may reach into the next GiB
	tbnz	x5, #9, 2f
	add	x4, x4, #1
	orr	x6, x7, x4, lsl #30
	str	x6, [x3, x5, lsl #3]
2:
	adrp	x2, first_l0
	adrp	x3, first_l1
	orr	x4, x3, #TABLE
	str	x4, [x2, #(256 * 8)]	// 0xffff_8000_0000_0000
	adrp	x2, first_l2_dtb
	orr	x4, x2, #TABLE
	str	x4, [x3, #(1 * 8)]	// + 1 GiB: the device tree
	lsr	x5, x20, #21
	lsl	x5, x5, #21
	orr	x6, x5, x7
	str	x6, [x2]
	add	x6, x6, #(2 << 20)
	str	x6, [x2, #8]
	adrp	x2, first_l2_image
	orr	x4, x2, #TABLE
	str	x4, [x3, #(2 * 8)]	// + 2 GiB: the image
	orr	x6, x1, x7
	ldr	x5, =__image_size
3:	str	x6, [x2], #8
	add	x6, x6, #(2 << 20)
	subs	x5, x5, #(2 << 20)
	b.hi	3b
	// What was written without caches must not be shadowed by older lines.
	dmb	sy
4:	dc	ivac, x9
	add	x9, x9, #16
	cmp	x9, x10
	b.lo	4b
	dsb	sy
	ret

// Translation registers for this level; x1: table for the upper half. Returns SCTLR with the MMU on in x0.
mmu_registers:
	ldr	x0, =0x00f044ff04	// MAIR: 0 Device-nGnRE, 1 Normal, 2 Normal non-cacheable, 3 Normal tagged, 4 nGnRnE
	msr	mair_el1, x0
	// TCR: T0SZ 16, T1SZ 16, inner shareable write-back walks, TG0 4K, TG1 4K, TBI0
	ldr	x0, =(16 | (16 << 16) | (1 << 8) | (1 << 10) | (3 << 12) | (1 << 24) | (1 << 26) | (3 << 28) | (2 << 30) | (1 << 37))
	mrs	x2, id_aa64mmfr0_el1
	ubfx	x3, x2, #0, #4		// PARange
	cmp	x3, #5
	mov	x4, #5
	csel	x3, x3, x4, ls		// 48 bits without LPA2
	bfi	x0, x3, #32, #3		// IPS
	ubfx	x3, x2, #4, #4		// ASIDBits
	lsr	x3, x3, #1
	bfi	x0, x3, #36, #1		// AS
	msr	tcr_el1, x0
	adrp	x2, idmap_l0
	msr	ttbr0_el1, x2
	msr	ttbr1_el1, x1
	dsb	sy
	isb
	tlbi	vmalle1
	ic	iallu
	dsb	nsh
	isb
	// SCTLR: RES1, UCI, nTWE, nTWI, UCT, DZE, I, SA0, SA, C, M; EL0 traps of the rest
	ldr	x0, =(0x30d00800 | (1 << 26) | (1 << 18) | (1 << 16) | (1 << 15) | (1 << 14) | (1 << 12) | (1 << 8) | (1 << 4) | (1 << 3) | (1 << 2) | 1)
	mrs	x2, id_aa64mmfr1_el1
	ubfx	x2, x2, #20, #4		// PAN
	cbz	x2, 1f
	bic	x0, x0, #(1 << 23)	// SPAN: exceptions set PAN
1:	ret

	.globl	set_ttbr1
// Replaces the table of the upper half: no VA of it is in use while the old and the new could both be cached.
// x0: new table, physical. Called at its physical address, returns to x1 (virtual).
set_ttbr1:
	adrp	x2, empty_l0
	msr	ttbr1_el1, x2
	isb
	tlbi	vmalle1
	dsb	nsh
	isb
	msr	ttbr1_el1, x0
	isb
	br	x1

	.section .text.high, "ax"
primary_high:
	ldr	x0, =__bss_start
	ldr	x1, =__bss_end
1:	stp	xzr, xzr, [x0], #16
	cmp	x0, x1
	b.lo	1b
	ldr	x0, =boot_stack_top
	mov	sp, x0
	ldr	x0, =vectors
	msr	vbar_el1, x0
	ldr	x0, =BOOT_PERCPU
	msr	tpidr_el1, x0
	mov	x0, x20
	mov	x1, x21
	adrp	x2, _start		// virtual here; the physical one is in the tables
	ldr	x3, =first_l2_image
	ldr	x2, [x3]
	and	x2, x2, #0x0000ffffffe00000
	mov	x29, xzr
	mov	x30, xzr
	isb
	bl	boot_primary
	b	.

secondary_high:
	mov	sp, x21
	msr	tpidr_el1, x22
	ldr	x0, =vectors
	msr	vbar_el1, x0
	mov	x29, xzr
	mov	x30, xzr
	isb
	bl	boot_secondary
	b	.

	.section .noinit, "aw", @nobits
	.balign	PAGE
	.balign	32768
	.globl	boot_guard
boot_guard:	.space	16384		// unmapped by the final tables
	.globl	boot_stack
boot_stack:	.space	16384
	.globl	boot_stack_top
boot_stack_top:
first_tables_start:
	.globl	empty_l0
empty_l0:	.space	PAGE
	.globl	idmap_l0
idmap_l0:	.space	PAGE
idmap_l1:	.space	PAGE
first_l0:	.space	PAGE
first_l1:	.space	PAGE
first_l2_image:	.space	PAGE
first_l2_dtb:	.space	PAGE
first_tables_end:
