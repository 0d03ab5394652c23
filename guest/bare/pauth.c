/* Pointer authentication (QARMA5, no FEAT_PAuth2): every instruction, over address sizes and tags. */
#include "bare.h"

#define EN_IA (1ul << 31)
#define EN_IB (1ul << 30)
#define EN_DA (1ul << 27)
#define EN_DB (1ul << 13)
#define ENABLE (EN_IA | EN_IB | EN_DA | EN_DB)
#define TBI0 (1ul << 37)
#define TBI1 (1ul << 38)
#define TBID0 (1ul << 51)
#define TBID1 (1ul << 52)

#define PAUTH(label, body) CODE(label, ".arch_extension pauth\n" body)
PAUTH(c_pacia, "pacia x0, x1");
PAUTH(c_autia, "autia x0, x1");
PAUTH(c_pacib_sp, "mov x0, sp\n pacib x0, sp\n mov x1, sp\n mov x1, xzr");
PAUTH(c_pacdza, "pacdza x0");
PAUTH(c_autdzb, "autdzb x0");
PAUTH(c_xpaci, "xpaci x0");
PAUTH(c_xpacd, "xpacd x0");
PAUTH(c_pacga, "pacga x0, x0, x1");
PAUTH(c_xpaclri, "mov x30, x0\n xpaclri\n mov x0, x30");
PAUTH(c_pacia1716, "mov x17, x0\n mov x16, x1\n pacia1716\n mov x0, x17");
PAUTH(c_pacib1716, "mov x17, x0\n mov x16, x1\n pacib1716\n mov x0, x17");
PAUTH(c_autia1716, "mov x17, x0\n mov x16, x1\n autia1716\n mov x0, x17");
PAUTH(c_autib1716, "mov x17, x0\n mov x16, x1\n autib1716\n mov x0, x17");
PAUTH(c_paciaz, "mov x30, x0\n paciaz\n mov x0, x30");
PAUTH(c_pacibz, "mov x30, x0\n pacibz\n mov x0, x30");
PAUTH(c_autiaz, "mov x30, x0\n autiaz\n mov x0, x30");
PAUTH(c_autibz, "mov x30, x0\n autibz\n mov x0, x30");
PAUTH(c_paciasp, "mov x30, x0\n paciasp\n mov x0, x30");
PAUTH(c_pacibsp, "mov x30, x0\n pacibsp\n mov x0, x30");
PAUTH(c_autiasp, "mov x30, x0\n autiasp\n mov x0, x30");
PAUTH(c_autibsp, "mov x30, x0\n autibsp\n mov x0, x30");
/* X2 is added to the signed pointer: 0 for one that authenticates. */
PAUTH(c_braa, "adr x4, 1f\n pacia x4, x1\n add x4, x4, x2\n braa x4, x1\n svc #1\n1: mov x0, #7");
PAUTH(c_brabz, "adr x4, 1f\n pacizb x4\n add x4, x4, x2\n brabz x4\n svc #1\n1: mov x0, #7");
PAUTH(c_blrab, "adr x4, 1f\n pacib x4, x1\n add x4, x4, x2\n blrab x4, x1\n2: svc #1\n1: adr x0, 2b\n sub x0, x0, x30");
PAUTH(c_blraaz, "adr x30, 1f\n paciza x30\n add x30, x30, x2\n blraaz x30\n2: svc #1\n1: adr x0, 2b\n sub x0, x0, x30");
PAUTH(c_retaa, "adr x30, 1f\n paciasp\n add x30, x30, x2\n retaa\n svc #1\n1: mov x0, #7");
PAUTH(c_retab, "adr x30, 1f\n pacibsp\n add x30, x30, x2\n retab\n svc #1\n1: mov x0, #7");
PAUTH(c_eretaa, "adr x4, 1f\n mov x5, sp\n pacia x4, x5\n add x4, x4, x2\n msr elr_el1, x4\n msr spsr_el1, x3\n eretaa\n"
		" svc #1\n1: mov x0, #7");
PAUTH(c_eretab, "adr x4, 1f\n mov x5, sp\n pacib x4, x5\n add x4, x4, x2\n msr elr_el1, x4\n msr spsr_el1, x3\n eretab\n"
		" svc #1\n1: mov x0, #7");
PAUTH(c_eretaa_el0, "eretaa");
PAUTH(c_ldraa, "pacdza x0\n add x0, x0, x2\n ldraa x1, [x0, #16]\n mov x0, xzr");
PAUTH(c_ldrab_wb, "mov x5, x0\n pacdzb x0\n add x0, x0, x2\n ldrab x1, [x0, #-16]!\n sub x0, x5, x0");
PAUTH(c_ldraa_sp, "mov x4, sp\n str x1, [sp]\n pacdza x4\n mov x3, sp\n add sp, x4, xzr\n ldraa x1, [sp]\n mov sp, x3\n mov x0, xzr");
CODE(c_keys, "msr S3_0_C2_C1_0, x0\n mrs x0, S3_0_C2_C1_0");
CODE(c_key_last, "msr S3_0_C2_C3_1, x1\n mrs x0, S3_0_C2_C3_1");

static void keys(void) {
	write_sysreg(S3_0_C2_C1_0, 0xec2802d4e0a488e9);
	write_sysreg(S3_0_C2_C1_1, 0x84be85ce9804e94b);
	write_sysreg(S3_0_C2_C1_2, 0x0123456789abcdef);
	write_sysreg(S3_0_C2_C1_3, 0xfedcba9876543210);
	write_sysreg(S3_0_C2_C2_0, 0);
	write_sysreg(S3_0_C2_C2_1, 0x8000000000000001);
	write_sysreg(S3_0_C2_C2_2, 0);
	write_sysreg(S3_0_C2_C2_3, ~0ul);
	write_sysreg(S3_0_C2_C3_0, 0x2222222222222222);
	write_sysreg(S3_0_C2_C3_1, 0x1111111111111111);
	isb();
}

/* What needs no translation: each result is a value. */
#define OP2(op, pointer, modifier)                                                                                     \
	({                                                                                                             \
		u64 value_ = (pointer);                                                                                \
		asm volatile(".arch_extension pauth\n\t" op " %0, %1" : "+r"(value_) : "r"((u64)(modifier)));            \
		value_;                                                                                                \
	})
#define OP1(op, pointer)                                                                                               \
	({                                                                                                             \
		u64 value_ = (pointer);                                                                                \
		asm volatile(".arch_extension pauth\n\t" op " %0" : "+r"(value_));                                      \
		value_;                                                                                                \
	})
#define GA(value, modifier)                                                                                            \
	({                                                                                                             \
		u64 code_;                                                                                             \
		asm volatile(".arch_extension pauth\n\tpacga %0, %1, %2" : "=r"(code_) : "r"((u64)(value)), "r"((u64)(modifier))); \
		code_;                                                                                                 \
	})
#define KEYS(pac, aut, label)                                                                                          \
	do {                                                                                                           \
		u64 signed_ = OP2(pac, p, m);                                                                          \
		out_name(label);                                                                                       \
		out_field("signed", signed_);                                                                          \
		out_field("good", OP2(aut, signed_, m));                                                               \
		out_field("other", OP2(aut, signed_, m + 1));                                                          \
		out_field("bad", OP2(aut, signed_ ^ 1ul << 54, m));                                                    \
		out_field("raw", OP2(aut, p, m));                                                                      \
		out_line();                                                                                            \
	} while (0)

static void values(void) {
	static const u64 pointers[] = {
		0, 0x1234, 0x0000007fffffff80, 0xffffff8000000123, 0x007f123456789abc, 0xff80123456789abc, 0xa5000000deadbeef,
		0x5affffffdeadbee0, 0x8000000000000010, 0x7fffffffffffff00, 0x0040000000000000, 0xfb623599da6e8127,
	};
	for (u32 n = 0; n < sizeof pointers / sizeof *pointers; n++) {
		u64 p = pointers[n], m = n & 1 ? 0x477d469dec0b8762 : n;
		u32 mark = section_mark();
		subsection_hex("p", p);
		KEYS("pacia", "autia", "ia");
		KEYS("pacib", "autib", "ib");
		KEYS("pacda", "autda", "da");
		KEYS("pacdb", "autdb", "db");
		out_name("strip and generic");
		out_field("xpaci", OP1("xpaci", p));
		out_field("xpacd", OP1("xpacd", p));
		out_field("pacga", GA(p, m));
		out_field("zero", OP1("pacizb", p));
		out_line();
		section_back(mark);
	}
}

static void layouts(void) {
	static const struct {
		const char *name;
		u64 t0sz, t1sz, more;
	} controls[] = {
		{"39 bits", 25, 25, 0},		       {"48 bits", 16, 16, 0},
		{"25 and 42 bits", 39, 22, 0},	       {"tbi0", 25, 25, TBI0},
		{"tbi1 36 bits", 25, 28, TBI1},	       {"tbi both", 25, 16, TBI0 | TBI1},
		{"tbid0", 25, 25, TBI0 | TBID0},       {"tbi and tbid", 16, 25, TBI0 | TBI1 | TBID0 | TBID1},
		{"tbid without tbi", 25, 25, TBID0 | TBID1},
	};
	for (u32 n = 0; n < sizeof controls / sizeof *controls; n++) {
		u64 old = read_sysreg(tcr_el1);
		set_sctlr((SCTLR_ON | ENABLE) & ~(SCTLR_M | SCTLR_C | SCTLR_I));
		write_sysreg(tcr_el1, (old & ~0x3f003ful) | controls[n].t0sz | controls[n].t1sz << 16 | controls[n].more);
		isb();
		section(controls[n].name);
		values();
		write_sysreg(tcr_el1, old);
		isb();
		tlb_flush();
		set_sctlr(SCTLR_ON | ENABLE);
	}
}

#define AT(name, code, el, x0, x1, x2) test(name, code, el, x0, x1, x2, el)
#define BOTH(name, code, x0, x1, x2)                                                                                   \
	do {                                                                                                           \
		AT(name " el0", code, EL0T, x0, x1, x2);                                                               \
		AT(name " el1", code, EL1H, x0, x1, x2);                                                               \
	} while (0)

static void hints(void) {
	const u64 p = 0x0000001234567890, bad = 0x1200001234567890;
	BOTH("pacia1716", c_pacia1716, p, 16, 0);
	BOTH("pacib1716", c_pacib1716, p, 16, 0);
	BOTH("autia1716", c_autia1716, bad, 16, 0);
	BOTH("autib1716", c_autib1716, bad, 16, 0);
	BOTH("paciaz", c_paciaz, p, 0, 0);
	BOTH("pacibz", c_pacibz, p, 0, 0);
	BOTH("autiaz", c_autiaz, bad, 0, 0);
	BOTH("autibz", c_autibz, bad, 0, 0);
	AT("paciasp", c_paciasp, EL1H, p, 0, 0);
	AT("pacibsp", c_pacibsp, EL1H, p, 0, 0);
	AT("autiasp", c_autiasp, EL1H, bad, 0, 0);
	AT("autibsp", c_autibsp, EL1H, bad, 0, 0);
	BOTH("xpaclri", c_xpaclri, bad, 0, 0);
}

static void plain(void) {
	const u64 p = 0x0000001234567890;
	BOTH("pacia", c_pacia, p, 5, 0);
	BOTH("autia", c_autia, p, 5, 0);
	BOTH("pacdza", c_pacdza, p, 0, 0);
	BOTH("autdzb", c_autdzb, p, 0, 0);
	BOTH("xpaci", c_xpaci, ~p, 0, 0);
	BOTH("xpacd", c_xpacd, ~p, 0, 0);
	BOTH("pacga", c_pacga, p, 5, 0);
	AT("pacib sp", c_pacib_sp, EL1H, p, 0, 0);
}

static void branches(void) {
	for (u64 bad = 0; bad < 2; bad++) {
		u64 more = bad << 50;
		u32 mark = section_mark();
		subsection(bad ? "bad" : "good");
		BOTH("braa", c_braa, 0, 9, more);
		BOTH("brabz", c_brabz, 0, 9, more);
		BOTH("blrab", c_blrab, 0, 9, more);
		BOTH("blraaz", c_blraaz, 0, 9, more);
		BOTH("retaa", c_retaa, 0, 9, more);
		BOTH("retab", c_retab, 0, 9, more);
		AT("eretaa", c_eretaa, EL1H, 0, 0, more);
		AT("eretab", c_eretab, EL1H, 0, 0, more);
		BOTH("ldraa", c_ldraa, (u64)user_data, 0, more);
		BOTH("ldrab write back", c_ldrab_wb, (u64)user_data + 64, 0, more);
		section_back(mark);
	}
	AT("ldraa sp", c_ldraa_sp, EL1H, 0, 0x1234, 0);
	AT("eretaa el0", c_eretaa_el0, EL0T, 0, 0, 0);
}

int main(void);
int main(void) {
	for (u32 n = 0; n < 128; n++)
		user_data[n] = (u8)n;
	section("registers");
	BOTH("apiakeylo", c_keys, 0x123456789abcdef0, 0, 0);
	BOTH("apgakeyhi", c_key_last, 0, ~0ul, 0);
	int there = field(read_sysreg(id_aa64isar1_el1), 4, 8) != 0;
	if (there)
		keys();
	static const struct {
		const char *name;
		u64 bits;
	} settings[] = {{"all keys", ENABLE}, {"no keys", 0}, {"ia da", EN_IA | EN_DA}, {"ib db", EN_IB | EN_DB}};
	for (int n = 0; n < 4; n++) {
		set_sctlr(SCTLR_ON | settings[n].bits);
		section(settings[n].name);
		hints();
		plain();
		branches();
	}
	if (there)
		layouts();
	return 0;
}
