/* What TLB maintenance must make visible, ASIDs, and code that changes. */
#include "probe.h"

#define RW (NORMAL | AF | AP(1))
#define OTHER (TARGET + 0x10000)

static void fill(u64 at, u64 value) {
	for (u64 n = 0; n < 512; n++)
		store64(at + 8 * n, value);
}

CODE(tlbi_vmalle1, "dsb ishst\n tlbi vmalle1\n dsb ish\n isb");
CODE(tlbi_vmalle1is, "dsb ishst\n tlbi vmalle1is\n dsb ish\n isb");
CODE(tlbi_vae1, "dsb ishst\n tlbi vae1, x0\n dsb ish\n isb");
CODE(tlbi_vae1is, "dsb ishst\n tlbi vae1is, x0\n dsb ish\n isb");
CODE(tlbi_vaae1, "dsb ishst\n tlbi vaae1, x0\n dsb ish\n isb");
CODE(tlbi_vaae1is, "dsb ishst\n tlbi vaae1is, x0\n dsb ish\n isb");
CODE(tlbi_vale1, "dsb ishst\n tlbi vale1, x0\n dsb ish\n isb");
CODE(tlbi_vale1is, "dsb ishst\n tlbi vale1is, x0\n dsb ish\n isb");
CODE(tlbi_vaale1, "dsb ishst\n tlbi vaale1, x0\n dsb ish\n isb");
CODE(tlbi_vaale1is, "dsb ishst\n tlbi vaale1is, x0\n dsb ish\n isb");
CODE(tlbi_aside1, "dsb ishst\n tlbi aside1, x0\n dsb ish\n isb");
CODE(tlbi_aside1is, "dsb ishst\n tlbi aside1is, x0\n dsb ish\n isb");
/* FEAT_TLBIRANGE, FEAT_TLBIOS. */
CODE(tlbi_rvae1, "dsb ishst\n sys #0, c8, c6, #1, x0\n dsb ish\n isb");
CODE(tlbi_rvaae1is, "dsb ishst\n sys #0, c8, c2, #3, x0\n dsb ish\n isb");
CODE(tlbi_vae1os, "dsb ishst\n sys #0, c8, c1, #1, x0\n dsb osh\n isb");

static volatile u64 *slot;
static u64 va;

static void set(u64 descriptor) {
	*slot = descriptor;
	dsb();
}
static u64 look(void) {
	run4(probe_ldr, EL1H, va, 0, 0, 0);
	return caught.esr == DONE ? caught.x[0] : caught.esr;
}

/* Maps one page, looks, unmaps, invalidates by `code`, looks, maps another, looks. */
static void covers(const char *name, const u32 *code, u64 argument, u64 attributes) {
	set(TARGET | attributes | PAGE);
	tlb_flush();
	u64 first = look();
	set(0);
	run4(code, EL1H, argument, 0, 0, 0);
	u64 second = look();
	set(OTHER | attributes | PAGE);
	isb();
	u64 third = look();
	out_name(name);
	out_field("mapped", first);
	out_field("gone", second);
	out_field("other", third);
	out_line();
}

static void scopes(void) {
	upper_new(12, 25, 0);
	va = target_va(3);
	slot = upper_slot(va, 3);
	u64 page = va >> 12 & ((1ul << 44) - 1);
	for (u64 ng = 0; ng < 2; ng++) {
		section(ng ? "nG" : "global");
		u64 attributes = RW | (ng ? NG : 0);
		covers("vmalle1", tlbi_vmalle1, 0, attributes);
		covers("vmalle1is", tlbi_vmalle1is, 0, attributes);
		covers("vae1", tlbi_vae1, page, attributes);
		covers("vae1is", tlbi_vae1is, page, attributes);
		covers("vaae1", tlbi_vaae1, page, attributes);
		covers("vaae1is", tlbi_vaae1is, page, attributes);
		covers("vale1", tlbi_vale1, page, attributes);
		covers("vale1is", tlbi_vale1is, page, attributes);
		covers("vaale1", tlbi_vaale1, page, attributes);
		covers("vaale1is", tlbi_vaale1is, page, attributes);
		if (ng) {
			covers("aside1", tlbi_aside1, 0, attributes);
			covers("aside1is", tlbi_aside1is, 0, attributes);
		} else {
			/* A global entry is the address's whatever the ASID. */
			covers("vae1, another ASID", tlbi_vae1, page | 5ul << 48, attributes);
		}
		u64 isar0 = read_sysreg(id_aa64isar0_el1);
		if (field(isar0, 56, 4) >= 1)
			covers("vae1os", tlbi_vae1os, page, attributes);
		if (field(isar0, 56, 4) >= 2) {
			/* TG 4K, SCALE 0, NUM 0: two pages from BaseADDR. */
			u64 range = (va >> 12 & ((1ul << 37) - 1)) | 1ul << 46;
			covers("rvae1", tlbi_rvae1, range, attributes);
			covers("rvaae1is", tlbi_rvaae1is, range, attributes);
			covers("rvae1, TTL 3", tlbi_rvae1, range | 3ul << 37, attributes);
		}
	}
	/* Unmapping a table: not by the last-level forms. */
	section("table");
	set(TARGET | RW | PAGE);
	tlb_flush();
	u64 first = look();
	volatile u64 *table = upper_slot(va, 2);
	u64 was = *table;
	*table = 0;
	run4(tlbi_vae1is, EL1H, page, 0, 0, 0);
	u64 second = look();
	*table = was;
	dsb();
	isb();
	out_value("mapped", first);
	out_value("gone", second);
	out_value("back", look());
	/* A block, by an address within it. */
	section("block");
	volatile u64 *block = upper_slot(target_va(2), 2);
	*block = leaf(2, RW);
	tlb_flush();
	va = target_va(2);
	out_value("mapped", look());
	*block = 0;
	run4(tlbi_vale1is, EL1H, (va >> 12 & ((1ul << 44) - 1)) ^ 0x1f, 0, 0, 0);
	out_value("gone", look());
}

/* Two ASIDs whose tables differ: switching needs no invalidation. */
static void asids(void) {
	for (u64 a1 = 0; a1 < 2; a1++) {
		section(a1 ? "ASID in TTBR1" : "ASID in TTBR0");
		upper_new(12, 25, a1 << 22);
		va = target_va(3);
		u64 root1 = upper.tables.root;
		*(volatile u64 *)upper_slot(va, 3) = TARGET | RW | NG | PAGE;
		/* A second tree. */
		u64 root2 = heap(4096, 4096);
		upper.tables.root = root2;
		*(volatile u64 *)upper_slot(va, 3) = OTHER | RW | NG | PAGE;
		tlb_flush();
		u64 own = read_sysreg(ttbr0_el1);
		static const u16 numbers[] = {1, 2, 1, 0xff, 2, 0xff};
		for (u32 n = 0; n < 6; n++) {
			u64 asid = (u64)numbers[n] << 48;
			write_sysreg(ttbr0_el1, a1 ? own : own | asid);
			write_sysreg(ttbr1_el1, (numbers[n] == 2 ? root2 : root1) | (a1 ? asid : 0));
			isb();
			out_value("asid", look());
		}
		write_sysreg(ttbr0_el1, own);
		isb();
	}
	/* The same through the lower half is what `own` is; 16 bits or 8. */
	section("ASID size");
	u64 tcr = read_sysreg(tcr_el1);
	for (u64 as = 0; as < 2; as++) {
		write_sysreg(tcr_el1, (tcr & ~(1ul << 36)) | as << 36);
		isb();
		u64 own = read_sysreg(ttbr0_el1);
		write_sysreg(ttbr0_el1, own | 0xabcdul << 48);
		isb();
		out_value("ttbr0", read_sysreg(ttbr0_el1) >> 48);
		write_sysreg(ttbr0_el1, own);
		isb();
	}
	write_sysreg(tcr_el1, tcr);
	isb();
}

/* Code written and executed. */
static void code(void) {
	section("code");
	upper_new(12, 25, 0);
	u64 writable = target_va(3), executable = writable + 0x4000;
	*(volatile u64 *)upper_slot(writable, 3) = TARGET | RW | PXN | UXN | PAGE;
	*(volatile u64 *)upper_slot(executable, 3) = TARGET | NORMAL | AF | AP(3) | PAGE;
	tlb_flush();
	for (u64 el = 0; el < 2; el++) {
		for (u32 n = 0; n < 5; n++) {
			/* movz x0, #n; svc #0x7777 */
			u64 at = writable + 256 * (n & 1);
			store32(at, 0xd2800000 | n << 5);
			store32(at + 4, 0xd40eeee1);
			asm volatile("dc cvau, %0\n dsb ish\n ic ivau, %1\n dsb ish\n isb" ::"r"(at), "r"(executable + 256 * (n & 1)) : "memory");
			run4((void *)(executable + 256 * (n & 1)), el ? EL1H : EL0T, 99, 0, 0, 0);
			out_value(el ? "el1" : "el0", caught.x[0]);
		}
	}
	/* The same page made executable, through one address. */
	volatile u64 *page = upper_slot(executable, 3);
	for (u32 n = 0; n < 4; n++) {
		*page = TARGET | RW | PXN | UXN | PAGE;
		tlb_flush();
		store32(executable, 0xd2800000 | (16 + n) << 5);
		store32(executable + 4, 0xd40eeee1);
		*page = TARGET | NORMAL | AF | AP(3) | PAGE;
		dsb();
		asm volatile("dc cvau, %0\n dsb ish\n ic ialluis\n dsb ish" ::"r"(executable) : "memory");
		tlb_flush();
		run4((void *)executable, EL0T, 99, 0, 0, 0);
		out_value("made executable", caught.x[0]);
		run4((void *)executable, EL1H, 99, 0, 0, 0);
		out_value("made executable, el1", caught.x[0]);
	}
	/* Within one block: the next instruction but three changes, after an ISB. */
	u64 at = writable + 1024, run_at = executable + 1024;
	*(volatile u64 *)upper_slot(executable, 3) = TARGET | RW | PXN | PAGE;
	tlb_flush();
	static const u32 program[] = {
		0xb9001001, /* str w1, [x0, #16] */
		0xd50b7b20, /* dc cvau, x0 */
		0xd5033b9f, /* dsb ish */
		0xd5033fdf, /* isb */
		0xd2800022, /* movz x2, #1: replaced by movz x2, #2 */
		0xaa0203e0, /* mov x0, x2 */
		0xd40eeee1, /* svc #0x7777 */
	};
	for (u32 n = 0; n < 7; n++)
		store32(at + 4 * n, program[n]);
	asm volatile("dsb ish\n ic ialluis\n dsb ish\n isb" ::: "memory");
	set_sctlr(SCTLR_ON | SCTLR_UCI);
	run4((void *)run_at, EL0T, run_at, 0xd2800042, 0, 0);
	out_value("changes itself", caught.x[0]);
	set_sctlr(SCTLR_ON);
}

int main(void) {
	target_reset();
	fill(TARGET, 0x1111);
	fill(OTHER, 0x2222);
	scopes();
	asids();
	code();
	return 0;
}
