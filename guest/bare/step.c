/* Software step, breakpoints and watchpoints. */
#include "bare.h"

#define SPSR_SS (1ul << 21)
#define SPSR_D (1ul << 9)
#define MDSCR_SS 1ul
#define MDSCR_KDE (1ul << 13)
#define MDSCR_MDE (1ul << 15)

CODE(nops, "nop\n nop\n nop\n nop");
CODE(add_, "add x0, x0, #1\n add x0, x0, #1\n add x0, x0, #1");
CODE(svc_, "svc #1\n nop");
CODE(brk_, "brk #1\n nop");
CODE(udf_, ".inst 0\n nop");
CODE(branch, "b 1f\n nop\n nop\n1: nop\n nop");
CODE(loop_, "1: subs x0, x0, #1\n b.ne 1b\n nop");
CODE(fault, "ldr x0, [x0, x0]\n nop");
CODE(exclusive, "ldxr x2, [x0]\n stxr w3, x2, [x0]\n nop");
CODE(exclusive_pair, "ldaxp x2, x3, [x0]\n nop");
CODE(acquire, "ldar x2, [x0]\n nop");
CODE(wfe_, "sevl\n wfe\n nop");
CODE(isb_, "isb\n nop");
CODE(unmask_d, "msr daifclr, #8\n nop\n nop\n nop");
CODE(stores, "str x1, [x0]\n nop");
CODE(loads, "ldr x1, [x0]\n nop");
CODE(load_pair, "ldp x1, x2, [x0]\n nop");
CODE(load_byte, "ldrb w1, [x0]\n nop");
CODE(load_far, "ldr x1, [x0, #-8]\n ldr x1, [x0, #8]\n nop");
CODE(unaligned, "ldur x1, [x0, #-4]\n nop");
CODE(store_q, "str q0, [x0, #-8]\n nop");
CODE(zva, "dc zva, x0\n nop");
CODE(cvac, "dc cvac, x0\n nop");
CODE(swap, ".inst 0xf8218001\n nop");
CODE(unprivileged, "ldtr x1, [x0]\n nop");
CODE(prefetch, "prfm pldl1keep, [x0]\n nop");

static void mdscr(u64 value) {
	write_sysreg(mdscr_el1, value);
	isb();
}

static void steps(const char *name, const u32 *code, u64 spsr, u64 x0, u64 x1) {
	mdscr(MDSCR_SS | MDSCR_KDE);
	run4(code, spsr, x0, x1, 0, 0);
	mdscr(0);
	report(name, code);
}

static void step(void) {
	static const struct {
		const char *name;
		const u32 *code;
	} cases[] = {
		{"nops", nops},     {"add", add_},     {"svc", svc_},         {"brk", brk_},
		{"udf", udf_},      {"branch", branch}, {"loop", loop_},      {"fault", fault},
		{"ldxr", exclusive}, {"ldaxp", exclusive_pair}, {"ldar", acquire}, {"wfe", wfe_},
		{"isb", isb_},
	};
	static const struct {
		const char *name;
		u64 spsr;
	} states[] = {
		{"el0, SS", (EL0T | SPSR_SS)},
		{"el0, SS, D clear", (EL0T | SPSR_SS) & ~SPSR_D},
		{"el0", EL0T},
		{"el1, SS", (EL1H | SPSR_SS) & ~SPSR_D},
		{"el1, SS, D set", EL1H | SPSR_SS},
		{"el1", EL1H & ~SPSR_D},
		{"el1t, SS", (EL1T | SPSR_SS) & ~SPSR_D},
		{"el0, SS, IL", EL0T | SPSR_SS | SPSR_IL},
	};
	for (u32 s = 0; s < sizeof states / sizeof *states; s++) {
		section("step");
		subsection(states[s].name);
		for (u32 n = 0; n < sizeof cases / sizeof *cases; n++)
			steps(cases[n].name, cases[n].code, states[s].spsr, cases[n].code == loop_ ? 3 : (u64)user_data, 0);
	}
	/* Instruction by instruction, as a debugger does. */
	section("trace");
	mdscr(MDSCR_SS | MDSCR_KDE);
	u64 pc = (u64)loop_, x0 = 3;
	for (u32 n = 0; n < 9; n++) {
		u64 nzcv = caught.spsr & 0xf0000000;
		run4((void *)pc, EL0T | SPSR_SS | (n ? nzcv : 0), x0, 0, 0, 0);
		x0 = caught.x[0];
		out_name("at");
		out_field("pc", caught.elr - (u64)loop_);
		out_field("x0", x0);
		out_field("esr", caught.esr);
		out_field("spsr", caught.spsr);
		out_line();
		pc = caught.elr;
	}
	mdscr(0);
	section("no step");
	static const u64 controls[] = {0, MDSCR_KDE, MDSCR_SS, MDSCR_SS | MDSCR_MDE};
	for (u32 n = 0; n < 4; n++) {
		u32 mark = section_mark();
		subsection_hex("mdscr ", controls[n]);
		mdscr(controls[n]);
		run4(nops, EL0T | SPSR_SS, 0, 0, 0, 0);
		mdscr(0);
		report("el0", nops);
		mdscr(controls[n]);
		run4(nops, (EL1H | SPSR_SS) & ~SPSR_D, 0, 0, 0, 0);
		mdscr(0);
		report("el1", nops);
		section_back(mark);
	}
	/* D cleared while it runs: debug exceptions were enabled by no exception return. */
	section("unmasked");
	steps("D cleared", unmask_d, EL1H, 0, 0);
	/* The OS Lock. */
	section("OS Lock");
	write_sysreg(oslar_el1, 1);
	isb();
	steps("locked", nops, EL0T | SPSR_SS, 0, 0);
	write_sysreg(oslar_el1, 0);
	isb();
	steps("unlocked", nops, EL0T | SPSR_SS, 0, 0);
}

/* DBGBCR: enabled, all bytes, for EL0 and/or EL1. */
#define BCR(pmc) (1ul | (pmc) << 1 | 15ul << 5)

static void breakpoints(void) {
	section("breakpoint");
	for (u64 pmc = 0; pmc < 4; pmc++) {
		u32 mark = section_mark();
		subsection_hex("pmc ", pmc);
		write_sysreg(dbgbvr0_el1, nops + 2);
		write_sysreg(dbgbcr0_el1, BCR(pmc));
		mdscr(MDSCR_MDE | MDSCR_KDE);
		run4(nops, EL0T, 0, 0, 0, 0);
		report("el0", nops);
		run4(nops, EL0T & ~SPSR_D, 0, 0, 0, 0);
		report("el0, D clear", nops);
		run4(nops, EL1H & ~SPSR_D, 0, 0, 0, 0);
		report("el1", nops);
		run4(nops, EL1H, 0, 0, 0, 0);
		report("el1, D set", nops);
		mdscr(MDSCR_MDE);
		run4(nops, EL1H & ~SPSR_D, 0, 0, 0, 0);
		report("el1, no KDE", nops);
		mdscr(MDSCR_KDE);
		run4(nops, EL0T, 0, 0, 0, 0);
		report("el0, no MDE", nops);
		mdscr(0);
		section_back(mark);
	}
	/* On an instruction with an exception of its own, and with IL. */
	write_sysreg(dbgbcr0_el1, BCR(3));
	mdscr(MDSCR_MDE | MDSCR_KDE);
	write_sysreg(dbgbvr0_el1, svc_);
	isb();
	run4(svc_, EL0T, 0, 0, 0, 0);
	report("on svc", svc_);
	write_sysreg(dbgbvr0_el1, udf_);
	isb();
	run4(udf_, EL0T, 0, 0, 0, 0);
	report("on udf", udf_);
	run4(udf_, EL0T | SPSR_IL, 0, 0, 0, 0);
	report("with IL", udf_);
	/* Step comes first. */
	mdscr(MDSCR_MDE | MDSCR_KDE | MDSCR_SS);
	write_sysreg(dbgbvr0_el1, nops + 1);
	isb();
	run4(nops, EL0T | SPSR_SS, 0, 0, 0, 0);
	report("step and breakpoint", nops);
	mdscr(MDSCR_MDE);
	/* Another breakpoint; the last one. */
	write_sysreg(dbgbcr0_el1, 0);
	write_sysreg(dbgbvr3_el1, nops + 3);
	write_sysreg(dbgbcr3_el1, BCR(2));
	isb();
	run4(nops, EL0T, 0, 0, 0, 0);
	report("number 3", nops);
	write_sysreg(dbgbcr3_el1, BCR(2) & ~1ul);
	isb();
	run4(nops, EL0T, 0, 0, 0, 0);
	report("disabled", nops);
	/* A mismatch is not for AArch64; linked to a context. */
	write_sysreg(contextidr_el1, 7);
	write_sysreg(dbgbvr5_el1, 7);
	write_sysreg(dbgbcr5_el1, BCR(3) | 3ul << 20);
	write_sysreg(dbgbvr0_el1, nops + 1);
	write_sysreg(dbgbcr0_el1, BCR(2) | 1ul << 20 | 5ul << 16);
	isb();
	run4(nops, EL0T, 0, 0, 0, 0);
	report("linked, context matches", nops);
	write_sysreg(contextidr_el1, 8);
	isb();
	run4(nops, EL0T, 0, 0, 0, 0);
	report("linked, context differs", nops);
	write_sysreg(contextidr_el1, 0);
	write_sysreg(dbgbcr0_el1, 0);
	write_sysreg(dbgbcr5_el1, 0);
	mdscr(0);
}

#define WCR(pac, lsc, bas) (1ul | (pac) << 1 | (lsc) << 3 | (u64)(bas) << 5)

static void watch(const char *name, u64 at, u64 wcr, u64 spsr) {
	static const struct {
		const char *name;
		const u32 *code;
	} cases[] = {
		{"store", stores},     {"load", loads},   {"ldp", load_pair}, {"ldrb", load_byte},
		{"beside", load_far},  {"unaligned", unaligned}, {"str q", store_q}, {"dc zva", zva},
		{"dc cvac", cvac},     {"ldtr", unprivileged}, {"prfm", prefetch}, {"swp", swap},
	};
	u32 mark = section_mark();
	subsection(name);
	write_sysreg(dbgwvr0_el1, at);
	write_sysreg(dbgwcr0_el1, wcr);
	for (u32 n = 0; n < sizeof cases / sizeof *cases; n++) {
		if (cases[n].code == swap && !cpu.lse)
			continue;
		mdscr(MDSCR_MDE | MDSCR_KDE);
		run4(cases[n].code, spsr, (u64)user_data + 64, 0, 0, 0);
		mdscr(0);
		report(cases[n].name, cases[n].code);
	}
	write_sysreg(dbgwcr0_el1, 0);
	section_back(mark);
}

static void watchpoints(void) {
	u64 at = (u64)user_data + 64;
	set_sctlr(SCTLR_ON | SCTLR_DZE | SCTLR_UCI);
	section("watchpoint");
	watch("el0 store", at, WCR(2ul, 2ul, 0xff), EL0T);
	watch("el0 load", at, WCR(2ul, 1ul, 0xff), EL0T);
	watch("el0 both", at, WCR(3ul, 3ul, 0xff), EL0T);
	watch("el1 alone, at el0", at, WCR(1ul, 3ul, 0xff), EL0T);
	watch("el1 both", at, WCR(3ul, 3ul, 0xff), EL1H & ~SPSR_D);
	watch("el0 alone, at el1", at, WCR(2ul, 3ul, 0xff), EL1H & ~SPSR_D);
	watch("el1, D set", at, WCR(3ul, 3ul, 0xff), EL1H);
	watch("one byte", at, WCR(3ul, 3ul, 0x01), EL0T);
	watch("high byte", at, WCR(3ul, 3ul, 0x80), EL0T);
	watch("next", at + 8, WCR(3ul, 3ul, 0xff), EL0T);
	watch("before", at - 8, WCR(3ul, 3ul, 0xff), EL0T);
	watch("mask of 64 bytes", at, WCR(3ul, 3ul, 0xff) | 6ul << 24, EL0T);
	watch("word", at + 4, WCR(3ul, 3ul, 0x0f), EL0T);
	set_sctlr(SCTLR_ON);
}

int main(void) {
	section("reset");
	out_value("OSLSR", read_sysreg(oslsr_el1));
	steps("locked out of reset", nops, EL0T | SPSR_SS, 0, 0);
	write_sysreg(oslar_el1, 0);
	isb();
	step();
	breakpoints();
	watchpoints();
	return 0;
}
