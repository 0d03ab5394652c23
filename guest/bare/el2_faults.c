/* Stage 2 faults: what EL2 is told of the access, the address and the walk. */
#include "el2.h"
#include "probe.h"

/* Intermediate addresses that nothing else uses: above RAM, at TARGET within what a descriptor of each level maps. */
#define IPA 0x1c0c00000ul
/* Virtual addresses of EL1 that map IPA's page: for EL1 alone, for EL0 as well, and one whose tables are elsewhere. */
#define KERNEL_VA (upper_base() + 0x200000ul)
#define USER_VA (upper_base() + 0x201000ul)

CODE(nothing, "nop");
CODE(level_of, "mrs x0, CurrentEL");
CODE(call, "hvc #0x1234");

/* Every form of load and store, for ISV and what comes with it: x0 is the address, x1 a value. */
CODE(f_ldrb, "ldrb w5, [x0]");
CODE(f_ldrh, "ldrh w6, [x0, #2]");
CODE(f_ldr_w, "ldr w7, [x0, #4]");
CODE(f_ldr_x, "ldr x8, [x0, #8]");
CODE(f_ldrsb_w, "ldrsb w9, [x0]");
CODE(f_ldrsb_x, "ldrsb x10, [x0]");
CODE(f_ldrsh_w, "ldrsh w11, [x0]");
CODE(f_ldrsh_x, "ldrsh x12, [x0]");
CODE(f_ldrsw, "ldrsw x13, [x0]");
CODE(f_strb, "strb w14, [x0]");
CODE(f_strh, "strh w15, [x0]");
CODE(f_str_w, "str w16, [x0]");
CODE(f_str_x, "str x17, [x0]");
CODE(f_str_xzr, "str xzr, [x0]");
CODE(f_ldr_xzr, "ldr xzr, [x0]");
CODE(f_ldur, "ldur x19, [x0, #1]");
CODE(f_stur, "stur w20, [x0, #3]");
CODE(f_ldursb, "ldursb w21, [x0]");
CODE(f_ldr_reg, "ldr x22, [x0, x4]");
CODE(f_str_reg, "strh w23, [x0, w4, uxtw #1]");
CODE(f_ldr_post, "ldr x24, [x0], #8");
CODE(f_ldr_pre, "ldr x24, [x0, #8]!");
CODE(f_str_post, "str x24, [x0], #8");
CODE(f_str_pre, "str w24, [x0, #8]!");
CODE(f_ldtr, "ldtr x25, [x0]");
CODE(f_sttr, "sttr w26, [x0]");
CODE(f_ldtrsh, "ldtrsh x27, [x0]");
CODE(f_ldp, "ldp x5, x6, [x0]");
CODE(f_stp, "stp w5, w6, [x0]");
CODE(f_ldpsw, "ldpsw x5, x6, [x0]");
CODE(f_ldnp, "ldnp x5, x6, [x0]");
CODE(f_ldar, "ldar x5, [x0]");
CODE(f_ldarb, "ldarb w5, [x0]");
CODE(f_stlr, "stlr w6, [x0]");
CODE(f_stlrh, "stlrh w6, [x0]");
CODE(f_ldxr, "ldxr x5, [x0]");
CODE(f_ldaxr, "ldaxr w5, [x0]");
CODE(f_ldxp, "ldxp x5, x6, [x0]");
CODE(f_stxr, "stxr w5, x6, [x0]");
CODE(f_ldr_d, "ldr d0, [x0]");
CODE(f_str_q, "str q0, [x0]");
CODE(f_ldr_b, "ldr b0, [x0]");
CODE(f_ldp_q, "ldp q0, q1, [x0]");
CODE(f_ld1, ".inst 0x4c407000"); /* ld1 {v0.16b}, [x0] */
CODE(f_st2, ".inst 0x4c008000"); /* st2 {v0.16b, v1.16b}, [x0] */
CODE(f_ld1r, ".inst 0x4d40c000"); /* ld1r {v0.16b}, [x0] */
CODE(f_prfm, "prfm pldl1keep, [x0]\n mov x0, xzr");
CODE(f_zva, "dc zva, x0");
CODE(f_cvac, "dc cvac, x0");
CODE(f_ivac, "dc ivac, x0");
CODE(f_civac, "dc civac, x0");
CODE(f_ivau, "ic ivau, x0");
/* Armv8.1 and later. */
CODE(f_ldadd, ".inst 0xf8210005"); /* ldadd x1, x5, [x0] */
CODE(f_stadd, ".inst 0xb821001f"); /* stadd w1, [x0] */
CODE(f_swp, ".inst 0xf8218005"); /* swp x1, x5, [x0] */
CODE(f_cas, ".inst 0xc8a57c01"); /* cas x5, x1, [x0] */
CODE(f_casp, ".inst 0x48247c06"); /* casp x4, x5, x6, x7, [x0] */
CODE(f_ldapr, ".inst 0xf8bfc005"); /* ldapr x5, [x0] */
CODE(f_ldaprb, ".inst 0x38bfc005"); /* ldaprb w5, [x0] */
CODE(f_ldlar, "ldlar x5, [x0]");
CODE(f_stllr, "stllr w5, [x0]");
/* FEAT_LRCPC2. */
CODE(f_ldapur, ".inst 0xd9400005"); /* ldapur x5, [x0] */
CODE(f_stlur, ".inst 0x99000006"); /* stlur w6, [x0] */
CODE(f_ldapursb, ".inst 0x19c00005"); /* ldapursb w5, [x0] */

struct form {
	const char *name;
	const u32 *code;
	u32 kind; /* 0 everywhere, 1 with FEAT_LSE, 2 with FEAT_LRCPC, 3 with FEAT_LRCPC2, 4 with FEAT_LOR */
};
static const struct form forms[] = {
	{"ldrb", f_ldrb, 0},       {"ldrh", f_ldrh, 0},	  {"ldr w", f_ldr_w, 0},     {"ldr x", f_ldr_x, 0},
	{"ldrsb w", f_ldrsb_w, 0}, {"ldrsb x", f_ldrsb_x, 0}, {"ldrsh w", f_ldrsh_w, 0}, {"ldrsh x", f_ldrsh_x, 0},
	{"ldrsw", f_ldrsw, 0},     {"strb", f_strb, 0},	  {"strh", f_strh, 0},       {"str w", f_str_w, 0},
	{"str x", f_str_x, 0},     {"str xzr", f_str_xzr, 0}, {"ldr xzr", f_ldr_xzr, 0}, {"ldur", f_ldur, 0},
	{"stur", f_stur, 0},       {"ldursb", f_ldursb, 0},   {"ldr reg", f_ldr_reg, 0}, {"strh reg", f_str_reg, 0},
	{"ldr post", f_ldr_post, 0}, {"ldr pre", f_ldr_pre, 0}, {"str post", f_str_post, 0}, {"str pre", f_str_pre, 0},
	{"ldtr", f_ldtr, 0},       {"sttr", f_sttr, 0},	  {"ldtrsh", f_ldtrsh, 0},   {"ldp", f_ldp, 0},
	{"stp", f_stp, 0},	 {"ldpsw", f_ldpsw, 0},     {"ldnp", f_ldnp, 0},       {"ldar", f_ldar, 0},
	{"ldarb", f_ldarb, 0},     {"stlr", f_stlr, 0},	  {"stlrh", f_stlrh, 0},     {"ldxr", f_ldxr, 0},
	{"ldaxr", f_ldaxr, 0},     {"ldxp", f_ldxp, 0},	  {"stxr", f_stxr, 0},       {"ldr d", f_ldr_d, 0},
	{"str q", f_str_q, 0},     {"ldr b", f_ldr_b, 0},     {"ldp q", f_ldp_q, 0},     {"ld1", f_ld1, 0},
	{"st2", f_st2, 0},	 {"ld1r", f_ld1r, 0},       {"prfm", f_prfm, 0},       {"dc zva", f_zva, 0},
	{"dc cvac", f_cvac, 0},    {"dc ivac", f_ivac, 0},    {"dc civac", f_civac, 0},  {"ic ivau", f_ivau, 0},
	{"ldadd", f_ldadd, 1},     {"stadd", f_stadd, 1},     {"swp", f_swp, 1},	 {"cas", f_cas, 1},
	{"casp", f_casp, 1},       {"ldapr", f_ldapr, 2},     {"ldaprb", f_ldaprb, 2},   {"ldlar", f_ldlar, 4},
	{"stllr", f_stllr, 4},     {"ldapur", f_ldapur, 3},   {"stlur", f_stlur, 3},     {"ldapursb", f_ldapursb, 3},
};

static int has_form(const struct form *form) {
	u64 rcpc = field(read_sysreg(id_aa64isar1_el1), 20, 4);
	switch (form->kind) {
	case 1: return cpu.lse != 0;
	case 2: return rcpc >= 1;
	case 3: return rcpc >= 2;
	case 4: return field(read_sysreg(id_aa64mmfr1_el1), 16, 4) != 0;
	default: return 1;
	}
}

static void all_forms(u64 va, u64 spsr) {
	for (u32 n = 0; n < sizeof forms / sizeof *forms; n++) {
		if (!has_form(&forms[n]))
			continue;
		tlb_flush();
		test(forms[n].name, forms[n].code, spsr, va, SVC_TWICE, 0, 0);
	}
}

static void levels(void) {
	section("levels");
	test2("el2h", 0, level_of, EL2H);
	test2("el2t", 0, level_of, EL2T);
	test2("el1h", 0, level_of, EL1H);
	test2("hvc from el1", 0, call, EL1H);
	test2("hvc from el1, disabled", HCR_HCD, call, EL1H);
	test2("el1 under TGE", HCR_TGE, level_of, EL1H);
	test2("el0 under TGE", HCR_TGE, nothing, EL0T);
	test2("device under TGE", HCR_TGE, probe_ldr, EL0T);
	if (cpu.vhe) {
		test2("el2h, E2H", HCR_E2H, level_of, EL2H);
		test2("el1h, E2H", HCR_E2H, level_of, EL1H);
		test2("el0, E2H and TGE", HCR_E2H | HCR_TGE, nothing, EL0T);
		test_hcr("user data, E2H and TGE", HCR_E2H | HCR_TGE, probe_ldr, EL0T, (u64)user_data, 0, 0, 0);
		test_hcr("kernel data, E2H and TGE", HCR_E2H | HCR_TGE, probe_ldr, EL0T, (u64)kernel_data, 0, 0, 0);
	}
}

/* EL1's tables: KERNEL_VA and USER_VA map the page at IPA. */
static void stage1_for(u64 ipa) {
	upper_new(12, 25, 0);
	*upper_slot(KERNEL_VA, 3) = ipa | NORMAL | AF | AP(0) | UXN | PAGE;
	*upper_slot(USER_VA, 3) = ipa | NORMAL | AF | AP(1) | PAGE;
	target_reset();
	tlb_flush();
}

static void both(void) {
	u32 mark = section_mark();
	subsection("kernel");
	probe(KERNEL_VA);
	section_back(mark);
	subsection("user");
	probe(USER_VA);
	section_back(mark);
}

/* Descriptors of stage 2 at the leaf level. */
static void descriptors(void) {
	static const struct {
		const char *name;
		u64 bits;
	} cases[] = {
		{"all", S2_ALL | PAGE},
		{"invalid", S2_ALL},
		{"reserved", S2_ALL | BLOCK},
		{"no access flag", (S2_ALL | PAGE) & ~AF},
		{"none", (S2_ALL | PAGE) & ~S2_RW},
		{"read", (S2_ALL | PAGE) & ~S2AP_W},
		{"write", (S2_ALL | PAGE) & ~S2AP_R},
		{"XN 1", S2_ALL | PAGE | S2_XN(1)},
		{"XN 2", S2_ALL | PAGE | S2_XN(2)},
		{"XN 3", S2_ALL | PAGE | S2_XN(3)},
		{"dirty by DBM", (S2_ALL | PAGE | DBM) & ~S2AP_W},
		{"software bits", S2_ALL | PAGE | 15ul << 55},
		{"beyond the output", S2_ALL | PAGE | 1ul << 47},
	};
	section("page");
	u32 mark = section_mark();
	stage2_plain();
	stage1_for(IPA);
	case_hcr = HCR_RW | HCR_VM;
	for (u32 n = 0; n < sizeof cases / sizeof *cases; n++) {
		section_back(mark);
		subsection(cases[n].name);
		*stage2_slot(IPA, 3) = TARGET | cases[n].bits;
		both();
	}
}

/* Each level that a fault can be of, and where the input is too large. */
static void fault_levels(void) {
	stage2_plain();
	stage1_for(IPA);
	section("table");
	u32 mark = section_mark();
	for (int level = 1; level <= 3; level++) {
		static const struct {
			const char *name;
			u64 bits;
		} cases[] = {
			{"invalid", 0},
			{"beyond the output", 1ul << 47 | TABLE},
			{"no access flag", (S2_ALL | BLOCK) & ~AF},
			{"no rights", (S2_ALL | BLOCK) & ~S2_RW},
			{"upper bits", 0x1f00000000000ffcul | TABLE},
		};
		for (u32 n = 0; n < sizeof cases / sizeof *cases; n++) {
			if (level == 3 && n)
				continue;
			stage2_plain();
			*stage2_slot(IPA, 3) = TARGET | S2_ALL | PAGE;
			u64 *slot = stage2_slot(IPA, level);
			if (n == 4)
				*slot |= cases[n].bits & ~3ul & 0xf000000000000000ul;
			else
				*slot = cases[n].bits | (n == 2 || n == 3 ? TARGET & ~((1ul << stage2_shift(level)) - 1) : 0);
			section_back(mark);
			subsection_hex("level ", (u64)level);
			subsection(cases[n].name);
			both();
		}
	}
	section("input");
	mark = section_mark();
	static const u64 beyond[] = {1ul << 40, 1ul << 43, 1ul << 44, 1ul << 47, 0xffc0000000ul};
	for (u32 n = 0; n < sizeof beyond / sizeof *beyond; n++) {
		section_back(mark);
		subsection_hex("", beyond[n]);
		stage2_plain();
		stage1_for(beyond[n]);
		both();
	}
}

/* Walks of stage 1 through stage 2: its tables where stage 2 has no translation, rights or Normal memory. */
static void walks(void) {
	section("walk");
	u32 mark = section_mark();
	for (int level = 1; level <= 3; level++) {
		static const struct {
			const char *name;
			u64 bits;
			u64 hcr;
		} cases[] = {
			{"mapped", S2_ALL | PAGE, 0},
			{"invalid", 0, 0},
			{"no access flag", (S2_ALL | PAGE) & ~AF, 0},
			{"none", (S2_ALL | PAGE) & ~S2_RW, 0},
			{"write", (S2_ALL | PAGE) & ~S2AP_R, 0},
			{"read", (S2_ALL | PAGE) & ~S2AP_W, 0},
			{"XN", S2_ALL | PAGE | S2_XN(2), 0},
			{"device", S2_RW | AF | S2_DEVICE | PAGE, 0},
			{"device, PTW", S2_RW | AF | S2_DEVICE | PAGE, HCR_PTW},
			{"normal, PTW", S2_ALL | PAGE, HCR_PTW},
		};
		for (u32 n = 0; n < sizeof cases / sizeof *cases; n++) {
			stage2_plain();
			stage1_for(IPA);
			*stage2_slot(IPA, 3) = TARGET | S2_ALL | PAGE;
			/* The table of `level` at an intermediate address of its own. */
			u64 *slot = upper_slot(KERNEL_VA, level);
			u64 table = (u64)slot & ~4095ul, moved = IPA + 0x200000 + (u64)level * 0x1000;
			*stage2_slot(moved, 3) = cases[n].bits ? table | cases[n].bits : 0;
			if (level == 1)
				write_sysreg(ttbr1_el1, moved);
			else
				*upper_slot(KERNEL_VA, level - 1) = moved | TABLE;
			isb();
			section_back(mark);
			subsection_hex("level ", (u64)level);
			subsection(cases[n].name);
			case_hcr = HCR_RW | HCR_VM | cases[n].hcr;
			both();
		}
	}
	case_hcr = HCR_RW | HCR_VM;
}

/* Faults of stage 1 and of stage 2 at once. */
static void order(void) {
	section("order");
	u32 mark = section_mark();
	static const struct {
		const char *name;
		u64 first, second;
	} cases[] = {
		{"stage 1 invalid, stage 2 invalid", 0, 0},
		{"stage 1 no access flag, stage 2 invalid", IPA | NORMAL | AP(1) | PAGE, 0},
		{"stage 1 read only, stage 2 invalid", IPA | NORMAL | AF | AP(3) | PAGE, 0},
		{"stage 1 read only, stage 2 write", IPA | NORMAL | AF | AP(3) | PAGE, (TARGET | S2_ALL | PAGE) & ~S2AP_R},
		{"stage 1 never executes, stage 2 read", IPA | NORMAL | AF | AP(1) | PXN | UXN | PAGE,
		 (TARGET | S2_ALL | PAGE) & ~S2AP_W},
		{"stage 1 beyond the output", 1ul << 47 | NORMAL | AF | AP(1) | PAGE, 0},
	};
	for (u32 n = 0; n < sizeof cases / sizeof *cases; n++) {
		stage2_plain();
		stage1_for(IPA);
		*upper_slot(USER_VA, 3) = cases[n].first;
		*stage2_slot(IPA, 3) = cases[n].second;
		section_back(mark);
		subsection(cases[n].name);
		probe(USER_VA);
	}
	/* Alignment to Device memory of stage 2, and of stage 1. */
	stage2_plain();
	stage1_for(IPA);
	*stage2_slot(IPA, 3) = TARGET | S2_DEVICE | S2_RW | AF | PAGE;
	section_back(mark);
	subsection("device of stage 2");
	test("aligned", probe_ldr, EL1H, KERNEL_VA, 0, 0, 0);
	test("unaligned", probe_ldr, EL1H, KERNEL_VA + 1, 0, 0, 0);
	*stage2_slot(IPA, 3) = 0;
	stage2_flush();
	test("unaligned and unmapped", probe_ldr, EL1H, KERNEL_VA + 1, 0, 0, 0);
	test("across to unmapped", probe_ldr, EL1H, KERNEL_VA - 4, 0, 0, 0);
}

/* With stage 1 off. */
static void stage1_off(void) {
	section("stage 1 off");
	stage2_plain();
	stage1_for(IPA);
	u64 before = read_sysreg(sctlr_el1);
	set_sctlr(before & ~SCTLR_M);
	u32 mark = section_mark();
	for (int n = 0; n < 3; n++) {
		static const char *const names[] = {"unmapped", "mapped", "read only"};
		static const u64 bits[] = {0, TARGET | S2_ALL | PAGE, (TARGET | S2_ALL | PAGE) & ~S2AP_W};
		section_back(mark);
		subsection(names[n]);
		*stage2_slot(IPA, 3) = bits[n];
		probe(IPA);
		case_hcr = HCR_RW | HCR_DC;
		subsection("DC");
		probe(IPA);
		case_hcr = HCR_RW | HCR_VM;
	}
	section_back(mark);
	subsection("beyond");
	probe(1ul << 41);
	subsection("the physical size");
	probe(1ul << 50);
	set_sctlr(before);
	section("DC with stage 1 on");
	case_hcr = HCR_RW | HCR_DC;
	probe(IPA);
	case_hcr = HCR_RW | HCR_VM;
}

int main(void) {
	levels();
	descriptors();
	fault_levels();
	walks();
	order();
	stage1_off();

	stage2_plain();
	stage1_for(IPA);
	case_hcr = HCR_RW | HCR_VM;
	section("form");
	u32 mark = section_mark();
	subsection("el1 invalid");
	all_forms(KERNEL_VA, EL1H);
	section_back(mark);
	subsection("el0 invalid");
	all_forms(USER_VA, EL0T);
	*stage2_slot(IPA, 3) = (TARGET | S2_ALL | PAGE) & ~S2AP_W;
	section_back(mark);
	subsection("el1 read only");
	all_forms(KERNEL_VA, EL1H);
	*stage2_slot(IPA, 3) = (TARGET | S2_ALL | PAGE) & ~S2AP_R;
	section_back(mark);
	subsection("el1 write only");
	all_forms(KERNEL_VA, EL1H);
	return 0;
}
