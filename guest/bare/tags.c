/* Allocation tags: the instructions, tag storage, and checks of every kind. */
#include "bare.h"

/* System registers and operations by number, for assemblers and CPUs without them. */
#define TCO S3_3_C4_C2_7
#define RGSR S3_0_C1_C0_5
#define GCR S3_0_C1_C0_6
#define TFSR S3_0_C5_C6_0
#define TFSRE0 S3_0_C5_C6_1
#define GMID S3_1_C0_C0_4

#define SPSR_TCO (1ul << 25)
#define SCTLR_ITFSB (1ul << 37)
#define SCTLR_TCF0(n) ((u64)(n) << 38)
#define SCTLR_TCF(n) ((u64)(n) << 40)
#define SCTLR_ATA0 (1ul << 42)
#define SCTLR_ATA (1ul << 43)
#define SCTLR_TAGS (SCTLR_ATA | SCTLR_ATA0)
#define TCR_TBI0 (1ul << 37)
#define TCR_TBI1 (1ul << 38)
#define TCR_TCMA0 (1ul << 57)
#define TCR_TCMA1 (1ul << 58)
#define TAGGED ATTR(5)
#define TAGGED_RW (TAGGED | SH_INNER | AF | AP(1) | PXN | UXN)

/* 16 KiB of RAM that nothing else uses: as own memory, and as tagged memory in both halves. */
#define DATA 0x40c00000ul
#define LOWER 0x80c00000ul
#define TAG(n) ((u64)(n) << 56)
static u64 upper_data;
static u32 level;

CODE(addg, "addg x0, x0, #16, #3\n addg x1, x1, #1008, #15");
CODE(addg_sp, "mov x1, sp\n addg sp, x0, #0, #1\n mov x0, sp\n mov sp, x1\n mov x1, xzr");
CODE(subg, "subg x0, x0, #16, #3\n subg x1, x1, #1008, #0");
CODE(gmi, "gmi x0, x0, x1\n gmi x1, x2, xzr");
CODE(subp, "subp x0, x0, x1\n subp x1, x2, x3");
CODE(subps, "subps x0, x0, x1\n mrs x1, nzcv");
CODE(cmpp, "cmpp x0, x1\n mrs x1, nzcv");
CODE(irg, "irg x0, x0, x1\n irg x1, x2");
CODE(stg, "stg x1, [x0]");
CODE(stg_offset, "stg x1, [x0, #32]");
CODE(stg_post, "stg x1, [x0], #32");
CODE(stg_pre, "stg x1, [x0, #-16]!");
CODE(stzg, "stzg x1, [x0]");
CODE(stzg_post, "stzg x1, [x0], #-4096");
CODE(stzg_pre, "stzg x1, [x0, #16]!");
CODE(st2g, "st2g x1, [x0]");
CODE(st2g_post, "st2g x1, [x0], #32");
CODE(st2g_pre, "st2g x1, [x0, #16]!");
CODE(stz2g, "stz2g x1, [x0]");
CODE(stz2g_post, "stz2g x1, [x0], #32");
CODE(stz2g_pre, "stz2g x1, [x0, #32]!");
CODE(stgp, "stgp x1, x2, [x0]");
CODE(stgp_offset, "stgp x1, x2, [x0, #48]");
CODE(stgp_post, "stgp x1, x2, [x0], #16");
CODE(stgp_pre, "stgp x1, x2, [x0, #16]!");
CODE(ldg, "ldg x1, [x0]");
CODE(ldg_offset, "ldg x1, [x0, #-16]");
CODE(ldgm, "ldgm x1, [x0]\n mov x1, xzr");
CODE(stgm, "stgm x1, [x0]");
CODE(stzgm, "stzgm x1, [x0]");
CODE(gva, "sys #3, c7, c4, #3, x0");
CODE(gzva, "sys #3, c7, c4, #4, x0");
CODE(zva, "dc zva, x0");
CODE(igvac, "sys #0, c7, c6, #3, x0");
CODE(igsw, "sys #0, c7, c6, #4, xzr");
CODE(igdvac, "sys #0, c7, c6, #5, x0");
CODE(igdsw, "sys #0, c7, c6, #6, xzr");
CODE(cgsw, "sys #0, c7, c10, #4, xzr");
CODE(cgdsw, "sys #0, c7, c10, #6, xzr");
CODE(cigsw, "sys #0, c7, c14, #4, xzr");
CODE(cigdsw, "sys #0, c7, c14, #6, xzr");
CODE(cgvac, "sys #3, c7, c10, #3, x0");
CODE(cgdvac, "sys #3, c7, c10, #5, x0");
CODE(cgvap, "sys #3, c7, c12, #3, x0");
CODE(cgdvap, "sys #3, c7, c12, #5, x0");
CODE(cgvadp, "sys #3, c7, c13, #3, x0");
CODE(cgdvadp, "sys #3, c7, c13, #5, x0");
CODE(cigvac, "sys #3, c7, c14, #3, x0");
CODE(cigdvac, "sys #3, c7, c14, #5, x0");
CODE(mrs_tco, "mrs x0, S3_3_C4_C2_7");
CODE(msr_tco, "msr S3_3_C4_C2_7, x1\n mrs x0, S3_3_C4_C2_7");
CODE(msr_tco1, ".inst 0xd503419f\n mov x0, #2");
CODE(msr_tco0, ".inst 0xd503409f\n mov x0, #2");
CODE(mrs_rgsr, "mrs x0, S3_0_C1_C0_5");
CODE(msr_rgsr, "msr S3_0_C1_C0_5, x1\n mrs x0, S3_0_C1_C0_5");
CODE(mrs_gcr, "mrs x0, S3_0_C1_C0_6");
CODE(msr_gcr, "msr S3_0_C1_C0_6, x1\n mrs x0, S3_0_C1_C0_6");
CODE(mrs_tfsr, "mrs x0, S3_0_C5_C6_0");
CODE(msr_tfsr, "msr S3_0_C5_C6_0, x1\n mrs x0, S3_0_C5_C6_0");
CODE(mrs_tfsre0, "mrs x0, S3_0_C5_C6_1");
CODE(msr_tfsre0, "msr S3_0_C5_C6_1, x1\n mrs x0, S3_0_C5_C6_1");
CODE(mrs_gmid, "mrs x0, S3_1_C0_C0_4");
CODE(msr_gmid, "msr S3_1_C0_C0_4, x0");

/* Accesses that checks see; x0 is the address, the results do not matter. */
CODE(ldr, "ldr x1, [x0]");
CODE(ldrb, "ldrb w1, [x0, #5]");
CODE(ldur_over, "ldur x1, [x0, #12]");
CODE(ldur_second, "ldur w1, [x0, #16]");
CODE(ldr_post, "ldr x1, [x0], #16");
CODE(ldr_index, "mov x2, #8\n ldr x1, [x0, x2]");
CODE(ldp, "ldp x1, x2, [x0]");
CODE(ldp_over, "ldp x1, x2, [x0, #8]");
CODE(ldpsw, "ldpsw x1, x2, [x0]");
CODE(ldnp, "ldnp x1, x2, [x0]");
CODE(ldar, "ldar x1, [x0]");
CODE(ldlar, "ldlar x1, [x0]");
CODE(ldapr, "ldapr x1, [x0]");
CODE(ldxr, "ldxr x1, [x0]");
CODE(ldxp, "ldxp x1, x2, [x0]");
CODE(ldr_q, "ldr q0, [x0]");
CODE(ldr_q_over, "ldur q0, [x0, #8]");
CODE(ldp_q, "ldp q0, q1, [x0]");
CODE(ld1, "ld1 {v0.16b}, [x0]");
CODE(ld1_four, "ld1 {v0.16b-v3.16b}, [x0]");
CODE(ld2, "ld2 {v0.4s-v1.4s}, [x0]");
CODE(ld1_one, "ld1 {v0.h}[1], [x0]");
CODE(ld1r, "ld1r {v0.4s}, [x0]");
CODE(ldtr, "ldtr x1, [x0]");
CODE(str, "str x3, [x0]");
CODE(strb, "strb w3, [x0, #5]");
CODE(stur_over, "stur x3, [x0, #12]");
CODE(str_pre, "str x3, [x0, #8]!");
CODE(stp, "stp x3, x3, [x0]");
CODE(stlr, "stlr x3, [x0]");
CODE(stxr, "ldxr x1, [x0]\n stxr w2, x3, [x0]");
CODE(stxr_alone, "clrex\n stxr w2, x3, [x0]");
CODE(str_q, "str q0, [x0]");
CODE(str_q_over, "stur q0, [x0, #8]");
CODE(stp_q, "stp q0, q1, [x0]");
CODE(st1, "st1 {v0.16b}, [x0]");
CODE(st1_one, "st1 {v0.b}[3], [x0]");
CODE(sttr, "sttr x3, [x0]");
CODE(ldadd, "ldadd x3, x1, [x0]");
CODE(swpal, "swpal w3, w1, [x0]");
CODE(stset, "stset x3, [x0]");
CODE(cas, "cas x1, x3, [x0]");
CODE(casb, "casalb w1, w3, [x0]");
CODE(casp, "mov x5, xzr\n mov x4, xzr\n casp x4, x5, x2, x3, [x0]");
CODE(prfm, "prfm pldl1keep, [x0]");
CODE(sp_ldr, "ldr x1, [sp]");
CODE(sp_ldr_offset, "ldr x1, [sp, #8]");
CODE(sp_ldur, "ldur x1, [sp, #4]");
CODE(sp_ldr_post, "ldr x1, [sp], #16");
CODE(sp_ldr_pre, "ldr x1, [sp, #16]!");
CODE(sp_ldr_index, "ldr x1, [sp, xzr]");
CODE(sp_str, "str x3, [sp]");
CODE(sp_str_pre, "str x3, [sp, #16]!");
CODE(sp_ldp, "ldp x1, x2, [sp]");
CODE(sp_ldp_post, "ldp x1, x2, [sp], #16");
CODE(sp_stp_pre, "stp x1, x2, [sp, #16]!");
CODE(sp_ldxr, "ldxr x1, [sp]");
CODE(sp_ldar, "ldar x1, [sp]");
CODE(sp_ldadd, "ldadd x3, x1, [sp]");
CODE(sp_cas, "cas x1, x3, [sp]");
CODE(sp_ldr_q, "ldr q0, [sp, #16]");
CODE(sp_ldr_q_post, "ldr q0, [sp], #16");
CODE(sp_ldp_q, "ldp q0, q1, [sp]");
CODE(sp_stp_q_pre, "stp q0, q1, [sp, #32]!");
CODE(sp_ld1, "ld1 {v0.16b}, [sp]");
CODE(sp_ld1_post, "ld1 {v0.16b}, [sp], #16");
CODE(sp_st1_one, "st1 {v0.b}[3], [sp]");
CODE(sp_st1_one_post, "st1 {v0.b}[3], [sp], #1");
CODE(sp_ldtr, "ldtr x1, [sp]");
CODE(sp_stg, "stg x3, [sp]");

struct named {
	const char *name;
	const u32 *code;
	/* For stores of tags: to how far from x0. */
	long offset;
};
#define CASE(code) {#code, code, 0}
#define STORE(code, offset) {#code, code, offset}
#define COUNT(list) (sizeof list / sizeof *list)

static const struct named accesses[] = {
	CASE(ldr), CASE(ldrb), CASE(ldur_over), CASE(ldur_second), CASE(ldr_post), CASE(ldr_index), CASE(ldp),
	CASE(ldp_over), CASE(ldpsw), CASE(ldnp), CASE(ldar), CASE(ldlar), CASE(ldapr), CASE(ldxr), CASE(ldxp), CASE(ldr_q),
	CASE(ldr_q_over), CASE(ldp_q), CASE(ld1), CASE(ld1_four), CASE(ld2), CASE(ld1_one), CASE(ld1r), CASE(ldtr),
	CASE(str), CASE(strb), CASE(stur_over), CASE(str_pre), CASE(stp), CASE(stlr), CASE(stxr), CASE(stxr_alone),
	CASE(str_q), CASE(str_q_over), CASE(stp_q), CASE(st1), CASE(st1_one), CASE(sttr), CASE(ldadd), CASE(swpal),
	CASE(stset), CASE(cas), CASE(casb), CASE(casp), CASE(prfm), CASE(ldg), CASE(cgvac), CASE(stg), CASE(stzg),
	CASE(stgp),
};
static const struct named sp_accesses[] = {
	CASE(sp_ldr), CASE(sp_ldr_offset), CASE(sp_ldur), CASE(sp_ldr_post), CASE(sp_ldr_pre), CASE(sp_ldr_index),
	CASE(sp_str), CASE(sp_str_pre), CASE(sp_ldp), CASE(sp_ldp_post), CASE(sp_stp_pre), CASE(sp_ldxr), CASE(sp_ldar),
	CASE(sp_ldadd), CASE(sp_cas), CASE(sp_ldr_q), CASE(sp_ldr_q_post), CASE(sp_ldp_q), CASE(sp_stp_q_pre),
	CASE(sp_ld1), CASE(sp_ld1_post), CASE(sp_st1_one), CASE(sp_st1_one_post), CASE(sp_ldtr), CASE(sp_stg),
};
static const struct named stores[] = {
	STORE(stg, 0), STORE(stg_offset, 32), STORE(stg_post, 0), STORE(stg_pre, -16), STORE(stzg, 0), STORE(stzg_post, 0),
	STORE(stzg_pre, 16), STORE(st2g, 0), STORE(st2g_post, 0), STORE(st2g_pre, 16), STORE(stz2g, 0),
	STORE(stz2g_post, 0), STORE(stz2g_pre, 32), STORE(stgp, 0), STORE(stgp_offset, 48), STORE(stgp_post, 0),
	STORE(stgp_pre, 16),
};
static const struct named loads[] = {CASE(ldg), CASE(ldg_offset)};
static const struct named system_operations[] = {
	CASE(gva), CASE(gzva), CASE(zva), CASE(igvac), CASE(igsw), CASE(igdvac), CASE(igdsw), CASE(cgsw), CASE(cgdsw),
	CASE(cigsw), CASE(cigdsw), CASE(cgvac), CASE(cgdvac), CASE(cgvap), CASE(cgdvap), CASE(cgvadp), CASE(cgdvadp),
	CASE(cigvac), CASE(cigdvac),
};
static const struct named bulk[] = {CASE(ldgm), CASE(stgm), CASE(stzgm)};
static const struct named registers[] = {
	CASE(mrs_tco), CASE(msr_tco), CASE(msr_tco1), CASE(msr_tco0), CASE(mrs_rgsr), CASE(msr_rgsr), CASE(mrs_gcr),
	CASE(msr_gcr), CASE(mrs_tfsr), CASE(msr_tfsr), CASE(mrs_tfsre0), CASE(msr_tfsre0), CASE(mrs_gmid), CASE(msr_gmid),
};
static const struct named arithmetic[] = {
	CASE(addg), CASE(addg_sp), CASE(subg), CASE(gmi), CASE(subp), CASE(subps), CASE(cmpp), CASE(irg),
};

static const struct {
	const char *name;
	u64 spsr;
} modes[] = {{"el0", EL0T}, {"el1", EL1H}};

/* Without the parameters of the model that show in addresses. */
static u64 with_sctlr(u64 more) {
	u64 value = SCTLR_ON | SCTLR_DZE | SCTLR_UCI | more;
	set_sctlr(value);
	return value;
}

static void set_tag(u64 at, u64 tag) { asm volatile("stg %0, [%1]\n" ::"r"(TAG(tag)), "r"(at) : "memory"); }
static u64 get_tag(u64 at) {
	u64 value = 0;
	asm volatile("ldg %0, [%1]\n" : "+r"(value) : "r"(at) : "memory");
	return value >> 56 & 15;
}

/* Tags of granules with even and odd numbers in the first page; in the next two more, and so on. All granules of a
 * page alike, since QEMU 7.2 keeps no more than two tags for a page (it forgets the offset in the page). */
#define EVEN 4ul
#define ODD 5ul
/* Data all ones, and those tags. */
static void fill(void) {
	with_sctlr(SCTLR_TAGS);
	for (u64 page = 0; page < 4; page++) {
		for (u64 at = 0; at < 2048; at += 8)
			store64(DATA + page * 4096 + at, ~0ul);
		for (u64 n = 0; n < 256; n++)
			set_tag(LOWER + page * 4096 + 16 * n, (n & 1 ? ODD : EVEN) + 2 * page);
	}
}

/* The tags of the granule at `at` and of the next one, and which doublewords of the 512 bytes after 1024 have changed. */
static void dump(const char *name, u64 at) {
	with_sctlr(SCTLR_TAGS);
	u64 changed = 0;
	for (u64 n = 0; n < 64; n++)
		changed |= (u64)(load64(DATA + 1024 + 8 * n) != ~0ul) << n;
	out_name(name);
	out_field("tags", get_tag(at) | get_tag(at + 16) << 4);
	out_field("changed", changed);
	out_line();
}

static void all(const struct named *list, u64 count, u64 spsr, u64 x0, u64 x1, u64 x2, u64 x3) {
	for (u64 n = 0; n < count; n++)
		test(list[n].name, list[n].code, spsr, x0, x1, x2, x3);
}

/* What does not need tagged memory, and what is not there without the features. */
static void without_controls(void) {
	for (u64 mode = 0; mode < 2; mode++) {
		u64 spsr = modes[mode].spsr;
		section("controls off");
		subsection(modes[mode].name);
		with_sctlr(0);
		all(arithmetic, COUNT(arithmetic), spsr, TAG(7) | DATA, TAG(9) | 0x123, TAG(2) | 5, 1);
		all(registers, COUNT(registers), spsr, 0, 0, 0, 0);
		all(loads, COUNT(loads), spsr, (u64)user_data + 64, TAG(5), 0, 0);
		all(stores, COUNT(stores), spsr, (u64)user_data + 64, TAG(5), 0, 0);
		all(bulk, COUNT(bulk), spsr, (u64)user_data + 64, 0, 0, 0);
		all(system_operations, COUNT(system_operations), spsr, (u64)user_data + 64, 0, 0, 0);
		subsection("misaligned");
		all(stores, COUNT(stores), spsr, (u64)user_data + 72, TAG(5), 0, 0);
		all(loads, COUNT(loads), spsr, (u64)user_data + 72, TAG(5), 0, 0);
		section_back(0);
		section("controls off");
		subsection(modes[mode].name);
		subsection("unmapped");
		all(stores, COUNT(stores), spsr, 0x7000000000ul, TAG(5), 0, 0);
		all(loads, COUNT(loads), spsr, 0x7000000000ul, TAG(5), 0, 0);
	}
	section("operations without enables");
	set_sctlr(SCTLR_ON);
	all(system_operations, COUNT(system_operations), EL0T, (u64)user_data + 64, 0, 0, 0);
}

static void make_memory(u64 more) {
	upper_new(12, 25, more);
	u64 *own = (u64 *)(read_sysreg(ttbr0_el1) & ~1ul);
	/* The lower half from 2 GiB on: all of RAM again, as tagged memory. */
	own[2] = 0x40000000ul | BLOCK | TAGGED_RW;
	upper_data = upper_base() + 0x10000;
	for (u64 page = 0; page < 16384; page += 4096)
		*upper_slot(upper_data + page, 3) = (DATA + page) | PAGE | TAGGED_RW;
	/* Read-only, for EL1 alone, and untagged. */
	*upper_slot(upper_data + 0x10000, 3) = DATA | PAGE | TAGGED_RW | AP(2);
	*upper_slot(upper_data + 0x20000, 3) = DATA | PAGE | (TAGGED_RW & ~AP(1));
	*upper_slot(upper_data + 0x30000, 3) = DATA | PAGE | USER_RW;
	*upper_slot(upper_data + 0x40000, 3) = UART | PAGE | DEVICE | AF | AP(1) | PXN | UXN;
	tlb_flush();
}

static void tag_arithmetic(void) {
	static const u64 excludes[] = {0, 1, 0x8001, 0x0ff0, 0xfffe, 0xffff};
	static const u64 seeds[] = {0x10000, 0x123405, 0xffff0f, 0x800107};
	for (u64 mode = 0; mode < 2; mode++)
		for (u64 e = 0; e < COUNT(excludes); e++) {
			section("arithmetic");
			subsection(modes[mode].name);
			subsection_hex("exclude ", excludes[e]);
			with_sctlr(SCTLR_TAGS);
			write_sysreg(GCR, excludes[e]);
			write_sysreg(RGSR, 0x10000);
			u64 spsr = modes[mode].spsr;
			all(arithmetic, COUNT(arithmetic), spsr, TAG(7) | DATA, TAG(9) | 0x123, TAG(2) | 5, 1);
			u32 mark = section_mark();
			for (u64 n = 0; n < 16; n++) {
				section_back(mark);
				subsection_hex("tag ", n);
				test("addg", addg, spsr, TAG(n) | 0xff0, ~0ul ^ TAG(n), 0, 0);
				test("subg", subg, spsr, TAG(n) | 0x8, ~0ul ^ TAG(n), 0, 0);
			}
			for (u64 n = 0; n < COUNT(seeds); n++)
				for (u64 rrnd = 0; rrnd < 2; rrnd++) {
					section_back(mark);
					subsection_hex("rrnd ", rrnd);
					subsection_hex("seed ", seeds[n]);
					write_sysreg(GCR, excludes[e] | rrnd << 16);
					write_sysreg(RGSR, seeds[n]);
					test("irg", irg, spsr, TAG(3) | 0x1230, 0x11, ~0ul, 0);
					out_value("rgsr", read_sysreg(RGSR));
					test("irg again", irg, spsr, TAG(3) | 0x1230, 0xfffe, ~0ul, 0);
					out_value("rgsr again", read_sysreg(RGSR));
				}
		}
	section("arithmetic edges");
	write_sysreg(GCR, 0);
	static const u64 edges[] = {0, 1, 1ul << 55, (1ul << 55) - 1, ~0ul, 1ul << 56, 0xff80000000000000ul};
	for (u64 a = 0; a < COUNT(edges); a++)
		for (u64 b = 0; b < COUNT(edges); b++) {
			section_back(0);
			section("arithmetic edges");
			subsection_hex("", edges[a]);
			subsection_hex("", edges[b]);
			test("subp", subp, EL0T, edges[a], edges[b], edges[b], edges[a]);
			test("subps", subps, EL0T, edges[a], edges[b], 0, 0);
			test("gmi", gmi, EL0T, edges[a], edges[b], edges[b], 0);
		}
	section("generator");
	with_sctlr(SCTLR_TAGS);
	write_sysreg(RGSR, 0xace100);
	u64 sum = 0;
	for (u64 n = 0; n < 1000; n++) {
		run4(irg, EL1H, 0, 0, 0, 0);
		sum = sum * 31 + (caught.x[0] >> 56) + (caught.x[1] >> 56);
	}
	out_value("after 2000", read_sysreg(RGSR));
	out_value("sum", sum);
}

static void tag_storage(void) {
	static const struct {
		const char *name;
		u64 sctlr;
	} enables[] = {{"none", 0}, {"ata0", SCTLR_ATA0}, {"ata", SCTLR_ATA}, {"both", SCTLR_TAGS}};
	for (u64 mode = 0; mode < 2; mode++)
		for (u64 e = 0; e < 4; e++) {
			section("storage");
			subsection(modes[mode].name);
			subsection(enables[e].name);
			u32 mark = section_mark();
			for (u64 n = 0; n < COUNT(stores); n++) {
				section_back(mark);
				fill();
				with_sctlr(enables[e].sctlr);
				test(stores[n].name, stores[n].code, modes[mode].spsr, TAG(6) | (LOWER + 1024 + 64), TAG(11) | 1, ~0ul, 0);
				subsection(stores[n].name);
				dump("then", LOWER + 1024 + 64 + (u64)stores[n].offset);
			}
			for (u64 n = 0; n < COUNT(loads); n++) {
				section_back(mark);
				fill();
				with_sctlr(enables[e].sctlr);
				test(loads[n].name, loads[n].code, modes[mode].spsr, LOWER + 1024 + 73, ~0ul, 0, 0);
			}
			section_back(mark);
			fill();
			with_sctlr(enables[e].sctlr);
			all(bulk, 2, modes[mode].spsr, LOWER + 1024, 0, 0, 0);
		}
	/* Memory of other kinds. */
	static const struct {
		const char *name;
		u64 at;
	} kinds[] = {
		{"read-only", 0x10400}, {"el1", 0x20400}, {"untagged", 0x30400}, {"device", 0x40400}, {"unmapped", 0x50400},
		{"last granule", 0x3ff0}, {"misaligned", 0x408}, {"misaligned unmapped", 0x50408},
	};
	for (u64 mode = 0; mode < 2; mode++)
		for (u64 kind = 0; kind < COUNT(kinds); kind++) {
			section("memory");
			subsection(modes[mode].name);
			subsection(kinds[kind].name);
			u64 at = upper_data + kinds[kind].at;
			fill();
			with_sctlr(SCTLR_TAGS);
			/* Not data to the console, and nothing below or above it. */
			if (kind != 3) {
				all(stores, COUNT(stores), modes[mode].spsr, at, TAG(5), 0, 0);
				dump("then", LOWER + (at & 0xff0));
				fill();
				with_sctlr(SCTLR_TAGS);
				test("zva", zva, modes[mode].spsr, at, 0, 0, 0);
				test("gzva", gzva, modes[mode].spsr, at | TAG(7), 0, 0, 0);
				if (modes[mode].spsr == EL1H)
					test("stzgm", stzgm, EL1H, at & ~0xffful, 3, 0, 0);
				test("gva", gva, modes[mode].spsr, at | TAG(9), 0, 0, 0);
			} else
				test("stg", stg, modes[mode].spsr, at, TAG(5), 0, 0);
			fill();
			with_sctlr(SCTLR_TAGS);
			all(loads, COUNT(loads), modes[mode].spsr, at, TAG(5), 0, 0);
			test("ldgm", ldgm, modes[mode].spsr, at & ~0xfful, 0, 0, 0);
		}
}

/* All tags in turn, from 0 on. */
static void fill_all(void) {
	fill();
	for (u64 n = 0; n < 128; n++)
		set_tag(LOWER + 16 * n, n & 15);
}

/* Blocks of tags, whose size is the model's: how many tags and data are not as they should. */
static void tag_blocks(void) {
	section("blocks");
	u64 block = 4ul << (read_sysreg(GMID) & 15), zva_block = 4ul << (read_sysreg(dczid_el0) & 15);
	for (u64 at = 0; at < 1024; at += 208) {
		fill_all();
		u64 base = LOWER + 512 + at, first = base & ~(block - 1), wrong = 0, value;
		asm volatile("ldgm %0, [%1]" : "=r"(value) : "r"(base) : "memory");
		for (u64 n = 0; n < 16; n++) {
			u64 granule = (base & ~0xfful) + 16 * n;
			u64 expected = granule >= first && granule < first + block ? get_tag(granule) : 0;
			wrong += expected != (value >> 4 * n & 15);
		}
		asm volatile("stgm %0, [%1]" ::"r"(0x0fedcba987654321ul), "r"(base) : "memory");
		for (u64 n = 0; n < 128; n++) {
			u64 granule = LOWER + 16 * n;
			u64 expected = granule >= first && granule < first + block ? 0x0fedcba987654321ul >> (granule >> 2 & 60) & 15 : (n & 15);
			wrong += expected != get_tag(granule);
		}
		subsection_hex("", at);
		out_value("ldgm, stgm", wrong);
		first = base & ~(zva_block - 1);
		for (u64 op = 0; op < 4; op++) {
			fill_all();
			wrong = 0;
			if (op == 0)
				asm volatile("stzgm %0, [%1]" ::"r"(0x3aul), "r"(base) : "memory");
			else if (op == 1)
				run4(gva, EL0T, base | TAG(10), 0, 0, 0);
			else if (op == 2)
				run4(gzva, EL0T, base | TAG(10), 0, 0, 0);
			else
				run4(zva, EL0T, base, 0, 0, 0);
			for (u64 n = 0; n < 128; n++) {
				u64 granule = LOWER + 16 * n;
				int inside = granule >= first && granule < first + zva_block;
				wrong += (inside && op != 3 ? 10 : (n & 15)) != get_tag(granule);
				wrong += (inside && op != 1 ? 0 : ~0ul) != load64(DATA + 16 * n);
			}
			out_value(op == 0 ? "stzgm" : op == 1 ? "gva" : op == 2 ? "gzva" : "zva", wrong);
		}
		section_back(0);
		section("blocks");
	}
}

static void clear_status(void) {
	write_sysreg(TFSR, 0);
	write_sysreg(TFSRE0, 0);
}
static void status(const char *name) {
	u32 mark = section_mark();
	subsection(name);
	out_name("status");
	out_field("tfsr", read_sysreg(TFSR));
	out_field("tfsre0", read_sysreg(TFSRE0));
	out_line();
	section_back(mark);
}

/* Every access at `at`; those that change tags are the last. */
static void check(u64 spsr, u64 at) {
	u64 sctlr = read_sysreg(sctlr_el1);
	int asynchronous = (sctlr >> 38 & 15) > 5;
	for (u64 n = 0; n < COUNT(accesses); n++) {
		if (accesses[n].code == stzg || accesses[n].code == stgp) {
			fill();
			set_sctlr(sctlr);
		}
		clear_status();
		test(accesses[n].name, accesses[n].code, spsr, at, 0, 0, 1);
		if (asynchronous)
			status(accesses[n].name);
	}
}

static void checks(void) {
	static const struct {
		const char *name;
		u64 sctlr, spsr;
	} controls[] = {
		{"off", SCTLR_TAGS, 0},
		{"sync", SCTLR_TAGS | SCTLR_TCF(1) | SCTLR_TCF0(1), 0},
		{"async", SCTLR_TAGS | SCTLR_TCF(2) | SCTLR_TCF0(2), 0},
		{"asym", SCTLR_TAGS | SCTLR_TCF(3) | SCTLR_TCF0(3), 0},
		{"async itfsb", SCTLR_TAGS | SCTLR_TCF(2) | SCTLR_TCF0(2) | SCTLR_ITFSB, 0},
		{"sync el0, async el1", SCTLR_TAGS | SCTLR_TCF(2) | SCTLR_TCF0(1), 0},
		{"sync el1, async el0", SCTLR_TAGS | SCTLR_TCF(1) | SCTLR_TCF0(2), 0},
		{"sync no ata0", SCTLR_ATA | SCTLR_TCF(1) | SCTLR_TCF0(1), 0},
		{"sync no ata", SCTLR_ATA0 | SCTLR_TCF(1) | SCTLR_TCF0(1), 0},
		{"sync tco", SCTLR_TAGS | SCTLR_TCF(1) | SCTLR_TCF0(1), SPSR_TCO},
		{"sync uao", SCTLR_TAGS | SCTLR_TCF(2) | SCTLR_TCF0(1), SPSR_UAO},
	};
	static const struct {
		const char *name;
		u64 offset;
	} places[] = {
		{"match", TAG(ODD) | 0x450}, {"mismatch", TAG(6) | 0x450}, {"next matches", TAG(ODD) | 0x448},
		{"other page", TAG(ODD + 2) | 0x1430}, {"over pages", TAG(ODD) | 0xff8},
		{"over pages, next matches", TAG(EVEN + 2) | 0xff8},
	};
	for (u64 c = 0; c < COUNT(controls); c++)
		for (u64 mode = 0; mode < 2; mode++)
			for (u64 half = 0; half < 2; half++)
				for (u64 place = 0; place < COUNT(places); place++) {
					section("checks");
					subsection(controls[c].name);
					subsection(modes[mode].name);
					subsection(half ? "upper" : "lower");
					subsection(places[place].name);
					fill();
					with_sctlr(controls[c].sctlr);
					u64 spsr = modes[mode].spsr | controls[c].spsr;
					if (mode == 0)
						spsr &= ~SPSR_UAO;
					u64 base = half ? upper_data & ~TAG(15) : LOWER;
					check(spsr, base + places[place].offset);
					dump("then", LOWER + (places[place].offset & 0x3ff0));
					status("all");
				}
	/* Blocks, whose size is the model's: all of a page has the same tag. */
	for (u64 c = 0; c < COUNT(controls); c++)
		for (u64 mode = 0; mode < 2; mode++)
			for (u64 tag = 4; tag < 6; tag++) {
				section("block checks");
				subsection(controls[c].name);
				subsection(modes[mode].name);
				subsection(tag == 4 ? "match" : "mismatch");
				fill();
				for (u64 n = 0; n < 256; n++)
					set_tag(LOWER + 16 * n, 4);
				with_sctlr(controls[c].sctlr);
				u64 spsr = modes[mode].spsr | (mode == 0 ? 0 : controls[c].spsr), at = LOWER | TAG(tag) | 0x450;
				static const struct named blocks[] = {CASE(zva), CASE(gzva), CASE(gva)};
				for (u64 n = 0; n < COUNT(blocks); n++) {
					clear_status();
					run4(blocks[n].code, spsr, at, 0, 0, 0);
					out_name(blocks[n].name);
					out_field("esr", caught.esr);
					out_field("data", load64(DATA + 0x450));
					if (caught.esr != DONE)
						out_field("far", caught.far & ~0x1fful);
					out_line();
					status(blocks[n].name);
				}
				dump("then", LOWER + 0x440);
			}
	section("entry");
	out_value("tco", read_sysreg(TCO));
}

static void sp_checks(void) {
	static const u64 tcf[] = {1, 2};
	for (u64 t = 0; t < 2; t++)
		for (u64 mode = 0; mode < 2; mode++) {
			section("sp");
			subsection(tcf[t] == 1 ? "sync" : "async");
			subsection(modes[mode].name);
			fill();
			with_sctlr(SCTLR_TAGS | SCTLR_TCF(tcf[t]) | SCTLR_TCF0(tcf[t]));
			u64 kernel_sp = case_sp, at = TAG(12) | (LOWER + 0x440);
			for (u64 n = 0; n < COUNT(sp_accesses); n++) {
				clear_status();
				if (mode == 0)
					write_sysreg(sp_el0, at);
				else
					case_sp = at;
				test(sp_accesses[n].name, sp_accesses[n].code, modes[mode].spsr, 0, 0, 0, 1);
				status(sp_accesses[n].name);
			}
			case_sp = kernel_sp;
		}
}

/* Which addresses are checked: TBI and TCMA. */
static void address_checks(void) {
	static const struct {
		const char *name;
		u64 tcr;
	} controls[] = {
		{"tbi", TCR_TBI0 | TCR_TBI1},
		{"no tbi", 0},
		{"tbi0", TCR_TBI0},
		{"tbi1", TCR_TBI1},
		{"tcma", TCR_TBI0 | TCR_TBI1 | TCR_TCMA0 | TCR_TCMA1},
		{"tcma0", TCR_TBI0 | TCR_TBI1 | TCR_TCMA0},
		{"tcma1", TCR_TBI0 | TCR_TBI1 | TCR_TCMA1},
		{"tcma no tbi", TCR_TCMA0 | TCR_TCMA1},
	};
	static const u64 tops[] = {0x00, 0x01, 0x05, 0x0f, 0x10, 0x15, 0xf0, 0xf5, 0xff, 0x80};
	for (u64 c = 0; c < COUNT(controls); c++) {
		make_memory(TCR_TBI0 | TCR_TBI1);
		fill();
		make_memory(controls[c].tcr);
		with_sctlr(SCTLR_TAGS | SCTLR_TCF(1) | SCTLR_TCF0(1));
		for (u64 mode = 0; mode < 2; mode++)
			for (u64 half = 0; half < 2; half++)
				for (u64 top = 0; top < COUNT(tops); top++) {
					section("addresses");
					subsection(controls[c].name);
					subsection(modes[mode].name);
					subsection(half ? "upper" : "lower");
					subsection_hex("", tops[top]);
					u64 base = half ? upper_data : LOWER;
					u64 at = (base & ~(0xfful << 56)) | tops[top] << 56 | 0x450;
					clear_status();
					test("ldr", ldr, modes[mode].spsr, at, 0, 0, 0);
					test("str", str, modes[mode].spsr, at, 0, 0, 0);
					test("ldg", ldg, modes[mode].spsr, at, 0, 0, 0);
					if (half) {
						at = (at & ~0xffffful) + (upper_data & 0xfffff) + 0x30450;
						test("untagged", ldr, modes[mode].spsr, at, 0, 0, 0);
					}
				}
	}
}

static void register_bits(void) {
	section("registers");
	for (u64 mode = 0; mode < 2; mode++) {
		section_back(0);
		section("registers");
		subsection(modes[mode].name);
		with_sctlr(SCTLR_TAGS);
		all(registers, COUNT(registers), modes[mode].spsr, 0, SPSR_TCO | 3, 0, 0);
	}
	section("register bits");
	write_sysreg(RGSR, ~0ul);
	out_value("rgsr", read_sysreg(RGSR));
	write_sysreg(GCR, ~0ul);
	out_value("gcr", read_sysreg(GCR));
	clear_status();
	write_sysreg(RGSR, 0x100);
	write_sysreg(GCR, 0);
}

int main(void) {
	level = (u32)field(read_sysreg(id_aa64pfr1_el1), 8, 4);
	section("model");
	out_value("mte", level);
	without_controls();
	if (level < 2)
		return 0;
	write_sysreg(mair_el1, MAIR | 0xf0ul << 40);
	make_memory(TCR_TBI0 | TCR_TBI1);
	clear_status();
	register_bits();
	tag_arithmetic();
	tag_storage();
	tag_blocks();
	checks();
	sp_checks();
	address_checks();
	return 0;
}
