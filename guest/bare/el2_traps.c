/* EL2's trap controls. Every access below runs once with nothing trapped and once under each control; a line a access that
 * ends otherwise under the control, with who took what. So a control that traps too much shows as well as one that traps
 * too little. */
#include "el2.h"

/* Registers of EL1, read and written with what is in them; `RO` ones are read alone, `WO` written. */
#define REGISTERS(RW, RO, WO)                                                                                          \
	RW(SCTLR_EL1) RW(ACTLR_EL1) RW(CPACR_EL1) RW(TTBR0_EL1) RW(TTBR1_EL1) RW(TCR_EL1) RW(ESR_EL1) RW(FAR_EL1)           \
	RW(AFSR0_EL1) RW(AFSR1_EL1) RW(MAIR_EL1) RW(AMAIR_EL1) RW(CONTEXTIDR_EL1) RW(VBAR_EL1) RW(TPIDR_EL1) RW(PAR_EL1)     \
	RW(CSSELR_EL1) RO(CCSIDR_EL1) RO(CLIDR_EL1) RO(CTR_EL0) RO(DCZID_EL0) RO(MIDR_EL1) RO(MPIDR_EL1) RO(REVIDR_EL1)      \
	RO(AIDR_EL1) RO(ID_PFR0_EL1) RO(MVFR0_EL1) RO(ID_AA64PFR0_EL1) RO(ID_AA64MMFR2_EL1) RO(S3_0_C0_C7_7)                 \
	RO(S3_1_C0_C0_4) RW(LORSA_EL1) RW(LOREA_EL1) RW(LORN_EL1) RW(LORC_EL1) RO(LORID_EL1) RO(ERRIDR_EL1)                  \
	RW(ERRSELR_EL1) RW(ERXADDR_EL1) RW(ERXMISC0_EL1) RW(ERXPFGCTL_EL1) RW(APIAKEYLO_EL1) RW(APIAKEYHI_EL1)              \
	RW(APGAKEYHI_EL1) RW(GCR_EL1) RW(RGSR_EL1) RW(TFSR_EL1) RW(TFSRE0_EL1) RW(SCXTNUM_EL1) RW(SCXTNUM_EL0)              \
	RW(MDSCR_EL1) RW(DBGBVR0_EL1) RW(DBGBCR0_EL1) RW(DBGWVR0_EL1) RW(DBGWCR0_EL1) RW(DBGCLAIMSET_EL1)                    \
	RO(DBGAUTHSTATUS_EL1) RO(MDRAR_EL1) WO(OSLAR_EL1) RO(OSLSR_EL1) RW(OSDLR_EL1) RW(DBGPRCR_EL1) RO(MDCCSR_EL0)         \
	RW(MDCCINT_EL1) RO(CNTPCT_EL0) RO(CNTVCT_EL0) RO(CNTFRQ_EL0) RW(CNTP_CTL_EL0) RW(CNTP_CVAL_EL0) RW(CNTV_CTL_EL0)     \
	RW(CNTV_CVAL_EL0) RW(CNTKCTL_EL1) RW(TPIDR_EL0) RW(S3_0_C15_C0_0) RW(S3_3_C11_C1_1) RO(ISR_EL1)

#define READ(name) CODE(read_##name, "mrs x0, " #name);
#define WRITE(name) CODE(write_##name, "msr " #name ", x0");
#define BOTH(name) READ(name) WRITE(name)
#define ARM ".arch armv8.6-a+crc+memtag+sve\n"
REGISTERS(BOTH, READ, WRITE)

/* System instructions; x0 is an address that is mapped. */
#define INSTRUCTIONS(I)                                                                                                \
	I(ic_ialluis, "ic ialluis") I(ic_iallu, "ic iallu") I(ic_ivau, "ic ivau, x0") I(dc_ivac, "dc ivac, x0")              \
	I(dc_isw, "dc isw, xzr") I(dc_csw, "dc csw, xzr") I(dc_cisw, "dc cisw, xzr") I(dc_cvac, "dc cvac, x0")              \
	I(dc_cvau, "dc cvau, x0") I(dc_cvap, "dc cvap, x0") I(dc_civac, "dc civac, x0") I(dc_zva, "dc zva, x0")              \
	I(at_s1e1r, "at s1e1r, x0") I(at_s1e0w, "at s1e0w, x0") I(tlbi_vmalle1, "tlbi vmalle1")                              \
	I(tlbi_vae1, "tlbi vae1, xzr") I(tlbi_aside1is, "tlbi aside1is, xzr") I(tlbi_vmalle1is, "tlbi vmalle1is")           \
	I(tlbi_vmalle1os, "tlbi vmalle1os") I(tlbi_rvae1, "tlbi rvae1, xzr") I(tlbi_rvae1is, "tlbi rvae1is, xzr")           \
	I(tlbi_rvae1os, "tlbi rvae1os, xzr") I(sys_c11, "sys #0, c11, c0, #0, x0") I(sys_c15, "sys #3, c15, c0, #0, x0")    \
	I(fp, "fmov d0, xzr") I(fpcr, "mrs x0, fpcr") I(pacia, "pacia x0, x1") I(pacga, "pacga x0, x0, x1") I(brk, "brk #5")
#define INSTRUCTION(name, text) CODE(do_##name, text);
INSTRUCTIONS(INSTRUCTION)

static const struct {
	const char *name;
	const u32 *read, *write, *other;
} accesses[] = {
#define LINE_BOTH(name) {#name, read_##name, write_##name, 0},
#define LINE_READ(name) {#name, read_##name, 0, 0},
#define LINE_WRITE(name) {#name, 0, write_##name, 0},
#define LINE_OTHER(name, text) {#name, 0, 0, do_##name},
	REGISTERS(LINE_BOTH, LINE_READ, LINE_WRITE) INSTRUCTIONS(LINE_OTHER)};
#define ACCESSES (sizeof accesses / sizeof *accesses)

struct end {
	u64 esr, level;
};
/* Reads, writes and instructions at EL1 and EL0, with nothing trapped. */
static struct end untrapped[2][2][ACCESSES];
static u64 value_of[ACCESSES];

static struct end run_one(const u32 *code, u64 spsr, u64 x0) {
	run4(code, spsr, x0, 0, 0, 0);
	struct end end = {caught.esr, caught.level};
	return end;
}

/* ESR_EL2 of a trapped MRS, MSR or system instruction `word`. */
static u64 syndrome_of(u32 word) {
	u64 op0 = field(word, 19, 2), op1 = field(word, 16, 3), crn = field(word, 12, 4), crm = field(word, 8, 4);
	return 0x62000000ul | op0 << 20 | field(word, 5, 3) << 17 | op1 << 14 | crn << 10 | (u64)(word & 31) << 5 | crm << 1 |
	       field(word, 21, 1);
}

/* A line for each level: what ends otherwise than untrapped; with the level and the syndrome where these are not EL2 and
 * that of a trapped system access. */
static void each(const char *control, int recording) {
	static const char *const at[] = {"el1", "el0"};
	static const u64 spsrs[] = {EL1H, EL0T};
	for (u32 level = 0; level < 2; level++) {
		u32 different = 0;
		if (!recording) {
			section(case_hcr & HCR_E2H ? "E2H" : "E2H=0");
			subsection(control);
			out_name(at[level]);
		}
		for (u32 n = 0; n < ACCESSES; n++)
			for (u32 write = 0; write < 2; write++) {
				const u32 *code = write ? accesses[n].write : accesses[n].read;
				u64 x0 = value_of[n];
				if (accesses[n].other) {
					code = accesses[n].other;
					x0 = (u64)user_data;
					if (write)
						continue;
				}
				if (!code)
					continue;
				struct end end = run_one(code, spsrs[level], x0);
				struct end *plain = &untrapped[level][write][n];
				if (recording) {
					*plain = end;
					if (!level && !write && accesses[n].read)
						value_of[n] = caught.x[0];
				} else if (end.esr != plain->esr || end.level != plain->level) {
					different++;
					out(" ");
					out(accesses[n].name);
					out(accesses[n].other ? "" : write ? ",w" : ",r");
					if (end.level != 2 || end.esr != syndrome_of(*code)) {
						out_field("el", end.level);
						out_field("esr", end.esr);
					}
				}
			}
		if (!recording) {
			out(different ? "" : " nothing");
			out_line();
		}
	}
}

/* What enables where it is set. */
static u64 hcr_plain(void) {
	u64 hcr = HCR_RW | HCR_API | HCR_APK | 1ul << 47 /* FIEN */ | 1ul << 53 /* EnSCXT */ | 1ul << 56 /* ATA */;
	return hcr;
}

#define B(n) (1ul << (n))
/* Of HCR_EL2: what traps where its value is flipped. */
static const struct {
	const char *name;
	u64 bit;
} hcr_controls[] = {
	{"HCR.TID0", B(15)},   {"HCR.TID1", B(16)},   {"HCR.TID2", B(17)},   {"HCR.TID3", B(18)},	{"HCR.TIDCP", B(20)},
	{"HCR.TACR", B(21)},   {"HCR.TSW", B(22)},    {"HCR.TPCP", B(23)},   {"HCR.TPU", B(24)},	{"HCR.TTLB", B(25)},
	{"HCR.TVM", B(26)},    {"HCR.TDZ", B(28)},    {"HCR.TRVM", B(30)},   {"HCR.TLOR", B(35)},	{"HCR.TERR", B(36)},
	{"HCR.APK", B(40)},    {"HCR.API", B(41)},    {"HCR.FIEN", B(47)},   {"HCR.TID4", B(49)},	{"HCR.TICAB", B(50)},
	{"HCR.TOCU", B(52)},   {"HCR.EnSCXT", B(53)}, {"HCR.TTLBIS", B(54)}, {"HCR.TTLBOS", B(55)}, {"HCR.ATA", B(56)},
	{"HCR.TID5", B(58)},
};

static const struct {
	const char *name;
	u64 bit;
} mdcr_controls[] = {
	{"MDCR.TPMCR", B(5)}, {"MDCR.TPM", B(6)}, {"MDCR.TDE", B(8)}, {"MDCR.TDA", B(9)},
	{"MDCR.TDOSA", B(10)}, {"MDCR.TDRA", B(11)},
};

/* The controls of HCR_EL2, and of the other registers in the layout of the E2H that `more` has. */
static void all_controls(u64 more) {
	u64 e2h = more & HCR_E2H, cptr = read_sysreg(cptr_el2), cnthctl = read_sysreg(cnthctl_el2), mdcr = read_sysreg(mdcr_el2);
	case_hcr = hcr_plain() | more;
	each("", 1);
	for (u32 n = 0; n < sizeof hcr_controls / sizeof *hcr_controls; n++) {
		case_hcr = (hcr_plain() | more) ^ hcr_controls[n].bit;
		each(hcr_controls[n].name, 0);
	}
	case_hcr = hcr_plain() | more;
	for (u32 n = 0; n < sizeof mdcr_controls / sizeof *mdcr_controls; n++) {
		write_sysreg(mdcr_el2, mdcr | mdcr_controls[n].bit);
		isb();
		each(mdcr_controls[n].name, 0);
	}
	write_sysreg(mdcr_el2, mdcr);
	write_sysreg(cptr_el2, cptr | B(31));
	isb();
	each("CPTR.TCPAC", 0);
	if (e2h) {
		for (u64 fpen = 0; fpen < 3; fpen++) {
			static const char *const names[] = {"CPTR.FPEN=0", "CPTR.FPEN=1", "CPTR.FPEN=2"};
			write_sysreg(cptr_el2, (cptr & ~(3ul << 20)) | fpen << 20);
			isb();
			each(names[fpen], 0);
		}
	} else {
		write_sysreg(cptr_el2, cptr | B(10));
		isb();
		each("CPTR.TFP", 0);
	}
	write_sysreg(cptr_el2, cptr);
	static const char *const timers[] = {"CNTHCTL.EL1PCTEN", "CNTHCTL.EL1PCEN"};
	for (u32 n = 0; n < 2; n++) {
		write_sysreg(cnthctl_el2, cnthctl & ~B(n + (e2h ? 10 : 0)));
		isb();
		each(timers[n], 0);
	}
	write_sysreg(cnthctl_el2, cnthctl);
	isb();
}

CODE(wfi, "wfi");
CODE(wfe, "sevl\n wfe\n wfe");
CODE(smc, "smc #0x1234");
CODE(svc, "svc #0x1234");
CODE(fp_only, "fmov d0, xzr");
CODE(read_daif, "mrs x0, daif");

int main(void) {
	/* Nothing of EL1's own in the way. */
	u64 sctlr = read_sysreg(sctlr_el1) | SCTLR_UMA | SCTLR_DZE | SCTLR_UCT | SCTLR_NTWI | SCTLR_NTWE | SCTLR_UCI;
	write_sysreg(sctlr_el1, sctlr);
	write_sysreg(cntkctl_el1, 0x303);
	write_sysreg(cnthctl_el2, cpu.vhe ? 0xf03 : 3);
	isb();
	all_controls(0);
	if (cpu.vhe)
		all_controls(HCR_E2H);
	case_hcr = HCR_RW;
	section("TWI");
	test2("el1", HCR_TWI, wfi, EL1H);
	test2("el0", HCR_TWI, wfi, EL0T);
	section("TWE");
	test2("el1", HCR_TWE, wfe, EL1H);
	section("TSC");
	test2("el1", HCR_TSC, smc, EL1H);
	test2("el0", HCR_TSC, smc, EL0T);
	/* What CPACR_EL1 traps of EL0 under TGE is reported as UNDEFINED. */
	section("TGE");
	write_sysreg(cpacr_el1, 0);
	isb();
	test2("fp", HCR_TGE, fp_only, EL0T);
	test2("fp without", 0, fp_only, EL0T);
	test2("svc", HCR_TGE, svc, EL0T);
	test2("wfi with nTWI", HCR_TGE | HCR_TWI, wfi, EL0T);
	write_sysreg(sctlr_el1, sctlr & ~(SCTLR_NTWI | SCTLR_UMA));
	isb();
	test2("wfi without nTWI", HCR_TGE, wfi, EL0T);
	test2("daif", HCR_TGE, read_daif, EL0T);
	return 0;
}
