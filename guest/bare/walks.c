/* Stage 1 walks: the fault status of broken tables, and PAR_EL1, for each granule and level. */
#include "probe.h"

#define RW (NORMAL | SH_INNER | AF | AP(1))

static void set(int level, u64 descriptor) { *(volatile u64 *)upper_slot(target_va(level), level) = descriptor; }

static void one(const char *name, int level, u64 descriptor) {
	u32 mark = section_mark();
	subsection(name);
	set(level, descriptor);
	probe(target_va(level));
	section_back(mark);
}

static void levels(u32 page_bits) {
	section("granule");
	subsection_hex("", page_bits);
	u32 whole = section_mark();
	u64 ps = cpu.pa_range > 5 ? 5 : cpu.pa_range;
	for (int level = 3;; level--) {
		upper_new(page_bits, 16, 0);
		if (level < upper.tables.start)
			break;
		section_back(whole);
		subsection_hex("level ", (u64)level);
		one("empty", level, 0);
		one("invalid", level, ~1ul);
		if (level == 3 || !leaf_at(level))
			one("reserved", level, target_pa(level) | RW | BLOCK);
		if (level < 3) {
			/* A table that lies where nothing is, and one that is too high. */
			one("table nowhere", level, NOWHERE | TABLE);
			upper_new(page_bits, 16, ps << 32);
			one("table too high", level, 1ul << 33 | TABLE);
			upper_new(page_bits, 16, 0);
		}
		if (!leaf_at(level))
			continue;
		one("good", level, leaf(level, RW));
		one("no AF", level, leaf(level, RW & ~AF));
		one("read-only", level, leaf(level, RW | AP(2)));
		one("kernel", level, leaf(level, RW & ~AP(1)));
		one("kernel read-only", level, leaf(level, (RW & ~AP(1)) | AP(2)));
		one("no AF, no permission", level, leaf(level, (RW & ~AF & ~AP(1)) | AP(2)));
		one("XN", level, leaf(level, RW | PXN | UXN));
		one("device", level, leaf(level, (RW | DEVICE)));
		one("non-cacheable", level, leaf(level, (RW | NON_CACHEABLE) & ~SH_INNER));
		one("outer", level, leaf(level, (RW & ~SH_INNER) | 2ul << 8));
		one("nowhere", level, (NOWHERE & ~((1ul << upper_shift(level)) - 1)) | RW | (level == 3 ? PAGE : BLOCK));
		upper_new(page_bits, 16, ps << 32);
		one("too high", level, (4ul << 32) | RW | (level == 3 ? PAGE : BLOCK));
		one("too high, no AF", level, (4ul << 32) | (RW & ~AF) | (level == 3 ? PAGE : BLOCK));
		upper_new(page_bits, 16, ps << 32);
		one("good with 32 bits", level, leaf(level, RW));
		upper_new(page_bits, 16, 0);
		/* All of the bits that software may use, and the reserved ones. */
		one("software bits", level, leaf(level, RW | 15ul << 55));
		one("NS", level, leaf(level, RW | 1ul << 5));
		one("shareability 1", level, leaf(level, (RW & ~SH_INNER) | 1ul << 8));
		for (u64 n = 3; n < 8; n++) {
			u32 mark = section_mark();
			subsection_hex("attributes ", n);
			one("", level, leaf(level, RW | ATTR(n)));
			section_back(mark);
		}
	}
}

/* The kinds of access beyond plain loads and stores. */
static void kinds(void) {
	static const struct {
		const char *name;
		u64 descriptor;
	} cases[] = {
		{"empty", 0},
		{"good", TARGET | RW | PAGE},
		{"no AF", TARGET | (RW & ~AF) | PAGE},
		{"read-only", TARGET | RW | AP(2) | PAGE},
		{"kernel", TARGET | (RW & ~AP(1)) | PAGE},
		{"kernel read-only", TARGET | (RW & ~AP(1)) | AP(2) | PAGE},
		{"device", TARGET | RW | DEVICE | PAGE},
		{"nowhere", NOWHERE | RW | PAGE},
	};
	upper_new(12, 16, 0);
	for (u64 uci = 0; uci < 2; uci++) {
		set_sctlr(SCTLR_ON | (uci ? SCTLR_UCI | SCTLR_DZE : 0));
		for (u32 n = 0; n < sizeof cases / sizeof *cases; n++) {
			section(uci ? "kinds, UCI" : "kinds");
			subsection(cases[n].name);
			set(3, cases[n].descriptor);
			probe_more(target_va(3));
		}
	}
	set_sctlr(SCTLR_ON);
}

/* Sizes of the upper half: the level at which an empty table faults, and whether a size is taken at all. */
static void sizes(void) {
	upper_new(12, 16, 0);
	u64 empty = heap(0x80000, 0x80000);
	for (u32 g = 0; g < 3; g++) {
		if (!has_granule(granules[g]))
			continue;
		static const u64 tg1[17] = {[12] = 2, [14] = 1, [16] = 3};
		for (u64 tsz = 10; tsz < 64; tsz++) {
			section("size");
			subsection_hex("granule ", granules[g]);
			subsection_hex("tsz ", tsz);
			u64 ps = cpu.pa_range > 5 ? 5 : cpu.pa_range;
			write_sysreg(tcr_el1, TCR_OWN | tsz << 16 | tg1[granules[g]] << 30 | ps << 32 | 1ul << 36);
			write_sysreg(ttbr1_el1, empty);
			isb();
			tlb_flush();
			test("highest", probe_ldr, EL1H, -8ul, 0, 0, 0);
			tlb_flush();
			test("highest at", probe_e1r, EL1H, -8ul, 0, 0, 0);
			if (tsz < 56) {
				tlb_flush();
				test("lowest", probe_ldr, EL1H, -(1ul << (64 - tsz)), 0, 0, 0);
				tlb_flush();
				test("below", probe_ldr, EL1H, -(1ul << (64 - tsz)) - 8, 0, 0, 0);
			}
		}
	}
}

/* Addresses that belong to neither half, tagged ones, disabled walks. */
static void ranges(void) {
	section("range");
	upper_new(12, 25, 0);
	set(3, leaf(3, RW));
	u64 va = target_va(3);
	static const u64 tags[] = {0, 1ul << 56, 0x80ul << 56, 0xfful << 56, 1ul << 54, 1ul << 48, 1ul << 39, 1ul << 55};
	for (u64 tbi = 0; tbi < 2; tbi++) {
		section(tbi ? "range, TBI1" : "range");
		upper_new(12, 25, tbi << 38);
		set(3, leaf(3, RW));
		u32 mark = section_mark();
		for (u32 n = 0; n < sizeof tags / sizeof *tags; n++) {
			section_back(mark);
			subsection_hex("flip ", tags[n]);
			probe(va ^ tags[n]);
		}
		section_back(mark);
		/* Without TBI0 the lower half's tags are no addresses either. */
		subsection("lower, tagged");
		probe((u64)user_data | 0x5aul << 56);
		section_back(mark);
		subsection("lower, too high");
		probe(1ul << 39);
		probe_more(1ul << 47);
	}
	section("range, TBI0");
	upper_new(12, 25, 1ul << 37);
	set(3, leaf(3, RW));
	for (u32 n = 0; n < 3; n++) {
		test("ldr tagged", probe_ldr, EL0T, (u64)user_data ^ tags[n], 0, 0, 0);
		test("ldr beyond", probe_ldr, EL0T, (1ul << 40) ^ tags[n], 0, 0, 0);
		test("br tagged", probe_br, EL0T, ((u64)user_data + 2) ^ tags[n], 0, 0, 0);
		test("br not allowed", probe_br, EL0T, (u64)user_data ^ tags[n], 0, 0, 0);
	}
	section("range, EPD1");
	upper_new(12, 25, TCR_EPD1);
	set(3, leaf(3, RW));
	probe(va);
	section("range, TTBR1 too high");
	u64 ps = cpu.pa_range > 5 ? 5 : cpu.pa_range;
	upper_new(12, 25, ps << 32);
	write_sysreg(ttbr1_el1, 1ul << 33);
	isb();
	probe(va);
	section("range, TTBR1 nowhere");
	upper_new(12, 25, 0);
	write_sysreg(ttbr1_el1, NOWHERE);
	isb();
	probe(va);
	/* A contiguous run: each page of it is translated by its own descriptor's address. */
	section("contiguous");
	upper_new(12, 25, 0);
	for (u64 n = 0; n < 16; n++)
		*(volatile u64 *)upper_slot(target_va(3) + n * 4096, 3) = (TARGET + n * 4096) | RW | CONTIGUOUS | PAGE;
	tlb_flush();
	for (u64 n = 0; n < 16; n += 5) {
		test("at", probe_e1r, EL1H, target_va(3) + n * 4096, 0, 0, 0);
		test("ldr", probe_ldr, EL1H, target_va(3) + n * 4096, 0, 0, 0);
	}
}

int main(void) {
	target_reset();
	for (u32 g = 0; g < 3; g++)
		if (has_granule(granules[g]))
			levels(granules[g]);
	kinds();
	sizes();
	ranges();
	return 0;
}
