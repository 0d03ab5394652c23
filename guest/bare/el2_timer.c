/* The timers of EL2, the virtual offset, and who takes their interrupts. No line depends on the time. */
#include "el2.h"
#include "gic.h"

#define CNTHV_CTL S3_4_C14_C3_1
#define CNTHV_CVAL S3_4_C14_C3_2
#define CNTHV_TVAL S3_4_C14_C3_0

CODE(nops, "nop\n nop\n isb\n nop");
CODE(difference, "mrs x0, cntvct_el0\n mrs x1, cntpct_el0\n sub x0, x0, x1\n add x0, x0, #0x100, lsl #12\n asr x0, x0, #28\n mov x1, xzr");
CODE(virtual_ctl, "mrs x0, cntv_ctl_el0\n mrs x1, cntp_ctl_el0");
CODE(virtual_ctl02, "mrs x0, cntv_ctl_el02\n mrs x1, cntp_ctl_el02");

static void off(void) {
	write_sysreg(cntv_ctl_el0, 0);
	write_sysreg(cntp_ctl_el0, 0);
	write_sysreg(cnthp_ctl_el2, 0);
	if (cpu.vhe)
		write_sysreg(CNTHV_CTL, 0);
	isb();
}

static void conditions(void) {
	section("condition");
	static const u64 values[] = {0, 1, ~0ul, 1ul << 63, (1ul << 63) - 1, 1ul << 62};
	for (u32 n = 0; n < sizeof values / sizeof *values; n++)
		for (u64 ctl = 0; ctl < 8; ctl++) {
			off();
			write_sysreg(cnthp_cval_el2, values[n]);
			write_sysreg(cnthp_ctl_el2, ctl);
			if (cpu.vhe) {
				write_sysreg(CNTHV_CVAL, values[n]);
				write_sysreg(CNTHV_CTL, ctl);
			}
			isb();
			out_name("cval");
			out_field("cval", values[n]);
			out_field("ctl", ctl);
			out_field("hp", read_sysreg(cnthp_ctl_el2));
			if (cpu.vhe)
				out_field("hv", read_sysreg(CNTHV_CTL));
			out_field("pending", load32(GICR_ISPENDR0));
			out_line();
		}
	off();
	while (read_sysreg(cntpct_el0) < 0x20000)
		;
	static const u64 views[] = {0, 1ul << 31, 0xffffffff, 0x123456789, ~0ul, 0xffff0000};
	for (u32 n = 0; n < sizeof views / sizeof *views; n++) {
		write_sysreg(cnthp_tval_el2, views[n]);
		write_sysreg(cnthp_ctl_el2, 1);
		isb();
		u64 distance = read_sysreg(cnthp_cval_el2) - read_sysreg(cntpct_el0);
		u64 tval = read_sysreg(cnthp_tval_el2);
		out_name("tval");
		out_field("wrote", views[n]);
		out_field("distance", (distance + (1ul << 28)) >> 29);
		out_field("tval", (tval + (1ul << 28)) >> 29 & 7);
		out_field("ctl", read_sysreg(cnthp_ctl_el2));
		if (cpu.vhe) {
			write_sysreg(CNTHV_TVAL, views[n]);
			write_sysreg(CNTHV_CTL, 1);
			isb();
			out_field("hv", (read_sysreg(CNTHV_CVAL) - read_sysreg(cntpct_el0) + (1ul << 28)) >> 29);
			out_field("ctl", read_sysreg(CNTHV_CTL));
		}
		out_line();
		off();
	}
}

/* CNTVOFF_EL2: who sees it, and what the virtual timer compares with. */
static void offset(void) {
	static const u64 offsets[] = {0, 1ul << 28, -(1ul << 28), 1ul << 40, -(1ul << 40), 1ul << 63};
	for (u32 n = 0; n < sizeof offsets / sizeof *offsets; n++) {
		write_sysreg(cntvoff_el2, offsets[n]);
		write_sysreg(cntkctl_el1, 3);
		isb();
		section("offset");
		subsection_hex("", offsets[n]);
		/* The counters are read one after the other, so that the difference is a little more. */
		test2("el1", 0, difference, EL1H);
		test2("el0", 0, difference, EL0T);
		test2("el2", 0, difference, EL2H);
		test2("el0, TGE", HCR_TGE, difference, EL0T);
		if (cpu.vhe) {
			test2("el2, E2H", HCR_E2H, difference, EL2H);
			test2("el1, E2H", HCR_E2H, difference, EL1H);
			test2("el0, E2H", HCR_E2H, difference, EL0T);
			write_sysreg(cnthctl_el2, 0xc03);
			isb();
			test2("el0, E2H and TGE", HCR_E2H | HCR_TGE, difference, EL0T);
		}
		static const u64 values[] = {0, 1, 1ul << 27, ~0ul, 1ul << 63, 1ul << 41};
		for (u32 m = 0; m < sizeof values / sizeof *values; m++) {
			u32 mark = section_mark();
			subsection_hex("cval ", values[m]);
			write_sysreg(cntv_cval_el0, values[m]);
			write_sysreg(cntp_cval_el0, values[m]);
			write_sysreg(cntv_ctl_el0, 1);
			write_sysreg(cntp_ctl_el0, 1);
			if (cpu.vhe) {
				write_sysreg(CNTHV_CVAL, values[m]);
				write_sysreg(CNTHV_CTL, 1);
			}
			isb();
			out_name("status");
			out_field("v", read_sysreg(cntv_ctl_el0));
			out_field("p", read_sysreg(cntp_ctl_el0));
			if (cpu.vhe)
				out_field("hv", read_sysreg(CNTHV_CTL));
			out_field("pending", load32(GICR_ISPENDR0));
			out_line();
			write_sysreg(cnthctl_el2, 0xc03);
			test2("at el1", 0, virtual_ctl, EL1H);
			if (cpu.vhe)
				test2("el02", HCR_E2H, virtual_ctl02, EL2H);
			section_back(mark);
			off();
		}
		/* A move of the offset moves the condition. */
		write_sysreg(cntv_cval_el0, 1ul << 38);
		write_sysreg(cntv_ctl_el0, 1);
		isb();
		out_value("before the move", read_sysreg(cntv_ctl_el0));
		write_sysreg(cntvoff_el2, -(1ul << 39));
		isb();
		out_value("after the move", read_sysreg(cntv_ctl_el0));
		out_value("pending after the move", load32(GICR_ISPENDR0));
		off();
	}
	write_sysreg(cntvoff_el2, 0);
	write_sysreg(cntkctl_el1, 0);
	isb();
}

/* The interrupts of the timers: 26 is CNTHP's, 28 CNTHV's, 27 the virtual and 30 the physical timer's. */
static void interrupts(void) {
	static const struct {
		const char *name;
		u32 intid, vhe;
	} timers[] = {{"hp", 26, 0}, {"hv", 28, 1}, {"v", 27, 0}, {"p", 30, 0}};
	for (u32 n = 0; n < 4; n++) {
		if (timers[n].vhe && !cpu.vhe)
			continue;
		gic_reset();
		store32(GICR_ISENABLER0, 1u << timers[n].intid);
		gic_wait();
		off();
		if (n == 0) {
			write_sysreg(cnthp_cval_el2, 0);
			write_sysreg(cnthp_ctl_el2, 1);
		} else if (n == 1) {
			write_sysreg(CNTHV_CVAL, 0);
			write_sysreg(CNTHV_CTL, 1);
		} else if (n == 2) {
			write_sysreg(cntv_cval_el0, 0);
			write_sysreg(cntv_ctl_el0, 1);
		} else {
			write_sysreg(cntp_cval_el0, 0);
			write_sysreg(cntp_ctl_el0, 1);
		}
		isb();
		section("interrupt");
		subsection(timers[n].name);
		test2("el1, IMO", HCR_IMO, nops, EL1H);
		test2("el1", 0, nops, EL1H & ~0x80ul);
		test2("el2, IMO", HCR_IMO, nops, EL2H & ~0x80ul);
		test2("el2", 0, nops, EL2H & ~0x80ul);
		test2("el0, IMO", HCR_IMO, nops, EL0T);
		test2("el0, TGE", HCR_TGE, nops, EL0T);
		out_value("iar", read_sysreg(ICC_IAR1));
		off();
		out_value("pending", load32(GICR_ISPENDR0));
		out_value("active", load32(GICR_ISACTIVER0));
		write_sysreg(ICC_EOIR1, timers[n].intid);
	}
	gic_reset();
}

int main(void) {
	gic_reset();
	conditions();
	offset();
	interrupts();
	return 0;
}
