/* The performance monitors: registers, who may use them, counting of instructions, filters, overflow, the interrupt. */
#include "gic.h"

#define PMU_PPI 23
#define E 1ul
#define P 2ul
#define C 4ul
#define CYCLES (1ul << 31)
#define FILTER_EL1 (1ul << 31)
#define FILTER_EL0 (1ul << 30)
#define SW_INCR 0x00ul
#define INST_RETIRED 0x08ul

static u64 counters;

static void off(void) {
	write_sysreg(pmcr_el0, P | C);
	write_sysreg(pmcntenclr_el0, ~0ul);
	write_sysreg(pmintenclr_el1, ~0ul);
	write_sysreg(pmovsclr_el0, ~0ul);
	write_sysreg(pmuserenr_el0, 0);
	write_sysreg(pmccfiltr_el0, 0);
	isb();
}

/* Writes each register of bits with some values, and reads back what can be read. */
static void registers(void) {
	section("register");
	off();
	u64 pmcr = read_sysreg(pmcr_el0);
	counters = field(pmcr, 11, 5);
	out_value("counters are there", counters != 0);
	/* Events that every PMU has, but for one which counts instructions. */
	out_value("events", read_sysreg(pmceid0_el0) & 0x20001);
	u64 all = CYCLES | ((1ul << counters) - 1);
	static const u64 values[] = {0, ~0ul, 1, CYCLES, 0x5555555555555555, 2};
	for (u32 n = 0; n < sizeof values / sizeof *values; n++) {
		off();
		u64 value = values[n];
		out_name("enable");
		out_field("wrote", value);
		write_sysreg(pmcntenset_el0, value);
		isb();
		out_field("set", read_sysreg(pmcntenset_el0) == (value & all));
		write_sysreg(pmcntenclr_el0, 1);
		isb();
		out_field("clear", read_sysreg(pmcntenclr_el0) == (value & all & ~1ul));
		write_sysreg(pmintenset_el1, value);
		isb();
		out_field("int", read_sysreg(pmintenclr_el1) == (value & all));
		write_sysreg(pmovsset_el0, value);
		isb();
		out_field("ovs", read_sysreg(pmovsclr_el0) == (value & all));
		write_sysreg(pmovsclr_el0, CYCLES);
		isb();
		out_field("ovc", read_sysreg(pmovsset_el0) == (value & all & ~CYCLES));
		out_line();
		off();
		out_name("value");
		out_field("wrote", value);
		write_sysreg(pmselr_el0, value & 31);
		write_sysreg(pmuserenr_el0, value);
		write_sysreg(pmccntr_el0, value);
		write_sysreg(pmevcntr0_el0, value);
		write_sysreg(pmccfiltr_el0, value);
		write_sysreg(pmevtyper0_el0, value);
		isb();
		out_field("sel", read_sysreg(pmselr_el0));
		out_field("user", read_sysreg(pmuserenr_el0));
		out_field("ccntr", read_sysreg(pmccntr_el0));
		out_field("evcntr", read_sysreg(pmevcntr0_el0) & 0xffffffff);
		out_field("ccfiltr", read_sysreg(pmccfiltr_el0) >> 30);
		out_field("evtyper", read_sysreg(pmevtyper0_el0) & 0xc00003ff);
		out_line();
		out_name("higher levels");
		out_field("wrote", value);
		out_field("ccfiltr", read_sysreg(pmccfiltr_el0) >> 26 & 15);
		out_line();
	}
	off();
	/* By number. */
	for (u64 n = 0; n < 2; n++) {
		write_sysreg(pmselr_el0, n);
		isb();
		write_sysreg(pmxevtyper_el0, 0x40000000 | (n + 3));
		write_sysreg(pmxevcntr_el0, 0x1000 + n);
		isb();
		out_name("selected");
		out_field("typer", n ? read_sysreg(pmevtyper1_el0) : read_sysreg(pmevtyper0_el0));
		out_field("cntr", n ? read_sysreg(pmevcntr1_el0) : read_sysreg(pmevcntr0_el0));
		out_field("xtyper", read_sysreg(pmxevtyper_el0));
		out_field("xcntr", read_sysreg(pmxevcntr_el0));
		out_line();
	}
	write_sysreg(pmselr_el0, 31);
	isb();
	write_sysreg(pmxevtyper_el0, 0xc0000000);
	isb();
	out_value("selected cycles", read_sysreg(pmccfiltr_el0));
	/* Resets. */
	write_sysreg(pmccntr_el0, 0x123456789);
	write_sysreg(pmcr_el0, P);
	isb();
	out_value("reset events", read_sysreg(pmevcntr1_el0));
	out_value("reset events, cycles", read_sysreg(pmccntr_el0));
	write_sysreg(pmevcntr1_el0, 0x77);
	write_sysreg(pmcr_el0, C);
	isb();
	out_value("reset cycles, events", read_sysreg(pmevcntr1_el0));
	out_value("reset cycles", read_sysreg(pmccntr_el0));
	out_value("control", read_sysreg(pmcr_el0) & 0x57);
	write_sysreg(pmcr_el0, E);
	isb();
	out_value("control on", read_sysreg(pmcr_el0) & 0x47);
}

#define READ(reg) CODE(read_##reg, "mrs x0, " #reg "\n mov x0, xzr")
#define WRITE(reg) CODE(write_##reg, "msr " #reg ", x1\n mov x0, xzr")
READ(pmcr_el0);
READ(pmcntenset_el0);
READ(pmcntenclr_el0);
READ(pmovsset_el0);
READ(pmovsclr_el0);
READ(pmselr_el0);
READ(pmceid0_el0);
READ(pmceid1_el0);
READ(pmccntr_el0);
READ(pmccfiltr_el0);
READ(pmxevtyper_el0);
READ(pmxevcntr_el0);
READ(pmuserenr_el0);
READ(pmevcntr0_el0);
READ(pmevtyper0_el0);
READ(pmintenset_el1);
READ(pmswinc_el0);
WRITE(pmcr_el0);
WRITE(pmcntenset_el0);
WRITE(pmcntenclr_el0);
WRITE(pmovsset_el0);
WRITE(pmovsclr_el0);
WRITE(pmselr_el0);
WRITE(pmswinc_el0);
WRITE(pmccntr_el0);
WRITE(pmccfiltr_el0);
WRITE(pmxevtyper_el0);
WRITE(pmxevcntr_el0);
WRITE(pmuserenr_el0);
WRITE(pmevcntr0_el0);
WRITE(pmevtyper0_el0);
WRITE(pmintenset_el1);
WRITE(pmceid0_el0);

static void from_el0(void) {
	section("el0");
	off();
	static const struct {
		const char *name;
		const u32 *code;
	} cases[] = {
#define CASE(name) {#name, name}
		CASE(read_pmcr_el0),       CASE(read_pmcntenset_el0),  CASE(read_pmcntenclr_el0), CASE(read_pmovsset_el0),
		CASE(read_pmovsclr_el0),   CASE(read_pmselr_el0),      CASE(read_pmceid0_el0),    CASE(read_pmceid1_el0),
		CASE(read_pmccntr_el0),    CASE(read_pmccfiltr_el0),   CASE(read_pmxevtyper_el0), CASE(read_pmxevcntr_el0),
		CASE(read_pmuserenr_el0),  CASE(read_pmevcntr0_el0),   CASE(read_pmevtyper0_el0), CASE(read_pmintenset_el1),
		CASE(read_pmswinc_el0),    CASE(write_pmcr_el0),       CASE(write_pmcntenset_el0), CASE(write_pmcntenclr_el0),
		CASE(write_pmovsset_el0),  CASE(write_pmovsclr_el0),   CASE(write_pmselr_el0),    CASE(write_pmswinc_el0),
		CASE(write_pmccntr_el0),   CASE(write_pmccfiltr_el0),  CASE(write_pmxevtyper_el0), CASE(write_pmxevcntr_el0),
		CASE(write_pmuserenr_el0), CASE(write_pmevcntr0_el0),  CASE(write_pmevtyper0_el0), CASE(write_pmintenset_el1),
		CASE(write_pmceid0_el0),
	};
	for (u64 user = 0; user < 16; user++) {
		subsection_hex("user ", user);
		for (u32 n = 0; n < sizeof cases / sizeof *cases; n++) {
			off();
			write_sysreg(pmuserenr_el0, user);
			isb();
			test(cases[n].name, cases[n].code, EL0T, 0, 0, 0, 0);
		}
	}
	subsection("");
	off();
	for (u32 n = 0; n < sizeof cases / sizeof *cases; n++) {
		off();
		test(cases[n].name, cases[n].code, EL1H, 0, 0, 0, 0);
	}
}

static void software(void) {
	section("software");
	static const u64 filters[] = {0, FILTER_EL0, FILTER_EL1};
	for (u32 n = 0; n < sizeof filters / sizeof *filters; n++) {
		for (u64 on = 0; on < 4; on++) {
			off();
			write_sysreg(pmevtyper0_el0, SW_INCR | filters[n]);
			write_sysreg(pmevtyper1_el0, SW_INCR);
			write_sysreg(pmevcntr0_el0, 0xfffffffe);
			write_sysreg(pmevcntr1_el0, 5);
			write_sysreg(pmcntenset_el0, on & 1 ? 3 : 2);
			write_sysreg(pmcr_el0, on >> 1);
			write_sysreg(pmuserenr_el0, 2);
			isb();
			out_name("increment");
			out_field("filter", filters[n]);
			out_field("on", on);
			for (u32 k = 0; k < 3; k++) {
				write_sysreg(pmswinc_el0, 1);
				isb();
				out_field("count", read_sysreg(pmevcntr0_el0) & 0xffffffff);
				out_field("overflow", read_sysreg(pmovsset_el0));
			}
			run4(write_pmswinc_el0, EL0T, 0, 3, 0, 0);
			out_field("user", read_sysreg(pmevcntr0_el0) & 0xffffffff);
			out_field("other", read_sysreg(pmevcntr1_el0));
			out_line();
		}
	}
}

/* The instructions from the one read to the other. */
#define BETWEEN(counter, body)                                                                                         \
	({                                                                                                             \
		u64 first_, second_;                                                                                   \
		asm volatile("isb\n mrs %0, " counter "\n" body "\n mrs %1, " counter                                   \
			     : "=&r"(first_), "=&r"(second_)::"x9", "cc", "memory");                                     \
		second_ - first_;                                                                                       \
	})
#define LOOP "mov x9, #50\n 1: subs x9, x9, #1\n b.ne 1b"

CODE(loop, LOOP "\n mov x0, xzr");

static void counting(void) {
	section("count");
	off();
	write_sysreg(pmevtyper0_el0, INST_RETIRED);
	write_sysreg(pmcntenset_el0, CYCLES | 1);
	write_sysreg(pmcr_el0, E);
	isb();
	out_value("cycles of nothing", BETWEEN("pmccntr_el0", ""));
	out_value("cycles of nops", BETWEEN("pmccntr_el0", "nop\n nop\n nop"));
	out_value("cycles of a loop", BETWEEN("pmccntr_el0", LOOP));
	out_value("instructions of nothing", BETWEEN("pmevcntr0_el0", ""));
	out_value("instructions of nops", BETWEEN("pmevcntr0_el0", "nop\n nop\n nop\n isb"));
	out_value("instructions of a loop", BETWEEN("pmevcntr0_el0", LOOP));
	/* Off, it stands still. */
	write_sysreg(pmcntenclr_el0, 1);
	isb();
	out_value("off", BETWEEN("pmevcntr0_el0", LOOP));
	write_sysreg(pmcntenset_el0, 1);
	write_sysreg(pmcr_el0, 0);
	isb();
	out_value("all off", BETWEEN("pmevcntr0_el0", LOOP));
	out_value("cycles off", BETWEEN("pmccntr_el0", LOOP));
	/* Levels: the case is 105 instructions with its SVC; what brings it about is at EL1. */
	static const u64 filters[] = {FILTER_EL1, FILTER_EL0 | FILTER_EL1, FILTER_EL0, 0};
	for (u32 n = 0; n < sizeof filters / sizeof *filters; n++) {
		off();
		write_sysreg(pmevtyper0_el0, INST_RETIRED | filters[n]);
		write_sysreg(pmevtyper1_el0, INST_RETIRED | FILTER_EL0);
		write_sysreg(pmcntenset_el0, 3);
		write_sysreg(pmcr_el0, E);
		isb();
		run4(loop, EL0T, 0, 0, 0, 0);
		write_sysreg(pmcr_el0, 0);
		isb();
		u64 count = read_sysreg(pmevcntr0_el0), at_el1 = read_sysreg(pmevcntr1_el0);
		out_name("filter");
		out_field("filter", filters[n]);
		/* Together with what EL1 did where that is counted. */
		out_field("count", filters[n] & FILTER_EL1 ? count : count - at_el1);
		out_line();
	}
	/* What the cycle counter's filter keeps out. */
	off();
	write_sysreg(pmccfiltr_el0, FILTER_EL1);
	write_sysreg(pmcntenset_el0, CYCLES);
	write_sysreg(pmcr_el0, E);
	isb();
	out_value("cycles, not of EL1", BETWEEN("pmccntr_el0", LOOP));
	off();
}

static void overflow(void) {
	section("overflow");
	gic_reset();
	store32(GICR_ISENABLER0, 1u << PMU_PPI);
	for (u64 on = 0; on < 8; on++) {
		off();
		write_sysreg(pmevtyper0_el0, INST_RETIRED);
		write_sysreg(pmevcntr0_el0, 0xffffffff - 1000);
		write_sysreg(pmcntenset_el0, 1);
		write_sysreg(pmintenset_el1, on & 1);
		write_sysreg(pmcr_el0, on >> 1 & 1);
		isb();
		out_name("instructions");
		out_field("on", on);
		for (u32 n = 0; n < 200; n++)
			asm volatile("nop");
		out_field("early", read_sysreg(pmovsset_el0));
		out_field("count", read_sysreg(pmevcntr0_el0) - (0xffffffff - 1000) < 1000);
		for (u32 n = 0; n < 3000; n++)
			asm volatile("nop");
		out_field("over", (u32)read_sysreg(pmevcntr0_el0) < 0x10000000);
		out_field("overflow", read_sysreg(pmovsset_el0));
		gic_wait();
		out_field("pending", load32(GICR_ISPENDR0));
		if (on & 4) {
			/* Enabled only after it. */
			write_sysreg(pmintenset_el1, 1);
			isb();
			gic_wait();
			out_field("later", load32(GICR_ISPENDR0));
		}
		write_sysreg(pmcr_el0, 0);
		isb();
		gic_wait();
		out_line();
		out_name("control off");
		out_field("on", on);
		out_field("pending", load32(GICR_ISPENDR0));
		write_sysreg(pmcr_el0, E);
		write_sysreg(pmovsclr_el0, 1);
		isb();
		gic_wait();
		out_field("cleared", load32(GICR_ISPENDR0));
		out_line();
	}
	/* Set by hand. */
	off();
	write_sysreg(pmcr_el0, E);
	write_sysreg(pmintenset_el1, CYCLES);
	write_sysreg(pmovsset_el0, CYCLES | 1);
	isb();
	gic_wait();
	out_value("set", load32(GICR_ISPENDR0));
	out_value("acknowledged", read_sysreg(ICC_IAR1));
	write_sysreg(pmovsclr_el0, 1);
	isb();
	gic_wait();
	out_value("another cleared", load32(GICR_ISPENDR0));
	write_sysreg(pmovsclr_el0, CYCLES);
	isb();
	gic_wait();
	out_value("cleared", load32(GICR_ISPENDR0));
	write_sysreg(ICC_EOIR1, PMU_PPI);
	isb();
	/* The cycle counter. */
	write_sysreg(pmccntr_el0, -500ul);
	write_sysreg(pmcr_el0, E | 1ul << 6);
	write_sysreg(pmcntenset_el0, CYCLES);
	isb();
	for (u32 n = 0; n < 1000; n++)
		asm volatile("nop");
	out_value("cycles", read_sysreg(pmovsset_el0));
	out_value("cycles are few", read_sysreg(pmccntr_el0) < 100000);
	gic_wait();
	out_value("cycles pending", load32(GICR_ISPENDR0));
	off();
}

int main(void) {
	registers();
	from_el0();
	software();
	counting();
	overflow();
	return 0;
}
