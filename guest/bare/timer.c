/* The generic timer: conditions, views of the compare value, interrupts and their order. No line depends on the time. */
#include "gic.h"

#define ENABLE 1ul
#define IMASK 2ul
#define VIRTUAL_PPI 27
#define PHYSICAL_PPI 30

static void off(void) {
	write_sysreg(cntv_ctl_el0, 0);
	write_sysreg(cntp_ctl_el0, 0);
	isb();
}

static void conditions(void) {
	section("condition");
	static const u64 values[] = {0, 1, ~0ul, 1ul << 63, (1ul << 63) - 1, 1ul << 62};
	for (u32 n = 0; n < sizeof values / sizeof *values; n++) {
		for (u64 ctl = 0; ctl < 8; ctl++) {
			off();
			write_sysreg(cntv_cval_el0, values[n]);
			write_sysreg(cntp_cval_el0, values[n]);
			write_sysreg(cntv_ctl_el0, ctl);
			write_sysreg(cntp_ctl_el0, ctl);
			isb();
			out_name("cval");
			out_field("cval", values[n]);
			out_field("ctl", ctl);
			out_field("v", read_sysreg(cntv_ctl_el0));
			out_field("p", read_sysreg(cntp_ctl_el0));
			out_field("pending", load32(GICR_ISPENDR0));
			out_line();
		}
	}
	off();
	/* Later than the most that is subtracted below. */
	while (read_sysreg(cntvct_el0) < 0x20000)
		;
	static const u64 views[] = {0, 1ul << 31, 0xffffffff, 0x123456789, ~0ul, 0xffff0000};
	for (u32 n = 0; n < sizeof views / sizeof *views; n++) {
		write_sysreg(cntv_tval_el0, views[n]);
		write_sysreg(cntv_ctl_el0, ENABLE);
		isb();
		u64 distance = read_sysreg(cntv_cval_el0) - read_sysreg(cntvct_el0);
		u64 tval = read_sysreg(cntv_tval_el0);
		out_name("tval");
		out_field("wrote", views[n]);
		/* Little time has passed, so that only the upper bits are told. */
		out_field("distance", (distance + (1ul << 28)) >> 29);
		out_field("tval", (tval + (1ul << 28)) >> 29 & 7);
		out_field("ctl", read_sysreg(cntv_ctl_el0));
		out_line();
		off();
	}
	write_sysreg(cntv_cval_el0, 0x123456789abcdef0);
	isb();
	out_value("cval", read_sysreg(cntv_cval_el0));
}

static void counters(void) {
	section("counter");
	u64 last = read_sysreg(cntvct_el0), back = 0, ahead = 0;
	for (u32 n = 0; n < 1000; n++) {
		isb();
		u64 p = read_sysreg(cntpct_el0);
		isb();
		u64 v = read_sysreg(cntvct_el0);
		back += v < last;
		ahead += p > v;
		last = v;
	}
	out_value("went back", back);
	out_value("physical before virtual", ahead);
	out_value("frequency", read_sysreg(cntfrq_el0) != 0);
	/* CNTVOFF is 0: both show the same time. */
	u64 p = read_sysreg(cntpct_el0), v = read_sysreg(cntvct_el0);
	out_value("offset is small", v - p < read_sysreg(cntfrq_el0));
}

CODE(wfi_, "wfi\n mov x0, #5");
CODE(loop_, "1: b 1b");

static void interrupts(void) {
	section("interrupt");
	u64 ms = read_sysreg(cntfrq_el0) / 1000;
	gic_reset();
	store32(GICR_ISENABLER0, 1u << VIRTUAL_PPI | 1u << PHYSICAL_PPI);
	off();
	/* Two timers in both orders, one deadline much later than the other; WFI sleeps to the first. */
	for (u32 order = 0; order < 2; order++) {
		u64 now = read_sysreg(cntvct_el0);
		write_sysreg(cntv_cval_el0, now + (order ? 20 : 2) * ms);
		write_sysreg(cntp_cval_el0, now + (order ? 2 : 20) * ms);
		write_sysreg(cntv_ctl_el0, ENABLE);
		write_sysreg(cntp_ctl_el0, ENABLE);
		isb();
		for (u32 n = 0; n < 2; n++) {
			do
				asm volatile("wfi");
			while (read_sysreg(ICC_HPPIR1) == 1023);
			u64 intid = read_sysreg(ICC_IAR1);
			isb();
			out_value(order ? "physical first" : "virtual first", intid);
			u64 early = intid == VIRTUAL_PPI ? read_sysreg(cntvct_el0) < read_sysreg(cntv_cval_el0)
							 : read_sysreg(cntpct_el0) < read_sysreg(cntp_cval_el0);
			out_value("too early", early);
			/* Still asserted: active and pending. */
			out_value("pending", load32(GICR_ISPENDR0));
			if (intid == VIRTUAL_PPI)
				write_sysreg(cntv_ctl_el0, ENABLE | IMASK);
			else
				write_sysreg(cntp_ctl_el0, 0);
			isb();
			gic_wait();
			out_value("pending, masked", load32(GICR_ISPENDR0));
			out_value("active", load32(GICR_ISACTIVER0));
			write_sysreg(ICC_EOIR1, intid);
			isb();
		}
		off();
	}
	/* A level: it is pending again after EOI as long as the condition holds. */
	write_sysreg(cntv_cval_el0, 0);
	write_sysreg(cntv_ctl_el0, ENABLE);
	isb();
	for (u32 n = 0; n < 3; n++) {
		u64 intid = read_sysreg(ICC_IAR1);
		isb();
		out_value("level", intid);
		write_sysreg(ICC_EOIR1, intid);
		isb();
	}
	store32(GICR_ICPENDR0, ~0u);
	gic_wait();
	out_value("ICPENDR does not clear a level", load32(GICR_ISPENDR0));
	/* Moved into the future. */
	write_sysreg(cntv_tval_el0, 0x7fffffff);
	isb();
	gic_wait();
	out_value("moved away", load32(GICR_ISPENDR0));
	off();
	/* As an exception: out of an endless loop at EL0 and at EL1, and out of WFI. */
	static const u64 states[] = {0, 0x5, 0x4};
	for (u32 n = 0; n < 3; n++) {
		write_sysreg(cntv_cval_el0, read_sysreg(cntvct_el0) + ms);
		write_sysreg(cntv_ctl_el0, ENABLE);
		isb();
		test("endless loop", loop_, states[n], 0, 0, 0, 0);
		out_value("iar", read_sysreg(ICC_IAR1));
		write_sysreg(ICC_EOIR1, VIRTUAL_PPI);
		off();
	}
	write_sysreg(cntv_cval_el0, read_sysreg(cntvct_el0) + ms);
	write_sysreg(cntv_ctl_el0, ENABLE);
	isb();
	test("wfi, masked", wfi_, EL1H, 0, 0, 0, 0);
	out_value("ctl", read_sysreg(cntv_ctl_el0));
	write_sysreg(cntv_cval_el0, read_sysreg(cntvct_el0) + ms);
	isb();
	run4(wfi_, EL1H & ~0x80ul, 0, 0, 0, 0);
	/* Taken on the WFI or behind it. */
	out_value("wfi, unmasked", caught.vector);
	off();
	gic_wait();
	out_value("nothing left", read_sysreg(ICC_HPPIR1));
}

int main(void) {
	gic_reset();
	conditions();
	counters();
	interrupts();
	return 0;
}
