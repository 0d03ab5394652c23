/* Four CPUs at EL2: PSCI by SMC, the state that CPUs start in, TLB maintenance that all of them see. CPU 0 alone prints. */
#include "el2.h"
#include "probe.h"

#define CPUS 4
#define SYSTEM_CPU_ON 0xc4000003ul
#define AFFINITY_INFO 0xc4000004ul

void secondary_main(void);
void secondary_start(void);

/* Who is there, what they are to do, what they saw. */
static volatile u64 state[CPUS], order[CPUS], seen[CPUS];
static __attribute__((aligned(16))) u8 stacks[CPUS][4096];

#define VA 0x61000000ul
enum { READ = 1, STOP };

CODE(version, "smc #0");
CODE(by_hvc, "hvc #0");

void secondary_main(void) {
	u64 index = read_sysreg(mpidr_el1) & 0xff;
	state[index] = read_sysreg(daif) | read_sysreg(CurrentEL) | read_sysreg(SPSel);
	asm volatile("dsb sy\n sev" ::: "memory");
	for (u64 done = 0;;) {
		while (order[index] >> 8 == done)
			asm volatile("wfe");
		u64 what = order[index];
		if ((what & 0xff) == STOP)
			psci(0x84000002, 0, 0, 0);
		seen[index] = load64(VA);
		done = what >> 8;
		order[index] = what | 0x80;
		asm volatile("dsb sy\n sev" ::: "memory");
	}
}

static void tell(u64 index, u64 number, u64 what) {
	order[index] = number << 8 | what;
	asm volatile("dsb sy\n sev" ::: "memory");
}

static void all_read(u64 number) {
	for (u64 n = 1; n < CPUS; n++)
		tell(n, number, READ);
	for (u64 n = 1; n < CPUS; n++) {
		while (!(order[n] & 0x80))
			asm volatile("wfe");
		out_value("sees", seen[n]);
	}
}

int main(void) {
	section("psci");
	out_value("version", psci(0x84000000, 0, 0, 0));
	out_value("features, CPU_ON", psci(0x8400000a, SYSTEM_CPU_ON, 0, 0));
	out_value("unknown", psci(0x8400ffff, 0, 0, 0));
	for (u64 n = 0; n < CPUS + 1; n++)
		out_value("AFFINITY_INFO", psci(AFFINITY_INFO, n, 0, 0));
	test_hcr("from el1", 0, version, EL1H, 0x84000000, 0, 0, 0);
	test_hcr("from el1, TSC", HCR_TSC, version, EL1H, 0x84000000, 0, 0, 0);
	test_hcr("from el0", 0, version, EL0T, 0x84000000, 0, 0, 0);
	test_hcr("by hvc, from el1", 0, by_hvc, EL1H, 0x84000000, 0, 0, 0);
	test_hcr("by hvc, from el2", 0, by_hvc, EL2H, 0x84000000, 0, 0, 0);

	*regime2_slot(VA) = TARGET | BLOCK | KERNEL_RW | SH_INNER;
	store64(TARGET, 0x1111);
	store64(TARGET + 0x200000, 0x2222);
	asm volatile("dsb ish\n tlbi alle2is\n dsb ish\n isb" ::: "memory");
	for (u64 n = 1; n < CPUS; n++) {
		out_value("CPU_ON", psci(SYSTEM_CPU_ON, n, (u64)secondary_start, (u64)stacks[n] + sizeof stacks[n]));
		while (!state[n])
			asm volatile("wfe");
		out_value("state", state[n]);
		out_value("AFFINITY_INFO", psci(AFFINITY_INFO, n, 0, 0));
	}
	section("tlbi");
	all_read(1);
	for (u64 n = 0; n < 4; n++) {
		*regime2_slot(VA) = (TARGET + (n & 1 ? 0 : 0x200000)) | BLOCK | KERNEL_RW | SH_INNER;
		if (n < 2)
			asm volatile("dsb ish\n tlbi alle2is\n dsb ish\n isb" ::: "memory");
		else
			asm volatile("dsb ish\n tlbi vae2is, %0\n dsb ish\n isb" ::"r"(VA >> 12) : "memory");
		all_read(n + 2);
	}
	section("off");
	for (u64 n = 1; n < CPUS; n++) {
		tell(n, 100, STOP);
		while (psci(AFFINITY_INFO, n, 0, 0) != 1)
			asm volatile("yield");
		out_value("AFFINITY_INFO", psci(AFFINITY_INFO, n, 0, 0));
	}
	return 0;
}
