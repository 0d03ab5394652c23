/* TLB maintenance under virtual machines: what each instruction must remove. A line tells what is seen afterwards, so that what
 * a TLB may keep does not show. */
#include "el2.h"
#include "probe.h"

#define VA (upper_base() + 0x200000ul)
#define IPA 0x1c0c00000ul
#define OTHER (TARGET + 0x1000)

CODE(load, "ldr x0, [x0]");
CODE(load_and, "ldr x1, [x0]\n dsb ish\n tlbi vmalle1\n dsb ish\n isb\n ldr x0, [x0]");
CODE(by_va, "tlbi vae1, x1\n dsb ish\n isb\n ldr x0, [x0]");
CODE(by_va_is, "tlbi vae1is, x1\n dsb ish\n isb\n ldr x0, [x0]");
CODE(by_vaa, "tlbi vaae1, x1\n dsb ish\n isb\n ldr x0, [x0]");
CODE(by_vale, "tlbi vale1is, x1\n dsb ish\n isb\n ldr x0, [x0]");
CODE(by_asid, "tlbi aside1, x1\n dsb ish\n isb\n ldr x0, [x0]");
CODE(all, "tlbi vmalle1\n dsb ish\n isb\n ldr x0, [x0]");
CODE(all_is, "tlbi vmalle1is\n dsb ish\n isb\n ldr x0, [x0]");

static u64 *first, *second;
/* What a translation that is changed holds before and after. */
static void set_up(u64 stage1_bits) {
	stage2_plain();
	stage2_vmid(3);
	upper_new(12, 25, 0);
	first = upper_slot(VA, 3);
	*first = IPA | NORMAL | AF | AP(0) | stage1_bits | PAGE;
	second = stage2_slot(IPA, 3);
	*second = TARGET | S2_ALL | PAGE;
	*stage2_slot(IPA + 0x1000, 3) = OTHER | S2_ALL | PAGE;
	store64(TARGET, 0x1111);
	store64(OTHER, 0x2222);
	dsb();
	stage2_flush();
}

static void seen(const char *name) { test_hcr(name, HCR_VM, load, EL1H, VA, 0, 0, 0); }
static void after(const char *name, const u32 *code, u64 x1) { test_hcr(name, HCR_VM, code, EL1H, VA, x1, 0, 0); }

#define EL2_OP(text, operand)                                                                                          \
	asm volatile("dsb ish\n tlbi " text "\n dsb ish\n isb" ::"r"((u64)(operand)) : "memory")

/* EL2 changes stage 2. */
static void stage2_changes(void) {
	static const char *const names[] = {"vmalls12e1", "vmalls12e1is", "alle1", "alle1is", "ipas2e1 and vmalle1",
					    "ipas2le1is and vmalle1is"};
	for (u32 n = 0; n < 6; n++)
		for (u32 change = 0; change < 3; change++) {
			set_up(0);
			section("stage 2");
			subsection(names[n]);
			subsection_hex("", change);
			seen("before");
			*second = change == 0 ? 0 : change == 1 ? OTHER | S2_ALL | PAGE : (TARGET | S2_ALL | PAGE) & ~S2AP_R;
			switch (n) {
			case 0: EL2_OP("vmalls12e1", 0); break;
			case 1: EL2_OP("vmalls12e1is", 0); break;
			case 2: EL2_OP("alle1", 0); break;
			case 3: EL2_OP("alle1is", 0); break;
			case 4: EL2_OP("ipas2e1, %0\n dsb ish\n tlbi vmalle1", IPA >> 12); break;
			case 5: EL2_OP("ipas2le1is, %0\n dsb ish\n tlbi vmalle1is", IPA >> 12); break;
			}
			seen("after");
		}
	/* The table of stage 1 moves at stage 2. */
	for (u32 n = 0; n < 2; n++) {
		set_up(0);
		u64 table = (u64)first & ~4095ul, copy = TARGET + 0x2000;
		for (u64 m = 0; m < 512; m++)
			store64(copy + 8 * m, load64(table + 8 * m));
		store64(copy + ((u64)first & 4095), (IPA + 0x1000) | NORMAL | AF | AP(0) | PAGE);
		*upper_slot(VA, 2) = (IPA + 0x2000) | TABLE;
		u64 *slot = stage2_slot(IPA + 0x2000, 3);
		*slot = table | S2_ALL | PAGE;
		stage2_flush();
		section("walk");
		seen("before");
		*slot = copy | S2_ALL | PAGE;
		if (n)
			EL2_OP("vmalls12e1", 0);
		else
			EL2_OP("ipas2e1, %0\n dsb ish\n tlbi vmalle1", (IPA + 0x2000) >> 12);
		seen(n ? "vmalls12e1" : "ipas2e1 and vmalle1");
	}
}

/* EL1 changes stage 1; so does EL2 for it. */
static void stage1_changes(void) {
	static const struct {
		const char *name;
		const u32 *code;
		u64 x1;
	} by_el1[] = {
		{"vae1", by_va, 0},	   {"vae1is", by_va_is, 0}, {"vaae1", by_vaa, 0},   {"vale1is", by_vale, 0},
		{"aside1", by_asid, 1},  {"vmalle1", all, 0},     {"vmalle1is", all_is, 0},
	};
	for (u32 fb = 0; fb < 2; fb++)
		for (u32 n = 0; n < sizeof by_el1 / sizeof *by_el1; n++)
			for (u32 global = 0; global < 2; global++) {
				if (global && by_el1[n].x1)
					continue;
				set_up(global ? 0 : NG);
				section("stage 1");
				subsection(fb ? "FB" : "-");
				subsection(global ? "global" : "of an ASID");
				seen("before");
				*first = (IPA + 0x1000) | NORMAL | AF | AP(0) | (global ? 0 : NG) | PAGE;
				u64 operand = by_el1[n].x1 ? 0 : VA >> 12 & ((1ul << 44) - 1);
				u64 before = case_hcr;
				dsb();
				test_hcr(by_el1[n].name, HCR_VM | (fb ? HCR_FB : 0), by_el1[n].code, EL1H, VA, operand, 0, 0);
				case_hcr = before;
			}
	static const char *const names[] = {"vmalle1", "vmalls12e1", "vae1", "aside1", "vaae1is", "alle1"};
	for (u32 n = 0; n < 6; n++) {
		set_up(NG);
		section("stage 1 by el2");
		seen("before");
		*first = (IPA + 0x1000) | NORMAL | AF | AP(0) | NG | PAGE;
		u64 page = VA >> 12 & ((1ul << 44) - 1);
		switch (n) {
		case 0: EL2_OP("vmalle1", 0); break;
		case 1: EL2_OP("vmalls12e1", 0); break;
		case 2: EL2_OP("vae1, %0", page); break;
		case 3: EL2_OP("aside1, %0", 0); break;
		case 4: EL2_OP("vaae1is, %0", page); break;
		case 5: EL2_OP("alle1", 0); break;
		}
		seen(names[n]);
	}
}

/* Two virtual machines see two memories through the same addresses, without maintenance between. */
static void vmids(void) {
	static const u64 ids[] = {1, 2, 0xff, 0x100, 0x101, 0xffff};
	u64 sixteen = field(read_sysreg(id_aa64mmfr1_el1), 4, 4) == 2;
	for (u64 vs = 0; vs <= sixteen; vs++)
		for (u32 a = 0; a < 6; a++)
			for (u32 b = 0; b < 6; b++) {
				if (a == b || (!vs && (ids[a] > 255 || ids[b] > 255)))
					continue;
				u32 bits = cpu.pa_range >= 2 ? 40 : 36;
				stage2_new(12, 64 - bits, 1, vs << 19);
				stage2_identity();
				upper_new(12, 25, 0);
				*upper_slot(VA, 3) = IPA | NORMAL | AF | AP(0) | PAGE;
				second = stage2_slot(IPA, 3);
				*second = TARGET | S2_ALL | PAGE;
				store64(TARGET, 0x1111);
				store64(OTHER, 0x2222);
				/* The other's tables differ in one page: the upper levels are its own. */
				u64 root = stage2.tables.root, level2 = *stage2_slot(IPA, 1) & 0xfffffffff000, level3 = (u64)second & ~4095ul;
				u64 copy = 0x43000000;
				for (u64 n = 0; n < 512; n++) {
					store64(copy + 8 * n, load64(root + 8 * n));
					store64(copy + 0x1000 + 8 * n, load64(root + 0x1000 + 8 * n));
					store64(copy + 0x2000 + 8 * n, load64(level2 + 8 * n));
					store64(copy + 0x3000 + 8 * n, load64(level3 + 8 * n));
				}
				store64(copy + ((u64)stage2_slot(IPA, 1) - root), (copy + 0x2000) | TABLE);
				store64(copy + 0x2000 + ((u64)stage2_slot(IPA, 2) - level2), (copy + 0x3000) | TABLE);
				store64(copy + 0x3000 + ((u64)second - level3), OTHER | S2_ALL | PAGE);
				stage2_flush();
				section("VMID");
				subsection_hex("", vs);
				subsection_hex("", ids[a]);
				subsection_hex("", ids[b]);
				u32 mark = section_mark();
				for (u32 turn = 0; turn < 2; turn++) {
					stage2_vmid(ids[a]);
					subsection_hex("", turn);
					seen("first");
					write_sysreg(vttbr_el2, copy | ids[b] << 48);
					isb();
					seen("second");
					section_back(mark);
				}
				stage2_vmid(0);
			}
}

/* EL2's own regimes. */
CODE(load2, "ldr x0, [x0]");
static void own(void) {
	static const char *const names[] = {"alle2", "alle2is", "vae2", "vae2is", "vale2"};
	for (u32 n = 0; n < 5; n++) {
		u64 va = 0x61000000;
		*regime2_slot(va) = TARGET | BLOCK | KERNEL_RW;
		store64(TARGET, 0x1111);
		store64(TARGET + 0x200000, 0x2222);
		EL2_OP("alle2", 0);
		section("own");
		test_hcr("before", 0, load2, EL2H, va, 0, 0, 0);
		*regime2_slot(va) = (TARGET + 0x200000) | BLOCK | KERNEL_RW;
		switch (n) {
		case 0: EL2_OP("alle2", 0); break;
		case 1: EL2_OP("alle2is", 0); break;
		case 2: EL2_OP("vae2, %0", va >> 12); break;
		case 3: EL2_OP("vae2is, %0", va >> 12); break;
		case 4: EL2_OP("vale2, %0", va >> 12); break;
		}
		test_hcr(names[n], 0, load2, EL2H, va, 0, 0, 0);
	}
	if (!cpu.vhe)
		return;
	/* EL1's instructions act on EL2&0 for a host. */
	static const struct {
		const char *name;
		const u32 *code;
		u64 x1;
	} cases[] = {{"vae1", by_va, 0x61000000 >> 12}, {"vaae1", by_vaa, 0x61000000 >> 12}, {"vmalle1", all, 0}, {"vmalle1is", all_is, 0}};
	for (u32 n = 0; n < 4; n++) {
		u64 va = 0x61000000;
		*regime2_slot(va) = TARGET | BLOCK | KERNEL_RW;
		dsb();
		case_hcr = HCR_RW | HCR_E2H | HCR_TGE;
		run4(all, EL2H, va, 0, 0, 0);
		case_hcr = HCR_RW;
		section("host");
		test_hcr("before", HCR_E2H | HCR_TGE, load2, EL2H, va, 0, 0, 0);
		*regime2_slot(va) = (TARGET + 0x200000) | BLOCK | KERNEL_RW;
		dsb();
		test_hcr(cases[n].name, HCR_E2H | HCR_TGE, cases[n].code, EL2H, va, cases[n].x1, 0, 0);
	}
}

int main(void) {
	stage2_changes();
	stage1_changes();
	vmids();
	own();
	return 0;
}
