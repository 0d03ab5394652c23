/* Synchronous exceptions at EL0 and EL1: class, syndrome, return address. */
#include "bare.h"

CODE(nothing, "nop");
CODE(udf0, ".inst 0x00000000");
CODE(udfffff, ".inst 0x0000ffff");
CODE(unallocated1, ".inst 0x02000000");
CODE(unallocated2, ".inst 0xffffffff");
CODE(unallocated3, ".inst 0x1e000000 | 1<<23");
CODE(sysreg_unallocated, "mrs x0, S3_0_C15_C15_7");
CODE(sysreg_unallocated_w, "msr S3_0_C15_C15_7, x0");
CODE(sys_unallocated, "sys #0, c15, c15, #7, x0");
CODE(id_space, "mrs x0, S3_0_C0_C7_7");
CODE(id_write, "msr S3_0_C0_C4_0, x0");
CODE(svc0, "svc #0");
CODE(svcffff, "svc #0xffff");
CODE(brk0, "brk #0");
CODE(brkffff, "brk #0xffff");
CODE(hlt1, "hlt #1");
CODE(smc0, "smc #0");
CODE(dcps1, "dcps1 #0");
CODE(dcps3, "dcps3 #0");
CODE(drps, "drps");
CODE(eret_, "eret");
CODE(hvc_el0, "hvc #0");

CODE(mrs_midr, "mrs x0, midr_el1");
CODE(mrs_mpidr, "mrs x0, mpidr_el1");
CODE(mrs_pfr0, "mrs x0, id_aa64pfr0_el1");
CODE(mrs_sctlr, "mrs x7, sctlr_el1");
CODE(msr_sctlr, "msr sctlr_el1, x7");
CODE(mrs_currentel, "mrs x0, CurrentEL");
CODE(mrs_spsel, "mrs x0, SPSel");
CODE(msr_spsel, "msr SPSel, #0");
CODE(mrs_daif, "mrs x0, daif");
CODE(mrs_daif_x9, "mrs x9, daif");
CODE(msr_daif, "msr daif, x1");
CODE(msr_daifset, "msr daifset, #5");
CODE(msr_daifclr, "msr daifclr, #15");
CODE(mrs_nzcv, "mrs x0, nzcv");
CODE(msr_nzcv, "msr nzcv, x1\n mrs x0, nzcv");
CODE(mrs_ctr, "mrs x0, ctr_el0\n mov x0, xzr");
CODE(mrs_ctr_x17, "mrs x17, ctr_el0\n mov x0, xzr");
CODE(mrs_dczid, "mrs x0, dczid_el0");
CODE(msr_dczid, "msr dczid_el0, x0");
CODE(mrs_ccsidr, "mrs x0, ccsidr_el1");
CODE(mrs_fpcr, "mrs x0, fpcr");
CODE(msr_fpcr, "msr fpcr, xzr");
CODE(mrs_fpsr, "mrs x0, fpsr");
CODE(fmov_, "fmov x0, d0\n mov x0, xzr");
CODE(ldr_q, "mov x1, sp\n ldr q0, [x0]");
CODE(add_v, ".inst 0x4ea08400");
CODE(mrs_tpidr, "mrs x0, tpidr_el0");
CODE(msr_tpidr, "msr tpidr_el0, x1\n mrs x0, tpidr_el0\n msr tpidr_el0, xzr");
CODE(mrs_tpidrro, "mrs x0, tpidrro_el0\n mov x0, xzr");
CODE(msr_tpidrro, "msr tpidrro_el0, x0");
CODE(mrs_tpidr1, "mrs x0, tpidr_el1");
CODE(mrs_sp0, "mrs x0, sp_el0\n mov x0, #1");
CODE(msr_sp0, "msr sp_el0, x1\n mrs x0, sp_el0");
CODE(mrs_sp1, "mrs x0, sp_el1");
CODE(mrs_elr, "mrs x0, elr_el1\n mov x0, xzr");
CODE(mrs_elr2, "mrs x0, elr_el2");
CODE(mrs_hcr, "mrs x0, hcr_el2");
CODE(mrs_scr, "mrs x0, scr_el3");
CODE(mrs_sctlr12, "mrs x0, S3_5_C1_C0_0");
CODE(mrs_vbar2, "mrs x0, vbar_el2");
CODE(mrs_spsr_irq, "mrs x0, spsr_irq");
CODE(mrs_isr, "mrs x0, isr_el1");
CODE(msr_isr, "msr isr_el1, x0");
CODE(mrs_rvbar, "mrs x0, rvbar_el1");
CODE(mrs_pan, "mrs x0, S3_0_C4_C2_3");
CODE(msr_pan, "msr S3_0_C4_C2_3, x1\n mrs x0, S3_0_C4_C2_3");
CODE(msr_pan1, ".inst 0xd500419f\n mov x0, #2");
CODE(msr_pan0, ".inst 0xd500409f\n mov x0, #2");
CODE(mrs_uao, "mrs x0, S3_0_C4_C2_4");
CODE(msr_uao1, ".inst 0xd500417f\n mov x0, #2");
CODE(msr_uao, "msr S3_0_C4_C2_4, x1\n mrs x0, S3_0_C4_C2_4");
CODE(mrs_dit, "mrs x0, S3_3_C4_C2_5");
CODE(mrs_ssbs, "mrs x0, S3_3_C4_C2_6");
CODE(msr_ssbs, "msr S3_3_C4_C2_6, x1\n mrs x0, S3_3_C4_C2_6");
CODE(mrs_icc, "mrs x0, S3_0_C12_C12_7");
CODE(mrs_icc_iar, "mrs x0, S3_0_C12_C12_0");
CODE(msr_sgi, "msr S3_0_C12_C11_5, x2");
CODE(mrs_mdccsr, "mrs x0, mdccsr_el0");
CODE(mrs_dbgdtr, "mrs x0, dbgdtr_el0");
CODE(mrs_mdscr, "mrs x0, mdscr_el1");
CODE(mrs_oslsr, "mrs x0, oslsr_el1");
CODE(mrs_pmccntr, "mrs x0, pmccntr_el0\n mov x0, xzr");

CODE(mrs_cntfrq, "mrs x0, cntfrq_el0\n mov x0, xzr");
CODE(msr_cntfrq, "mrs x0, cntfrq_el0\n msr cntfrq_el0, x0\n mov x0, xzr");
CODE(mrs_cntvct, "mrs x0, cntvct_el0\n mov x0, xzr");
CODE(mrs_cntpct, "mrs x0, cntpct_el0\n mov x0, xzr");
CODE(msr_cntvct, "msr cntvct_el0, x0");
CODE(mrs_cntv_ctl, "mrs x0, cntv_ctl_el0");
CODE(mrs_cntv_cval, "mrs x0, cntv_cval_el0\n mov x0, xzr");
CODE(mrs_cntv_tval, "mrs x0, cntv_tval_el0\n mov x0, xzr");
CODE(mrs_cntp_ctl, "mrs x0, cntp_ctl_el0");
CODE(mrs_cntp_cval, "mrs x0, cntp_cval_el0\n mov x0, xzr");
CODE(msr_cntp_cval_x5, "msr cntp_cval_el0, x5\n mov x0, xzr");
CODE(mrs_cntkctl, "mrs x0, cntkctl_el1");
CODE(mrs_cntps, "mrs x0, cntps_ctl_el1");
CODE(mrs_cnthp, "mrs x0, cnthp_ctl_el2");

CODE(wfi_, "wfi\n mov x0, #3");
CODE(wfe_, "sevl\n wfe\n mov x0, #3");
CODE(wfe_twice, "sevl\n wfe\n wfe\n mov x0, #3");
CODE(yield_, "yield\n mov x0, #3");
CODE(hint_unallocated, "hint #127\n mov x0, #3");
CODE(csdb, "hint #20\n mov x0, #3");
CODE(esb, "hint #16\n mov x0, #3");
CODE(psb, "hint #17\n mov x0, #3");
CODE(bti, "hint #34\n mov x0, #3");
CODE(paciasp, "hint #25\n mov x0, #3");
CODE(sb, ".inst 0xd50330ff\n mov x0, #3");
CODE(dsb_nxs, ".inst 0xd503323f\n mov x0, #3");
CODE(ssbb, "dsb #0\n mov x0, #3");
CODE(barrier_unallocated, ".inst 0xd503301f\n mov x0, #3");
CODE(clrex, "clrex\n mov x0, #3");
CODE(clrex0, "clrex #0\n mov x0, #3");
CODE(dc_zva, "dc zva, x0");
CODE(dc_cvau, "dc cvau, x0");
CODE(dc_cvac, "dc cvac, x0");
CODE(dc_civac, "dc civac, x0");
CODE(dc_cvap, "sys #3, c7, c12, #1, x0");
CODE(dc_cvadp, "sys #3, c7, c13, #1, x0");
CODE(dc_ivac, "dc ivac, x0");
CODE(dc_isw, "dc isw, xzr");
CODE(dc_csw, "dc csw, xzr");
CODE(dc_cisw, "dc cisw, xzr");
CODE(ic_ivau, "ic ivau, x0");
CODE(ic_ivau_x21, "ic ivau, x21");
CODE(ic_iallu, "ic iallu");
CODE(ic_ialluis, "ic ialluis");
CODE(at_s1e0r, "at s1e0r, x0");
CODE(at_s1e1rp, "sys #0, c7, c9, #0, x0");
CODE(at_s12e1r, "at s12e1r, x0");
CODE(at_s1e2r, "at s1e2r, x0");
CODE(tlbi_vmalle1, "tlbi vmalle1");
CODE(tlbi_alle1, "tlbi alle1");
CODE(tlbi_alle2, "tlbi alle2");
CODE(tlbi_os, "sys #0, c8, c1, #0, xzr");
CODE(tlbi_range, "mov x0, xzr\n sys #0, c8, c6, #1, x0");
CODE(cfp, "sys #3, c7, c3, #4, x0");

/* Instructions of features. */
CODE(lse_ldadd, ".inst 0xb8210001\n mov x0, #3");
CODE(lse_cas, ".inst 0x88a17c02\n mov x0, #3");
CODE(crc32, "crc32x w0, w0, x1");
CODE(ldapr, ".inst 0xf8bfc001\n mov x0, #3");
CODE(cfinv, ".inst 0xd500401f\n mov x0, #3");
CODE(rmif, ".inst 0xba000400\n mov x0, #3");
CODE(xaflag, ".inst 0xd500403f\n mov x0, #3");
CODE(rdm, ".inst 0x6e828400\n mov x0, #3");
CODE(pacia, ".inst 0xdac10020\n mov x0, #3");
CODE(aesd, ".inst 0x4e285800\n mov x0, #3");
CODE(sha512, ".inst 0xce608000\n mov x0, #3");
CODE(irg, ".inst 0x9adf1000\n mov x0, #3");
CODE(ldlar, ".inst 0xc8df7c01\n mov x0, #3");
CODE(stllr, ".inst 0xc89f7c01\n mov x0, #3");

#define BOTH(name, code)                                                                                               \
	do {                                                                                                           \
		test(name " el0", code, EL0T, (u64)user_data, 0, 0, 0);                                               \
		test(name " el1", code, EL1H, (u64)user_data, 0, 0, 0);                                               \
	} while (0)
#define EL0(name, code) test(name " el0", code, EL0T, (u64)user_data, 0, 0, 0)

static void everywhere(void) {
	section("plain");
	BOTH("nop", nothing);
	test("nop el1t", nothing, EL1T, 0, 0, 0, 0);
	test("brk el1t", brk0, EL1T, 0, 0, 0, 0);
	test("nzcv kept", nothing, EL0T | 0xf0000000, 0, 0, 0, 0);
	test("daif kept", nothing, 0, 0, 0, 0, 0);
	test("d kept", nothing, 0x200, 0, 0, 0, 0);
	BOTH("udf 0", udf0);
	BOTH("udf 0xffff", udfffff);
	BOTH("unallocated 1", unallocated1);
	BOTH("unallocated 2", unallocated2);
	BOTH("unallocated 3", unallocated3);
	BOTH("mrs unallocated", sysreg_unallocated);
	BOTH("msr unallocated", sysreg_unallocated_w);
	BOTH("sys unallocated", sys_unallocated);
	BOTH("mrs id space", id_space);
	BOTH("msr id", id_write);
	BOTH("svc 0", svc0);
	BOTH("svc 0xffff", svcffff);
	BOTH("brk 0", brk0);
	BOTH("brk 0xffff", brkffff);
	BOTH("hlt 1", hlt1);
	BOTH("smc 0", smc0);
	BOTH("dcps1", dcps1);
	BOTH("dcps3", dcps3);
	BOTH("drps", drps);
	EL0("eret", eret_);
	EL0("hvc", hvc_el0);
	EL0("mrs midr", mrs_midr);
	EL0("mrs mpidr", mrs_mpidr);
	EL0("mrs id_aa64pfr0", mrs_pfr0);
	EL0("mrs sctlr x7", mrs_sctlr);
	EL0("msr sctlr x7", msr_sctlr);
	BOTH("mrs CurrentEL", mrs_currentel);
	BOTH("mrs SPSel", mrs_spsel);
	BOTH("msr SPSel 0", msr_spsel);
	BOTH("mrs nzcv", mrs_nzcv);
	test("msr nzcv el0", msr_nzcv, EL0T, 0, ~0ul, 0, 0);
	BOTH("mrs tpidr_el0", mrs_tpidr);
	test("msr tpidr_el0", msr_tpidr, EL0T, 0, 0x123456789abcdef0ul, 0, 0);
	BOTH("mrs tpidrro_el0", mrs_tpidrro);
	BOTH("msr tpidrro_el0", msr_tpidrro);
	EL0("mrs tpidr_el1", mrs_tpidr1);
	BOTH("mrs sp_el0", mrs_sp0);
	test("mrs sp_el0 el1t", mrs_sp0, EL1T, 0, 0, 0, 0);
	test("msr sp_el0 el1h", msr_sp0, EL1H, 0, 0x1234, 0, 0);
	test("msr sp_el0 el1t", msr_sp0, EL1T, 0, 0x1234, 0, 0);
	BOTH("mrs sp_el1", mrs_sp1);
	BOTH("mrs elr_el1", mrs_elr);
	BOTH("mrs elr_el2", mrs_elr2);
	BOTH("mrs hcr_el2", mrs_hcr);
	BOTH("mrs scr_el3", mrs_scr);
	BOTH("mrs sctlr_el12", mrs_sctlr12);
	BOTH("mrs vbar_el2", mrs_vbar2);
	BOTH("mrs spsr_irq", mrs_spsr_irq);
	BOTH("mrs isr_el1", mrs_isr);
	BOTH("msr isr_el1", msr_isr);
	BOTH("mrs dczid", mrs_dczid);
	BOTH("msr dczid", msr_dczid);
	EL0("mrs ccsidr", mrs_ccsidr);
	EL0("mrs icc_igrpen1", mrs_icc);
	EL0("mrs icc_iar1", mrs_icc_iar);
	EL0("msr icc_sgi1r", msr_sgi);
	EL0("mrs mdscr", mrs_mdscr);
	EL0("mrs oslsr", mrs_oslsr);
	BOTH("mrs mdccsr_el0", mrs_mdccsr);
	BOTH("hint 127", hint_unallocated);
	BOTH("csdb", csdb);
	BOTH("esb", esb);
	BOTH("psb", psb);
	BOTH("bti", bti);
	BOTH("paciasp", paciasp);
	BOTH("yield", yield_);
	BOTH("ssbb", ssbb);
	BOTH("barrier unallocated", barrier_unallocated);
	BOTH("clrex", clrex);
	BOTH("clrex 0", clrex0);
	BOTH("ic iallu", ic_iallu);
	BOTH("ic ialluis", ic_ialluis);
	BOTH("dc isw", dc_isw);
	BOTH("dc csw", dc_csw);
	BOTH("dc cisw", dc_cisw);
	BOTH("dc ivac", dc_ivac);
	BOTH("at s1e0r", at_s1e0r);
	BOTH("at s12e1r", at_s12e1r);
	BOTH("at s1e2r", at_s1e2r);
	BOTH("tlbi vmalle1", tlbi_vmalle1);
	BOTH("tlbi alle1", tlbi_alle1);
	BOTH("tlbi alle2", tlbi_alle2);
	BOTH("mrs cntps_ctl", mrs_cntps);
	BOTH("mrs cnthp_ctl", mrs_cnthp);
	BOTH("msr cntvct", msr_cntvct);
}

static void by_feature(void) {
	section("feature");
	BOTH("mrs pan", mrs_pan);
	test("msr pan el0", msr_pan, EL0T, 0, 1 << 22, 0, 0);
	test("msr pan el1", msr_pan, EL1H, 0, ~0ul, 0, 0);
	BOTH("msr pan 1", msr_pan1);
	BOTH("msr pan 0", msr_pan0);
	test("pan by spsr", nothing, EL1H | SPSR_PAN, 0, 0, 0, 0);
	BOTH("mrs uao", mrs_uao);
	BOTH("msr uao 1", msr_uao1);
	test("msr uao el1", msr_uao, EL1H, 0, ~0ul, 0, 0);
	test("uao by spsr", nothing, EL1H | SPSR_UAO, 0, 0, 0, 0);
	BOTH("mrs dit", mrs_dit);
	BOTH("mrs ssbs", mrs_ssbs);
	test("msr ssbs el0", msr_ssbs, EL0T, 0, ~0ul, 0, 0);
	test("ssbs by spsr", nothing, EL0T | 1 << 12, 0, 0, 0, 0);
	BOTH("lse ldadd", lse_ldadd);
	BOTH("lse cas", lse_cas);
	BOTH("crc32x", crc32);
	BOTH("ldapr", ldapr);
	BOTH("ldlar", ldlar);
	BOTH("stllr", stllr);
	BOTH("cfinv", cfinv);
	BOTH("rmif", rmif);
	BOTH("xaflag", xaflag);
	BOTH("sqrdmlah", rdm);
	BOTH("pacia", pacia);
	BOTH("aesd", aesd);
	BOTH("sha512su0", sha512);
	BOTH("irg", irg);
	BOTH("sb", sb);
	BOTH("dsb nxs", dsb_nxs);
	BOTH("dc cvap", dc_cvap);
	BOTH("dc cvadp", dc_cvadp);
	BOTH("at s1e1rp", at_s1e1rp);
	BOTH("tlbi vmalle1os", tlbi_os);
	BOTH("tlbi rvae1", tlbi_range);
	BOTH("cfp rctx", cfp);
}

/* What SCTLR_EL1 lets EL0 do. */
static void sctlr_controls(void) {
	static const struct {
		const char *name;
		u64 bits;
	} settings[] = {{"none", 0}, {"all", SCTLR_UMA | SCTLR_DZE | SCTLR_UCT | SCTLR_UCI | SCTLR_NTWI | SCTLR_NTWE}};
	for (int s = 0; s < 2; s++) {
		set_sctlr(SCTLR_ON | settings[s].bits);
		section("sctlr");
		subsection(settings[s].name);
		BOTH("mrs daif", mrs_daif);
		BOTH("mrs daif x9", mrs_daif_x9);
		EL0("msr daif", msr_daif);
		EL0("msr daifset", msr_daifset);
		EL0("msr daifclr", msr_daifclr);
		BOTH("mrs ctr", mrs_ctr);
		BOTH("mrs ctr x17", mrs_ctr_x17);
		BOTH("dc zva", dc_zva);
		BOTH("dc cvau", dc_cvau);
		BOTH("dc cvac", dc_cvac);
		BOTH("dc civac", dc_civac);
		BOTH("dc cvap", dc_cvap);
		BOTH("ic ivau", ic_ivau);
		EL0("ic ivau x21", ic_ivau_x21);
		if (s == 0)
			EL0("wfi", wfi_);
		BOTH("wfe", wfe_);
		if (s == 0)
			EL0("wfe twice", wfe_twice);
	}
	set_sctlr(SCTLR_ON);
}

static void cpacr_controls(void) {
	for (u64 fpen = 0; fpen < 4; fpen++) {
		write_sysreg(cpacr_el1, fpen << 20);
		isb();
		section("fpen");
		subsection_hex("", fpen);
		BOTH("mrs fpcr", mrs_fpcr);
		BOTH("msr fpcr", msr_fpcr);
		BOTH("mrs fpsr", mrs_fpsr);
		BOTH("fmov", fmov_);
		BOTH("ldr q", ldr_q);
		BOTH("add v", add_v);
	}
	write_sysreg(cpacr_el1, 3ul << 20);
	isb();
}

static void cntkctl_controls(void) {
	static const u16 values[] = {0, 1, 2, 0x100, 0x200, 0x303};
	write_sysreg(cntv_cval_el0, ~0ul);
	write_sysreg(cntp_cval_el0, ~0ul);
	for (u32 n = 0; n < sizeof values / 2; n++) {
		write_sysreg(cntkctl_el1, values[n]);
		isb();
		section("cntkctl");
		subsection_hex("", values[n]);
		EL0("mrs cntfrq", mrs_cntfrq);
		EL0("mrs cntvct", mrs_cntvct);
		EL0("mrs cntpct", mrs_cntpct);
		EL0("mrs cntv_ctl", mrs_cntv_ctl);
		EL0("mrs cntv_cval", mrs_cntv_cval);
		EL0("mrs cntv_tval", mrs_cntv_tval);
		EL0("mrs cntp_ctl", mrs_cntp_ctl);
		EL0("mrs cntp_cval", mrs_cntp_cval);
		EL0("msr cntp_cval x5", msr_cntp_cval_x5);
		EL0("msr cntfrq", msr_cntfrq);
	}
	EL0("mrs cntkctl", mrs_cntkctl);
	write_sysreg(cntkctl_el1, 0);
}

/* Illegal returns and the Illegal Execution state. */
static void illegal(void) {
	section("illegal");
	static const struct {
		const char *name;
		u64 spsr;
	} cases[] = {
		{"eret mode 1 (EL0h)", 0x3c1},   {"eret mode 2", 0x3c2},
		{"eret mode 3", 0x3c3},          {"eret mode 6", 0x3c6},
		{"eret mode 7", 0x3c7},          {"eret mode 8 (EL2t)", 0x3c8},
		{"eret mode 9 (EL2h)", 0x3c9},   {"eret mode c (EL3t)", 0x3cc},
		{"eret mode d (EL3h)", 0x3cd},   {"eret mode f", 0x3cf},
		{"eret mode 1b (AArch32)", 0x3db}, {"eret mode 12 (AArch32)", 0x3d2},
		{"eret mode 15 (AArch32)", 0x3d5}, {"eret mode 9 flags", 0xf00002c9},
		{"eret IL el0", EL0T | SPSR_IL}, {"eret IL el1h", EL1H | SPSR_IL},
		{"eret IL el1t", EL1T | SPSR_IL},  {"eret RES0 bits", EL0T | 0x0c00e00000000000 | 0x0800000},
		{"eret SS", EL0T | 1 << 21},     {"eret upper half", EL1H | 0xffffffff00000000},
	};
	for (u32 n = 0; n < sizeof cases / sizeof *cases; n++)
		test(cases[n].name, nothing, cases[n].spsr, 0, 0, 0, 0);
	/* The Illegal Execution state comes before the PC's alignment. */
	run4((u8 *)nothing + 2, EL1H | SPSR_IL, 0, 0, 0, 0);
	report("IL before PC alignment", nothing);
}

CODE(br_x1, "br x1");
CODE(blr_x1, "blr x1");
CODE(ret_x1, "ret x1");
CODE(ldr_sp, "ldr x0, [sp]");
CODE(str_sp, "str x0, [sp]");
CODE(stp_sp, "stp x0, x1, [sp, #-16]!");
CODE(ldur_sp, "ldur x0, [sp, #8]");
CODE(prfm_sp, "prfm pldl1keep, [sp]\n mov x0, #3");
CODE(ldxr_sp, "ldxr x0, [sp]");
CODE(ldtr_sp, "ldtr x0, [sp]");
CODE(sub_sp, "sub sp, sp, #8\n add sp, sp, #8\n mov x0, #3");
CODE(sub_sp_use, "sub sp, sp, #8\n ldr x0, [sp, #8]");
CODE(ldr_q_sp, "ldr q0, [sp]");

static void alignment(void) {
	for (u64 el = 0; el < 2; el++) {
		u64 spsr = el ? EL1H : EL0T;
		u64 code = (u64)nothing;
		section(el ? "at el1" : "at el0");
		run4((void *)(code + 2), spsr, 0, 0, 0, 0);
		report("eret to pc+2", nothing);
		run4((void *)(code + 1), spsr, 0, 0, 0, 0);
		report("eret to pc+1", nothing);
		run4((void *)(code + 3), spsr, 0, 0, 0, 0);
		report("eret to pc+3", nothing);
		run4(br_x1, spsr, 0, code + 2, 0, 0);
		report("br to pc+2", nothing);
		run4(blr_x1, spsr, 0, code + 1, 0, 0);
		report("blr to pc+1", nothing);
		run4(ret_x1, spsr, 0, code + 2, 0, 0);
		report("ret to pc+2", nothing);
		run4(br_x1, spsr, 0, 0x40000000 + 2, 0, 0);
		report("misaligned pc without permission", nothing);
		run4(br_x1, spsr, 0, 0x0000800000000000 + 2, 0, 0);
		report("misaligned pc without translation", nothing);
	}
	static const u64 checks[] = {0, SCTLR_SA, SCTLR_SA0, SCTLR_SA | SCTLR_SA0};
	for (u32 n = 0; n < 4; n++) {
		set_sctlr((SCTLR_ON & ~(SCTLR_SA | SCTLR_SA0)) | checks[n]);
		for (u64 mode = 0; mode < 3; mode++) {
			static const u64 spsr[] = {EL0T, EL1T, EL1H};
			static const char *const names[] = {"el0", "el1t", "el1h"};
			section("sp checks");
			subsection_hex("", checks[n]);
			subsection(names[mode]);
			u32 mark = section_mark();
			u64 kernel_sp = case_sp;
			for (u64 offset = 0; offset <= 8; offset += 8) {
				write_sysreg(sp_el0, user_data + 4096 + offset);
				case_sp = mode == 2 ? kernel_sp - 4096 + offset : kernel_sp;
				section_back(mark);
				subsection_hex("+", offset);
				test("ldr", ldr_sp, spsr[mode], 0, 0, 0, 0);
				test("str", str_sp, spsr[mode], 0, 0, 0, 0);
				test("stp", stp_sp, spsr[mode], 0, 0, 0, 0);
				test("ldur", ldur_sp, spsr[mode], 0, 0, 0, 0);
				test("prfm", prfm_sp, spsr[mode], 0, 0, 0, 0);
				test("ldxr", ldxr_sp, spsr[mode], 0, 0, 0, 0);
				test("ldtr", ldtr_sp, spsr[mode], 0, 0, 0, 0);
				test("ldr q", ldr_q_sp, spsr[mode], 0, 0, 0, 0);
				test("sub", sub_sp, spsr[mode], 0, 0, 0, 0);
				test("sub and ldr", sub_sp_use, spsr[mode], 0, 0, 0, 0);
			}
			case_sp = kernel_sp;
		}
	}
	set_sctlr(SCTLR_ON);
}

int main(void) {
	everywhere();
	by_feature();
	sctlr_controls();
	cpacr_controls();
	cntkctl_controls();
	illegal();
	alignment();
	return 0;
}
