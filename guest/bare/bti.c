/* Branch target identification: what may be branched to, by which branch, in guarded pages and others. */
#include "bare.h"

#define GP (1ul << 50)
#define BT0 (1ul << 35)
#define BT1 (1ul << 36)
#define EN_KEYS (1ul << 31 | 1ul << 30)
#define BTYPE(n) ((u64)(n) << 10)

#define BTI(label, body) CODE(label, ".arch_extension pauth\n" body)
BTI(l_nop, "nop\n mov x0, #3");
BTI(l_bti, "hint #32\n mov x0, #3");
BTI(l_bti_c, "hint #34\n mov x0, #3");
BTI(l_bti_j, "hint #36\n mov x0, #3");
BTI(l_bti_jc, "hint #38\n mov x0, #3");
BTI(l_paciasp, "paciasp\n mov x0, #3");
BTI(l_pacibsp, "pacibsp\n mov x0, #3");
BTI(l_autiasp, "autiasp\n mov x0, #3");
BTI(l_paciaz, "paciaz\n mov x0, #3");
BTI(l_brk, "brk #7");
BTI(l_hlt, "hlt #7");
BTI(l_b, "b 1f\n svc #1\n1: mov x0, #3");
BTI(l_isb, "isb\n mov x0, #3");
/* The second instruction is not a target. */
BTI(l_second, "hint #38\n nop\n nop\n mov x0, #3");
/* One branch of each kind to what X1 selects, from the same page. */
#define TO(label, branch)                                                                                              \
	BTI(label, "adr x4, 1f\n add x4, x4, x1\n mov x16, x4\n mov x17, x4\n mov x30, x4\n" branch                      \
		   "\n svc #1\n1: nop\n b 2f\n hint #34\n b 2f\n hint #36\n b 2f\n hint #38\n b 2f\n paciasp\n2: mov x0, #3\n mov x1, #0")
TO(b_br, "br x4");
TO(b_br16, "br x16");
TO(b_br17, "br x17");
TO(b_blr, "blr x4");
TO(b_blr16, "blr x16");
TO(b_ret, "ret");
TO(b_ret4, "ret x4");
TO(b_b, "b 1f");
/* With no key on they do not authenticate. */
TO(b_braa, "braaz x4");
TO(b_braa17, "brab x17, x0");
TO(b_blraa, "blraa x4, x0");
TO(b_retaa, "retaa");
/* BTYPE does not outlive one instruction, nor a direct branch. */
BTI(l_chain, "adr x4, 1f\n br x4\n svc #1\n1: hint #38\n b 2f\n2: b 3f\n3: mov x0, #3");
BTI(l_twice, "adr x4, 1f\n br x4\n svc #1\n1: hint #38\n adr x4, 2f\n blr x4\n2: hint #34\n mov x0, #3");
BTI(l_misaligned, "adr x4, 1f\n add x4, x4, #2\n br x4\n1: nop\n nop");
BTI(l_away, "mov x4, #0x7000\n lsl x4, x4, #16\n blr x4");

static u64 *cases(void) {
	u64 *level1 = (u64 *)(read_sysreg(ttbr0_el1) & ~0xffful);
	u64 *level2 = (u64 *)(level1[1] & ~0xffful);
	return &level2[2];
}

#define CASES 0x40400000ul
#define COPY 0x41000000ul
#define CASES_SIZE 0x20000ul

/* Maps a copy of the cases in their place, guarded. A copy, as QEMU keeps what it knows of code by physical address. */
static void guard(void) {
	for (u64 n = 0; n < CASES_SIZE; n += 8)
		store64(COPY + n, load64(CASES + n));
	dsb();
	asm volatile("ic iallu" ::: "memory");
	u64 *slot = cases();
	*slot = (*slot ^ CASES ^ COPY) | GP;
	tlb_flush();
}

static const struct {
	const char *name;
	const u32 *code;
} landings[] = {
	{"nop", l_nop},	      {"bti", l_bti},	    {"bti c", l_bti_c}, {"bti j", l_bti_j}, {"bti jc", l_bti_jc},
	{"paciasp", l_paciasp}, {"pacibsp", l_pacibsp}, {"autiasp", l_autiasp}, {"paciaz", l_paciaz}, {"brk", l_brk},
	{"hlt", l_hlt},       {"b", l_b},	    {"isb", l_isb},	{"second", l_second},
}, branches[] = {
	{"br", b_br},	    {"br x16", b_br16}, {"br x17", b_br17}, {"blr", b_blr},	  {"blr x16", b_blr16}, {"ret", b_ret},
	{"ret x4", b_ret4}, {"b", b_b},		{"braaz", b_braa},  {"brab x17", b_braa17}, {"blraa", b_blraa},	{"retaa", b_retaa},
}, others[] = {{"chain", l_chain}, {"twice", l_twice}, {"misaligned", l_misaligned}, {"away", l_away}};

static void land(void) {
	for (u32 n = 0; n < sizeof landings / sizeof *landings; n++)
		for (u64 btype = 0; btype < 4; btype++) {
			u32 mark = section_mark();
			subsection(landings[n].name);
			subsection_hex("", btype);
			test("el0", landings[n].code, EL0T | BTYPE(btype), 0, 0, 0, 0);
			test("el1", landings[n].code, EL1H | BTYPE(btype), 0, 0, 0, 0);
			/* Once more, when the page and the target are known. */
			test("again", landings[n].code, EL1H | BTYPE(btype), 0, 0, 0, 0);
			test("illegal", landings[n].code, EL1H | SPSR_IL | BTYPE(btype), 0, 0, 0, 0);
			section_back(mark);
		}
}

static void branch(int pauth) {
	for (u32 n = 0; n < sizeof branches / sizeof *branches; n++) {
		if (n >= 8 && !pauth)
			break;
		for (u64 target = 0; target < 5; target++) {
			u32 mark = section_mark();
			subsection(branches[n].name);
			subsection_hex("to", target);
			test("el0", branches[n].code, EL0T, 0, target * 8, 0, 0);
			test("el1", branches[n].code, EL1H, 0, target * 8, 0, 0);
			section_back(mark);
		}
	}
	for (u32 n = 0; n < sizeof others / sizeof *others; n++) {
		u32 mark = section_mark();
		subsection(others[n].name);
		test("el0", others[n].code, EL0T, 0, 0, 0, 0);
		test("el1", others[n].code, EL1H, 0, 0, 0, 0);
		section_back(mark);
	}
}

int main(void);
int main(void) {
	int there = field(read_sysreg(S3_0_C0_C4_1), 0, 4) != 0;
	int pauth = field(read_sysreg(id_aa64isar1_el1), 4, 8) != 0;
	static const struct {
		const char *name;
		u64 bits;
	} settings[] = {{"bt 0", 0}, {"bt el0", BT0}, {"bt el1", BT1}, {"bt both", BT0 | BT1}};
	for (int guarded = 0; guarded < 2; guarded++) {
		if (guarded)
			guard();
		for (int n = 0; n < (there ? 4 : 1); n++) {
			set_sctlr(SCTLR_ON | (there ? settings[n].bits : 0));
			section(guarded ? "guarded" : "open");
			subsection(settings[n].name);
			land();
			branch(pauth);
		}
	}
	/* Guarded pages with the MMU off: there are none. */
	set_sctlr((SCTLR_ON | (there ? BT0 | BT1 : 0)) & ~(SCTLR_M | SCTLR_C | SCTLR_I));
	section("MMU off");
	branch(pauth);
	set_sctlr(SCTLR_ON);
	return 0;
}
