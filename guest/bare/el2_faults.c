/* Stage 2 faults: what EL2 is told of the access, the address and the walk. */
#include "el2.h"
#include "probe.h"

/* An intermediate address that nothing else uses, above RAM. */
#define IPA 0x60000000ul

CODE(nothing, "nop");
CODE(level_of, "mrs x0, CurrentEL");
CODE(call, "hvc #0x1234");

static const struct {
	const char *name;
	u64 spsr;
} levels[] = {{"el0", EL0T}, {"el1", EL1H}};

int main(void) {
	stage2_plain();
	for (u32 n = 0; n < 2; n++) {
		section(levels[n].name);
		test_hcr("mapped", HCR_VM, probe_ldr, levels[n].spsr, (u64)user_data, 0, 0, 0);
		test_hcr("off", 0, probe_ldr, levels[n].spsr, IPA, 0, 0, 0);
		test_hcr("unmapped", HCR_VM, probe_ldr, levels[n].spsr, IPA, 0, 0, 0);
	}
	section("levels");
	test2("el2h", 0, level_of, EL2H);
	test2("el2t", 0, level_of, EL2T);
	test2("el1h", 0, level_of, EL1H);
	test2("hvc from el1", 0, call, EL1H);
	test2("hvc from el1, disabled", HCR_HCD, call, EL1H);
	test2("el1 under TGE", HCR_TGE, level_of, EL1H);
	test2("el0 under TGE", HCR_TGE, nothing, EL0T);
	test2("unmapped by nobody", HCR_TGE, probe_ldr, EL0T);
	if (cpu.vhe) {
		test2("el2h, E2H", HCR_E2H, level_of, EL2H);
		test2("el1h, E2H", HCR_E2H, level_of, EL1H);
		test2("el0, E2H and TGE", HCR_E2H | HCR_TGE, nothing, EL0T);
		test_hcr("user data, E2H and TGE", HCR_E2H | HCR_TGE, probe_ldr, EL0T, (u64)user_data, 0, 0, 0);
		test_hcr("kernel data, E2H and TGE", HCR_E2H | HCR_TGE, probe_ldr, EL0T, (u64)kernel_data, 0, 0, 0);
	}
	return 0;
}
