/* The whole space of system registers and system instructions: what each encoding does at EL0 and EL1. */
#include "sweep.h"

int main(void) {
	gic_reset();
	write_sysreg(ICC_IGRPEN0, 0);
	write_sysreg(ICC_IGRPEN1, 0);
	upper_new(12, 25, 0);
	code = upper_base();
	*(volatile u64 *)upper_slot(code, 3) = CODE_PA | NORMAL | AF | AP(3) | PAGE;
	tlb_flush();
	sweep("mrs el1, debug", 2, EL1H, 0);
	sweep("mrs el1", 3, EL1H, 0);
	sweep("mrs el0, debug", 2, EL0T, 0);
	sweep("mrs el0", 3, EL0T, 0);
	sweep("msr el0, debug", 2, EL0T, 1);
	sweep("msr el0", 3, EL0T, 1);
	sweep("msr el1, debug", 2, EL1H, 1);
	sweep("msr el1", 3, EL1H, 1);
	sweep("sys el0", 1, EL0T, 0);
	sweep("sys el1", 1, EL1H, 0);
	sweep("op0 0 el0", 0, EL0T, 0);
	sweep("op0 0 el1", 0, EL1H, 0);
	return 0;
}
