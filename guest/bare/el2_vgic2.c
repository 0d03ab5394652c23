/* A GICv2's virtual interface: list registers, what a guest's accesses do to them, maintenance interrupts. The guest's frame
 * is read and written from here; that a guest reaches it by stage 2 alone changes nothing of it. The judge has no aliases for
 * group 1 in that frame (GICV_AIAR, GICV_AEOIR, GICV_AHPPIR), no senders in GICV_HPPIR and where it looks for what ends, lets a
 * guest's GICV_ABPR below the least value, looks at no group's enable, and at the interface's where GICV_HPPIR is read. */
#include "el2.h"

#define GICC (GICD + 0x10000)
#define GICH (GICD + 0x30000)
#define GICV (GICD + 0x40000)

#define GICD_CTLR (GICD + 0)
#define GICD_IGROUPR(n) (GICD + 0x80 + 4 * (n))
#define GICD_ISENABLER(n) (GICD + 0x100 + 4 * (n))
#define GICD_ICENABLER(n) (GICD + 0x180 + 4 * (n))
#define GICD_ISPENDR(n) (GICD + 0x200 + 4 * (n))
#define GICD_ISACTIVER(n) (GICD + 0x300 + 4 * (n))
#define GICD_ICACTIVER(n) (GICD + 0x380 + 4 * (n))
#define GICD_IPRIORITYR(n) (GICD + 0x400 + (n))

#define GICH_HCR (GICH + 0)
#define GICH_VTR (GICH + 4)
#define GICH_VMCR (GICH + 8)
#define GICH_MISR (GICH + 0x10)
#define GICH_EISR (GICH + 0x20)
#define GICH_ELRSR (GICH + 0x30)
#define GICH_APR (GICH + 0xf0)
#define GICH_LR(n) (GICH + 0x100 + 4 * (n))

#define CTLR 0
#define PMR 4
#define BPR 8
#define IAR 0xc
#define EOIR 0x10
#define RPR 0x14
#define HPPIR 0x18
#define ABPR 0x1c
#define DIR 0x1000

#define PENDING (1u << 28)
#define ACTIVE (2u << 28)
#define GROUP1 (1u << 30)
#define HW(intid) (1u << 31 | (u32)(intid) << 10)
#define EOI (1u << 19)
#define SENDER(cpu) ((u32)(cpu) << 10)
#define PRIORITY(p) ((u32)(p) >> 3 << 23)
#define IRQ_AT(p, intid) (PENDING | GROUP1 | PRIORITY(p) | (intid))
#define IRQ(intid) IRQ_AT(0x80, intid)
#define FIQ_AT(p, intid) (PENDING | PRIORITY(p) | (intid))

#define EN 1u
#define UIE 2u
#define LRENPIE 4u
#define NPIE 8u
#define EOICOUNT(n) ((u32)(n) << 27)

#define ACKCTL (1u << 2)
#define FIQEN (1u << 3)
#define CBPR (1u << 4)
#define SPLIT (1u << 9)
#define VMCR(pmr, bpr, abpr) ((u32)(pmr) << 24 | (u32)(bpr) << 21 | (u32)(abpr) << 18 | 3)
#define OPEN (VMCR(0xf8, 2, 3) | ACKCTL)

static void virtual_reset(void) {
	store32(GICD_CTLR, 3);
	store32(GICD_IGROUPR(0), ~0u);
	store32(GICD_IGROUPR(1), ~0u);
	store32(GICD_ICENABLER(0), ~0u);
	store32(GICD_ICACTIVER(0), ~0u);
	store32(GICD_ICACTIVER(1), ~0u);
	store32(GICH_HCR, EN);
	store32(GICH_VMCR, OPEN);
	store32(GICH_APR, 0);
	for (u32 n = 0; n < 4; n++)
		store32(GICH_LR(n), 0);
}

static void state(const char *name) {
	dsb();
	isb();
	out_name(name);
	out_field("hcr", load32(GICH_HCR));
	out_field("vmcr", load32(GICH_VMCR));
	out_field("misr", load32(GICH_MISR));
	out_field("eisr", load32(GICH_EISR));
	out_field("elrsr", load32(GICH_ELRSR));
	out_field("apr", load32(GICH_APR));
	out_field("lr0", load32(GICH_LR(0)));
	out_field("lr1", load32(GICH_LR(1)));
	out_field("lr2", load32(GICH_LR(2)));
	out_field("rpr", load32(GICV + RPR));
	out_field("hppir", load32(GICH_HCR) & EN ? load32(GICV + HPPIR) & 0x3ff : 0);
	out_field("pending", load32(GICD_ISPENDR(0)));
	out_field("active", load32(GICD_ISACTIVER(0)));
	out_field("active spis", load32(GICD_ISACTIVER(1)));
	out_line();
}

/* What EL1 has of it: ISR_EL1, and an interrupt. */
CODE(look, "mrs x0, isr_el1");
CODE(unmask, "msr daifclr, #3\n nop\n nop\n msr daifset, #3\n mov x0, #6");

static void signalled(const char *name) {
	u32 mark = section_mark();
	subsection(name);
	test_hcr("look", HCR_IMO | HCR_FMO, look, EL1H, 0, 0, 0, 0);
	test_hcr("unmask", HCR_IMO | HCR_FMO, unmask, EL1H, 0, 0, 0, 0);
	section_back(mark);
}

static u32 take(const char *name, u32 offset) {
	u32 value = load32(GICV + offset);
	out_value(name, value);
	return value;
}

static void registers(void) {
	section("registers");
	virtual_reset();
	out_value("vtr", load32(GICH_VTR));
	static const u32 values[] = {0, ~0u, 0x5a5a5a5a, 0xa5a5a5a5};
	for (u32 n = 0; n < sizeof values / sizeof *values; n++) {
		u32 v = values[n];
		u32 mark = section_mark();
		subsection_hex("value ", v);
		store32(GICH_HCR, v & ~EN);
		out_value("hcr", load32(GICH_HCR));
		store32(GICH_HCR, 0);
		store32(GICH_VMCR, v);
		store32(GICH_APR, v);
		store32(GICH_LR(0), v);
		store32(GICH_LR(3), v);
		out_value("vmcr", load32(GICH_VMCR));
		out_value("apr", load32(GICH_APR));
		out_value("lr0", load32(GICH_LR(0)));
		out_value("lr3", load32(GICH_LR(3)));
		virtual_reset();
		store32(GICV + CTLR, v);
		store32(GICV + PMR, v);
		store32(GICV + BPR, v);
		store32(GICV + ABPR, v | 3);
		out_value("vmcr by the guest", load32(GICH_VMCR));
		out_value("ctlr", load32(GICV + CTLR));
		out_value("pmr", load32(GICV + PMR));
		out_value("bpr", load32(GICV + BPR));
		out_value("abpr", load32(GICV + ABPR));
		section_back(mark);
	}
	virtual_reset();
	store32(GICH_APR, 0x10010);
	out_value("apr0", load32(GICV + 0xd0));
	out_value("rpr", load32(GICV + RPR));
}

static void life(void) {
	section("life");
	static const struct {
		const char *name;
		u32 lr, vmcr;
	} cases[] = {
		{"group 1", IRQ(40), OPEN},
		{"group 0", FIQ_AT(0x80, 40), OPEN},
		{"group 0 as FIQ", FIQ_AT(0x80, 40), OPEN | FIQEN},
		{"SGI", IRQ(5) | SENDER(3), OPEN},
		{"with EOI", IRQ(40) | EOI, OPEN},
	};
	for (u32 split = 0; split < 2; split++) {
		u32 outer = section_mark();
		subsection(split ? "split" : "one step");
		for (u32 n = 0; n < sizeof cases / sizeof *cases; n++) {
			u32 mark = section_mark();
			subsection(cases[n].name);
			virtual_reset();
			store32(GICH_VMCR, cases[n].vmcr | (split ? SPLIT : 0));
			store32(GICH_LR(1), cases[n].lr);
			state("pending");
			signalled("pending");
			u32 intid = take("ack", IAR);
			state("active");
			signalled("active");
			take("ack again", IAR);
			store32(GICV + EOIR, intid);
			state("ended");
			if (split) {
				store32(GICV + DIR, intid);
				state("deactivated");
			}
			section_back(mark);
		}
		section_back(outer);
	}
	virtual_reset();
	store32(GICH_LR(0), IRQ(40) | ACTIVE);
	store32(GICH_APR, 1u << 16);
	state("pending and active");
	signalled("pending and active");
	store32(GICV + EOIR, 40);
	state("pending again");
}

/* What the plain registers show of either group. */
static void views(void) {
	section("views");
	for (u32 group = 0; group < 2; group++) {
		for (u32 ackctl = 0; ackctl < 2; ackctl++) {
			u32 mark = section_mark();
			subsection(group ? "group 1" : "group 0");
			subsection(ackctl ? "AckCtl" : "no AckCtl");
			virtual_reset();
			store32(GICH_VMCR, ackctl ? OPEN : OPEN & ~ACKCTL);
			store32(GICH_LR(0), group ? IRQ(40) : FIQ_AT(0x80, 40));
			state("before");
			take("iar", IAR);
			state("after");
			section_back(mark);
		}
	}
}

static void off(void) {
	section("off");
	virtual_reset();
	store32(GICH_LR(0), IRQ(40));
	store32(GICH_HCR, UIE | NPIE);
	state("interface off");
	signalled("interface off");
	take("ack", IAR);
	store32(GICH_HCR, EN);
	store32(GICH_VMCR, VMCR(0x80, 2, 3) | ACKCTL);
	signalled("masked");
	take("ack, masked", IAR);
	store32(GICH_VMCR, VMCR(0x88, 2, 3) | ACKCTL);
	take("ack, just not masked", IAR);
}

/* Something runs; does what is pending preempt it? */
static void preempt(u32 running) {
	section("preemption");
	subsection_hex("of ", running);
	static const u8 priorities[] = {0x00, 0x38, 0x40, 0x78, 0x80, 0x88, 0xf0};
	for (u32 group = 0; group < 2; group++) {
		for (u32 bpr = 2; bpr < 8; bpr++) {
			/* What runs has a group priority of this binary point. */
			if (running & ((2u << (group && bpr > 2 ? bpr - 1 : bpr)) - 1))
				continue;
			u32 mark = section_mark();
			subsection(group ? "group 1" : "group 0");
			subsection_hex("bpr ", bpr);
			for (u32 n = 0; n < sizeof priorities; n++) {
				u32 p = priorities[n];
				virtual_reset();
				store32(GICH_VMCR, VMCR(0xf8, bpr, bpr < 3 ? 3 : bpr) | ACKCTL);
				store32(GICH_APR, 1u << (running >> 3));
				store32(GICH_LR(2), group ? IRQ_AT(p, 50) : FIQ_AT(p, 50));
				out_value("priority", p);
				take("ack", IAR);
				out_value("apr", load32(GICH_APR));
			}
			section_back(mark);
		}
	}
}

static void choice(void) {
	section("choice");
	virtual_reset();
	store32(GICH_LR(0), IRQ_AT(0x90, 40));
	store32(GICH_LR(1), IRQ_AT(0x60, 41));
	store32(GICH_LR(2), FIQ_AT(0x40, 42));
	store32(GICH_LR(3), FIQ_AT(0x20, 43) | ACTIVE);
	state("four");
	take("ack", IAR);
	take("ack then", IAR);
	store32(GICH_LR(0), IRQ_AT(0x10, 44));
	take("ack, nested", IAR);
	state("two running");
	store32(GICV + EOIR, 44);
	state("one running");
	store32(GICV + EOIR, 42);
	state("none running");
	take("ack, the next", IAR);
}

/* Ends that do not find what they name. */
static void ends(void) {
	static const struct {
		const char *name;
		u32 lr, apr, value;
	} cases[] = {
		{"in no list register", 0, 1u << 16, 40},
		{"an SGI in no list register", 0, 1u << 16, 5 | SENDER(2)},
		{"special", 0, 1u << 16, 1023},
		{"not active there", IRQ(40), 1u << 16, 40},
		{"active", ACTIVE | GROUP1 | PRIORITY(0x80) | 40, 1u << 16, 40},
		{"active and pending", ACTIVE | IRQ(40), 1u << 16, 40},
		{"with EOI", ACTIVE | GROUP1 | PRIORITY(0x80) | EOI | 40, 1u << 16, 40},
	};
	section("ends");
	for (u32 split = 0; split < 2; split++) {
		for (u32 n = 0; n < sizeof cases / sizeof *cases; n++) {
			u32 mark = section_mark();
			subsection(split ? "split" : "one step");
			subsection(cases[n].name);
			virtual_reset();
			store32(GICH_VMCR, OPEN | (split ? SPLIT : 0));
			store32(GICH_LR(1), cases[n].lr);
			store32(GICH_APR, cases[n].apr);
			store32(GICV + EOIR, cases[n].value);
			state("after eoir");
			if (split) {
				store32(GICV + DIR, cases[n].value);
				state("after dir");
			}
			section_back(mark);
		}
	}
	section("count");
	virtual_reset();
	store32(GICH_VMCR, OPEN | SPLIT);
	store32(GICH_HCR, EN | EOICOUNT(30) | LRENPIE);
	store32(GICV + DIR, 33);
	state("31");
	store32(GICV + DIR, 33);
	state("wrapped");
}

/* A virtual interrupt that stands for a physical one. */
static void hardware(void) {
	section("hw");
	store32(GICC + PMR, 0xff);
	store32(GICC + CTLR, 3 | ACKCTL | SPLIT);
	static const struct {
		const char *name;
		u32 physical;
	} cases[] = {{"ppi", 27}, {"spi", 40}, {"other ppi", 20}};
	for (u32 split = 0; split < 2; split++) {
		for (u32 n = 0; n < sizeof cases / sizeof *cases; n++) {
			u32 mark = section_mark();
			subsection(split ? "split" : "one step");
			subsection(cases[n].name);
			virtual_reset();
			store32(GICD_ISACTIVER(0), 1u << 27);
			/* The judge has what is made active by a register active on all CPUs, and ends it on one. */
			store32(GICD_ISENABLER(1), 1u << 8);
			store32(GICD_ISPENDR(1), 1u << 8);
			out_value("physical ack", load32(GICC + IAR));
			store32(GICC + EOIR, 40);
			store32(GICH_VMCR, OPEN | (split ? SPLIT : 0));
			store32(GICH_LR(0), IRQ(27) | HW(cases[n].physical));
			state("before");
			take("ack", IAR);
			store32(GICV + EOIR, 27);
			state("dropped");
			if (split) {
				store32(GICV + DIR, 27);
				state("deactivated");
			}
			section_back(mark);
		}
	}
	virtual_reset();
}

/* Each reason, and its interrupt. */
static void maintenance(void) {
	static const struct {
		const char *name;
		u32 hcr, vmcr, lr0, lr1;
	} cases[] = {
		{"EOI", EN, OPEN, EOI, 0},
		{"underflow, one in use", EN | UIE, OPEN, IRQ(40), 0},
		{"underflow, two in use", EN | UIE, OPEN, IRQ(40), IRQ(41)},
		{"not present", EN | LRENPIE | EOICOUNT(1), OPEN, 0, 0},
		{"not present, none", EN | LRENPIE, OPEN, 0, 0},
		{"none pending", EN | NPIE, OPEN, ACTIVE | GROUP1 | 40, 0},
		{"one pending", EN | NPIE, OPEN, IRQ(40), 0},
		{"groups on", EN | 0xf0, OPEN, 0, 0},
		{"groups off", EN | 0xf0, OPEN & ~3u, 0, 0},
		{"off", NPIE, OPEN, 0, 0},
	};
	section("maintenance");
	for (u32 n = 0; n < sizeof cases / sizeof *cases; n++) {
		u32 mark = section_mark();
		subsection(cases[n].name);
		virtual_reset();
		store32(GICD_ISENABLER(0), 1u << 25);
		store32(GICH_VMCR, cases[n].vmcr);
		store32(GICH_LR(0), cases[n].lr0);
		store32(GICH_LR(1), cases[n].lr1);
		store32(GICH_HCR, cases[n].hcr);
		state("with its reason");
		store32(GICH_HCR, 0);
		state("without");
		section_back(mark);
	}
}

int main(void) {
	registers();
	life();
	views();
	off();
	preempt(0x40);
	preempt(0x80);
	choice();
	ends();
	hardware();
	maintenance();
	return 0;
}
