/* Registers of EL2: what can be written of them, and where EL1's names lead with HCR_EL2.E2H. */
#include "el2.h"
#include "written.h"

#define REGISTERS(each)                                                                                                \
	each(vbar_el2) each(esr_el2) each(far_el2) each(elr_el2) each(spsr_el2) each(hpfar_el2) each(tpidr_el2)             \
	each(mair_el2) each(amair_el2) each(afsr0_el2) each(afsr1_el2) each(actlr_el2) each(hacr_el2) each(hstr_el2)        \
	each(cptr_el2) each(vtcr_el2) each(vttbr_el2) each(vpidr_el2) each(vmpidr_el2) each(cnthctl_el2)                    \
	each(cntvoff_el2) each(cnthp_cval_el2) each(sp_el1) each(ttbr0_el2) each(spsr_el1) each(elr_el1)                    \
	each(dbgbcr0_el1) each(dbgbcr5_el1) each(dbgbvr5_el1) each(dbgwcr0_el1) each(mdcr_el2)
#define VHE_REGISTERS(each) each(S3_4_C13_C0_1) each(S3_4_C2_C0_1) each(S3_4_C14_C3_2)

/* Registers of which some bits change how this program itself runs. */
static void partly(void) {
	u64 values[4];
	for (u32 n = 0; n < 4; n++) {
		/* Not E2H, TGE, NV. */
		write_sysreg(hcr_el2, (patterns[n] & ~(HCR_E2H | HCR_TGE | 7ul << 42 | 1ul << 45)) | HCR_RW);
		isb();
		values[n] = read_sysreg(hcr_el2);
		write_sysreg(hcr_el2, HCR_RW);
		isb();
	}
	print("hcr_el2", values);
	u64 keep = SCTLR_M | SCTLR_C | 1ul << 25 | SCTLR_A | SCTLR_SA | SCTLR_I | 1ul << 21;
	u64 before = read_sysreg(sctlr_el2);
	for (u32 n = 0; n < 4; n++) {
		/* Without optional features, as in registers.c. */
		write_sysreg(sctlr_el2, patterns[n] & ~keep & 0xffffffff & ~(1ul << 31 | 1ul << 30 | 1ul << 27 | 1ul << 13));
		isb();
		values[n] = read_sysreg(sctlr_el2);
		write_sysreg(sctlr_el2, before);
		isb();
	}
	print("sctlr_el2", values);
	before = read_sysreg(tcr_el2);
	for (u32 n = 0; n < 4; n++) {
		write_sysreg(tcr_el2, patterns[n]);
		isb();
		values[n] = read_sysreg(tcr_el2);
		write_sysreg(tcr_el2, before);
		isb();
	}
	print("tcr_el2", values);
	if (!cpu.vhe)
		return;
	/* TCR_EL2 and CPTR_EL2 have other bits with E2H; translation is off. */
	write_sysreg(hcr_el2, HCR_RW | HCR_E2H);
	isb();
	for (u32 n = 0; n < 4; n++) {
		write_sysreg(tcr_el2, patterns[n]);
		isb();
		values[n] = read_sysreg(tcr_el2);
		write_sysreg(tcr_el2, before);
		isb();
	}
	write_sysreg(hcr_el2, HCR_RW);
	isb();
	print("tcr_el2, E2H", values);
}

/* Reads by three names at EL2 with E2H; and at EL2 without, and at EL1, where two of them are UNDEFINED. */
#define READ(name)                                                                                                     \
	CODE(r1_##name, "mrs x0, " #name "_el1");                                                                      \
	CODE(r12_##name, "mrs x0, " #name "_el12");
#define WRITE(name)                                                                                                    \
	CODE(w1_##name, "msr " #name "_el1, x0");                                                                      \
	CODE(w12_##name, "msr " #name "_el12, x0");
#define BOTH(name) READ(name) WRITE(name)

#define FREE(each) each(ttbr1) each(esr) each(far) each(afsr0) each(afsr1) each(amair) each(contextidr) each(elr) each(spsr)
#define READ_ONLY(each) each(sctlr) each(ttbr0) each(tcr) each(mair) each(vbar)
FREE(BOTH)
READ_ONLY(READ)
CODE(r1_cpacr, "mrs x0, cpacr_el1");
CODE(r12_cpacr, "mrs x0, cpacr_el12");
CODE(w12_cpacr, "msr cpacr_el12, x0");
CODE(r1_cntkctl, "mrs x0, cntkctl_el1");
CODE(r12_cntkctl, "mrs x0, cntkctl_el12");
CODE(w1_cntkctl, "msr cntkctl_el1, x0");
CODE(w12_cntkctl, "msr cntkctl_el12, x0");

static u64 ids[2];
static void case_at(const char *name, u64 hcr, const u32 *code, u64 spsr, u64 x0) {
	test_hcr(name, hcr, code, spsr, x0, 0, 0, 0);
}

#define TEST_READ(name)                                                                                                \
	section("redirected " #name);                                                                                  \
	case_at("read el1, E2H", HCR_E2H, r1_##name, EL2H, 0);                                                         \
	case_at("read el12, E2H", HCR_E2H, r12_##name, EL2H, 0);                                                       \
	case_at("read el1", 0, r1_##name, EL2H, 0);                                                                    \
	case_at("read el12", 0, r12_##name, EL2H, 0);                                                                  \
	case_at("read el12 at el1", HCR_E2H, r12_##name, EL1H, 0);                                                     \
	case_at("read el12 at el0", HCR_E2H | HCR_TGE, r12_##name, EL0T, 0);                                           \
	case_at("read el1 at el0", HCR_E2H | HCR_TGE, r1_##name, EL0T, 0);
#define EL2_NAME_ttbr1 S3_4_C2_C0_1
#define EL2_NAME_esr esr_el2
#define EL2_NAME_far far_el2
#define EL2_NAME_afsr0 afsr0_el2
#define EL2_NAME_afsr1 afsr1_el2
#define EL2_NAME_amair amair_el2
#define EL2_NAME_contextidr S3_4_C13_C0_1
#define EL2_NAME_elr elr_el2
#define EL2_NAME_spsr spsr_el2

/* Exceptions write some of them, so the values are read by the case itself. */
#define SEES(name)                                                                                                     \
	CODE(s_##name, "msr " #name "_el1, x0\n msr " #name "_el12, x1\n mrs x2, " #name "_el1\n mrs x3, " #name "_el12\n"      \
		       "mrs x4, " TEXT_OF(EL2_NAME_##name) "\n mov x0, x2\n mov x1, x3\n mov x5, x4");
FREE(SEES)

#define TEST_WRITE(name)                                                                                               \
	TEST_READ(name)                                                                                                \
	test_hcr("write and read", HCR_E2H, s_##name, EL2H, 0x60000000, 0x90000000, 0, 0);                                 \
	out_value("el2", caught.x[5]);

CODE(timer02, "msr cntp_cval_el02, x0\n msr cntp_cval_el0, x1\n mrs x0, cntp_cval_el02\n mrs x1, cntp_cval_el0\n"
	      "mrs x2, cnthp_cval_el2");
CODE(vtimer02, "msr cntv_cval_el02, x0\n msr cntv_cval_el0, x1\n mrs x0, cntv_cval_el02\n mrs x1, cntv_cval_el0\n"
	       "mrs x2, S3_4_C14_C3_2");
CODE(ctl02, "msr cntp_ctl_el02, x0\n msr cntp_ctl_el0, x1\n mrs x0, cntp_ctl_el02\n mrs x1, cntp_ctl_el0\n mrs x2, cnthp_ctl_el2\n"
	    "and x0, x0, #3\n and x1, x1, #3\n and x2, x2, #3\n msr cntp_ctl_el02, xzr\n msr cntp_ctl_el0, xzr");
CODE(timer0, "msr cntp_cval_el0, x0\n msr cntv_cval_el0, x1\n mrs x0, cntp_cval_el0\n mrs x1, cntv_cval_el0");
CODE(read02, "mrs x0, cntp_cval_el02");
CODE(write02, "msr cntv_ctl_el02, xzr");
CODE(tval02, "mrs x0, cntp_tval_el02\n mov x0, xzr");
CODE(id_regs, "mrs x0, midr_el1\n mrs x1, mpidr_el1");

static void timers(void) {
	section("timers");
	test_hcr("physical", HCR_E2H, timer02, EL2H, 0x1111, 0x2222, 0, 0);
	out_value("x2", caught.x[2]);
	out_value("cntp", read_sysreg(cntp_cval_el0));
	test_hcr("virtual", HCR_E2H, vtimer02, EL2H, 0x3333, 0x4444, 0, 0);
	out_value("x2", caught.x[2]);
	out_value("cntv", read_sysreg(cntv_cval_el0));
	test_hcr("control", HCR_E2H, ctl02, EL2H, 2, 3, 0, 0);
	out_value("x2", caught.x[2]);
	test_hcr("el1's names at el2", 0, timer0, EL2H, 0x51, 0x52, 0, 0);
	test_hcr("el1's names at el2, E2H", HCR_E2H, timer0, EL2H, 0x61, 0x62, 0, 0);
	/* A host's EL0, which CNTHCTL_EL2 lets. */
	write_sysreg(cnthctl_el2, 0xf03);
	isb();
	test_hcr("el1's names at el0, E2H and TGE", HCR_E2H | HCR_TGE, timer0, EL0T, 0x71, 0x72, 0, 0);
	write_sysreg(cnthctl_el2, 0xc03);
	isb();
	out_value("cnthp", read_sysreg(cnthp_cval_el2));
	out_value("cnthv", read_sysreg(S3_4_C14_C3_2));
	out_value("cntp", read_sysreg(cntp_cval_el0));
	out_value("cntv", read_sysreg(cntv_cval_el0));
	case_at("el02 without E2H", 0, read02, EL2H, 0);
	case_at("write el02 without E2H", 0, write02, EL2H, 0);
	case_at("el02 at el1", HCR_E2H, read02, EL1H, 0);
	case_at("tval el02", HCR_E2H, tval02, EL2H, 0);
}

int main(void) {
	/* EL1's registers have values of their own. */
	write_sysreg(sctlr_el1, SCTLR_ON);
	write_sysreg(afsr0_el1, 0x10);
	write_sysreg(cntkctl_el1, 0x5);
	write_sysreg(tcr_el1, read_sysreg(tcr_el1));
	section("id");
	ids[0] = read_sysreg(midr_el1), ids[1] = read_sysreg(mpidr_el1);
	test2("own, at el1", 0, id_regs, EL1H);
	write_sysreg(vpidr_el2, 0x12345678);
	write_sysreg(vmpidr_el2, 0x80000042);
	isb();
	test2("virtual, at el1", 0, id_regs, EL1H);
	test2("virtual, at el2", 0, id_regs, EL2H);
	write_sysreg(vpidr_el2, ids[0]);
	write_sysreg(vmpidr_el2, ids[1]);
	isb();
	if (cpu.vhe) {
		READ_ONLY(TEST_READ)
		FREE(TEST_WRITE)
		TEST_READ(cpacr)
		TEST_READ(cntkctl)
		test_hcr("write el1, E2H", HCR_E2H, w1_cntkctl, EL2H, 0xc06, 0, 0, 0);
		out_value("cnthctl", read_sysreg(cnthctl_el2));
		test_hcr("write el12, E2H", HCR_E2H, w12_cntkctl, EL2H, 0x302, 0, 0, 0);
		out_value("cntkctl", read_sysreg(cntkctl_el1));
		write_sysreg(cnthctl_el2, 0xc03);
		write_sysreg(cntkctl_el1, 0);
		timers();
	}
	section("written");
	u64 control = read_sysreg(sctlr_el2);
	write_sysreg(sctlr_el2, control & ~(SCTLR_M | SCTLR_C | SCTLR_I));
	isb();
	REGISTERS(WRITE_AND_READ)
	if (cpu.vhe) {
		VHE_REGISTERS(WRITE_AND_READ)
	}
	partly();
	return 0;
}
