/* Stage 2: geometry, memory attributes of both stages, hardware updates, and AT at EL2. */
#include "el2.h"
#include "probe.h"

#define at(op, va, hcr)                                                                                                \
	({                                                                                                             \
		write_sysreg(hcr_el2, HCR_RW | (hcr));                                                                 \
		isb();                                                                                                 \
		asm volatile("at " op ", %0\n isb" ::"r"(va) : "memory");                                              \
		u64 par_ = read_sysreg(par_el1);                                                                       \
		write_sysreg(hcr_el2, HCR_RW);                                                                         \
		isb();                                                                                                 \
		par_;                                                                                                  \
	})

static void out_at(const char *name, u64 par) {
	out_name(name);
	out_field("par", par);
	out_line();
}

/* Stage 2 alone: EL1's stage 1 is off. */
static void geometry(void) {
	static const struct {
		u32 page_bits, bits;
		int start;
	} shapes[] = {
		{12, 40, 1}, {12, 39, 1}, {12, 36, 1}, {12, 32, 1}, {12, 31, 1}, {12, 30, 2}, {12, 34, 2}, {12, 35, 2}, {12, 33, 2},
		{12, 48, 0}, {12, 44, 0}, {12, 43, 1}, {12, 42, 1}, {12, 25, 2},
		{14, 40, 1}, {14, 40, 2}, {14, 39, 2}, {14, 36, 2}, {14, 36, 1}, {14, 32, 2}, {14, 29, 3}, {14, 25, 3}, {14, 47, 1},
		{16, 40, 2}, {16, 42, 2}, {16, 44, 1}, {16, 40, 1}, {16, 36, 2}, {16, 33, 3}, {16, 32, 2}, {16, 32, 3}, {16, 29, 3},
		{16, 48, 1},
	};
	u64 before = read_sysreg(sctlr_el1);
	write_sysreg(sctlr_el1, before & ~SCTLR_M);
	static const u32 pa_bits[] = {32, 36, 40, 42, 44, 48, 52};
	for (u32 n = 0; n < sizeof shapes / sizeof *shapes; n++) {
		u32 bits = shapes[n].bits;
		if (!has_granule(shapes[n].page_bits) || bits > pa_bits[cpu.pa_range])
			continue;
		section("shape");
		subsection_hex("", shapes[n].page_bits);
		subsection_hex("", bits);
		subsection_hex("", (u64)shapes[n].start);
		u32 mark = section_mark();
		u64 last = (1ul << bits) - (1ul << shapes[n].page_bits);
		u64 others[] = {last, last ^ 1ul << (bits - 1), last ^ 1ul << (bits - 2), 0, 1ul << (bits - 1)};
		for (int block = 0; block < 3; block++) {
			int level = 3 - block;
			if (level < shapes[n].start || (block == 2 && shapes[n].page_bits != 12))
				continue;
			stage2_new(shapes[n].page_bits, 64 - bits, shapes[n].start, 0);
			/* Not a shape that it has: no more than the tables of one page are read. */
			stage2_map(last, TARGET, level, S2_ALL);
			stage2_flush();
			section_back(mark);
			subsection_hex("level ", (u64)level);
			for (u32 m = 0; m < sizeof others / sizeof *others; m++) {
				u32 inner = section_mark();
				subsection_hex("", others[m]);
				out_at("at", at("s12e1r", others[m], HCR_VM));
				section_back(inner);
			}
			out_at("beyond", at("s12e1r", 1ul << bits, HCR_VM));
		}
	}
	/* Fields that do not fit one another. */
	section("unfit");
	u32 mark = section_mark();
	for (u32 sl0 = 0; sl0 < 4; sl0++) {
		for (u32 tsz = 15; tsz < 44; tsz += 2) {
			stage2_new(12, 24, 1, 0);
			stage2_map(0x1000, TARGET, 3, S2_ALL);
			write_sysreg(vtcr_el2, (stage2.vtcr & ~(0xfful)) | tsz | sl0 << 6);
			section_back(mark);
			subsection_hex("SL0 ", sl0);
			subsection_hex("T0SZ ", tsz);
			isb();
			stage2_flush();
			out_at("at", at("s12e1r", 0x200000000ul, HCR_VM));
		}
	}
	write_sysreg(sctlr_el1, before);
}

#define VA (upper_base() + 0x200000ul)
#define IPA 0x1c0c00000ul

static const u8 types[] = {0xff, 0xbb, 0x44, 0x00, 0x04, 0x08, 0x0c, 0x4f, 0xf4, 0x77, 0xee, 0x5a};

/* Every attribute of stage 1 with every one of stage 2. */
static void attributes(void) {
	static const struct {
		const char *name;
		u64 hcr;
	} settings[] = {
		{"plain", HCR_VM}, {"CD", HCR_VM | HCR_CD}, {"DC", HCR_DC}, {"DC and CD", HCR_DC | HCR_CD},
		{"FWB", HCR_VM | HCR_FWB}, {"FWB and CD", HCR_VM | HCR_FWB | HCR_CD},
	};
	u64 fwb = field(read_sysreg(S3_0_C0_C7_2), 40, 4);
	for (u32 n = 0; n < sizeof settings / sizeof *settings; n++) {
		if (settings[n].hcr & HCR_FWB && !fwb)
			continue;
		stage2_plain();
		upper_new(12, 25, 0);
		for (u32 type = 0; type < sizeof types; type++) {
			u64 mair = read_sysreg(mair_el1);
			write_sysreg(mair_el1, types[type]);
			for (u64 sh = 0; sh < 4; sh += sh == 0 ? 2 : 1) {
				*upper_slot(VA, 3) = IPA | ATTR(0) | AF | sh << 8 | PAGE;
				for (u64 attr = 0; attr < 16; attr++) {
					/* With shareability of both stages where both can have one. */
					u64 sh2 = sh == 0 ? 3 : sh == 2 ? 0 : 2;
					if (sh && types[type] != 0xff && types[type] != 0x44)
						continue;
					*stage2_slot(IPA, 3) = TARGET | S2_ATTR(attr) | S2_RW | AF | sh2 << 8 | PAGE;
					stage2_flush();
					section("attributes");
					subsection(settings[n].name);
					subsection_hex("", types[type]);
					subsection_hex("", attr);
					subsection_hex("SH ", sh);
					out_at("at", at("s12e1r", settings[n].hcr & HCR_DC ? IPA : VA, settings[n].hcr));
				}
			}
			write_sysreg(mair_el1, mair);
		}
	}
}

/* Each AT instruction under each set of rights of the two stages, from EL2 and from EL1. */
int main(void);
static void translations(void) {
	static const u64 first[] = {AP(0), AP(1), AP(2), AP(3), ~0ul};
	static const char *const first_names[] = {"kernel", "user", "kernel read only", "user read only", "invalid"};
	static const u64 second[] = {S2_RW, S2AP_R, S2AP_W, 0, ~0ul};
	static const char *const second_names[] = {"all", "read", "write", "none", "invalid"};
	stage2_plain();
	upper_new(12, 25, 0);
	for (u32 a = 0; a < 5; a++)
		for (u32 b = 0; b < 5; b++) {
			*upper_slot(VA, 3) = first[a] == ~0ul ? 0 : IPA | NORMAL | AF | first[a] | PAGE;
			*stage2_slot(IPA, 3) = second[b] == ~0ul ? 0 : TARGET | S2_NORMAL | AF | second[b] | PAGE;
			stage2_flush();
			section("at");
			subsection(first_names[a]);
			subsection(second_names[b]);
			out_at("s12e1r", at("s12e1r", VA, HCR_VM));
			out_at("s12e1w", at("s12e1w", VA, HCR_VM));
			out_at("s12e0r", at("s12e0r", VA, HCR_VM));
			out_at("s12e0w", at("s12e0w", VA, HCR_VM));
			out_at("s1e1r", at("s1e1r", VA, HCR_VM));
			out_at("s1e1w", at("s1e1w", VA, HCR_VM));
			out_at("s1e0r", at("s1e0r", VA, HCR_VM));
			out_at("s1e0w", at("s1e0w", VA, HCR_VM));
			out_at("s12e1r, stage 2 off", at("s12e1r", VA, 0));
			out_at("s12e0w, stage 2 off", at("s12e0w", VA, 0));
			out_at("s12e1r, TGE", at("s12e1r", IPA, HCR_VM | HCR_TGE));
			out_at("s1e1r, TGE", at("s1e1r", IPA, HCR_VM | HCR_TGE));
			out_at("s12e1r, DC", at("s12e1r", IPA, HCR_DC));
			out_at("s1e1r, DC", at("s1e1r", IPA, HCR_DC));
			if (cpu.vhe) {
				out_at("s12e1r, E2H", at("s12e1r", VA, HCR_VM | HCR_E2H));
				out_at("s1e1r, E2H", at("s1e1r", VA, HCR_VM | HCR_E2H));
			}
		}
	/* The table of stage 1 that stage 2 has not. */
	*upper_slot(VA, 3) = IPA | NORMAL | AF | AP(0) | PAGE;
	*stage2_slot(IPA, 3) = TARGET | S2_ALL | PAGE;
	u64 table = (u64)upper_slot(VA, 3) & ~4095ul;
	for (u32 b = 0; b < 5; b++) {
		*upper_slot(VA, 2) = (IPA + 0x1000) | TABLE;
		*stage2_slot(IPA + 0x1000, 3) = second[b] == ~0ul ? 0 : table | S2_NORMAL | AF | second[b] | PAGE;
		stage2_flush();
		section("at, walk");
		subsection(second_names[b]);
		out_at("s12e1r", at("s12e1r", VA, HCR_VM));
		out_at("s12e1w", at("s12e1w", VA, HCR_VM));
		out_at("s1e1r", at("s1e1r", VA, HCR_VM));
		out_at("s1e0w", at("s1e0w", VA, HCR_VM));
	}
	section("at, EL2's own");
	const u64 own[] = {(u64)kernel_data, (u64)user_data, (u64)main, 0x9000000, 0x80000000, 1ul << 39, ~0ul << 39};
	for (u32 n = 0; n < sizeof own / sizeof *own; n++) {
		u32 mark = section_mark();
		subsection_hex("", n);
		out_at("s1e2r", at("s1e2r", own[n], 0));
		out_at("s1e2w", at("s1e2w", own[n], 0));
		if (cpu.vhe) {
			out_at("s1e2r, E2H", at("s1e2r", own[n], HCR_E2H));
			out_at("s1e1w, E2H and TGE", at("s1e1w", own[n], HCR_E2H | HCR_TGE));
			out_at("s1e0r, E2H and TGE", at("s1e0r", own[n], HCR_E2H | HCR_TGE));
			out_at("s1e0w, E2H and TGE", at("s1e0w", own[n], HCR_E2H | HCR_TGE));
		}
		section_back(mark);
	}
}

CODE(store, "str x1, [x0]\n ldr x2, [x0]");
CODE(load, "ldr x1, [x0]");
CODE(fetch, "ret x0");
CODE(swap, ".inst 0xf8218001\n nop");
CODE(zero, "dc zva, x0");
CODE(at_w, "at s1e1w, x0");

/* VTCR_EL2.HA and HD: what an access leaves in the descriptor. */
static void updates(void) {
	static const struct {
		const char *name;
		const u32 *code;
	} accesses[] = {{"load", load}, {"store", store}, {"fetch", fetch}, {"swap", swap}, {"dc zva", zero}, {"at", at_w}};
	static const u64 starts[] = {S2_RW, S2_RW | AF, S2AP_R, S2AP_R | AF, S2AP_R | DBM, S2AP_R | AF | DBM, DBM, AF | DBM, S2_RW | DBM};
	for (u64 control = 0; control < 3; control++) {
		if (control > cpu.hafdbs)
			continue;
		/* HA, HD. */
		u64 more = control == 0 ? 0 : control == 1 ? 1ul << 21 : 3ul << 21;
		for (u32 n = 0; n < sizeof starts / sizeof *starts; n++)
			for (u32 m = 0; m < sizeof accesses / sizeof *accesses; m++) {
				if (accesses[m].code == swap && !cpu.lse)
					continue;
				u32 bits = cpu.pa_range >= 2 ? 40 : 36;
				stage2_new(12, 64 - bits, 1, more);
				stage2_identity();
				upper_new(12, 25, 0);
				*upper_slot(VA, 3) = IPA | NORMAL | AF | AP(0) | PAGE;
				target_reset();
				u64 *slot = stage2_slot(IPA, 3);
				*slot = TARGET | S2_NORMAL | starts[n] | PAGE;
				stage2_flush();
				section("update");
				subsection_hex("", control);
				subsection_hex("", starts[n]);
				test_hcr(accesses[m].name, HCR_VM, accesses[m].code, EL1H, VA, SVC_TWICE, 0, 0);
				subsection(accesses[m].name);
				out_value("after", *slot);
			}
		/* Stage 1's own updates go through stage 2: HA and HD of TCR_EL1, its table writable or not. */
		if (control == 0)
			continue;
		for (u32 n = 0; n < 6; n++) {
			static const u64 tables[] = {S2_RW | AF, S2AP_R | AF, S2AP_R | AF | DBM};
			u64 stage1_updates = control == 1 ? 1ul << 39 : 3ul << 39;
			stage2_new(12, 64 - 40, 1, more);
			stage2_identity();
			upper_new(12, 25, stage1_updates);
			write_sysreg(tcr_el1, read_sysreg(tcr_el1) | stage1_updates);
			isb();
			u64 *slot = upper_slot(VA, 3);
			*slot = IPA | NORMAL | (n < 3 ? 0 : AF | DBM | AP(2)) | PAGE;
			*stage2_slot(IPA, 3) = TARGET | S2_ALL | PAGE;
			u64 table = (u64)slot & ~4095ul;
			*upper_slot(VA, 2) = (IPA + 0x1000) | TABLE;
			u64 *second = stage2_slot(IPA + 0x1000, 3);
			*second = table | S2_NORMAL | tables[n % 3] | PAGE;
			target_reset();
			stage2_flush();
			section("update of stage 1");
			subsection_hex("", control);
			subsection_hex("", n);
			u32 mark = section_mark();
			for (u32 m = 0; m < 2; m++) {
				tlb_flush();
				test_hcr(accesses[m].name, HCR_VM, accesses[m].code, EL1H, VA, SVC_TWICE, 0, 0);
				subsection(accesses[m].name);
				out_value("stage 1 after", *slot);
				out_value("stage 2 after", *second);
				section_back(mark);
			}
		}
	}
}

int main(void) {
	geometry();
	attributes();
	translations();
	updates();
	return 0;
}
