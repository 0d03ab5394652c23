/* Four CPUs: PSCI, SGIs, locks, broadcast TLB maintenance. CPU 0 alone prints. */
#include "gic.h"
#include "probe.h"

#define CPUS 4
#define SYSTEM_CPU_ON 0xc4000003ul
#define AFFINITY_INFO 0xc4000004ul

void secondary_main(void);
void secondary_start(void);

static volatile u64 online[CPUS], heard[CPUS][16], results[CPUS], go, counter, lock_word, stop;
static __attribute__((aligned(16))) u8 stacks[CPUS][4096];

static u64 my_index(void) { return read_sysreg(mpidr_el1) & 0xff; }

static void init_interface(u64 index) {
	u64 base = GICR + index * 0x20000;
	store32(base + 0x14, 0);
	while (load32(base + 0x14) & 4)
		;
	store32(base + 0x10080, ~0u);
	store32(base + 0x10180, ~0u);
	store32(base + 0x10280, ~0u);
	for (u32 n = 0; n < 32; n++)
		store8(base + 0x10400 + n, 0x80);
	store32(base + 0x10100, 0xffff);
	dsb();
	write_sysreg(ICC_SRE, 7);
	isb();
	write_sysreg(ICC_CTLR, 0);
	write_sysreg(ICC_PMR, 0xff);
	write_sysreg(ICC_IGRPEN1, 1);
	isb();
}

/* A lock by exclusives, and what it protects. */
static void add(u64 times) {
	for (u64 n = 0; n < times; n++) {
		u64 tmp, failed;
		asm volatile("1:	ldaxr	%0, [%2]\n"
			     "	cbnz	%0, 1b\n"
			     "	stxr	%w1, %3, [%2]\n"
			     "	cbnz	%w1, 1b\n"
			     : "=&r"(tmp), "=&r"(failed)
			     : "r"(&lock_word), "r"(1ul)
			     : "memory");
		counter = counter + 1;
		asm volatile("stlr xzr, [%0]" ::"r"(&lock_word) : "memory");
	}
}

/* Takes SGIs until it is told to stop: SGI 1 adds, SGI 2 reads the page, SGI 3 goes on to the next CPU. */
static void serve(u64 index) {
	for (;;) {
		asm volatile("wfi");
		for (;;) {
			u64 intid = read_sysreg(ICC_IAR1);
			isb();
			if (intid >= 16)
				break;
			write_sysreg(ICC_EOIR1, intid);
			isb();
			if (intid == 1)
				add(1000);
			if (intid == 2)
				results[index] = *(volatile u64 *)target_va(3);
			if (intid == 3 && index + 1 < CPUS)
				write_sysreg(ICC_SGI1R, 3ul << 24 | 1ul << (index + 1));
			dsb();
			heard[index][intid]++;
			dsb();
			asm volatile("sev");
			if (intid == 4) {
				psci(0x84000002, 0, 0, 0); /* CPU_OFF */
				return;
			}
		}
	}
}

void secondary_main(void) {
	u64 index = my_index();
	write_sysreg(mair_el1, MAIR);
	write_sysreg(ttbr0_el1, results[0]);
	write_sysreg(ttbr1_el1, upper.tables.root);
	write_sysreg(tcr_el1, results[1]);
	isb();
	tlb_flush();
	set_sctlr(SCTLR_ON);
	init_interface(index);
	online[index] = read_sysreg(CurrentEL) | read_sysreg(daif) | 1;
	dsb();
	asm volatile("sev");
	serve(index);
}

static void wait(volatile u64 *word, u64 value) {
	while (*word != value)
		asm volatile("wfe");
}

static u64 cpu_on(u64 index) {
	return psci(SYSTEM_CPU_ON, index, (u64)secondary_start, (u64)stacks[index] + sizeof stacks[index]);
}

int main(void) {
	section("psci");
	out_value("version", psci(0x84000000, 0, 0, 0));
	out_value("features, CPU_ON", psci(0x8400000a, SYSTEM_CPU_ON, 0, 0));
	out_value("features, unknown", psci(0x8400000a, 0x8400ffff, 0, 0));
	out_value("unknown", psci(0x8400ffff, 0, 0, 0));
	out_value("CPU_ON, itself", psci(SYSTEM_CPU_ON, 0, (u64)secondary_start, 0));
	out_value("CPU_ON, nobody", psci(SYSTEM_CPU_ON, 9, (u64)secondary_start, 0));
	for (u64 n = 0; n < CPUS + 1; n++)
		out_value("AFFINITY_INFO", psci(AFFINITY_INFO, n, 0, 0));
	out_value("migrate info", psci(0x84000006, 0, 0, 0));

	gic_reset();
	init_interface(0);
	target_reset();
	upper_new(12, 25, 0);
	volatile u64 *slot = upper_slot(target_va(3), 3);
	*slot = TARGET | NORMAL | SH_INNER | AF | AP(1) | PAGE;
	results[0] = read_sysreg(ttbr0_el1);
	results[1] = read_sysreg(tcr_el1);
	dsb();
	for (u64 n = 1; n < CPUS; n++) {
		out_value("CPU_ON", cpu_on(n));
		wait(&online[n], 0x3c5);
		out_value("state", online[n]);
		out_value("AFFINITY_INFO", psci(AFFINITY_INFO, n, 0, 0));
		out_value("CPU_ON again", cpu_on(n));
	}
	section("sgi");
	/* All others at once, and itself: 4000 increments under the lock. */
	write_sysreg(ICC_SGI1R, 1ul << 24 | 1ul << 40);
	add(1000);
	for (u64 n = 1; n < CPUS; n++)
		wait(&heard[n][1], 1);
	out_value("counter", counter);
	/* Handed on from one to the next. */
	for (u64 round = 1; round <= 10; round++) {
		write_sysreg(ICC_SGI1R, 3ul << 24 | 2);
		wait(&heard[CPUS - 1][3], round);
	}
	for (u64 n = 1; n < CPUS; n++)
		out_value("handed on", heard[n][3]);
	/* By list. */
	write_sysreg(ICC_SGI1R, 5ul << 24 | 0xa);
	wait(&heard[1][5], 1);
	wait(&heard[3][5], 1);
	out_value("not in the list", heard[2][5]);

	section("tlbi");
	for (u64 n = 0; n < 4; n++) {
		store64(TARGET + 0x1000 * n, 0x100 + n);
		*slot = 0;
		dsb();
		asm volatile("tlbi vaae1is, %0\n dsb ish\n isb" ::"r"(target_va(3) >> 12 & 0xfffffffffff) : "memory");
		*slot = (TARGET + 0x1000 * n) | NORMAL | SH_INNER | AF | AP(1) | PAGE;
		dsb();
		write_sysreg(ICC_SGI1R, 2ul << 24 | 1ul << 40);
		for (u64 c = 1; c < CPUS; c++)
			wait(&heard[c][2], n + 1);
		for (u64 c = 1; c < CPUS; c++)
			out_value("sees", results[c]);
	}
	section("off");
	write_sysreg(ICC_SGI1R, 4ul << 24 | 1ul << 40);
	for (u64 n = 1; n < CPUS; n++) {
		wait(&heard[n][4], 1);
		while (psci(AFFINITY_INFO, n, 0, 0) != 1)
			;
		out_value("AFFINITY_INFO", psci(AFFINITY_INFO, n, 0, 0));
	}
	/* And on again. */
	online[2] = 0;
	results[0] = read_sysreg(ttbr0_el1);
	results[1] = read_sysreg(tcr_el1);
	dsb();
	out_value("CPU_ON", cpu_on(2));
	wait(&online[2], 0x3c5);
	write_sysreg(ICC_SGI1R, 1ul << 24 | 4);
	wait(&heard[2][1], 2);
	out_value("counter", counter);
	return 0;
}
