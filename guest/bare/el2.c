/* EL2's own translation, running a case under HCR_EL2, stage 2 tables. */
#include "el2.h"


/* Bits of HCR_EL2 that may be cached in a TLB. */
#define CACHED (HCR_VM | HCR_PTW | HCR_DC | HCR_CD | HCR_ID | HCR_FWB | HCR_TGE | HCR_E2H)

void test_hcr(const char *name, u64 hcr, const u32 *code, u64 spsr, u64 x0, u64 x1, u64 x2, u64 x3) {
	static u64 last;
	u64 before = case_hcr;
	case_hcr = HCR_RW | hcr;
	if (hcr & HCR_HCD) {
		case_hcr |= HCR_TSC;
		write_sysreg(vbar_el1, vectors1_smc);
	}
	if ((last ^ hcr) & CACHED)
		stage2_flush();
	last = hcr;
	test(name, code, spsr, x0, x1, x2, x3);
	case_hcr = before;
	write_sysreg(vbar_el1, vectors1);
}

static __attribute__((aligned(4096))) u64 el2_level1[512], el2_level2[512];

/* Bits 23 and 31 are RES1 without E2H, and EPD1 and TG1 with it; bits 18:16 are PS, and T1SZ with it. IPS = 0 is enough: the
 * board lies in 4 GiB. */
#define TCR2 (25ul | 1ul << 8 | 1ul << 10 | 3ul << 12 | 1ul << 23 | 1ul << 31)
/* As well with E2H as without: no SVE, FP and SIMD not trapped; bit 20 is TTA without E2H, and there is no trace. */
#define CPTR2 0x3032fful

/* What is RES1 without E2H. */
#define SCTLR2_ON (0x30c50830ul | SCTLR_M | SCTLR_C | SCTLR_I | SCTLR_SA)

void regime2(void) {
	write_sysreg(hcr_el2, HCR_RW);
	isb();
	write_sysreg(mair_el2, MAIR);
	write_sysreg(ttbr0_el2, el2_level1);
	write_sysreg(tcr_el2, TCR2 | (u64)(cpu.pa_range > 5 ? 5 : cpu.pa_range) << 16);
	write_sysreg(cptr_el2, CPTR2);
	isb();
	asm volatile("dsb ish\n tlbi alle2\n tlbi alle1\n dsb ish\n isb" ::: "memory");
	write_sysreg(sctlr_el2, SCTLR2_ON);
	isb();
}

u64 *regime2_slot(u64 va) { return &el2_level2[va >> 21 & 511]; }

void start2(void);
void start2(void) {
	cpu.vhe = (u32)field(read_sysreg(id_aa64mmfr1_el1), 8, 4);
	/* As bare.ld lays the program out, with AP[1] for what EL0 may use under TGE; EL2 alone ignores it. */
	el2_level1[0] = BLOCK | DEVICE | AF | PXN | UXN;
	el2_level1[1] = (u64)el2_level2 | TABLE;
	for (u64 n = 0; n < 512; n++)
		el2_level2[n] = 0x40000000ul | n << 21 | BLOCK | KERNEL_RW;
	el2_level2[1] = 0x40200000ul | BLOCK | NORMAL | AF | AP(2);
	el2_level2[2] = 0x40400000ul | BLOCK | NORMAL | AF | AP(3);
	el2_level2[4] = 0x40800000ul | BLOCK | USER_RW;
	regime2();
	write_sysreg(vbar_el1, vectors1);
	write_sysreg(cpacr_el1, 3ul << 20);
	write_sysreg(vpidr_el2, read_sysreg(midr_el1));
	write_sysreg(vmpidr_el2, read_sysreg(mpidr_el1));
	write_sysreg(hstr_el2, 0);
	write_sysreg(vttbr_el2, 0);
	write_sysreg(vtcr_el2, 1ul << 31);
	write_sysreg(cnthctl_el2, 0xc03);
	write_sysreg(cntvoff_el2, 0);
	/* A GICv2 has no system registers. */
	if (field(read_sysreg(id_aa64pfr0_el1), 24, 4)) {
		write_sysreg(S3_4_C12_C9_5, 0xf); /* ICC_SRE_EL2 */
		isb();
		write_sysreg(S3_4_C12_C11_0, 0); /* ICH_HCR_EL2 */
		write_sysreg(S3_0_C12_C12_5, 7); /* ICC_SRE_EL1 */
		isb();
	}
}

#define STAGE2_HEAP 0x41000000ul
#define RAM 0x40000000ul
#define RAM_BYTES (128ul << 20)

static u64 stage2_next = STAGE2_HEAP;
static u64 stage2_heap(u64 bytes, u64 align) {
	u64 at = (stage2_next + align - 1) & ~(align - 1);
	stage2_next = at + bytes;
	for (u64 n = 0; n < bytes; n += 8)
		store64(at + n, 0);
	return at;
}

struct stage2 stage2 = {.tables = {.fresh = stage2_heap}};

u32 stage2_shift(int level) { return shift_in(&stage2.tables, level); }

/* VTCR_EL2.SL0 for a start at `level`. */
static u64 start_field(u32 page_bits, int level) {
	if (page_bits == 12)
		return level == 3 ? 3 : (u64)(2 - level);
	return (u64)(3 - level);
}

void stage2_new(u32 page_bits, u32 tsz, int start, u64 more) {
	static const u64 tg0[17] = {[12] = 0, [14] = 2, [16] = 1};
	stage2_next = STAGE2_HEAP;
	stage2.tables.page_bits = page_bits;
	stage2.tables.tsz = tsz;
	stage2.tables.start = start;
	u32 bits = 64 - tsz;
	u64 bytes = bits > stage2_shift(start) ? 8ul << (bits - stage2_shift(start)) : 8;
	stage2.tables.root = stage2_heap(bytes < 64 ? 64 : bytes, bytes < 4096 ? 4096 : bytes);
	u64 ps = cpu.pa_range > 5 ? 5 : cpu.pa_range;
	u64 sl = start < 0 ? 0 : start_field(page_bits, start);
	stage2.vtcr = (1ul << 31 | tsz | sl << 6 | 1ul << 8 | 1ul << 10 | 3ul << 12 | tg0[page_bits] << 14 | ps << 16) ^ more;
	write_sysreg(vtcr_el2, stage2.vtcr);
	stage2_vmid(stage2.vmid);
	stage2_flush();
}

void stage2_vmid(u64 vmid) {
	stage2.vmid = vmid;
	write_sysreg(vttbr_el2, stage2.tables.root | vmid << 48);
	isb();
}

u64 *stage2_slot(u64 ipa, int level) { return slot_in(&stage2.tables, ipa, level); }

void stage2_map(u64 ipa, u64 pa, int level, u64 attributes) {
	u64 kind = level == 3 ? PAGE : BLOCK;
	*stage2_slot(ipa, level) = (pa & ~((1ul << stage2_shift(level)) - 1)) | attributes | kind;
}

void stage2_identity(void) {
	u64 size = 1ul << stage2_shift(2);
	for (u64 at = RAM & ~(size - 1); at < RAM + RAM_BYTES; at += size)
		stage2_map(at, at, 2, S2_ALL);
}

void stage2_plain(void) {
	/* 40 bits are two concatenated tables at level 1, 36 one and 32 one. */
	u32 bits = cpu.pa_range >= 2 ? 40 : cpu.pa_range == 1 ? 36 : 32;
	stage2_new(12, 64 - bits, 1, 0);
	stage2_identity();
	stage2_flush();
}

void stage2_flush(void) { asm volatile("dsb ish\n tlbi alle1\n dsb ish\n isb" ::: "memory"); }
