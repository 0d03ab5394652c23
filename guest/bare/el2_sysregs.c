/* The whole space of system registers and system instructions at EL2, with and without E2H, and what EL1 sees of it. */
#include "el2.h"
#include "sweep.h"

int main(void) {
	gic_reset();
	write_sysreg(ICC_IGRPEN0, 0);
	write_sysreg(ICC_IGRPEN1, 0);
	code = 0x60000000;
	*regime2_slot(code) = CODE_PA | BLOCK | NORMAL | AF | AP(3);
	asm volatile("dsb ish\n tlbi alle2\n dsb ish\n isb" ::: "memory");
	sweep("mrs el2, debug", 2, EL2H, 0);
	sweep("mrs el2", 3, EL2H, 0);
	sweep("msr el2, debug", 2, EL2H, 1);
	sweep("msr el2", 3, EL2H, 1);
	sweep("sys el2", 1, EL2H, 0);
	sweep("op0 0 el2", 0, EL2H, 0);
	if (cpu.vhe) {
		case_hcr = HCR_RW | HCR_E2H;
		sweep("mrs el2 E2H", 3, EL2H, 0);
		sweep("msr el2 E2H", 3, EL2H, 1);
		sweep("sys el2 E2H", 1, EL2H, 0);
		case_hcr = HCR_RW | HCR_E2H | HCR_TGE;
		sweep("mrs el0 E2H and TGE", 3, EL0T, 0);
		sweep("msr el0 E2H and TGE", 3, EL0T, 1);
		sweep("sys el0 E2H and TGE", 1, EL0T, 0);
		case_hcr = HCR_RW;
	}
	return 0;
}
