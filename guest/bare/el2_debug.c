/* Debug exceptions and EL2: MDCR_EL2.TDE, levels of breakpoints and watchpoints, contexts and VMIDs, steps. */
#include "el2.h"

#define SPSR_SS (1ul << 21)
#define SPSR_D (1ul << 9)
#define MDSCR_SS 1ul
#define MDSCR_KDE (1ul << 13)
#define MDSCR_MDE (1ul << 15)
#define MDCR_TDE (1ul << 8)

CODE(nops, "nop\n nop\n nop\n nop");
CODE(brk_, "brk #1\n nop");
CODE(svc_, "svc #1\n nop");
CODE(stores, "str x1, [x0]\n nop");
CODE(loads, "ldr x1, [x0]\n nop");
CODE(unprivileged, "ldtr x1, [x0]\n nop");
CODE(unmask_d, "msr daifclr, #8\n nop\n nop\n nop");
CODE(call, "nop\n hvc #3\n nop");

static void mdscr(u64 value) {
	write_sysreg(mdscr_el1, value);
	isb();
}
static u64 mdcr_before;
static void tde(u64 on) {
	write_sysreg(mdcr_el2, on ? mdcr_before | MDCR_TDE : mdcr_before);
	isb();
}

static const struct {
	const char *name;
	u64 hcr, vhe;
} hosts[] = {{"none", 0, 0}, {"TGE", HCR_TGE, 0}, {"E2H", HCR_E2H, 1}, {"E2H and TGE", HCR_E2H | HCR_TGE, 1}};
static const struct {
	const char *name;
	u64 spsr;
} states[] = {
	{"el0", EL0T}, {"el0, D clear", EL0T & ~SPSR_D}, {"el1", EL1H & ~SPSR_D}, {"el1, D set", EL1H},
	{"el2", EL2H & ~SPSR_D}, {"el2, D set", EL2H},
};

/* Every state under each TDE and host setting. */
static void everywhere(const char *name, const u32 *code, u64 control, u64 more, u64 x0) {
	u32 mark = section_mark();
	subsection(name);
	u32 inner = section_mark();
	for (u64 on = 0; on < 2; on++)
		for (u32 h = 0; h < 4; h++)
			for (u32 s = 0; s < 6; s++) {
				if ((hosts[h].vhe && !cpu.vhe) || ((s == 2 || s == 3) && hosts[h].hcr & HCR_TGE))
					continue;
				section_back(inner);
				subsection(on ? "TDE" : "-");
				subsection(hosts[h].name);
				tde(on);
				mdscr(control);
				test_hcr(states[s].name, hosts[h].hcr, code, states[s].spsr | more, x0, 0, 0, 0);
				mdscr(0);
				tde(0);
			}
	section_back(mark);
}

#define BCR(pmc, hmc, ssc) (1ul | (pmc) << 1 | 15ul << 5 | (hmc) << 13 | (ssc) << 14)
#define WCR(pac, hmc, ssc) (1ul | (pac) << 1 | 3ul << 3 | 0xfful << 5 | (hmc) << 13 | (ssc) << 14)

static void levels(void) {
	section("levels");
	u32 mark = section_mark();
	for (u64 pmc = 0; pmc < 4; pmc++)
		for (u64 hmc = 0; hmc < 2; hmc++)
			for (u64 ssc = 0; ssc < 4; ssc++) {
				/* The combinations that are reserved without EL3 and Secure state are left out. */
				int reserved = (ssc == 2 && !(hmc == 1 && pmc != 2)) || (hmc == 1 && pmc == 2) ||
					       (ssc == 3 && !(hmc == 1 && (pmc == 0))) || (hmc == 0 && ssc && pmc == 0) || ssc == 2 ||
					       (hmc == 1 && pmc == 0 && ssc != 3);
				if (reserved)
					continue;
				section_back(mark);
				subsection_hex("pmc ", pmc);
				subsection_hex("hmc ", hmc);
				subsection_hex("ssc ", ssc);
				write_sysreg(dbgbvr0_el1, nops + 2);
				write_sysreg(dbgbcr0_el1, BCR(pmc, hmc, ssc));
				everywhere("breakpoint", nops, MDSCR_MDE | MDSCR_KDE, 0, 0);
				write_sysreg(dbgbcr0_el1, 0);
				write_sysreg(dbgwvr0_el1, user_data + 64);
				write_sysreg(dbgwcr0_el1, WCR(pmc, hmc, ssc));
				everywhere("watchpoint", stores, MDSCR_MDE | MDSCR_KDE, 0, (u64)user_data + 64);
				write_sysreg(dbgwcr0_el1, 0);
			}
}

static void others(void) {
	section("plain");
	everywhere("brk", brk_, 0, 0, 0);
	everywhere("step", nops, MDSCR_SS | MDSCR_KDE, SPSR_SS, 0);
	everywhere("step, SS clear", nops, MDSCR_SS | MDSCR_KDE, 0, 0);
	everywhere("step, no KDE", nops, MDSCR_SS, SPSR_SS, 0);
	everywhere("step of svc", svc_, MDSCR_SS | MDSCR_KDE, SPSR_SS, 0);
	everywhere("step of brk", brk_, MDSCR_SS | MDSCR_KDE, SPSR_SS, 0);
	everywhere("D cleared under step", unmask_d, MDSCR_SS | MDSCR_KDE, 0, 0);
	write_sysreg(dbgbvr0_el1, nops + 2);
	write_sysreg(dbgbcr0_el1, BCR(3ul, 1ul, 1ul));
	everywhere("breakpoint, no KDE", nops, MDSCR_MDE, 0, 0);
	write_sysreg(dbgbcr0_el1, 0);
	write_sysreg(dbgwvr0_el1, user_data + 64);
	write_sysreg(dbgwcr0_el1, WCR(3ul, 1ul, 1ul));
	everywhere("watchpoint, load", loads, MDSCR_MDE | MDSCR_KDE, 0, (u64)user_data + 64);
	everywhere("watchpoint, ldtr", unprivileged, MDSCR_MDE | MDSCR_KDE, 0, (u64)user_data + 64);
	write_sysreg(dbgwcr0_el1, 0);
	write_sysreg(oslar_el1, 1);
	isb();
	everywhere("step, OS Lock", nops, MDSCR_SS | MDSCR_KDE, SPSR_SS, 0);
	everywhere("brk, OS Lock", brk_, 0, 0, 0);
	write_sysreg(oslar_el1, 0);
	isb();
}

/* Breakpoints on contexts, alone and linked to: breakpoint 5 is context-aware on every model here. */
static void contexts(void) {
	stage2_plain();
	stage2_vmid(0x42);
	static const u64 types[] = {2, 6, 8, 10, 12, 14};
	static const char *const names[] = {"context", "context of EL1", "VMID", "VMID and context", "context of EL2", "both contexts"};
	for (u32 n = 0; n < 6; n++) {
		if ((types[n] == 6 || types[n] >= 12) && !cpu.vhe)
			continue;
		for (u32 match = 0; match < 8; match++) {
			section(names[n]);
			subsection_hex("match ", match);
			/* The context of EL1, the VMID or EL2's context match or do not. */
			write_sysreg(contextidr_el1, match & 1 ? 0x1234 : 0x4321);
			stage2_vmid(match & 2 ? 0x42 : 0x24);
			if (cpu.vhe)
				write_sysreg(S3_4_C13_C0_1, match & 4 ? 0x5678 : 0x8765);
			u64 upper = types[n] >= 12 ? 0x5678 : 0x42;
			write_sysreg(dbgbvr5_el1, upper << 32 | 0x1234);
			write_sysreg(dbgbcr5_el1, BCR(3ul, 1ul, 1ul) | types[n] << 20);
			everywhere("alone", nops, MDSCR_MDE | MDSCR_KDE, 0, 0);
			write_sysreg(dbgbcr5_el1, BCR(3ul, 1ul, 1ul) | (types[n] + 1) << 20);
			write_sysreg(dbgbvr0_el1, nops + 2);
			write_sysreg(dbgbcr0_el1, BCR(3ul, 1ul, 1ul) | 1ul << 20 | 5ul << 16);
			everywhere("linked", nops, MDSCR_MDE | MDSCR_KDE, 0, 0);
			write_sysreg(dbgbcr0_el1, 0);
			if (match == 7 || match == 0) {
				write_sysreg(dbgwvr0_el1, user_data + 64);
				write_sysreg(dbgwcr0_el1, WCR(3ul, 1ul, 1ul) | 1ul << 20 | 5ul << 16);
				everywhere("watchpoint", stores, MDSCR_MDE | MDSCR_KDE, 0, (u64)user_data + 64);
				write_sysreg(dbgwcr0_el1, 0);
			}
			write_sysreg(dbgbcr5_el1, 0);
		}
	}
	write_sysreg(contextidr_el1, 0);
	stage2_vmid(0);
}

int main(void) {
	mdcr_before = read_sysreg(mdcr_el2) & ~MDCR_TDE;
	write_sysreg(oslar_el1, 0);
	isb();
	others();
	levels();
	contexts();
	section("step to el2");
	tde(1);
	mdscr(MDSCR_SS | MDSCR_KDE);
	test_hcr("hvc", 0, call, EL1H | SPSR_SS, 0, 0, 0, 0);
	mdscr(0);
	tde(0);
	return 0;
}
