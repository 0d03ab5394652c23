/* GICv3 as one CPU sees it. */
#include "gic.h"

static void state(const char *name) {
	gic_wait();
	out_name(name);
	out_field("hppir0", read_sysreg(ICC_HPPIR0));
	out_field("hppir1", read_sysreg(ICC_HPPIR1));
	out_field("rpr", read_sysreg(ICC_RPR));
	out_field("ap", read_sysreg(ICC_AP0R0) << 32 | read_sysreg(ICC_AP1R0));
	out_field("isr", read_sysreg(isr_el1));
	out_field("pending", load32(GICR_ISPENDR0));
	out_field("active", load32(GICR_ISACTIVER0));
	out_field("spi-pending", load32(GICD_ISPENDR(1)));
	out_field("spi-active", load32(GICD_ISACTIVER(1)));
	out_line();
}

static u64 acknowledge0(void) {
	u64 intid = read_sysreg(ICC_IAR0);
	isb();
	out_value("iar0", intid);
	return intid;
}
static void end0(u64 intid) {
	write_sysreg(ICC_EOIR0, intid);
	isb();
}

CODE(nothing, "nop\n nop\n nop");
CODE(wfi_, "wfi\n mov x0, #5");
CODE(unmask, "msr daifclr, #3\n nop\n msr daifset, #3\n mov x0, #6");

static void identification(void) {
	section("id");
	gic_reset();
	out_value("GICD_CTLR", load32(GICD_CTLR));
	out_value("GICD_TYPER", load32(GICD_TYPER));
	out_value("GICD_PIDR2", load32(GICD + 0xffe8));
	out_value("GICR_PIDR2", load32(GICR + 0xffe8));
	out_value("GICR_TYPER", load64(GICR_TYPER));
	out_value("GICR_WAKER", load32(GICR_WAKER));
	out_value("GICR_CTLR", load32(GICR_CTLR));
	out_value("ICC_CTLR", read_sysreg(ICC_CTLR));
	out_value("ICC_SRE", read_sysreg(ICC_SRE));
	out_value("ICC_BPR0", read_sysreg(ICC_BPR0));
	out_value("ICC_BPR1", read_sysreg(ICC_BPR1));
}

/* What of each register software can write. */
static void readback(void) {
	section("readback");
	gic_reset();
	static const struct {
		const char *name;
		u64 at;
	} registers[] = {
		{"GICD_IGROUPR0", GICD_IGROUPR(0)},   {"GICD_IGROUPR1", GICD_IGROUPR(1)},
		{"GICD_IGROUPR9", GICD_IGROUPR(9)},   {"GICD_ISENABLER0", GICD_ISENABLER(0)},
		{"GICD_ISENABLER1", GICD_ISENABLER(1)}, {"GICD_ISENABLER8", GICD_ISENABLER(8)},
		{"GICD_ISENABLER9", GICD_ISENABLER(9)}, {"GICD_IPRIORITYR0", GICD_IPRIORITYR(0)},
		{"GICD_IPRIORITYR32", GICD_IPRIORITYR(32)}, {"GICD_IPRIORITYR64", GICD_IPRIORITYR(64)},
		{"GICD_IPRIORITYR1000", GICD_IPRIORITYR(1000)}, {"GICD_ICFGR0", GICD_ICFGR(0)},
		{"GICD_ICFGR1", GICD_ICFGR(1)},       {"GICD_ICFGR2", GICD_ICFGR(2)},
		{"GICD_ICFGR3", GICD_ICFGR(3)},       {"GICD_IROUTER0", GICD_IROUTER(0)},
		{"GICD_IROUTER40", GICD_IROUTER(40)}, {"GICD_IROUTER40 high", GICD_IROUTER(40) + 4},
		{"GICD_ITARGETSR40", GICD + 0x828},
		{"GICD_STATUSR", GICD + 0x10},        {"reserved", GICD + 0x30},
		{"GICR_IGROUPR0", GICR_IGROUPR0},     {"GICR_ISENABLER0", GICR_ISENABLER0},
		{"GICR_IPRIORITYR0", GICR_IPRIORITYR(0)}, {"GICR_IPRIORITYR28", GICR_IPRIORITYR(28)},
		{"GICR_ICFGR0", GICR_ICFGR(0)},       {"GICR_ICFGR1", GICR_ICFGR(1)},
		{"GICD_TYPER", GICD_TYPER},
	};
	for (u32 n = 0; n < sizeof registers / sizeof *registers; n++) {
		u32 before = load32(registers[n].at);
		out_name(registers[n].name);
		out_field("before", before);
		store32(registers[n].at, ~0u);
		gic_wait();
		out_field("ones", load32(registers[n].at));
		store32(registers[n].at, 0);
		gic_wait();
		out_field("zeros", load32(registers[n].at));
		store32(registers[n].at, 0x5a5a5a5a);
		gic_wait();
		out_field("pattern", load32(registers[n].at));
		out_line();
	}
	gic_reset();
	out_value("byte", (store8(GICR_IPRIORITYR(5), 0x5f), load32(GICR_IPRIORITYR(4))));
	static const u64 values[] = {~0ul, 0, 1, 2, 3, 4, 5, 6, 7, 0x40, 0x5a, 0xf8};
	for (u32 n = 0; n < sizeof values / sizeof *values; n++) {
		u64 v = values[n];
		u32 mark = section_mark();
		subsection_hex("icc ", v);
		write_sysreg(ICC_PMR, v);
		write_sysreg(ICC_BPR0, v);
		write_sysreg(ICC_BPR1, v);
		write_sysreg(ICC_CTLR, v);
		isb();
		out_value("pmr", read_sysreg(ICC_PMR));
		out_value("bpr0", read_sysreg(ICC_BPR0));
		out_value("bpr1", read_sysreg(ICC_BPR1));
		out_value("ctlr", read_sysreg(ICC_CTLR));
		write_sysreg(ICC_CTLR, 0);
		write_sysreg(ICC_IGRPEN0, v);
		write_sysreg(ICC_IGRPEN1, v);
		isb();
		out_value("igrpen0", read_sysreg(ICC_IGRPEN0));
		out_value("igrpen1", read_sysreg(ICC_IGRPEN1));
		write_sysreg(ICC_SRE, v);
		isb();
		out_value("sre", read_sysreg(ICC_SRE));
		section_back(mark);
	}
	/* CBPR: BPR1 reads as BPR0 plus one and ignores writes. */
	for (u64 bpr = 0; bpr < 8; bpr++) {
		gic_reset();
		write_sysreg(ICC_BPR0, bpr);
		write_sysreg(ICC_BPR1, 3);
		write_sysreg(ICC_CTLR, 1);
		isb();
		out_name("cbpr");
		out_field("bpr0", read_sysreg(ICC_BPR0));
		out_field("bpr1", read_sysreg(ICC_BPR1));
		write_sysreg(ICC_BPR1, 7);
		isb();
		out_field("bpr1", read_sysreg(ICC_BPR1));
		write_sysreg(ICC_CTLR, 0);
		isb();
		out_field("bpr1", read_sysreg(ICC_BPR1));
		out_line();
	}
}

static void life(void) {
	section("life");
	gic_reset();
	state("idle");
	acknowledge();
	store32(GICR_ISENABLER0, 1 << 3);
	sgi(3);
	state("sgi 3");
	u64 intid = acknowledge();
	state("acknowledged");
	sgi(3);
	state("again while active");
	end(intid);
	state("ended");
	end(acknowledge());
	state("idle again");
	/* Not enabled: pending, not seen; then enabled. */
	sgi(4);
	state("sgi 4, not enabled");
	store32(GICR_ISENABLER0, 1 << 4);
	state("enabled");
	store32(GICR_ICENABLER0, 1 << 4);
	state("disabled");
	store32(GICR_ICPENDR0, 1 << 4);
	state("cleared");
	/* By ISPENDR, and made active by ISACTIVER. */
	store32(GICR_ISPENDR0, 1 << 3);
	state("set pending");
	store32(GICR_ISACTIVER0, 1 << 3);
	state("set active");
	acknowledge();
	store32(GICR_ICACTIVER0, 1 << 3);
	state("cleared active");
	end(acknowledge());
	state("end");
	/* To another CPU, to all others, with another affinity. */
	write_sysreg(ICC_SGI1R, 3ul << 24 | 2);
	state("to another");
	write_sysreg(ICC_SGI1R, 3ul << 24 | 1ul << 40);
	state("to all others");
	write_sysreg(ICC_SGI1R, 3ul << 24 | 1ul << 16 | 1);
	state("to another cluster");
	/* An EOI without an active interrupt. */
	end(1023);
	end(3);
	state("stray EOI");
	acknowledge();
}

static void priorities(void) {
	section("priority");
	gic_reset();
	store32(GICR_ISENABLER0, 0xffff);
	static const u8 priority[] = {0xa0, 0x40, 0x80, 0x40, 0xf8, 0x00, 0x88, 0xf0};
	for (u32 n = 0; n < 8; n++)
		store8(GICR_IPRIORITYR(n), priority[n]);
	for (u32 n = 0; n < 8; n++)
		sgi(n);
	state("all pending");
	u64 order[8];
	u32 count = 0;
	/* Each preempts the one before only if its group priority is higher: acknowledge until nothing more comes, end one. */
	for (u32 n = 0; n < 24; n++) {
		u64 intid = acknowledge();
		if (intid < 16) {
			order[count++] = intid;
			state("taken");
		} else if (count) {
			end(order[--count]);
			state("dropped");
		} else {
			break;
		}
	}
	for (u64 bpr = 0; bpr < 8; bpr++) {
		for (u32 group = 0; group < 2; group++) {
			static const u8 seconds[] = {0x00, 0x40, 0x70, 0x78, 0x80, 0x90, 0xc0};
			section("preemption");
			subsection_hex("bpr ", bpr);
			subsection_hex("group ", group);
			for (u32 s = 0; s < sizeof seconds; s++) {
				gic_reset();
				store32(GICR_IGROUPR0, group ? ~0u : 0);
				store32(GICR_ISENABLER0, 0xffff);
				store8(GICR_IPRIORITYR(2), seconds[s]);
				write_sysreg(ICC_BPR0, bpr);
				write_sysreg(ICC_BPR1, bpr);
				isb();
				if (group) {
					sgi(1);
					read_sysreg(ICC_IAR1);
					isb();
					sgi(2);
				} else {
					sgi0(1);
					read_sysreg(ICC_IAR0);
					isb();
					sgi0(2);
				}
				gic_wait();
				out_name("second");
				out_field("priority", seconds[s]);
				out_field("rpr", read_sysreg(ICC_RPR));
				out_field("isr", read_sysreg(isr_el1));
				out_field("hppir", group ? read_sysreg(ICC_HPPIR1) : read_sysreg(ICC_HPPIR0));
				out_field("iar", group ? read_sysreg(ICC_IAR1) : read_sysreg(ICC_IAR0));
				isb();
				out_field("rpr", read_sysreg(ICC_RPR));
				out_field("ap", read_sysreg(ICC_AP0R0) << 32 | read_sysreg(ICC_AP1R0));
				out_line();
			}
		}
	}
	section("mask");
	gic_reset();
	store32(GICR_ISENABLER0, 0xffff);
	sgi(1);
	static const u8 masks[] = {0, 1, 0x40, 0x7f, 0x80, 0x81, 0x87, 0x88, 0xf0, 0xff};
	for (u32 n = 0; n < sizeof masks; n++) {
		write_sysreg(ICC_PMR, masks[n]);
		isb();
		out_name("pmr");
		out_field("wrote", masks[n]);
		out_field("pmr", read_sysreg(ICC_PMR));
		out_field("isr", read_sysreg(isr_el1));
		out_field("hppir", read_sysreg(ICC_HPPIR1));
		u64 intid = read_sysreg(ICC_IAR1);
		isb();
		out_field("iar", intid);
		out_line();
		if (intid < 1020) {
			end(intid);
			sgi(1);
		}
	}
}

static void eoi_mode(void) {
	section("EOImode 1");
	gic_reset();
	write_sysreg(ICC_CTLR, 2);
	isb();
	store32(GICR_ISENABLER0, 0xffff);
	store8(GICR_IPRIORITYR(2), 0x40);
	sgi(1);
	u64 first = acknowledge();
	sgi(2);
	u64 second = acknowledge();
	state("two active");
	end(second);
	state("second dropped");
	sgi(2);
	acknowledge();
	state("pending again, still active");
	write_sysreg(ICC_DIR, second);
	isb();
	state("deactivated");
	u64 third = acknowledge();
	end(third);
	end(first);
	state("all dropped");
	write_sysreg(ICC_DIR, first);
	write_sysreg(ICC_DIR, third);
	isb();
	state("all deactivated");
	write_sysreg(ICC_DIR, 1023);
	write_sysreg(ICC_DIR, 5);
	isb();
	state("stray DIR");
}

static void groups(void) {
	section("groups");
	gic_reset();
	store32(GICR_IGROUPR0, ~2u);
	store32(GICR_ISENABLER0, 0xffff);
	sgi(1);
	state("SGI1R for a Group 0 interrupt");
	sgi0(1);
	state("SGI0R for a Group 0 interrupt");
	acknowledge();
	u64 intid = acknowledge0();
	state("acknowledged");
	end(intid);
	state("EOIR1 for it");
	end0(intid);
	state("EOIR0 for it");
	sgi0(2);
	state("SGI0R for a Group 1 interrupt");
	write_sysreg(ICC_ASGI1R, 2ul << 24 | 1);
	isb();
	state("ASGI1R");
	gic_reset();
	store32(GICR_IGROUPR0, ~2u);
	store32(GICR_ISENABLER0, 0xffff);
	store8(GICR_IPRIORITYR(2), 0x40);
	sgi0(1);
	sgi(2);
	state("Group 1 higher");
	acknowledge0();
	intid = acknowledge();
	state("taken");
	acknowledge0();
	end(intid);
	end0(acknowledge0());
	state("both done");
	store8(GICR_IPRIORITYR(2), 0xc0);
	sgi0(1);
	sgi(2);
	state("Group 0 higher");
	acknowledge();
	intid = acknowledge0();
	acknowledge();
	end0(intid);
	end(acknowledge());
	/* Enables: at the CPU interface and at the distributor. */
	static const u8 enables[] = {0, 1, 2, 3};
	for (u32 d = 0; d < 4; d++) {
		for (u32 c = 0; c < 4; c++) {
			gic_reset();
			store32(GICR_IGROUPR0, ~2u);
			store32(GICR_ISENABLER0, 0xffff);
			sgi0(1);
			sgi(2);
			store32(GICD_CTLR, 0x10 | enables[d]);
			gic_wait();
			write_sysreg(ICC_IGRPEN0, c & 1);
			write_sysreg(ICC_IGRPEN1, c >> 1);
			isb();
			out_name("enables");
			out_field("distributor", enables[d]);
			out_field("interface", c);
			out_field("hppir0", read_sysreg(ICC_HPPIR0));
			out_field("hppir1", read_sysreg(ICC_HPPIR1));
			out_field("isr", read_sysreg(isr_el1));
			out_field("iar0", read_sysreg(ICC_IAR0));
			isb();
			out_field("iar1", read_sysreg(ICC_IAR1));
			isb();
			out_line();
		}
	}
}

static void shared(void) {
	section("spi");
	gic_reset();
	store32(GICD_ISENABLER(1), 1 << 8 | 1 << 9);
	store32(GICD_ISPENDR(1), 1 << 8);
	state("40 set pending");
	u64 intid = acknowledge();
	state("acknowledged");
	store32(GICD_ISPENDR(1), 1 << 8);
	state("set pending while active");
	end(intid);
	state("ended");
	end(acknowledge());
	state("level, done");
	store32(GICD_ICFGR(2), 2u << 16 | 2u << 18);
	store32(GICD_ISPENDR(1), 3 << 8);
	store8(GICD_IPRIORITYR(41), 0x20);
	state("two edges");
	u64 first = acknowledge(), second = acknowledge();
	state("higher first");
	end(first);
	end(acknowledge());
	state("done");
	(void)second;
	/* Not routed here, and back. */
	store64(GICD_IROUTER(40), 0x0100);
	store32(GICD_ISPENDR(1), 1 << 8);
	state("routed to nobody");
	store64(GICD_IROUTER(40), 0);
	state("routed here");
	store64(GICD_IROUTER(40), 1ul << 31);
	state("routed to any");
	end(acknowledge());
	store32(GICD_ISACTIVER(1), 1 << 9);
	store32(GICD_ISPENDR(1), 1 << 9);
	state("active by hand");
	store32(GICD_ICACTIVER(1), 1 << 9);
	state("no longer");
	store32(GICD_ICPENDR(1), 1 << 9);
	state("nor pending");
	/* SETSPI_NSR and CLRSPI_NSR. */
	store32(GICD + 0x40, 40);
	state("SETSPI_NSR");
	store32(GICD + 0x48, 40);
	state("CLRSPI_NSR");
	/* Another priority while pending. */
	store64(GICD_IROUTER(40), 0);
	store32(GICD_ISPENDR(1), 3 << 8);
	state("both");
	store8(GICD_IPRIORITYR(40), 0x10);
	state("40 first");
	store8(GICD_IPRIORITYR(40), 0xf8);
	state("41 first");
}

static void exceptions(void) {
	section("taken");
	gic_reset();
	store32(GICR_ISENABLER0, 0xffff);
	store32(GICR_IGROUPR0, ~2u);
	test("none, el0 unmasked", nothing, 0, 0, 0, 0, 0);
	sgi(2);
	test("irq, el0 masked", nothing, EL0T, 0, 0, 0, 0);
	test("irq, el0 unmasked", nothing, EL0T & ~0x80ul, 0, 0, 0, 0);
	test("irq, el1h unmasked", nothing, EL1H & ~0x80ul, 0, 0, 0, 0);
	test("irq, el1t unmasked", nothing, EL1T & ~0x80ul, 0, 0, 0, 0);
	test("irq, only FIQ unmasked", nothing, EL1H & ~0x40ul, 0, 0, 0, 0);
	test("irq, unmasked on the way", unmask, EL1H, 0, 0, 0, 0);
	test("irq, wfi masked", wfi_, EL1H, 0, 0, 0, 0);
	sgi0(1);
	test("fiq and irq, el0 unmasked", nothing, 0, 0, 0, 0, 0);
	test("fiq and irq, only IRQ unmasked", nothing, EL0T & ~0x80ul, 0, 0, 0, 0);
	end0(acknowledge0());
	test("irq left", nothing, 0, 0, 0, 0, 0);
	write_sysreg(ICC_PMR, 0x40);
	isb();
	test("irq masked by PMR", nothing, 0, 0, 0, 0, 0);
	write_sysreg(ICC_PMR, 0xff);
	isb();
	/* IL first: an interrupt comes before it. */
	test("irq with IL", nothing, (EL1H & ~0x80ul) | SPSR_IL, 0, 0, 0, 0);
	u64 intid = acknowledge();
	test("acknowledged", nothing, 0, 0, 0, 0, 0);
	end(intid);
	sgi0(1);
	test("fiq, el1h", nothing, EL1H & ~0xc0ul, 0, 0, 0, 0);
	test("fiq, el1t", nothing, EL1T & ~0xc0ul, 0, 0, 0, 0);
	end0(acknowledge0());
	test("nothing left", nothing, 0, 0, 0, 0, 0);
}

int main(void) {
	identification();
	readback();
	life();
	priorities();
	eoi_mode();
	groups();
	shared();
	exceptions();
	return 0;
}
