/* Everything that EL0 can see of the ID space: MRS of op0 3, op1 0, CRn 0, CRm 0 to 7, op2 0 to 7, each with its value or
 * `SIGILL`; accesses that must be refused; AT_HWCAP and AT_HWCAP2. Each access is a child's, whose end tells whether it was
 * refused: so it needs no handlers of signals. No library, so that it runs as init under any kernel.
 * The lines between `idspace: begin` and `idspace: end` depend on the CPU and the kernel's emulation alone. */

#include "lines.h"

enum { SIGILL = 4, SIGCHLD = 17 };

static void put_word(u64 value) {
	for (int shift = 60; shift >= 0; shift -= 4)
		put_hex(value >> shift & 15);
}

/* Functions of two words: MRS X0, and RET. */
asm(".pushsection .text\n.balign 8\n.globl reads\nreads:\n.set n, 0\n.rept 64\n.inst 0xd5380000 + (n << 5)\nret\n.set n, n + 1\n.endr\n"
    ".popsection");
extern const u32 reads[] __attribute__((visibility("hidden")));

static u64 run(const u32 *function, u64 x0) {
	register u64 value asm("x0") = x0;
	register const u32 *target asm("x16") = function;
	asm volatile("blr x16" : "+r"(value), "+r"(target) : : "x9", "x10", "x30", "memory", "cc");
	return value;
}

static void show(const char *what, u64 n, const u32 *function) {
	put(what);
	if (n < 64) {
		put(" CRm ");
		put_number((i64)n / 8);
		put(" op2 ");
		put_number((i64)n % 8);
	}
	put(": ");
	long child = call(CLONE, SIGCHLD, 0, 0, 0, 0, 0);
	if (child == 0) {
		put_word(run(function, 0x5a5a));
		end_line();
		call(EXIT, 0, 0, 0, 0, 0, 0);
	}
	int status = -1;
	call(WAIT4, child, (u64)&status, 0, 0, 0, 0);
	if (status == 0)
		length_ = 0;
	else {
		put((status & 0x7f) == SIGILL ? "SIGILL" : "another end");
		end_line();
	}
}

#define FUNCTION(name, body) \
	asm(".pushsection .text\n.balign 8\n.globl " #name "\n" #name ":\n" body "\nret\n.popsection"); \
	extern const u32 name[] __attribute__((visibility("hidden")))

FUNCTION(write_midr, ".inst 0xd5180000");
FUNCTION(write_isar0, ".inst 0xd5180600");
FUNCTION(read_op1_1, ".inst 0xd5390000");
FUNCTION(read_op1_3, ".inst 0xd53b0080");
FUNCTION(read_crm_8, ".inst 0xd5380800");
FUNCTION(read_crn_1, ".inst 0xd5381000");
FUNCTION(udf, ".inst 0");
/* MRS XZR, and registers that the kernel may keep elsewhere; flags and the stack pointer as before. */
FUNCTION(into_xzr, ".inst 0xd538061f\nmov x0, xzr");
FUNCTION(into_x19, "mov x9, x19\n.inst 0xd5380613\nmov x0, x19\nmov x19, x9");
FUNCTION(into_x29, "mov x9, x29\n.inst 0xd538061d\nmov x0, x29\nmov x29, x9");
FUNCTION(into_x30, "mov x9, x30\n.inst 0xd538061e\nmov x0, x30\nmov x30, x9");
FUNCTION(flags, "mov x9, sp\nmov x10, #0xf0000000\nmsr nzcv, x10\n.inst 0xd5380600\nmrs x0, nzcv\nmov x10, sp\n"
	 "cmp x9, x10\ncsel x0, x0, xzr, eq");

static void hwcaps(u64 *stack) {
	u64 *at = stack + 1 + stack[0] + 1;
	while (*at++)
		;
	for (; at[0]; at += 2)
		if (at[0] == 16 || at[0] == 26) {
			put(at[0] == 16 ? "AT_HWCAP: " : "AT_HWCAP2: ");
			put_word(at[1]);
			end_line();
		}
}

__attribute__((used)) static void begin(u64 *stack) {
	put("idspace: begin");
	end_line();
	for (u64 n = 0; n < 64; n++)
		show("read", n, reads + 2 * n);
	static const struct { const char *name; const u32 *function; } others[] = {
		{ "write MIDR_EL1", write_midr }, { "write ID_AA64ISAR0_EL1", write_isar0 }, { "read op1 1", read_op1_1 },
		{ "read op1 3", read_op1_3 }, { "read CRm 8", read_crm_8 }, { "read CRn 1", read_crn_1 }, { "UDF", udf },
		{ "into XZR", into_xzr }, { "into X19", into_x19 }, { "into X29", into_x29 }, { "into X30", into_x30 },
		{ "flags kept", flags },
	};
	for (u64 n = 0; n < sizeof others / sizeof *others; n++)
		show(others[n].name, 64, others[n].function);
	hwcaps(stack);
	put("idspace: end");
	end_line();
	/* A page that may only be executed: without FEAT_IDST the kernel has to read the instruction from it. */
	u32 *page = (u32 *)call(MMAP, 0, 4096, 3, 0x22, (u64)-1, 0);
	page[0] = 0xd5380600;
	page[1] = 0xd65f03c0;
	asm volatile("dc cvau, %0\n dsb ish\n ic ivau, %0\n dsb ish\n isb" : : "r"(page) : "memory");
	call(MPROTECT, (u64)page, 4096, 4, 0, 0, 0);
	show("execute-only", 64, page);
	if (call(GETPID, 0, 0, 0, 0, 0, 0) == 1)
		call(REBOOT, 0xfee1dead, 672274793, 0x4321fedc, 0, 0, 0);
	call(EXIT, 0, 0, 0, 0, 0, 0);
}
asm(".pushsection .text\n.globl _start\n_start:\nmov x0, sp\nb begin\n.popsection");
