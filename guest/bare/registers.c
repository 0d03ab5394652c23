/* System registers of EL1: values of identification registers, and what can be written of the others. */
#include "bare.h"
#include "written.h"

#define REGISTERS(each)                                                                                                \
	each(vbar_el1) each(esr_el1) each(far_el1) each(elr_el1) each(spsr_el1) each(contextidr_el1) each(tpidr_el0)        \
	each(tpidrro_el0) each(tpidr_el1) each(sp_el0) each(mair_el1) each(amair_el1) each(afsr0_el1) each(afsr1_el1)       \
	each(par_el1) each(cpacr_el1) each(csselr_el1) each(tcr_el1) each(ttbr0_el1) each(ttbr1_el1) each(cntkctl_el1)      \
	each(cntv_cval_el0) each(cntp_cval_el0) each(fpcr) each(fpsr) each(nzcv) each(daif)                              \
	each(dbgbvr0_el1) each(dbgbcr0_el1) each(dbgbvr5_el1) each(dbgbcr5_el1) each(dbgwvr0_el1) each(dbgwcr0_el1)         \
	each(dbgwvr3_el1) each(dbgwcr3_el1) each(osdlr_el1)

/* SCTLR_EL1 with the MMU off: every bit but M, C and those that change how this program itself runs (EE, E0E, A, SA, I). */
static void control(void) {
	u64 keep = SCTLR_M | SCTLR_C | 1ul << 25 | 1ul << 24 | SCTLR_A | SCTLR_SA | SCTLR_I | 1ul << 21;
	u64 values[4];
	for (u32 n = 0; n < 4; n++) {
		/* Without optional features: MTE, PAuth, BTI and TME have bits that could trap the program. */
		u64 value = patterns[n] & ~keep & 0xffffffff & ~(1ul << 31 | 1ul << 30 | 1ul << 27 | 1ul << 13);
		write_sysreg(sctlr_el1, value);
		isb();
		values[n] = read_sysreg(sctlr_el1);
		write_sysreg(sctlr_el1, SCTLR_ON & ~SCTLR_M);
		isb();
	}
	print("sctlr_el1", values);
}

#define IDS(each)                                                                                                      \
	each(midr_el1) each(mpidr_el1) each(revidr_el1) each(aidr_el1) each(id_pfr0_el1) each(id_pfr1_el1) each(id_dfr0_el1)   \
	each(id_afr0_el1) each(id_mmfr0_el1) each(id_mmfr1_el1) each(id_mmfr2_el1) each(id_mmfr3_el1) each(id_isar0_el1)       \
	each(id_isar1_el1) each(id_isar2_el1) each(id_isar3_el1) each(id_isar4_el1) each(id_isar5_el1) each(mvfr0_el1)         \
	each(mvfr1_el1) each(mvfr2_el1) each(id_aa64pfr0_el1) each(id_aa64pfr1_el1) each(id_aa64dfr0_el1)                    \
	each(id_aa64dfr1_el1) each(id_aa64afr0_el1) each(id_aa64afr1_el1) each(id_aa64isar0_el1) each(id_aa64isar1_el1)        \
	each(id_aa64mmfr0_el1) each(id_aa64mmfr1_el1) each(S3_0_C0_C7_2) each(ctr_el0) each(dczid_el0) each(clidr_el1)          \
	each(oslsr_el1) each(isr_el1) each(S3_0_C0_C4_4) each(S3_0_C0_C4_5) each(S3_0_C0_C6_2) each(S3_0_C0_C7_3)

#define PRINT_ID(name) out_value(#name, read_sysreg(name));

/* Every encoding of the ID space can be read at EL1: those not allocated are 0. */
#define ID_SPACE(crm)                                                                                                  \
	out_value("unallocated c0, " #crm, read_sysreg(S3_0_C0_##crm##_6) | read_sysreg(S3_0_C0_##crm##_7));

int main(void) {
	section("id");
	IDS(PRINT_ID)
	section("id space");
	ID_SPACE(C4)
	ID_SPACE(C6)
	ID_SPACE(C7)
	section("caches");
	for (u64 n = 0; n < 6; n++) {
		write_sysreg(csselr_el1, n);
		isb();
		out_name("ccsidr");
		out_field("csselr", n);
		out_field("value", read_sysreg(ccsidr_el1));
		out_line();
	}
	section("written");
	set_sctlr(SCTLR_ON & ~(SCTLR_M | SCTLR_C | SCTLR_I));
	REGISTERS(WRITE_AND_READ)
	control();
	return 0;
}
