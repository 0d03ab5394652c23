/* Unaligned accesses, Device memory, exclusives, atomics. */
#include "probe.h"

#define RW (NORMAL | SH_INNER | AF | AP(1))

CODE(ldrh_, "ldrh w0, [x0]");
CODE(ldr_w, "ldr w0, [x0]");
CODE(ldr_x, "ldr x0, [x0]");
CODE(ldr_q_, "ldr q0, [x0]\n mov x0, v0.d[1]");
CODE(ldr_d_, "ldr d0, [x0]\n mov x0, v0.d[0]");
CODE(ldp_x, "ldp x0, x1, [x0]");
CODE(ldp_w, "ldp w0, w1, [x0]");
CODE(ldp_q, "ldp q0, q1, [x0]\n mov x0, v1.d[1]");
CODE(ldnp_x, "ldnp x0, x1, [x0]");
CODE(ldtr_x, "ldtr x0, [x0]");
CODE(strh_, "strh w1, [x0]\n mov x0, #0");
CODE(str_w, "str w1, [x0]\n mov x0, #0");
CODE(str_x, "str x1, [x0]\n mov x0, #0");
CODE(str_q_, "str q0, [x0]\n mov x0, #0");
CODE(stp_x, "stp x1, x1, [x0]\n mov x0, #0");
CODE(stp_q, "stp q0, q0, [x0]\n mov x0, #0");
CODE(ld1_16b, "ld1 {v0.16b}, [x0]\n mov x0, v0.d[1]");
CODE(ld1_8h, "ld1 {v0.8h}, [x0]\n mov x0, v0.d[1]");
CODE(ld1_2d, "ld1 {v0.2d}, [x0]\n mov x0, v0.d[1]");
CODE(ld4_4s, "ld4 {v0.4s-v3.4s}, [x0]\n mov x0, v3.d[1]");
CODE(ld1r_2d, "ld1r {v0.2d}, [x0]\n mov x0, v0.d[1]");
CODE(st1_8h, "st1 {v0.8h}, [x0]\n mov x0, #0");
CODE(ldarh_, "ldarh w0, [x0]");
CODE(ldar_w, "ldar w0, [x0]");
CODE(ldar_x, "ldar x0, [x0]");
CODE(stlr_x, "stlr x1, [x0]\n mov x0, #0");
CODE(ldxr_w, "ldxr w0, [x0]");
CODE(ldxr_x, "ldxr x0, [x0]");
CODE(ldaxr_x, "ldaxr x0, [x0]");
CODE(ldxp_x, "ldxp x0, x1, [x0]");
CODE(ldxp_w, "ldxp w0, w1, [x0]");
CODE(lx_sx_x, "ldxr x2, [x0]\n stxr w3, x1, [x0]\n mov x0, x3");
CODE(lx_sx_xp, "ldxp x2, x4, [x0]\n stxp w3, x2, x4, [x0]\n mov x0, x3");
CODE(lx_clrex_sx, "ldxr x2, [x0]\n clrex\n stxr w3, x1, [x0]\n mov x0, x3");
CODE(sx_alone, "clrex\n stxr w3, x1, [x0]\n mov x0, x3");
CODE(lx_sx_other, "ldxr x2, [x0]\n add x0, x0, #64\n stxr w3, x1, [x0]\n mov x0, x3");
CODE(lx_sx_twice, "ldxr x2, [x0]\n stxr w3, x1, [x0]\n stxr w4, x1, [x0]\n add x0, x3, x4, lsl #4");
CODE(lx_lx_sx, "ldxr x2, [x0]\n add x5, x0, #64\n ldxr x2, [x5]\n stxr w3, x1, [x0]\n mov x0, x3");
CODE(lx_st_sx, "ldxr x2, [x0]\n str x1, [x0]\n stxr w3, x1, [x0]\n mov x0, xzr");
CODE(lx_svc, "ldxr x2, [x0]");
CODE(sx_only, "stxr w3, x1, [x0]\n mov x0, x3");
CODE(lx_sx_size, "ldxr w2, [x0]\n stxr w3, x2, [x0]\n mov x0, x3");
CODE(ldxr_changed, "mov x5, x0\n ldxr x2, [x5]\n mov x4, #9\n str x4, [x5]\n ldxr x2, [x5]\n stxr w3, x1, [x5]\n ldr x1, [x5]\n mov x0, x3");
CODE(ldadd_x, ".inst 0xf8210002\n mov x0, x2");
CODE(ldaddh_, ".inst 0x78210002\n mov x0, x2");
CODE(swpal_w, ".inst 0xb8e18002\n mov x0, x2");
CODE(cas_x, "mov x2, xzr\n .inst 0xc8a27c01\n mov x0, x2");
CODE(casp_x, "mov x2, xzr\n mov x3, xzr\n mov x4, x1\n mov x5, x1\n .inst 0x48227c04\n mov x0, x2");
CODE(casp_w, "mov x2, xzr\n mov x3, xzr\n mov x4, x1\n mov x5, x1\n .inst 0x08227c04\n mov x0, x2");
CODE(ldapr_x, ".inst 0xf8bfc000");
CODE(dc_zva_, "dc zva, x0\n mov x0, xzr");

static const struct {
	const char *name;
	const u32 *code;
	u8 lse;
} accesses[] = {
	{"ldrh", ldrh_, 0},     {"ldr w", ldr_w, 0},     {"ldr x", ldr_x, 0},    {"ldr q", ldr_q_, 0},
	{"ldr d", ldr_d_, 0},   {"ldp x", ldp_x, 0},     {"ldp w", ldp_w, 0},    {"ldp q", ldp_q, 0},
	{"ldnp x", ldnp_x, 0},  {"ldtr x", ldtr_x, 0},   {"strh", strh_, 0},     {"str w", str_w, 0},
	{"str x", str_x, 0},    {"str q", str_q_, 0},    {"stp x", stp_x, 0},    {"stp q", stp_q, 0},
	{"ld1 16b", ld1_16b, 0}, {"ld1 8h", ld1_8h, 0},  {"ld1 2d", ld1_2d, 0},  {"ld4 4s", ld4_4s, 0},
	{"ld1r 2d", ld1r_2d, 0}, {"st1 8h", st1_8h, 0},  {"ldarh", ldarh_, 0},   {"ldar w", ldar_w, 0},
	{"ldar x", ldar_x, 0},  {"stlr x", stlr_x, 0},   {"ldxr w", ldxr_w, 0},  {"ldxr x", ldxr_x, 0},
	{"ldaxr x", ldaxr_x, 0}, {"ldxp x", ldxp_x, 0},  {"ldxp w", ldxp_w, 0},  {"dc zva", dc_zva_, 0},
	{"ldadd x", ldadd_x, 1}, {"ldaddh", ldaddh_, 1}, {"swpal w", swpal_w, 1}, {"cas x", cas_x, 1},
	{"casp x", casp_x, 1},  {"casp w", casp_w, 1},   {"ldapr x", ldapr_x, 2},
};

static void fill(u64 pa) {
	for (u64 n = 0; n < 64; n++)
		store64(pa + 8 * n, 0x0706050403020100ul + n * 0x0808080808080808ul);
}

/* Each access at `va` plus every offset; `pa` is the same memory in the lower half, or 0. */
static void all(u64 va, u64 pa, u64 spsr) {
	static const u8 offsets[] = {0, 1, 2, 4, 8, 12, 15};
	u32 mark = section_mark();
	for (u32 o = 0; o < sizeof offsets; o++) {
		section_back(mark);
		subsection_hex("+", offsets[o]);
		for (u32 n = 0; n < sizeof accesses / sizeof *accesses; n++) {
			if (accesses[n].lse == 1 && !cpu.lse)
				continue;
			if (accesses[n].lse == 2 && field(read_sysreg(id_aa64isar1_el1), 20, 4) == 0)
				continue;
			if (pa)
				fill(pa);
			asm volatile("movi v0.16b, #0x5a" ::: "memory");
			test(accesses[n].name, accesses[n].code, spsr, va + offsets[o], 0x1111222233334444ul, 0, 0);
		}
	}
	section_back(mark);
}

static void exclusives(void) {
	static const struct {
		const char *name;
		const u32 *code;
	} cases[] = {
		{"pair of ldxr stxr", lx_sx_x}, {"ldxp stxp", lx_sx_xp},       {"clrex between", lx_clrex_sx},
		{"stxr alone", sx_alone},       {"stxr elsewhere", lx_sx_other}, {"stxr twice", lx_sx_twice},
		{"two ldxr", lx_lx_sx},         {"changed and again", ldxr_changed},
	};
	section("exclusive");
	for (u32 n = 0; n < sizeof cases / sizeof *cases; n++) {
		fill((u64)user_data);
		test(cases[n].name, cases[n].code, EL0T, (u64)user_data, 0x77, 0, 0);
		out_value(cases[n].name, load64((u64)user_data));
		test(cases[n].name, cases[n].code, EL1H, (u64)kernel_data, 0x77, 0, 0);
	}
	/* An exception return clears the monitor. */
	test("ldxr, then an exception", lx_svc, EL0T, (u64)user_data, 0x77, 0, 0);
	test("stxr after the return", sx_only, EL0T, (u64)user_data, 0x77, 0, 0);
}

CODE(lse_all, ".inst 0xf8210002\n .inst 0xf8211003\n .inst 0xf8212004\n .inst 0xf8213005\n .inst 0xf8214006\n .inst 0xf8215007\n"
	      ".inst 0xf8216008\n .inst 0xf8217009\n eor x2, x2, x3\n add x2, x2, x4\n eor x2, x2, x5\n add x2, x2, x6\n"
	      "eor x2, x2, x7\n add x2, x2, x8\n eor x2, x2, x9\n ldr x1, [x0]\n mov x0, x2");

int main(void) {
	upper_new(12, 25, 0);
	u64 va = target_va(3);
	volatile u64 *slot = upper_slot(va, 3);
	for (u64 a = 0; a < 2; a++) {
		set_sctlr(SCTLR_ON | (a ? SCTLR_A : 0));
		section(a ? "A normal" : "normal");
		all((u64)user_data, (u64)user_data, EL0T);
		section(a ? "A normal el1" : "normal el1");
		all((u64)kernel_data, (u64)kernel_data, EL1H);
		section(a ? "A page end" : "page end");
		*slot = TARGET | RW | PAGE;
		slot[1] = 0;
		tlb_flush();
		all(va + 4096 - 16, TARGET + 4096 - 16, EL0T);
		section(a ? "A unmapped" : "unmapped");
		all(va + 4096, 0, EL0T);
		section(a ? "A device" : "device");
		*slot = TARGET | RW | DEVICE | PAGE;
		tlb_flush();
		all(va, TARGET, EL0T);
		section(a ? "A non-cacheable" : "non-cacheable");
		*slot = TARGET | RW | NON_CACHEABLE | PAGE;
		tlb_flush();
		all(va, TARGET, EL0T);
		section(a ? "A read-only" : "read-only");
		*slot = TARGET | RW | AP(2) | PAGE;
		tlb_flush();
		all(va, TARGET, EL0T);
	}
	set_sctlr(SCTLR_ON & ~SCTLR_M);
	section("MMU off");
	all((u64)kernel_data, (u64)kernel_data, EL1H);
	set_sctlr(SCTLR_ON);
	exclusives();
	if (cpu.lse) {
		section("lse");
		for (u64 n = 0; n < 8; n++) {
			store64((u64)user_data, 0x8000000080000000ul + n * 0x1234567);
			test("all", lse_all, EL0T, (u64)user_data, 0x7fffffff00ff00fful << n, 0, 0);
		}
	}
	return 0;
}
