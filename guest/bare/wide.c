/* Addresses of more than 48 bits: LVA and LPA with 64 KiB pages, LPA2 with 4 and 16 KiB pages; small tables (TTST). */
#include "probe.h"

#define RW (NORMAL | SH_INNER | AF | AP(1))
#define DS (1ul << 59)

/* A one-descriptor path: tables at every level but the last, by hand, since levels may begin at -1. */
static void walk_case(const char *name, u32 page_bits, u32 tsz, u64 tcr, int leaf_level, u64 descriptor, u64 offset) {
	u32 stride = page_bits - 3, bits = 64 - tsz;
	int start = 3 - (int)((bits - 1 - page_bits) / stride);
	upper_new(12, 25, 0);
	static const u64 tg1[17] = {[12] = 2, [14] = 1, [16] = 3};
	u64 ps = cpu.pa_range > 6 ? 6 : cpu.pa_range;
	u64 sh = tcr & DS ? 3ul << 28 : 0;
	u64 va = -(1ul << bits) + offset, table = heap(1ul << page_bits, 1ul << page_bits), root = table;
	for (int level = start;; level++) {
		u32 shift = page_bits + stride * (u32)(3 - level);
		u32 width = level == start ? bits - shift : stride;
		volatile u64 *at = (u64 *)table + (va >> shift & ((1ul << width) - 1));
		if (level == leaf_level) {
			*at = descriptor;
			break;
		}
		u64 next = heap(1ul << page_bits, 1ul << page_bits);
		*at = next | TABLE;
		table = next;
	}
	write_sysreg(tcr_el1, (TCR_OWN & ~(DS)) | (u64)tsz << 16 | tg1[page_bits] << 30 | ps << 32 | 1ul << 36 | sh | tcr);
	write_sysreg(ttbr1_el1, root);
	isb();
	section("wide");
	subsection_hex("granule ", page_bits);
	subsection_hex("tsz ", tsz);
	subsection_hex("level ", (u64)leaf_level & 15);
	subsection(name);
	probe(va);
	tlb_flush();
	test("below", probe_ldr, EL1H, -(1ul << bits) - 8, 0, 0, 0);
}

int main(void) {
	target_reset();
	u64 mmfr0 = read_sysreg(id_aa64mmfr0_el1), mmfr2 = read_sysreg(S3_0_C0_C7_2);
	u64 lva = field(mmfr2, 16, 4), lpa = cpu.pa_range >= 6;
	u64 lpa2_4 = field(mmfr0, 28, 4) == 1, lpa2_16 = field(mmfr0, 20, 4) == 2, ttst = field(mmfr2, 28, 4);
	section("wide");
	out_value("lva", lva);
	out_value("lpa", lpa);
	out_value("lpa2 with 4K", lpa2_4);
	out_value("lpa2 with 16K", lpa2_16);
	out_value("ttst", ttst);
	if (cpu.granule64) {
		for (u32 tsz = 12; tsz <= 16; tsz++) {
			walk_case("good", 16, tsz, 0, 3, TARGET | RW | PAGE, 0);
			walk_case("block", 16, tsz, 0, 2, 0x40000000 | RW | BLOCK, TARGET & 0x1fffffff);
			walk_case("block 1", 16, tsz, 0, 1, RW | BLOCK, TARGET);
			walk_case("empty", 16, tsz, 0, 1, 0, 0);
		}
		/* Output address bits 51:48 in 15:12. */
		walk_case("high output", 16, 16, 0, 3, TARGET | RW | PAGE | 1ul << 12, 0);
		walk_case("high table", 16, 16, 0, 2, TARGET | TABLE | 8ul << 12, 0);
		walk_case("high block 1", 16, 16, 0, 1, RW | BLOCK | 8ul << 12, TARGET);
	}
	for (u32 g = 12; g <= 14; g += 2) {
		if (!has_granule(g))
			continue;
		for (u32 ds = 0; ds < 2; ds++) {
			u64 tcr = ds ? DS : 0;
			const char *name = ds ? "DS" : "plain";
			for (u32 tsz = 12; tsz <= 16; tsz++) {
				walk_case(name, g, tsz, tcr, 3, TARGET | (RW & ~(3ul << 8)) | PAGE, 0);
				if (64 - tsz > g + (g - 3) * 3)
					walk_case(name, g, tsz, tcr, 0, RW & ~(3ul << 8) & ~3ul, TARGET);
				walk_case(name, g, tsz, tcr, 1, (RW & ~(3ul << 8)) | BLOCK | (g == 12 ? 0x40000000 : 0), g == 12 ? TARGET & 0x3fffffff : TARGET);
				walk_case(ds ? "DS empty" : "empty", g, tsz, tcr, 1, 0, 0);
			}
			/* Bits 9:8: output address 51:50 with DS, shareability without. */
			walk_case(ds ? "DS high output" : "high output", g, 16, tcr, 3, TARGET | RW | PAGE, 0);
			walk_case(ds ? "DS bit 49" : "bit 49", g, 16, tcr, 3, TARGET | (RW & ~(3ul << 8)) | PAGE | 1ul << 49, 0);
			walk_case(ds ? "DS high table" : "high table", g, 16, tcr, 2, TARGET | TABLE | 1ul << 8, 0);
		}
		if (lpa2_4)
			walk_case("DS block 0", g, 16, DS, 0, (RW & ~(3ul << 8)) | BLOCK, TARGET);
	}
	for (u32 g = 0; g < 3; g++)
		for (u32 tsz = 38; tsz <= 49; tsz++)
			if (has_granule(granules[g]) && 64 - tsz > granules[g] + 1)
				walk_case("small", granules[g], tsz, 0, 3, TARGET | RW | PAGE, 0);
	return 0;
}
