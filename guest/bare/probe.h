/* Every kind of access to one virtual address, one line each. */
#pragma once
#include "bare.h"

/* No program uses all of this. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"

/* What the memory that is probed holds and what stores write: `svc #0x7777` twice, so that a branch to it ends the case. */
#define SVC_TWICE 0xd40eeee1d40eeee1ul
/* Its physical address: amid RAM that nothing else uses. */
#define TARGET 0x40c00000ul
/* Nothing answers there. */
#define NOWHERE 0x100000000ul

CODE(probe_ldr, "ldr x0, [x0]");
CODE(probe_str, "str x1, [x0]");
CODE(probe_ldtr, "ldtr x0, [x0]");
CODE(probe_sttr, "sttr x1, [x0]");
/* Not BR, which sets PSTATE.BTYPE where there is one. */
CODE(probe_br, "ret x0");
CODE(probe_ldxr, "ldxr x0, [x0]");
CODE(probe_stxr, "stxr w2, x1, [x0]\n mov x0, x2");
CODE(probe_swp, ".inst 0xf8218000\n mov x0, xzr");
CODE(probe_ldp, "ldp x2, x3, [x0]\n mov x0, x2");
CODE(probe_ldrsb, "ldrsb w21, [x0]\n mov x0, xzr");
CODE(probe_strh, "strh wzr, [x0]\n str x1, [x0]");
CODE(probe_ldr_q, "ldr q0, [x0]\n mov x0, xzr");
CODE(probe_ldar, "ldar x0, [x0]");
CODE(probe_stlr, "stlr x1, [x0]");
CODE(probe_ldr_post, "ldr x2, [x0], #8\n mov x0, xzr");
CODE(probe_prfm, "prfm pldl1keep, [x0]\n mov x0, xzr");
CODE(probe_cvac, "dc cvac, x0\n mov x0, xzr");
CODE(probe_civac, "dc civac, x0\n mov x0, xzr");
CODE(probe_ivac, "dc ivac, x0\n mov x0, xzr");
CODE(probe_ivau, "ic ivau, x0\n mov x0, xzr");
CODE(probe_zva, "dc zva, x0\n str x1, [x0]\n mov x0, xzr");
CODE(probe_e1r, "at s1e1r, x0\n isb\n mrs x0, par_el1");
CODE(probe_e1w, "at s1e1w, x0\n isb\n mrs x0, par_el1");
CODE(probe_e0r, "at s1e0r, x0\n isb\n mrs x0, par_el1");
CODE(probe_e0w, "at s1e0w, x0\n isb\n mrs x0, par_el1");

struct probe {
	const char *name;
	const u32 *code;
	u64 spsr;
};
static const struct probe probes[] = {
	{"ldr1", probe_ldr, EL1H},   {"str1", probe_str, EL1H},   {"ldr0", probe_ldr, EL0T},
	{"str0", probe_str, EL0T},   {"ldtr", probe_ldtr, EL1H},  {"sttr", probe_sttr, EL1H},
	{"exec1", probe_br, EL1H},   {"exec0", probe_br, EL0T},   {"at-e1r", probe_e1r, EL1H},
	{"at-e1w", probe_e1w, EL1H}, {"at-e0r", probe_e0r, EL1H}, {"at-e0w", probe_e0w, EL1H},
};
#define PROBES (sizeof probes / sizeof *probes)

/* Further kinds of access, whose syndromes differ in other bits. */
static const struct probe more_probes[] = {
	{"ldxr1", probe_ldxr, EL1H},   {"stxr1", probe_stxr, EL1H},     {"ldp1", probe_ldp, EL1H},
	{"ldrsb1", probe_ldrsb, EL1H}, {"strh1", probe_strh, EL1H},     {"ldrq1", probe_ldr_q, EL1H},
	{"ldar1", probe_ldar, EL1H},   {"stlr1", probe_stlr, EL1H},     {"post1", probe_ldr_post, EL1H},
	{"prfm1", probe_prfm, EL1H},   {"prfm0", probe_prfm, EL0T},     {"cvac1", probe_cvac, EL1H},
	{"civac1", probe_civac, EL1H}, {"ivac1", probe_ivac, EL1H},     {"ivau1", probe_ivau, EL1H},
	{"zva1", probe_zva, EL1H},     {"cvac0", probe_cvac, EL0T},     {"civac0", probe_civac, EL0T},
	{"ivau0", probe_ivau, EL0T},   {"zva0", probe_zva, EL0T},       {"ldrsb0", probe_ldrsb, EL0T},
	{"swp1", probe_swp, EL1H},     {"swp0", probe_swp, EL0T},
};

static void target_reset(void) {
	for (u64 n = 0; n < 64; n++)
		store64(TARGET + 8 * n, SVC_TWICE);
	asm volatile("dsb ish\n ic iallu\n dsb ish\n isb" ::: "memory");
}

/* Every probe of `va`, each with an empty TLB; PSTATE bits `more` at EL1. */
static void probe_pstate(u64 va, u64 more) {
	for (u32 n = 0; n < PROBES; n++) {
		u64 spsr = probes[n].spsr == EL1H ? EL1H | more : probes[n].spsr;
		tlb_flush();
		test(probes[n].name, probes[n].code, spsr, va, SVC_TWICE, 0, 0);
	}
}
static void probe(u64 va) { probe_pstate(va, 0); }
static void probe_more(u64 va) {
	for (u32 n = 0; n < sizeof more_probes / sizeof *more_probes; n++) {
		if (!cpu.lse && more_probes[n].code == probe_swp)
			continue;
		tlb_flush();
		test(more_probes[n].name, more_probes[n].code, more_probes[n].spsr, va, SVC_TWICE, 0, 0);
	}
}

static const u32 granules[3] = {12, 14, 16};
static int has_granule(u32 page_bits) {
	return page_bits == 12 ? (int)cpu.granule4 : page_bits == 14 ? (int)cpu.granule16 : (int)cpu.granule64;
}

/* May a descriptor at `level` map memory, without LPA or LPA2? */
static int leaf_at(int level) {
	return level == 3 || level == 2 || (level == 1 && upper.tables.page_bits == 12);
}

/* An address of the upper half that a descriptor at `level` maps to TARGET if it holds `target_pa(level)`. */
static u64 target_va(int level) {
	u64 size = 1ul << upper_shift(level);
	return upper_base() + (TARGET & (size - 1)) + (level == 3 ? 0 : size);
}
static u64 target_pa(int level) { return TARGET & ~((1ul << upper_shift(level)) - 1); }
/* A valid leaf for `level` with these attributes. */
static u64 leaf(int level, u64 attributes) { return target_pa(level) | attributes | (level == 3 ? PAGE : BLOCK); }
