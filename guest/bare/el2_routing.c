/* Who takes an exception, in what state, and how EL2 returns: HCR_EL2's routing of interrupts and exceptions, virtual
 * interrupts, PSTATE and SPSR_EL2, illegal returns. */
#include "el2.h"
#include "gic.h"
#include "probe.h"

CODE(nothing, "nop");
CODE(state, "mrs x0, CurrentEL\n mrs x1, daif");
CODE(state0, "mov x0, #7");
CODE(isr, "mrs x0, isr_el1");
CODE(unmask, "msr daifclr, #15\n nop\n isb\n nop");
CODE(masked_isr, "mrs x0, isr_el1\n msr daifclr, #7\n nop\n isb\n nop");
CODE(udf, ".inst 0");
CODE(brk7, "brk #7");
CODE(svc5, "svc #5");
CODE(hvc6, "hvc #6");
CODE(hlt7, "hlt #7");
CODE(eret_here, "eret");
CODE(load_x1, "ldr x0, [x1]");
CODE(jump_x1, "br x1");
CODE(sp_use, "sub sp, sp, #8\n ldr x0, [sp]");
CODE(fp, "fmov x0, d0\n mov x0, xzr");
CODE(mrs_sctlr, "mrs x0, sctlr_el1");
CODE(mrs_ctr, "mrs x0, ctr_el0\n mov x0, xzr");
CODE(mrs_id, "mrs x0, id_aa64pfr0_el1\n mov x0, xzr");
CODE(mrs_daif, "mrs x0, daif");
CODE(wfi, "wfi\n mov x0, #1");
CODE(dczva, "dc zva, x1");
CODE(to_el1, "msr elr_el2, x1\n msr spsr_el2, x2\n isb\n eret");
CODE(il_set, "nop");

static const struct {
	const char *name;
	u64 hcr, needs_vhe;
} routes[] = {
	{"none", 0, 0},
	{"IMO", HCR_IMO, 0},
	{"FMO", HCR_FMO, 0},
	{"AMO", HCR_AMO, 0},
	{"all", HCR_IMO | HCR_FMO | HCR_AMO, 0},
	{"TGE", HCR_TGE, 0},
	{"TGE and all", HCR_TGE | HCR_IMO | HCR_FMO | HCR_AMO, 0},
	{"E2H", HCR_E2H, 1},
	{"E2H and all", HCR_E2H | HCR_IMO | HCR_FMO | HCR_AMO, 1},
	{"E2H and TGE", HCR_E2H | HCR_TGE, 1},
	{"E2H, TGE and all", HCR_E2H | HCR_TGE | HCR_IMO | HCR_FMO | HCR_AMO, 1},
};
#define ROUTES (sizeof routes / sizeof *routes)

static const struct {
	const char *name;
	u64 spsr;
} modes[] = {{"el0", 0}, {"el1t", 4}, {"el1h", 5}, {"el2t", 8}, {"el2h", 9}};

/* A physical interrupt that waits: of group 1 (IRQ) or of group 0 (FIQ). */
static void physical(void) {
	for (u32 group = 0; group < 2; group++) {
		gic_reset();
		store32(GICR_ISENABLER0, 2);
		if (group == 0) {
			store32(GICR_IGROUPR0, ~2u);
			gic_wait();
			sgi0(1);
		} else {
			sgi(1);
		}
		for (u32 r = 0; r < ROUTES; r++) {
			if (routes[r].needs_vhe && !cpu.vhe)
				continue;
			for (u32 m = 0; m < 5; m++)
				for (u64 mask = 0; mask < 4; mask++) {
					int el1 = m == 1 || m == 2;
					if (el1 && routes[r].hcr & HCR_TGE)
						continue;
					section(group ? "irq" : "fiq");
					subsection(routes[r].name);
					subsection(modes[m].name);
					subsection_hex("mask ", mask);
					/* I and F. */
					test2("nop", routes[r].hcr, m ? state : state0, modes[m].spsr | 0x300 | mask << 6);
				}
			section(group ? "irq" : "fiq");
			subsection(routes[r].name);
			test2("isr at el2", routes[r].hcr, isr, EL2H);
			if (!(routes[r].hcr & HCR_TGE)) {
				test2("isr at el1", routes[r].hcr, isr, EL1H);
				test2("unmask at el1", routes[r].hcr, unmask, EL1H);
			}
			test2("unmask at el2", routes[r].hcr, unmask, EL2H);
		}
		gic_reset();
	}
}

/* HCR_EL2.VI, VF and VSE. */
static void virtual(void) {
	static const struct {
		const char *name;
		u64 bits;
	} kinds[] = {{"VI", HCR_VI}, {"VF", HCR_VF}, {"VSE", HCR_VSE}, {"all three", HCR_VI | HCR_VF | HCR_VSE}};
	for (u32 k = 0; k < 4; k++)
		for (u32 r = 0; r < ROUTES; r++) {
			if (routes[r].needs_vhe && !cpu.vhe)
				continue;
			u64 hcr = routes[r].hcr | kinds[k].bits;
			for (u32 m = 0; m < 5; m++)
				for (u64 mask = 0; mask < 8; mask++) {
					int el1 = m == 1 || m == 2;
					if ((el1 && routes[r].hcr & HCR_TGE) || (m == 1 || m == 3))
						continue;
					section("virtual");
					subsection(kinds[k].name);
					subsection(routes[r].name);
					subsection(modes[m].name);
					subsection_hex("mask ", mask);
					test2("nop", hcr, m ? state : state0, modes[m].spsr | 0x200 | mask << 6);
					if (caught.level == 1) {
						out_name("taken");
						out_field("esr", caught.vector & 0x180 ? (caught.vector & 0x180) == 0x180 ? caught.esr : 0 : 0);
						out_field("hcr", caught.hcr & (HCR_VI | HCR_VF | HCR_VSE));
						out_line();
					}
				}
			section("virtual");
			subsection(kinds[k].name);
			subsection(routes[r].name);
			test2("isr at el2", hcr, isr, EL2H);
			if (!(routes[r].hcr & HCR_TGE)) {
				test2("isr at el1", hcr, isr, EL1H);
				test2("isr and unmask at el1", hcr, masked_isr, EL1H);
			}
		}
}

/* Synchronous exceptions. */
static void synchronous(void) {
	static const struct {
		const char *name;
		const u32 *code;
		u64 x1;
	} kinds[] = {
		{"undefined", udf, 0},	       {"brk", brk7, 0},      {"svc", svc5, 0},	       {"hvc", hvc6, 0},
		{"hlt", hlt7, 0},	       {"eret", eret_here, 0}, {"fetch nothing", jump_x1, 0x3000000000},
		{"load nothing", load_x1, 0x3000000000}, {"pc alignment", jump_x1, 2}, {"sp alignment", sp_use, 0},
		{"fp", fp, 0},		       {"mrs sctlr_el1", mrs_sctlr, 0}, {"mrs ctr_el0", mrs_ctr, 0},
		{"mrs id", mrs_id, 0},	       {"mrs daif", mrs_daif, 0}, {"dc zva", dczva, (u64)user_data},
	};
	static const u64 hcrs[] = {0, HCR_TGE, HCR_E2H, HCR_E2H | HCR_TGE};
	static const char *const names[] = {"none", "TGE", "E2H", "E2H and TGE"};
	for (u32 h = 0; h < 4; h++) {
		if (hcrs[h] & HCR_E2H && !cpu.vhe)
			continue;
		for (u32 m = 0; m < 5; m++) {
			if ((m == 1 || m == 2) && hcrs[h] & HCR_TGE)
				continue;
			for (u32 k = 0; k < sizeof kinds / sizeof *kinds; k++) {
				/* It would come back as another level's. */
				if (kinds[k].code == eret_here && m)
					continue;
				section("synchronous");
				subsection(names[h]);
				subsection(modes[m].name);
				write_sysreg(sp_el0, user_data + 4096);
				test_hcr(kinds[k].name, hcrs[h], kinds[k].code, modes[m].spsr | 0x3c0, 0, kinds[k].x1, 0, 0);
			}
		}
	}
	/* FPEN of CPACR_EL1 and CPTR_EL2 with TGE. */
	for (u64 fpen = 0; fpen < 4; fpen++)
		for (u32 h = 0; h < 4; h++) {
			if (hcrs[h] & HCR_E2H && !cpu.vhe)
				continue;
			section("fpen");
			subsection_hex("cpacr ", fpen);
			subsection(names[h]);
			write_sysreg(cpacr_el1, fpen << 20);
			isb();
			test2("el0", hcrs[h], fp, EL0T);
			if (!(hcrs[h] & HCR_TGE))
				test2("el1", hcrs[h], fp, EL1H);
			test2("el2", hcrs[h], fp, EL2H);
			write_sysreg(cpacr_el1, 3ul << 20);
			if (hcrs[h] & HCR_E2H) {
				u64 before = read_sysreg(cptr_el2);
				write_sysreg(cptr_el2, (before & ~(3ul << 20)) | fpen << 20);
				isb();
				subsection("cptr");
				test2("el0", hcrs[h], fp, EL0T);
				if (!(hcrs[h] & HCR_TGE))
					test2("el1", hcrs[h], fp, EL1H);
				test2("el2", hcrs[h], fp, EL2H);
				write_sysreg(cptr_el2, before);
				isb();
			}
		}
}

/* Returns of EL2 to each mode, legal and illegal. */
static void returns(void) {
	static const u64 hcrs[] = {0, HCR_TGE, HCR_E2H, HCR_E2H | HCR_TGE};
	static const char *const names[] = {"none", "TGE", "E2H", "E2H and TGE"};
	for (u32 h = 0; h < 4; h++) {
		if (hcrs[h] & HCR_E2H && !cpu.vhe)
			continue;
		for (u64 mode = 0; mode < 16; mode++) {
			section("return");
			subsection(names[h]);
			subsection_hex("mode ", mode);
			test2("nop", hcrs[h], nothing, 0x3c0 | mode);
			test2("flags", hcrs[h], nothing, 0xf0000000 | 0x240 | mode);
			if (mode != 8)
				test2("IL", hcrs[h], nothing, 0x3c0 | SPSR_IL | mode);
			/* By ERET of a case at EL2, which has EL2's stack. */
			test_hcr("from a case at el2h", hcrs[h], to_el1, EL2H, 0, (u64)nothing, 0x3c0 | mode, 0);
			test_hcr("from a case at el2t", hcrs[h], to_el1, EL2T, 0, (u64)nothing, 0x3c0 | mode, 0);
		}
		section("return");
		subsection(names[h]);
		test2("upper half", hcrs[h], nothing, EL0T | 0xffffffff00000000);
		test2("PAN el2h", hcrs[h], nothing, EL2H | SPSR_PAN);
		test2("UAO el2h", hcrs[h], nothing, EL2H | SPSR_UAO);
		test2("PAN el0", hcrs[h], nothing, EL0T | SPSR_PAN);
		test2("BTYPE el2h", hcrs[h], nothing, EL2H | 1 << 10);
		test2("SSBS el2h", hcrs[h], nothing, EL2H | 1 << 12);
		test2("DIT el2h", hcrs[h], nothing, EL2H | 1 << 24);
		test2("TCO el2h", hcrs[h], nothing, EL2H | 1 << 25);
		test2("SS el2h", hcrs[h], nothing, EL2H | 1 << 21);
		run4((u8 *)nothing + 2, EL2H, 0, 0, 0, 0);
		report("pc+2 el2h", nothing);
	}
	/* PSTATE.PAN of an exception to EL2: SCTLR_EL2.SPAN. */
	if (cpu.pan && cpu.vhe) {
		u64 before = read_sysreg(sctlr_el2);
		for (u32 span = 0; span < 2; span++)
			for (u32 h = 0; h < 4; h++) {
				write_sysreg(sctlr_el2, span ? before | SCTLR_SPAN : before & ~SCTLR_SPAN);
				isb();
				section("span");
				subsection_hex("", span);
				subsection(names[h]);
				test2("el0", hcrs[h], svc5, EL0T);
				out_value("pan", caught.pan >> 22 & 1);
				test2("el2h", hcrs[h], svc5, EL2H);
				out_value("pan", caught.pan >> 22 & 1);
			}
		write_sysreg(sctlr_el2, before);
		isb();
	}
}

/* WFI, with an interrupt for each level. */
static void waits(void) {
	section("wfi");
	test2("VI", HCR_IMO | HCR_VI, wfi, EL1H);
	test2("VI without IMO, and trapped", HCR_VI | HCR_TWI, wfi, EL1H);
	test2("VF", HCR_FMO | HCR_VF, wfi, EL1H);
	test2("VSE", HCR_AMO | HCR_VSE, wfi, EL1H);
	test2("trapped", HCR_TWI, wfi, EL1H);
	test2("VI and trapped", HCR_TWI | HCR_IMO | HCR_VI, wfi, EL1H);
	gic_reset();
	store32(GICR_ISENABLER0, 2);
	sgi(1);
	test2("physical at el1, IMO", HCR_IMO, wfi, EL1H);
	test2("physical at el1", 0, wfi, EL1H);
	test2("physical at el2", 0, wfi, EL2H);
	test2("physical at el2, IMO", HCR_IMO, wfi, EL2H);
	gic_reset();
}

int main(void) {
	physical();
	virtual();
	synchronous();
	returns();
	waits();
	return 0;
}
