/* The GIC's virtual CPU interface: list registers, what a guest at EL1 does to them, maintenance interrupts, traps. */
#include "el2.h"
#include "gic.h"

#define ICH_AP0R0 S3_4_C12_C8_0
#define ICH_AP1R0 S3_4_C12_C9_0
#define ICH_HCR S3_4_C12_C11_0
#define ICH_VTR S3_4_C12_C11_1
#define ICH_MISR S3_4_C12_C11_2
#define ICH_EISR S3_4_C12_C11_3
#define ICH_ELRSR S3_4_C12_C11_5
#define ICH_VMCR S3_4_C12_C11_7
#define ICH_LR0 S3_4_C12_C12_0
#define ICH_LR1 S3_4_C12_C12_1
#define ICH_LR2 S3_4_C12_C12_2
#define ICH_LR3 S3_4_C12_C12_3
#define ICC_SRE_EL2 S3_4_C12_C9_5

#define PENDING (1ul << 62)
#define ACTIVE (2ul << 62)
#define HW(intid) (1ul << 61 | (u64)(intid) << 32)
#define GROUP1 (1ul << 60)
#define EOI (1ul << 41)
#define PRIORITY(p) ((u64)(p) << 48)
#define IRQ_AT(p, intid) (PENDING | GROUP1 | PRIORITY(p) | (intid))
#define IRQ(intid) IRQ_AT(0x80, intid)
#define FIQ_AT(p, intid) (PENDING | PRIORITY(p) | (intid))

#define EN 1ul
#define UIE 2ul
#define LRENPIE 4ul
#define NPIE 8ul
#define EOICOUNT(n) ((u64)(n) << 27)

#define VMCR(pmr, bpr0, bpr1) ((u64)(pmr) << 24 | (u64)(bpr0) << 21 | (u64)(bpr1) << 18 | 3)
#define OPEN VMCR(0xf8, 2, 3)
#define CBPR (1ul << 4)
#define SPLIT (1ul << 9)

/* ICH_HCR_EL2 without what not every implementation has: TSEI, DVIM. */
#define GUEST (HCR_IMO | HCR_FMO)

static void virtual_reset(void) {
	gic_reset();
	write_sysreg(ICH_HCR, EN);
	write_sysreg(ICH_VMCR, OPEN);
	write_sysreg(ICH_AP0R0, 0);
	write_sysreg(ICH_AP1R0, 0);
	write_sysreg(ICH_LR0, 0);
	write_sysreg(ICH_LR1, 0);
	write_sysreg(ICH_LR2, 0);
	write_sysreg(ICH_LR3, 0);
	store32(GICR_ICPENDR0, ~0u);
	gic_wait();
}

static void state(const char *name) {
	gic_wait();
	out_name(name);
	out_field("hcr", read_sysreg(ICH_HCR));
	out_field("vmcr", read_sysreg(ICH_VMCR));
	out_field("misr", read_sysreg(ICH_MISR));
	out_field("eisr", read_sysreg(ICH_EISR));
	out_field("elrsr", read_sysreg(ICH_ELRSR));
	out_field("ap", read_sysreg(ICH_AP0R0) << 32 | read_sysreg(ICH_AP1R0));
	out_field("lr0", read_sysreg(ICH_LR0));
	out_field("lr1", read_sysreg(ICH_LR1));
	out_field("lr2", read_sysreg(ICH_LR2));
	out_field("pending", load32(GICR_ISPENDR0));
	out_field("active", load32(GICR_ISACTIVER0));
	out_line();
}

/* What EL1 sees: x0 is HPPIR1 and HPPIR0, x1 ISR_EL1 and RPR. */
CODE(look, "mrs x0, S3_0_C12_C8_2\n mrs x2, S3_0_C12_C12_2\n orr x0, x0, x2, lsl #32\n"
     "mrs x1, S3_0_C12_C11_3\n mrs x2, isr_el1\n orr x1, x1, x2, lsl #32");
CODE(ack0, "mrs x0, S3_0_C12_C8_0\n mrs x1, S3_0_C12_C11_3");
CODE(ack1, "mrs x0, S3_0_C12_C12_0\n mrs x1, S3_0_C12_C11_3");
CODE(eoi0, "msr S3_0_C12_C8_1, x0\n isb\n mrs x1, S3_0_C12_C11_3");
CODE(eoi1, "msr S3_0_C12_C12_1, x0\n isb\n mrs x1, S3_0_C12_C11_3");
CODE(dir, "msr S3_0_C12_C11_1, x0\n isb");
CODE(set_pmr, "msr S3_0_C4_C6_0, x0\n isb\n mrs x0, S3_0_C4_C6_0");
CODE(set_bpr0, "msr S3_0_C12_C8_3, x0\n isb\n mrs x0, S3_0_C12_C8_3\n mrs x1, S3_0_C12_C12_3");
CODE(set_bpr1, "msr S3_0_C12_C12_3, x0\n isb\n mrs x0, S3_0_C12_C8_3\n mrs x1, S3_0_C12_C12_3");
CODE(set_ctlr, "msr S3_0_C12_C12_4, x0\n isb\n mrs x0, S3_0_C12_C12_4\n mov x1, #0x43\n and x0, x0, x1");
CODE(set_groups, "msr S3_0_C12_C12_6, x0\n msr S3_0_C12_C12_7, x1\n isb\n mrs x0, S3_0_C12_C12_6\n mrs x1, S3_0_C12_C12_7");
CODE(set_active, "msr S3_0_C12_C8_4, x0\n msr S3_0_C12_C9_0, x1\n isb\n mrs x0, S3_0_C12_C8_4\n mrs x1, S3_0_C12_C9_0");
CODE(unmask, "msr daifclr, #3\n nop\n nop\n msr daifset, #3\n mov x0, #6");
CODE(wait, "wfi\n mov x0, #5");

#define el1(name, code, x0) test_hcr(name, GUEST, code, EL1H, x0, 0, 0, 0)
#define el1_2(name, code, x0, x1) test_hcr(name, GUEST, code, EL1H, x0, x1, 0, 0)

static void registers(void) {
	section("registers");
	virtual_reset();
	u64 vtr = read_sysreg(ICH_VTR);
	/* PRIbits, PREbits, A3V, nV4 and ListRegs; IDbits and TDS are free. */
	out_value("vtr", vtr & (0x3ful << 26 | 3ul << 20 | 0x1f));
	static const u64 values[] = {0, ~0ul, 0x5a5a5a5a5a5a5a5aul, 0xa5a5a5a5a5a5a5a5ul};
	/* What ICH_VTR_EL2 makes optional, and RES0 bits that a judge keeps. */
	u64 hcr_bits = 0xf8001cfful, lr_bits = 0xf0f81fff0000fffful;
	for (u32 n = 0; n < sizeof values / sizeof *values; n++) {
		u64 v = values[n];
		u32 mark = section_mark();
		subsection_hex("value ", v);
		write_sysreg(ICH_HCR, v & ~EN);
		isb();
		out_value("hcr", read_sysreg(ICH_HCR) & hcr_bits);
		write_sysreg(ICH_HCR, 0);
		write_sysreg(ICH_VMCR, v);
		write_sysreg(ICH_LR0, v);
		write_sysreg(ICH_LR3, v);
		write_sysreg(ICH_AP0R0, v);
		write_sysreg(ICH_AP1R0, v);
		isb();
		out_value("vmcr", read_sysreg(ICH_VMCR));
		out_value("lr0", read_sysreg(ICH_LR0) & lr_bits);
		out_value("lr3", read_sysreg(ICH_LR3) & lr_bits);
		out_value("ap0r0", read_sysreg(ICH_AP0R0));
		out_value("ap1r0", read_sysreg(ICH_AP1R0));
		section_back(mark);
	}
	virtual_reset();
	write_sysreg(ICC_SRE_EL2, 0);
	isb();
	out_value("sre_el2", read_sysreg(ICC_SRE_EL2) & 7);
	write_sysreg(ICC_SRE_EL2, 0xf);
	isb();
	static const u64 points[] = {0, 1, 2, 3, 4, 5, 6, 7, ~0ul};
	for (u32 n = 0; n < sizeof points / sizeof *points; n++) {
		u64 v = points[n];
		u32 mark = section_mark();
		subsection_hex("guest ", v);
		virtual_reset();
		el1("bpr0", set_bpr0, v);
		el1("bpr1", set_bpr1, v);
		out_value("vmcr", read_sysreg(ICH_VMCR));
		write_sysreg(ICH_VMCR, OPEN | CBPR);
		isb();
		el1("common bpr0", set_bpr0, v);
		el1("common bpr1", set_bpr1, v);
		el1("ctlr", set_ctlr, v);
		out_value("vmcr then", read_sysreg(ICH_VMCR));
		el1("pmr", set_pmr, v * 0x1d & 0xff);
		el1_2("groups", set_groups, v, v >> 1);
		el1_2("active", set_active, v, v << 7 & 0xffffffff);
		out_value("vmcr at last", read_sysreg(ICH_VMCR));
		section_back(mark);
	}
}

/* Registers and list registers that are not there. */
CODE(lr4, "mrs x0, S3_4_C12_C12_4");
CODE(lr15, "msr S3_4_C12_C13_7, x0");
CODE(ap1, "mrs x0, S3_4_C12_C8_1");
CODE(ap11, "mrs x0, S3_0_C12_C9_1");
CODE(vtr_write, "msr S3_4_C12_C11_1, x0");
CODE(misr_write, "msr S3_4_C12_C11_2, x0");
CODE(iar_write, "msr S3_0_C12_C12_0, x0");
CODE(eoir_read, "mrs x0, S3_0_C12_C12_1");
CODE(dir_read, "mrs x0, S3_0_C12_C11_1");
CODE(ich_read, "mrs x0, S3_4_C12_C11_0");

static void absent(void) {
	section("absent");
	virtual_reset();
	test2("lr4", 0, lr4, EL2H);
	test2("lr15", 0, lr15, EL2H);
	test2("ap0r1", 0, ap1, EL2H);
	test2("icv ap1r1", GUEST, ap11, EL1H);
	test2("write of vtr", 0, vtr_write, EL2H);
	test2("write of misr", 0, misr_write, EL2H);
	test2("write of iar1", GUEST, iar_write, EL1H);
	test2("read of eoir1", GUEST, eoir_read, EL1H);
	test2("read of dir", GUEST, dir_read, EL1H);
	test2("ich at el1", GUEST, ich_read, EL1H);
	test2("iar1 at el0", GUEST, ack1, EL0T);
}

static void life(void) {
	section("life");
	for (u32 split = 0; split < 2; split++) {
		for (u32 group = 0; group < 2; group++) {
			u32 mark = section_mark();
			subsection(split ? "split" : "one step");
			subsection(group ? "group 1" : "group 0");
			const u32 *ack = group ? ack1 : ack0, *eoi = group ? eoi1 : eoi0;
			const u32 *other_ack = group ? ack0 : ack1;
			virtual_reset();
			write_sysreg(ICH_VMCR, OPEN | (split ? SPLIT : 0));
			write_sysreg(ICH_LR1, group ? IRQ(40) : FIQ_AT(0x80, 40));
			state("pending");
			el1("look", look, 0);
			el1("unmask", unmask, 0);
			el1("wfi", wait, 0);
			el1("other group", other_ack, 0);
			el1("ack", ack, 0);
			el1("look then", look, 0);
			state("active");
			el1("ack again", ack, 0);
			el1("unmask then", unmask, 0);
			el1("eoi", eoi, 40);
			state("ended");
			el1("dir", dir, 40);
			state("deactivated");
			section_back(mark);
		}
	}
	virtual_reset();
	write_sysreg(ICH_LR0, IRQ(40) | ACTIVE);
	write_sysreg(ICH_AP1R0, 1ul << 16);
	state("pending and active");
	el1("look at it", look, 0);
	el1("end it", eoi1, 40);
	state("pending again");
}

static void off(void) {
	section("off");
	virtual_reset();
	write_sysreg(ICH_LR0, IRQ(40));
	write_sysreg(ICH_HCR, UIE | NPIE);
	store32(GICR_ISENABLER0, 1u << 25);
	state("interface off");
	el1("look", look, 0);
	el1("ack", ack1, 0);
	el1("unmask", unmask, 0);
	write_sysreg(ICH_HCR, EN | UIE);
	state("interface on");
	write_sysreg(ICH_VMCR, OPEN & ~2ul);
	state("group off");
	el1("look, group off", look, 0);
	el1("ack, group off", ack1, 0);
	write_sysreg(ICH_VMCR, VMCR(0x80, 2, 3));
	isb();
	el1("look, masked", look, 0);
	el1("ack, masked", ack1, 0);
	write_sysreg(ICH_VMCR, VMCR(0x88, 2, 3));
	isb();
	el1("ack, just not masked", ack1, 0);
}

/* Something runs in one group; does what is pending in the other preempt it? */
static void preempt(u64 running) {
	section("preemption");
	subsection_hex("of ", running);
	static const u8 priorities[] = {0x00, 0x38, 0x40, 0x70, 0x78, 0x80, 0x88, 0xf0};
	for (u32 other = 0; other < 2; other++) {
		for (u32 bpr = 2; bpr < 8; bpr++) {
			for (u32 common = 0; common < 2; common++) {
				u32 mark = section_mark();
				subsection(other ? "to group 1" : "to group 0");
				subsection_hex(common ? "common bpr " : "bpr ", bpr);
				for (u32 n = 0; n < sizeof priorities; n++) {
					u64 p = priorities[n];
					u32 inner = section_mark();
					subsection_hex("priority ", p);
					virtual_reset();
					write_sysreg(ICH_VMCR, VMCR(0xf8, bpr, bpr < 3 ? 3 : bpr) | (common ? CBPR : 0));
					write_sysreg(ICH_AP0R0, other ? 1ul << (running >> 3) : 0);
					write_sysreg(ICH_AP1R0, other ? 0 : 1ul << (running >> 3));
					write_sysreg(ICH_LR2, other ? IRQ_AT(p, 50) : FIQ_AT(p, 50));
					isb();
					el1("look", look, 0);
					el1("ack", other ? ack1 : ack0, 0);
					out_value("ap", read_sysreg(ICH_AP0R0) << 32 | read_sysreg(ICH_AP1R0));
					section_back(inner);
				}
				section_back(mark);
			}
		}
	}
}

/* Which of several. */
static void choice(void) {
	section("choice");
	virtual_reset();
	write_sysreg(ICH_LR0, IRQ_AT(0x90, 40));
	write_sysreg(ICH_LR1, IRQ_AT(0x60, 41));
	write_sysreg(ICH_LR2, FIQ_AT(0x60, 42));
	write_sysreg(ICH_LR3, FIQ_AT(0x20, 43) | ACTIVE);
	state("four");
	el1("look", look, 0);
	el1("ack 0", ack0, 0);
	el1("ack 1", ack1, 0);
	el1("look then", look, 0);
	el1("ack then", ack1, 0);
	el1("nested", look, 0);
	write_sysreg(ICH_LR0, IRQ_AT(0x10, 44));
	isb();
	el1("ack, nested", ack1, 0);
	state("two running");
	el1("end", eoi1, 44);
	el1("end then", eoi1, 41);
	state("none running");
}

/* Ends that do not find what they name. */
static void ends(void) {
	static const struct {
		const char *name;
		u64 lr, ap0, ap1, intid;
		u32 group;
	} cases[] = {
		{"nothing active", 0, 0, 0, 40, 1},
		{"in no list register", 0, 0, 1ul << 16, 40, 1},
		{"in no list register, group 0", 0, 1ul << 16, 0, 40, 0},
		{"LPI in none", 0, 0, 1ul << 16, 8200, 1},
		{"special", 0, 0, 1ul << 16, 1023, 1},
		{"special 1020", 0, 0, 1ul << 16, 1020, 1},
		{"not active there", IRQ(40), 0, 1ul << 16, 40, 1},
		{"active", ACTIVE | GROUP1 | PRIORITY(0x80) | 40, 0, 1ul << 16, 40, 1},
		{"active and pending", ACTIVE | IRQ(40), 0, 1ul << 16, 40, 1},
		{"another priority", ACTIVE | GROUP1 | PRIORITY(0x80) | 40, 0, 1ul << 3, 40, 1},
		{"another group", ACTIVE | PRIORITY(0x80) | 40, 0, 1ul << 16, 40, 1},
		{"through the other register", ACTIVE | GROUP1 | PRIORITY(0x80) | 40, 0, 1ul << 16, 40, 0},
		{"both groups run", ACTIVE | GROUP1 | PRIORITY(0x80) | 40, 1ul << 16, 1ul << 16, 40, 1},
		{"the higher one is not it", ACTIVE | GROUP1 | PRIORITY(0x80) | 40, 0, 1ul << 16 | 1ul << 2, 40, 1},
		{"no active priority", ACTIVE | GROUP1 | PRIORITY(0x80) | 40, 0, 0, 40, 1},
		{"with EOI", ACTIVE | GROUP1 | PRIORITY(0x80) | EOI | 40, 0, 1ul << 16, 40, 1},
		{"active LPI", ACTIVE | GROUP1 | PRIORITY(0x80) | 8200, 0, 1ul << 16, 8200, 1},
	};
	section("ends");
	for (u32 split = 0; split < 2; split++) {
		u32 outer = section_mark();
		subsection(split ? "split" : "one step");
		for (u32 n = 0; n < sizeof cases / sizeof *cases; n++) {
			u32 mark = section_mark();
			subsection(cases[n].name);
			for (u32 deactivate = 0; deactivate < 2; deactivate++) {
				virtual_reset();
				write_sysreg(ICH_VMCR, OPEN | (split ? SPLIT : 0));
				write_sysreg(ICH_LR1, cases[n].lr);
				write_sysreg(ICH_AP0R0, cases[n].ap0);
				write_sysreg(ICH_AP1R0, cases[n].ap1);
				isb();
				if (deactivate)
					el1("dir", dir, cases[n].intid);
				else
					el1("eoir", cases[n].group ? eoi1 : eoi0, cases[n].intid);
				state(deactivate ? "after dir" : "after eoir");
			}
			section_back(mark);
		}
		section_back(outer);
	}
	section("count");
	virtual_reset();
	write_sysreg(ICH_VMCR, OPEN | SPLIT);
	write_sysreg(ICH_HCR, EN | EOICOUNT(30) | LRENPIE);
	isb();
	el1("one more", dir, 33);
	state("31");
	el1("again", dir, 33);
	state("wrapped");
	el1("after that", dir, 33);
	state("1");
}

/* LPIs and special INTIDs in list registers. */
static void odd(void) {
	section("lpi");
	virtual_reset();
	write_sysreg(ICH_LR0, IRQ(8192));
	isb();
	el1("look", look, 0);
	el1("ack", ack1, 0);
	state("acknowledged");
	el1("end", eoi1, 8192);
	state("ended");
	section("special");
	for (u64 intid = 1019; intid < 1026; intid++) {
		u32 mark = section_mark();
		subsection_hex("intid ", intid);
		virtual_reset();
		write_sysreg(ICH_LR0, IRQ(intid));
		isb();
		el1("look", look, 0);
		el1("ack", ack1, 0);
		state("acknowledged");
		section_back(mark);
	}
}

/* A virtual interrupt that stands for a physical one. */
static void hardware(void) {
	section("hw");
	static const struct {
		const char *name;
		u64 physical;
	} cases[] = {{"ppi", 27}, {"spi", 40}, {"other ppi", 20}, {"none", 1023}};
	for (u32 split = 0; split < 2; split++) {
		for (u32 n = 0; n < sizeof cases / sizeof *cases; n++) {
			u32 mark = section_mark();
			subsection(split ? "split" : "one step");
			subsection(cases[n].name);
			virtual_reset();
			store32(GICR_ISACTIVER0, 1u << 27);
			store32(GICD_ISACTIVER(1), 1u << 8);
			write_sysreg(ICH_VMCR, OPEN | (split ? SPLIT : 0));
			write_sysreg(ICH_LR0, IRQ(27) | HW(cases[n].physical));
			state("before");
			el1("ack", ack1, 0);
			el1("eoi", eoi1, 27);
			state("dropped");
			out_value("spis", load32(GICD_ISACTIVER(1)));
			el1("dir", dir, 27);
			state("deactivated");
			out_value("spis then", load32(GICD_ISACTIVER(1)));
			section_back(mark);
		}
	}
	store32(GICR_ICACTIVER0, ~0u);
	store32(GICD_ICACTIVER(1), ~0u);
}

static void maintenance(void) {
	section("maintenance");
	static const struct {
		const char *name;
		u64 hcr, vmcr, lr0, lr1;
	} cases[] = {
		{"nothing", 0, OPEN, 0, 0},
		{"eoi", 0, OPEN, EOI | 40, 0},
		{"eoi with hw", 0, OPEN, 1ul << 61 | EOI | 40, 0},
		{"eoi, pending", 0, OPEN, EOI | IRQ(40), 0},
		{"eoi, active", 0, OPEN, EOI | ACTIVE | 40, 0},
		{"u, none", UIE, OPEN, 0, 0},
		{"u, one", UIE, OPEN, ACTIVE | 40, 0},
		{"u, two", UIE, OPEN, ACTIVE | 40, IRQ(41)},
		{"lrenp, 0", LRENPIE, OPEN, 0, 0},
		{"lrenp, 1", LRENPIE | EOICOUNT(1), OPEN, 0, 0},
		{"count alone", EOICOUNT(1), OPEN, 0, 0},
		{"np, none", NPIE, OPEN, 0, 0},
		{"np, active", NPIE, OPEN, ACTIVE | 40, 0},
		{"np, pending", NPIE, OPEN, 0, IRQ(40)},
		{"np, pending of a group that is off", NPIE, OPEN & ~3ul, 0, IRQ(40)},
		{"np, both", NPIE, OPEN, 0, IRQ(40) | ACTIVE},
		{"groups on", 0xf0, OPEN, 0, 0},
		{"groups off", 0xf0, OPEN & ~3ul, 0, 0},
		{"group 0 on", 0xf0, OPEN & ~2ul, 0, 0},
		{"group 1 on", 0xf0, OPEN & ~1ul, 0, 0},
		{"all", 0xfe | EOICOUNT(3), OPEN, EOI | 40, 0},
	};
	store32(GICR_ISENABLER0, 1u << 25);
	for (u32 n = 0; n < sizeof cases / sizeof *cases; n++) {
		virtual_reset();
		write_sysreg(ICH_HCR, cases[n].hcr);
		write_sysreg(ICH_VMCR, cases[n].vmcr);
		write_sysreg(ICH_LR0, cases[n].lr0);
		write_sysreg(ICH_LR1, cases[n].lr1);
		u32 mark = section_mark();
		subsection(cases[n].name);
		state("off");
		write_sysreg(ICH_HCR, cases[n].hcr | EN);
		state("on");
		store32(GICR_ISENABLER0, 1u << 25);
		gic_wait();
		out_value("hppir", read_sysreg(ICC_HPPIR1));
		/* EL1 is interrupted at once: the maintenance interrupt is physical. */
		el1("el1", unmask, 0);
		section_back(mark);
	}
}

/* Every register by name, read and written, at EL1. */
#define BOTH(name, reg) CODE(read_##name, "mrs x0, " TEXT_OF(reg)); CODE(write_##name, "msr " TEXT_OF(reg) ", x0")
#define READ(name, reg) CODE(read_##name, "mrs x0, " TEXT_OF(reg))
#define WRITE(name, reg) CODE(write_##name, "msr " TEXT_OF(reg) ", x0")
BOTH(pmr, ICC_PMR);
READ(iar0, ICC_IAR0);
WRITE(eoir0, ICC_EOIR0);
READ(hppir0, ICC_HPPIR0);
BOTH(bpr0, ICC_BPR0);
BOTH(ap0r0, ICC_AP0R0);
BOTH(ap1r0, ICC_AP1R0);
WRITE(dir, ICC_DIR);
READ(rpr, ICC_RPR);
WRITE(sgi1r, ICC_SGI1R);
WRITE(asgi1r, ICC_ASGI1R);
WRITE(sgi0r, ICC_SGI0R);
READ(iar1, ICC_IAR1);
WRITE(eoir1, ICC_EOIR1);
READ(hppir1, ICC_HPPIR1);
BOTH(bpr1, ICC_BPR1);
BOTH(ctlr, ICC_CTLR);
BOTH(sre, ICC_SRE);
BOTH(igrpen0, ICC_IGRPEN0);
BOTH(igrpen1, ICC_IGRPEN1);

static const struct {
	const char *name;
	const u32 *code;
	u64 value;
} accesses[] = {
	{"read pmr", read_pmr, 0},         {"write pmr", write_pmr, 0xf8},   {"read iar0", read_iar0, 0},
	{"write eoir0", write_eoir0, 1023}, {"read hppir0", read_hppir0, 0}, {"read bpr0", read_bpr0, 0},
	{"write bpr0", write_bpr0, 3},     {"read ap0r0", read_ap0r0, 0},    {"write ap0r0", write_ap0r0, 0},
	{"read ap1r0", read_ap1r0, 0},     {"write ap1r0", write_ap1r0, 0},  {"write dir", write_dir, 1023},
	{"read rpr", read_rpr, 0},         {"write sgi1r", write_sgi1r, 0},  {"write asgi1r", write_asgi1r, 0},
	{"write sgi0r", write_sgi0r, 0},   {"read iar1", read_iar1, 0},      {"write eoir1", write_eoir1, 1023},
	{"read hppir1", read_hppir1, 0},   {"read bpr1", read_bpr1, 0},      {"write bpr1", write_bpr1, 4},
	{"write ctlr", write_ctlr, 0},     {"read igrpen0", read_igrpen0, 0}, {"write igrpen0", write_igrpen0, 1},
	{"read igrpen1", read_igrpen1, 0}, {"write igrpen1", write_igrpen1, 1}, {"read sre", read_sre, 0},
	{"write sre", write_sre, 7},
};

static void traps(void) {
	section("traps");
	static const struct {
		const char *name;
		u64 ich, hcr;
	} controls[] = {
		{"none", EN, 0},          {"imo", EN, HCR_IMO},          {"fmo", EN, HCR_FMO},
		{"both", EN, GUEST},      {"tall0", EN | 1ul << 11, GUEST}, {"tall1", EN | 1ul << 12, GUEST},
		{"tc", EN | 1ul << 10, GUEST}, {"all", EN | 7ul << 10, GUEST},
		{"tall0, physical", EN | 1ul << 11, 0}, {"tall1, physical", EN | 1ul << 12, 0},
		{"tc, physical", EN | 1ul << 10, 0}, {"all, interface off", 7ul << 10, GUEST},
		{"tdir", EN | 1ul << 14, GUEST}, {"tdir, physical", EN | 1ul << 14, 0},
		{"tdir, interface off", 1ul << 14, GUEST},
	};
	for (u32 c = 0; c < sizeof controls / sizeof *controls; c++) {
		u32 mark = section_mark();
		subsection(controls[c].name);
		virtual_reset();
		for (u32 n = 0; n < sizeof accesses / sizeof *accesses; n++) {
			write_sysreg(ICH_HCR, controls[c].ich);
			isb();
			test_hcr(accesses[n].name, controls[c].hcr, accesses[n].code, EL1H, accesses[n].value, 0, 0, 0);
		}
		test_hcr("el0", controls[c].hcr, read_pmr, EL0T, 0, 0, 0, 0);
		section_back(mark);
	}
	/* ICC_SRE_EL2.Enable. */
	section("enable");
	virtual_reset();
	write_sysreg(ICC_SRE_EL2, 7);
	isb();
	test2("read sre", GUEST, read_sre, EL1H);
	test2("write sre", GUEST, write_sre, EL1H);
	write_sysreg(ICC_SRE_EL2, 0xf);
	isb();
}

/* HCR_EL2's own virtual interrupts beside list registers; ISR_EL1. */
static void pins(void) {
	section("pins");
	static const u64 bits[] = {0, HCR_VI, HCR_VF, HCR_VI | HCR_VF};
	static const u64 routes[] = {0, HCR_IMO, HCR_FMO, GUEST};
	for (u32 r = 0; r < 4; r++) {
		for (u32 b = 0; b < 4; b++) {
			u32 mark = section_mark();
			subsection_hex("hcr ", routes[r] | bits[b]);
			virtual_reset();
			test_hcr("look", routes[r] | bits[b], look, EL1H, 0, 0, 0, 0);
			test_hcr("unmask", routes[r] | bits[b], unmask, EL1H, 0, 0, 0, 0);
			write_sysreg(ICH_LR0, IRQ(40));
			write_sysreg(ICH_LR1, FIQ_AT(0x80, 41));
			isb();
			test_hcr("look with both", routes[r] | bits[b], look, EL1H, 0, 0, 0, 0);
			test_hcr("unmask with both", routes[r] | bits[b], unmask, EL1H, 0, 0, 0, 0);
			section_back(mark);
		}
	}
}

int main(void) {
	registers();
	absent();
	life();
	off();
	preempt(0x80);
	preempt(0x48);
	preempt(0x78);
	choice();
	ends();
	odd();
	hardware();
	maintenance();
	traps();
	pins();
	return 0;
}
