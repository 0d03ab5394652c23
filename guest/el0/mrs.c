/* Four threads read a register of the ID space, all at the same time, from one instruction with a name: for a trace of what
 * the kernel's way of it accesses. Needs as many CPUs. No library. */

#include "call.h"

enum { THREADS = 4, ROUNDS = 1000 };

static volatile u32 begun[THREADS], ended[THREADS];
static void wait_for_all(volatile u32 *flags) {
	for (u32 n = 0; n < THREADS; n++)
		while (!flags[n])
			;
	asm volatile("dmb ish" : : : "memory");
}

static u64 values[THREADS];
static char stacks[THREADS][4096] __attribute__((aligned(16)));

static void __attribute__((used)) work(u32 n) {
	begun[n] = 1;
	wait_for_all(begun);
	u64 value = 0;
	u32 rounds = ROUNDS;
	asm volatile("1:\n.globl at_mrs\nat_mrs: mrs %0, id_aa64isar0_el1\nsubs %w1, %w1, #1\nb.ne 1b"
		     : "+r"(value), "+r"(rounds)
		     :
		     : "cc");
	values[n] = value;
	asm volatile("dmb ish" : : : "memory");
	ended[n] = 1;
}

/* CLONE_VM, _FS, _FILES, _SIGHAND, _THREAD, _SYSVSEM */
static void start(u32 n) {
	register u64 x0 asm("x0") = 0x50f00, x1 asm("x1") = (u64)(stacks[n] + sizeof stacks[n]), x2 asm("x2") = 0,
		     x3 asm("x3") = 0, x4 asm("x4") = 0, x19 asm("x19") = n;
	register long x8 asm("x8") = CLONE;
	asm volatile("svc #0\ncbnz x0, 1f\nmov w0, w19\nbl work\nmov x8, #93\nsvc #0\n1:"
		     : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8), "r"(x19) : "memory", "x30");
}

void begin(void);
void begin(void) {
	for (u32 n = 1; n < THREADS; n++)
		start(n);
	work(0);
	wait_for_all(ended);
	int right = values[0] != 0;
	for (u32 n = 1; n < THREADS; n++)
		right &= values[n] == values[0];
	call(WRITE, 1, (u64)(right ? "mrs: right\n" : "mrs: wrong\n"), 11, 0, 0);
	call(EXIT_GROUP, !right, 0, 0, 0, 0);
}

asm(".globl _start\n_start: bl begin\n");
