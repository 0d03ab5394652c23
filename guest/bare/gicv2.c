/* GICv2 as the first of two CPUs sees it; the other one is off. */
#include "gicd.h"

#define GICD_ITARGETSR(n) (GICD + 0x800 + (n))
#define GICD_SGIR (GICD + 0xf00)
#define GICD_CPENDSGIR(n) (GICD + 0xf10 + (n))
#define GICD_SPENDSGIR(n) (GICD + 0xf20 + (n))

#define GICC 0x08010000ul
#define GICC_CTLR (GICC + 0)
#define GICC_PMR (GICC + 4)
#define GICC_BPR (GICC + 8)
#define GICC_IAR (GICC + 0xc)
#define GICC_EOIR (GICC + 0x10)
#define GICC_RPR (GICC + 0x14)
#define GICC_HPPIR (GICC + 0x18)
#define GICC_ABPR (GICC + 0x1c)
#define GICC_AIAR (GICC + 0x20)
#define GICC_AEOIR (GICC + 0x24)
#define GICC_AHPPIR (GICC + 0x28)
#define GICC_APR(n) (GICC + 0xd0 + 4 * (n))
#define GICC_NSAPR(n) (GICC + 0xe0 + 4 * (n))
#define GICC_DIR (GICC + 0x1000)

/* GICC_CTLR. */
#define ENABLE 3u
#define ACK_CTL (1u << 2)
#define FIQ_EN (1u << 3)
#define CBPR (1u << 4)
#define EOI_MODE (1u << 9)

static u32 get(u64 at) {
	u32 value = load32(at);
	dsb();
	return value;
}
static void put(u64 at, u32 value) {
	store32(at, value);
	dsb();
	isb();
}

/* A known state: nothing pending, active or masked, everything of priority 0x80 in Group 0 and to this CPU; SGIs are on. */
static void reset(u32 control) {
	put(GICC_CTLR, 0);
	put(GICD_CTLR, 0);
	for (u32 n = 0; n < 2; n++) {
		put(GICD_ICENABLER(n), ~0u);
		put(GICD_ICPENDR(n), ~0u);
		put(GICD_ICACTIVER(n), ~0u);
		put(GICD_IGROUPR(n), 0);
	}
	for (u32 n = 0; n < 16; n += 4)
		put(GICD_CPENDSGIR(n), ~0u);
	put(GICD_ICFGR(2), 0);
	put(GICD_ICFGR(3), 0);
	for (u32 n = 0; n < 64; n += 4) {
		put(GICD_IPRIORITYR(n), 0x80808080);
		put(GICD_ITARGETSR(n), 0x01010101);
	}
	for (u32 n = 0; n < 4; n++) {
		put(GICC_APR(n), 0);
		put(GICC_NSAPR(n), 0);
	}
	put(GICC_BPR, 0);
	put(GICC_ABPR, 0);
	put(GICC_PMR, 0xff);
	put(GICD_CTLR, 3);
	put(GICC_CTLR, control);
}

static void state(const char *name) {
	out_name(name);
	out_field("hppir", get(GICC_HPPIR));
	out_field("rpr", get(GICC_RPR));
	out_field("isr", read_sysreg(isr_el1));
	out_field("pending", get(GICD_ISPENDR(0)));
	out_field("active", get(GICD_ISACTIVER(0)));
	out_field("spi-pending", get(GICD_ISPENDR(1)));
	out_field("spi-active", get(GICD_ISACTIVER(1)));
	out_line();
}

static u32 acknowledge(void) {
	u32 value = get(GICC_IAR);
	out_value("iar", value);
	return value;
}
static void end(u32 value) { put(GICC_EOIR, value); }

/* An SGI to the CPUs of a list. */
static void sgi_to(u32 intid, u32 list) { put(GICD_SGIR, list << 16 | intid); }
static void sgi(u32 intid) { sgi_to(intid, 1); }

CODE(nothing, "nop\n nop\n nop");
CODE(wfi_, "wfi\n mov x0, #5");
CODE(unmask, "msr daifclr, #3\n nop\n msr daifset, #3\n mov x0, #6");

static void identification(void) {
	section("id");
	out_value("GICD_CTLR", get(GICD_CTLR));
	out_value("GICC_CTLR", get(GICC_CTLR));
	out_value("GICC_PMR", get(GICC_PMR));
	reset(ENABLE);
	out_value("GICD_CTLR", get(GICD_CTLR));
	out_value("GICD_TYPER", get(GICD_TYPER));
	out_value("GICD_PIDR2", get(GICD + 0xfe8));
	for (u32 n = 0; n < 4; n++)
		out_value("GICD_CIDR", get(GICD + 0xff0 + 4 * n));
	out_value("GICC_CTLR", get(GICC_CTLR));
	out_value("GICC_IIDR", get(GICC + 0xfc));
	out_value("GICC_BPR", get(GICC_BPR));
	out_value("GICC_ABPR", get(GICC_ABPR));
	out_value("GICC_RPR", get(GICC_RPR));
	out_value("GICC_HPPIR", get(GICC_HPPIR));
}

/* What of each register software can write. */
static void readback(void) {
	section("readback");
	static const struct {
		const char *name;
		u64 at;
	} registers[] = {
		{"GICD_CTLR", GICD_CTLR},             {"GICD_TYPER", GICD_TYPER},
		{"GICD_IGROUPR0", GICD_IGROUPR(0)},   {"GICD_IGROUPR1", GICD_IGROUPR(1)},
		{"GICD_IGROUPR9", GICD_IGROUPR(9)},   {"GICD_ISENABLER0", GICD_ISENABLER(0)},
		{"GICD_ICENABLER0", GICD_ICENABLER(0)}, {"GICD_ISENABLER1", GICD_ISENABLER(1)},
		{"GICD_ISENABLER9", GICD_ISENABLER(9)}, {"GICD_ISACTIVER0", GICD_ISACTIVER(0)},
		{"GICD_ICACTIVER0", GICD_ICACTIVER(0)}, {"GICD_ISACTIVER1", GICD_ISACTIVER(1)},
		{"GICD_ISPENDR0", GICD_ISPENDR(0)},   {"GICD_ICPENDR0", GICD_ICPENDR(0)},
		{"GICD_ISPENDR1", GICD_ISPENDR(1)},   {"GICD_ICPENDR1", GICD_ICPENDR(1)},
		{"GICD_IPRIORITYR0", GICD_IPRIORITYR(0)}, {"GICD_IPRIORITYR28", GICD_IPRIORITYR(28)},
		{"GICD_IPRIORITYR32", GICD_IPRIORITYR(32)}, {"GICD_IPRIORITYR1000", GICD_IPRIORITYR(1000)},
		{"GICD_ITARGETSR0", GICD_ITARGETSR(0)}, {"GICD_ITARGETSR28", GICD_ITARGETSR(28)},
		{"GICD_ITARGETSR32", GICD_ITARGETSR(32)}, {"GICD_ITARGETSR1000", GICD_ITARGETSR(1000)},
		{"GICD_ICFGR0", GICD_ICFGR(0)},       {"GICD_ICFGR1", GICD_ICFGR(1)},
		{"GICD_ICFGR2", GICD_ICFGR(2)},       {"GICD_ICFGR3", GICD_ICFGR(3)},
		{"GICD_SGIR", GICD_SGIR},             {"reserved", GICD + 0x30},
		{"GICC_CTLR", GICC_CTLR},             {"GICC_PMR", GICC_PMR},
		{"GICC_BPR", GICC_BPR},               {"GICC_ABPR", GICC_ABPR},
		{"GICC_RPR", GICC_RPR},               {"GICC_HPPIR", GICC_HPPIR},
		{"GICC_EOIR", GICC_EOIR},             {"GICC_DIR", GICC_DIR},
		{"GICC reserved", GICC + 0x30},
	};
	for (u32 n = 0; n < sizeof registers / sizeof *registers; n++) {
		reset(0);
		u64 at = registers[n].at;
		out_name(registers[n].name);
		out_field("before", get(at));
		put(at, ~0u);
		out_field("ones", get(at));
		put(at, 0);
		out_field("zeros", get(at));
		put(at, 0x5a5a5a5a);
		out_field("pattern", get(at));
		out_line();
	}
	reset(0);
	out_value("byte of priority", (store8(GICD_IPRIORITYR(5), 0x58), get(GICD_IPRIORITYR(4))));
	out_value("byte of targets", (store8(GICD_ITARGETSR(33), 0x02), get(GICD_ITARGETSR(32))));
	for (u32 value = 0; value < 8; value++) {
		reset(0);
		put(GICC_BPR, value);
		put(GICC_ABPR, value);
		out_name("binary points");
		out_field("wrote", value);
		out_field("bpr", get(GICC_BPR));
		out_field("abpr", get(GICC_ABPR));
		put(GICC_CTLR, CBPR);
		out_field("cbpr-bpr", get(GICC_BPR));
		out_field("cbpr-abpr", get(GICC_ABPR));
		out_line();
	}
}

static void life(void) {
	section("life");
	reset(ENABLE);
	state("idle");
	acknowledge();
	sgi(3);
	state("sgi 3");
	u32 value = acknowledge();
	state("acknowledged");
	sgi(3);
	state("again while active");
	end(value);
	state("ended");
	end(acknowledge());
	state("idle again");
	sgi_to(4, 2);
	state("to the other");
	sgi_to(4, 3);
	state("to both");
	end(acknowledge());
	sgi_to(4, 0);
	state("to nobody");
	put(GICD_SGIR, 1u << 24 | 5);
	state("to all others");
	put(GICD_SGIR, 2u << 24 | 5);
	state("to itself");
	end(acknowledge());
	put(GICD_ISPENDR(0), 1 << 3);
	state("an SGI by ISPENDR");
	put(GICD_ISACTIVER(0), 1 << 3);
	sgi(3);
	state("set active");
	acknowledge();
	put(GICD_ICACTIVER(0), 1 << 3);
	state("cleared active");
	put(GICD_ICPENDR(0), 1 << 3);
	state("an SGI by ICPENDR");
	end(acknowledge());
	/* A PPI. */
	put(GICD_ISPENDR(0), 1u << 20);
	state("ppi 20, not enabled");
	put(GICD_ISENABLER(0), 1u << 20);
	state("enabled");
	put(GICD_ICENABLER(0), 1u << 20);
	state("disabled");
	put(GICD_ICPENDR(0), 1u << 20);
	state("cleared");
	/* Ends that end nothing. */
	end(1023);
	end(3);
	state("stray EOI");
	acknowledge();
}

/* An SGI is pending once for each CPU that sent it. */
static void sources(void) {
	section("sources");
	reset(ENABLE);
	store8(GICD_SPENDSGIR(6), 2);
	dsb();
	state("from the other");
	out_value("set", get(GICD_SPENDSGIR(4)));
	u32 value = acknowledge();
	state("taken");
	end(value);
	put(GICD_SPENDSGIR(4), 0x03030303);
	out_value("set", get(GICD_SPENDSGIR(4)));
	out_value("clear", get(GICD_CPENDSGIR(4)));
	store8(GICD_CPENDSGIR(5), 1);
	dsb();
	out_value("set", get(GICD_SPENDSGIR(4)));
	for (u32 n = 0; n < 9; n++) {
		state("several");
		value = acknowledge();
		if ((value & 0x3ff) < 16)
			end(value);
	}
	put(GICD_SPENDSGIR(8), ~0u);
	out_value("all", get(GICD_SPENDSGIR(8)));
	put(GICD_CPENDSGIR(8), ~0u);
	out_value("none", get(GICD_SPENDSGIR(8)));
}

static void priorities(void) {
	section("priority");
	reset(ENABLE);
	static const u8 priority[] = {0xa0, 0x40, 0x80, 0x40, 0xe8, 0x00, 0x88, 0xe0};
	for (u32 n = 0; n < 8; n++) {
		store8(GICD_IPRIORITYR(n), priority[n]);
		sgi(n);
	}
	state("all pending");
	u32 order[8], count = 0;
	/* Each preempts the one before only if its group priority is higher: acknowledge until nothing more comes, end one. */
	for (u32 n = 0; n < 24; n++) {
		u32 value = acknowledge();
		if (value < 16) {
			order[count++] = value;
			state("taken");
		} else if (count) {
			end(order[--count]);
			state("dropped");
		} else {
			break;
		}
	}
	for (u32 bpr = 0; bpr < 8; bpr++) {
		for (u32 group = 0; group < 2; group++) {
			for (u32 common = 0; common < 2; common++) {
				static const u8 seconds[] = {0x00, 0x40, 0x70, 0x78, 0x80, 0x90, 0xc0};
				section("preemption");
				subsection_hex("bpr ", bpr);
				subsection_hex("group ", group);
				subsection_hex("common ", common);
				for (u32 s = 0; s < sizeof seconds; s++) {
					reset(0);
					put(GICD_IGROUPR(0), group ? ~0u : 0);
					store8(GICD_IPRIORITYR(2), seconds[s]);
					put(GICC_BPR, common ? bpr : 0);
					put(GICC_ABPR, bpr);
					if (!group)
						put(GICC_BPR, bpr);
					put(GICC_CTLR, ENABLE | ACK_CTL | (common ? CBPR : 0));
					sgi(1);
					get(GICC_IAR);
					sgi(2);
					out_name("second");
					out_field("priority", seconds[s]);
					out_field("rpr", get(GICC_RPR));
					out_field("isr", read_sysreg(isr_el1));
					out_field("hppir", get(GICC_HPPIR));
					out_field("iar", get(GICC_IAR));
					out_field("rpr", get(GICC_RPR));
					out_line();
				}
			}
		}
	}
	section("mask");
	reset(ENABLE);
	sgi(1);
	static const u8 masks[] = {0, 1, 0x40, 0x78, 0x80, 0x88, 0xf0, 0xf8, 0xff};
	for (u32 n = 0; n < sizeof masks; n++) {
		put(GICC_PMR, masks[n]);
		out_name("pmr");
		out_field("wrote", masks[n]);
		out_field("pmr", get(GICC_PMR));
		out_field("isr", read_sysreg(isr_el1));
		out_field("hppir", get(GICC_HPPIR));
		u32 value = get(GICC_IAR);
		out_field("iar", value);
		out_line();
		if (value < 1020) {
			end(value);
			sgi(1);
		}
	}
}

static void eoi_mode(void) {
	section("EOImode 1");
	reset(ENABLE | EOI_MODE);
	store8(GICD_IPRIORITYR(2), 0x40);
	sgi(1);
	u32 first = acknowledge();
	sgi(2);
	u32 second = acknowledge();
	state("two active");
	end(second);
	state("second dropped");
	sgi(2);
	acknowledge();
	state("pending again, still active");
	put(GICC_DIR, second);
	state("deactivated");
	u32 third = acknowledge();
	end(third);
	end(first);
	state("all dropped");
	put(GICC_DIR, first);
	put(GICC_DIR, third);
	state("all deactivated");
	put(GICC_DIR, 1023);
	put(GICC_DIR, 5);
	state("stray DIR");
}

static void groups(void) {
	for (u32 n = 0; n < 4; n++) {
		u32 control = ENABLE | (n & 1 ? ACK_CTL : 0) | (n & 2 ? FIQ_EN : 0);
		section("groups");
		subsection_hex("control ", control);
		reset(control);
		put(GICD_IGROUPR(0), ~2u);
		sgi(1);
		state("Group 0");
		u32 value = acknowledge();
		state("acknowledged");
		end(value);
		sgi(2);
		state("Group 1");
		value = acknowledge();
		state("acknowledged");
		/* Without AckCtl that was not one. */
		if (value >= 1020)
			put(GICD_CPENDSGIR(0), ~0u);
		else
			end(value);
		store8(GICD_IPRIORITYR(2), 0x40);
		sgi(1);
		sgi(2);
		state("Group 1 higher");
		value = acknowledge();
		state("taken");
		if (value >= 1020)
			put(GICD_CPENDSGIR(0), ~0u);
		else
			end(value);
		end(acknowledge());
		state("both done");
		store8(GICD_IPRIORITYR(2), 0xc0);
		sgi(1);
		sgi(2);
		state("Group 0 higher");
		value = acknowledge();
		acknowledge();
		end(value);
		value = acknowledge();
		state("both taken");
		if (value < 1020)
			end(value);
		state("done");
	}
	/* The aliases for Group 1. */
	reset(ENABLE);
	put(GICD_IGROUPR(0), ~0u);
	sgi(2);
	section("groups");
	out_value("ahppir", get(GICC_AHPPIR));
	u32 value = get(GICC_AIAR);
	out_value("aiar", value);
	out_value("rpr after aiar", get(GICC_RPR));
	put(GICC_AEOIR, value);
	out_value("rpr after aeoir", get(GICC_RPR));
	/* Levels of preemption that are active. */
	reset(ENABLE | ACK_CTL);
	put(GICD_IGROUPR(0), ~2u);
	sgi(1);
	get(GICC_IAR);
	store8(GICD_IPRIORITYR(2), 0x40);
	sgi(2);
	get(GICC_IAR);
	for (u32 n = 0; n < 4; n++) {
		out_name("active priorities");
		out_field("n", n);
		out_field("apr", get(GICC_APR(n)));
		out_field("nsapr", get(GICC_NSAPR(n)));
		out_line();
	}
	/* Enables: at the CPU interface and at the distributor. */
	for (u32 d = 0; d < 4; d++) {
		for (u32 c = 0; c < 4; c++) {
			reset(ENABLE | FIQ_EN);
			put(GICD_IGROUPR(0), ~2u);
			sgi(1);
			sgi(2);
			put(GICD_CTLR, d);
			put(GICC_CTLR, c | FIQ_EN);
			out_name("enables");
			out_field("distributor", d);
			out_field("interface", c);
			out_field("hppir", get(GICC_HPPIR));
			out_field("isr", read_sysreg(isr_el1));
			out_field("iar", get(GICC_IAR));
			out_line();
		}
	}
}

static void shared(void) {
	section("spi");
	reset(ENABLE);
	put(GICD_ISENABLER(1), 1 << 8 | 1 << 9);
	put(GICD_ISPENDR(1), 1 << 8);
	state("40 set pending");
	u32 value = acknowledge();
	state("acknowledged");
	put(GICD_ISPENDR(1), 1 << 8);
	state("set pending while active");
	end(value);
	state("ended");
	end(acknowledge());
	state("level, done");
	put(GICD_ICFGR(2), 2u << 16 | 2u << 18);
	put(GICD_ISPENDR(1), 3 << 8);
	store8(GICD_IPRIORITYR(41), 0x20);
	state("two edges");
	u32 first = acknowledge();
	acknowledge();
	state("higher first");
	end(first);
	end(acknowledge());
	state("done");
	/* To other CPUs, and back. */
	static const u8 targets[] = {2, 0, 3, 0xff, 1};
	for (u32 n = 0; n < sizeof targets; n++) {
		put(GICD_ICPENDR(1), 1 << 8);
		store8(GICD_ITARGETSR(40), targets[n]);
		dsb();
		put(GICD_ISPENDR(1), 1 << 8);
		out_value("targets", get(GICD_ITARGETSR(40)));
		state("to them");
	}
	end(acknowledge());
	put(GICD_ISACTIVER(1), 1 << 9);
	put(GICD_ISPENDR(1), 1 << 9);
	state("active by hand");
	put(GICD_ICACTIVER(1), 1 << 9);
	state("no longer");
	put(GICD_ICPENDR(1), 1 << 9);
	state("nor pending");
	/* Another priority while pending. */
	put(GICD_ISPENDR(1), 3 << 8);
	state("both");
	store8(GICD_IPRIORITYR(40), 0x10);
	state("40 first");
	store8(GICD_IPRIORITYR(40), 0xf8);
	state("41 first");
}

static void exceptions(void) {
	section("taken");
	reset(ENABLE | FIQ_EN | ACK_CTL);
	put(GICD_IGROUPR(0), ~2u);
	test("none, el0 unmasked", nothing, 0, 0, 0, 0, 0);
	sgi(2);
	test("irq, el0 masked", nothing, EL0T, 0, 0, 0, 0);
	test("irq, el0 unmasked", nothing, EL0T & ~0x80ul, 0, 0, 0, 0);
	test("irq, el1h unmasked", nothing, EL1H & ~0x80ul, 0, 0, 0, 0);
	test("irq, only FIQ unmasked", nothing, EL1H & ~0x40ul, 0, 0, 0, 0);
	test("irq, unmasked on the way", unmask, EL1H, 0, 0, 0, 0);
	test("irq, wfi masked", wfi_, EL1H, 0, 0, 0, 0);
	store8(GICD_IPRIORITYR(1), 0x40);
	sgi(1);
	test("fiq, el0 unmasked", nothing, 0, 0, 0, 0, 0);
	test("fiq, only IRQ unmasked", nothing, EL0T & ~0x80ul, 0, 0, 0, 0);
	end(acknowledge());
	test("irq left", nothing, 0, 0, 0, 0, 0);
	put(GICC_PMR, 0x40);
	test("irq masked by PMR", nothing, 0, 0, 0, 0, 0);
	put(GICC_PMR, 0xff);
	u32 value = acknowledge();
	test("acknowledged", nothing, 0, 0, 0, 0, 0);
	end(value);
	put(GICC_CTLR, ENABLE | ACK_CTL);
	sgi(1);
	test("Group 0 without FIQEn", nothing, 0, 0, 0, 0, 0);
	end(acknowledge());
	test("nothing left", nothing, 0, 0, 0, 0, 0);
}

int main(void) {
	identification();
	readback();
	life();
	sources();
	priorities();
	eoi_mode();
	groups();
	shared();
	exceptions();
	return 0;
}
