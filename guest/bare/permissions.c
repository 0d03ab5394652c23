/* Permissions of stage 1: AP, PXN, UXN, WXN, the table's own bits, PAN, UAO, EPAN, E0PD. */
#include "probe.h"

#define RW (NORMAL | SH_INNER | AF)

static void set(int level, u64 descriptor) { *(volatile u64 *)upper_slot(target_va(level), level) = descriptor; }

/* AP by PXN by UXN, each with PAN as given, with and without WXN. */
static void leaves(u64 sctlr, u64 pstate) {
	upper_new(12, 25, 0);
	for (u64 bits = 0; bits < 16; bits++) {
		u32 mark = section_mark();
		subsection_hex("ap ", bits >> 2);
		subsection_hex("xn ", bits & 3);
		set(3, leaf(3, RW | AP(bits >> 2) | (bits & 1 ? PXN : 0) | (bits & 2 ? UXN : 0)));
		set_sctlr(sctlr);
		probe_pstate(target_va(3), pstate);
		set_sctlr(SCTLR_ON);
		section_back(mark);
	}
}

CODE(at_rp, "sys #0, c7, c9, #0, x0\n isb\n mrs x0, par_el1");
CODE(at_wp, "sys #0, c7, c9, #1, x0\n isb\n mrs x0, par_el1");

/* AT with PAN looks at PSTATE.PAN; the plain one does not. */
static void at_pan(u64 sctlr) {
	upper_new(12, 25, 0);
	for (u64 bits = 0; bits < 16; bits++) {
		u32 mark = section_mark();
		subsection_hex("ap ", bits >> 2);
		subsection_hex("xn ", bits & 3);
		set(3, leaf(3, RW | AP(bits >> 2) | (bits & 1 ? PXN : 0) | (bits & 2 ? UXN : 0)));
		set_sctlr(sctlr);
		for (u64 pan = 0; pan < 2; pan++) {
			tlb_flush();
			test(pan ? "s1e1rp, PAN" : "s1e1rp", at_rp, EL1H | pan << 22, target_va(3), 0, 0, 0);
			tlb_flush();
			test(pan ? "s1e1wp, PAN" : "s1e1wp", at_wp, EL1H | pan << 22, target_va(3), 0, 0, 0);
		}
		set_sctlr(SCTLR_ON);
		section_back(mark);
	}
}

/* Bits of a table descriptor at `level`, and of two of them. */
static void tables(u64 tcr) {
	for (int level = 0; level < 3; level++) {
		for (u64 bits = 0; bits < 32; bits++) {
			/* APTable, PXNTable, UXNTable; the highest bit: an APTable of 2 one level above. */
			if (bits >> 4 && level == 0)
				continue;
			upper_new(12, 16, tcr);
			u32 mark = section_mark();
			subsection_hex("table at ", (u64)level);
			subsection_hex("bits ", bits);
			set(3, leaf(3, RW | AP(1)));
			*(volatile u64 *)upper_slot(target_va(3), level) |= (bits & 15) << 59;
			if (bits >> 4)
				*(volatile u64 *)upper_slot(target_va(3), level - 1) |= AP_TABLE(2);
			probe(target_va(3));
			section_back(mark);
		}
	}
}

CODE(brk_, "brk #1");

int main(void) {
	target_reset();
	section("plain");
	leaves(SCTLR_ON, 0);
	section("WXN");
	leaves(SCTLR_ON | SCTLR_WXN, 0);
	section("hierarchy");
	tables(0);
	if (field(read_sysreg(id_aa64mmfr1_el1), 12, 4)) {
		section("hierarchy, HPD1");
		tables(1ul << 42);
	}
	if (cpu.pan) {
		section("PAN");
		leaves(SCTLR_ON, SPSR_PAN);
		section("PAN, WXN");
		leaves(SCTLR_ON | SCTLR_WXN, SPSR_PAN);
		/* SPAN clear: an exception to EL1 sets PAN. */
		section("SPAN");
		set_sctlr(SCTLR_ON & ~SCTLR_SPAN);
		test("from EL0", brk_, EL0T, 0, 0, 0, 0);
		out_value("pan then", caught.daif >> 22);
		test("from EL1", brk_, EL1H, 0, 0, 0, 0);
		set_sctlr(SCTLR_ON);
		test("from EL1, PAN", brk_, EL1H | SPSR_PAN, 0, 0, 0, 0);
	}
	if (cpu.pan >= 2) {
		section("AT PAN");
		at_pan(SCTLR_ON);
	}
	if (cpu.epan) {
		section("EPAN");
		leaves(SCTLR_ON | SCTLR_EPAN, SPSR_PAN);
		section("AT EPAN");
		at_pan(SCTLR_ON | SCTLR_EPAN);
	}
	if (cpu.uao) {
		section("UAO");
		leaves(SCTLR_ON, SPSR_UAO);
		section("UAO, PAN");
		leaves(SCTLR_ON, SPSR_UAO | SPSR_PAN);
	}
	/* E0PD1: EL0 does not get at the upper half at all. */
	if (field(read_sysreg(S3_0_C0_C7_2), 60, 4)) {
		section("E0PD1");
		upper_new(12, 25, 1ul << 56);
		set(3, leaf(3, RW | AP(1)));
		probe(target_va(3));
		probe_more(target_va(3));
	}
	return 0;
}
