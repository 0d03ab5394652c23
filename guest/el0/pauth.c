/* Pointer authentication and branch targets as programs see them: keys of processes and threads, prctl, PROT_BTI and the
 * note of an ELF file. No library, so that it runs as init under any kernel; what it prints between `pauth: begin` and
 * `pauth: end` is the same under each. Instructions are those of the hint space where these do. */

#pragma GCC target("branch-protection=bti")

#include "lines.h"

enum { SIGILL = 4, SIGBUS = 7, SIGSEGV = 11, SIGCHLD = 17, SA_SIGINFO = 4, CLONE_THREAD = 0x50f00 };
enum { RESET_KEYS = 54, SET_ENABLED = 60, GET_ENABLED = 61 };
enum { IA, IB, DA, DB, GA, KEYS };

static void number(u64 value) {
	put(" ");
	put_hex(value);
}
static void say(const char *name, long value) {
	put(name);
	if (value < 0 && value > -4096) {
		put(" error");
		value = -value;
	}
	number((u64)value);
	end_line();
}

static volatile u64 code, signals, resume;
static void on_signal(int signal, u8 *info, u8 *context) {
	code = *(u32 *)(info + 8) | (u64)signal << 8;
	signals++;
	*(u64 *)(context + 176 + 8 + 32 * 8) = resume;
	/* BTYPE as after no branch. */
	*(u64 *)(context + 176 + 8 + 33 * 8) &= ~(3ul << 10);
}
static void signalled(const char *name) {
	put(name);
	number(signals);
	if (signals)
		number(code);
	end_line();
	signals = code = 0;
}

static u64 sign(int key, u64 value, u64 modifier) {
	u64 result = value;
	switch (key) {
	case IA: asm volatile(".arch armv8.3-a\n pacia %0, %1" : "+r"(result) : "r"(modifier)); break;
	case IB: asm volatile(".arch armv8.3-a\n pacib %0, %1" : "+r"(result) : "r"(modifier)); break;
	case DA: asm volatile(".arch armv8.3-a\n pacda %0, %1" : "+r"(result) : "r"(modifier)); break;
	case DB: asm volatile(".arch armv8.3-a\n pacdb %0, %1" : "+r"(result) : "r"(modifier)); break;
	case GA: asm volatile(".arch armv8.3-a\n pacga %0, %0, %1" : "+r"(result) : "r"(modifier)); break;
	}
	return result;
}
static u64 check(int key, u64 value, u64 modifier) {
	u64 result = value;
	switch (key) {
	case IA: asm volatile(".arch armv8.3-a\n autia %0, %1" : "+r"(result) : "r"(modifier)); break;
	case IB: asm volatile(".arch armv8.3-a\n autib %0, %1" : "+r"(result) : "r"(modifier)); break;
	case DA: asm volatile(".arch armv8.3-a\n autda %0, %1" : "+r"(result) : "r"(modifier)); break;
	case DB: asm volatile(".arch armv8.3-a\n autdb %0, %1" : "+r"(result) : "r"(modifier)); break;
	}
	return result;
}

/* Signatures of many pointers by each key, so that keys that differ show. */
enum { COUNT = 32 };
typedef u64 Signatures[KEYS][COUNT];
static void sign_all(Signatures to) {
	for (int key = 0; key < KEYS; key++)
		for (u64 n = 0; n < COUNT; n++)
			to[key][n] = sign(key, 0x410000 + 64 * n, n * 0x9e3779b97f4a7c15);
}
/* A bit for each key whose signatures are not these. */
static u64 differ(Signatures before) {
	u64 keys = 0;
	for (int key = 0; key < KEYS; key++)
		for (u64 n = 0; n < COUNT; n++)
			if (sign(key, 0x410000 + 64 * n, n * 0x9e3779b97f4a7c15) != before[key][n])
				keys |= 1ul << key;
	return keys;
}
/* A bit for each key of addresses that signs at all. */
static u64 signing(void) {
	u64 keys = 0;
	for (int key = 0; key < GA; key++)
		for (u64 n = 0; n < COUNT; n++)
			if (sign(key, 0x410000 + 64 * n, n) != 0x410000 + 64 * n)
				keys |= 1ul << key;
	return keys;
}
static u64 wrong(void) {
	u64 keys = 0;
	for (int key = 0; key < GA; key++)
		for (u64 n = 0; n < COUNT; n++) {
			u64 at = 0x410000 + 64 * n;
			if (check(key, sign(key, at, n), n) != at)
				keys |= 1ul << key;
		}
	return keys;
}

static long end_of(long child) {
	u32 status = 0xffff;
	call(WAIT4, child, (u64)&status, 0, 0, 0, 0);
	return status;
}
static long fork_(void) { return call(CLONE, SIGCHLD, 0, 0, 0, 0, 0); }
static long prctl(u64 option, u64 a, u64 b, u64 c) { return call(PRCTL, option, a, b, c, 0, 0); }

static Signatures mine;
static volatile u64 thread_done;
static u8 thread_stack[8192] __attribute__((aligned(16)));
static void thread_body(void) {
	thread_done = 1 | differ(mine) << 8;
	prctl(RESET_KEYS, 2, 0, 0);
	thread_done |= differ(mine) << 16;
	thread_done |= 2;
	for (;;)
		call(EXIT, 0, 0, 0, 0, 0, 0);
}

static void keys(void) {
	say("enabled", prctl(GET_ENABLED, 0, 0, 0));
	say("signing", (long)signing());
	say("wrong", (long)wrong());
	sign_all(mine);
	say("differ, the same", (long)differ(mine));
	say("reset of unknown key", prctl(RESET_KEYS, 32, 0, 0));
	say("reset with more", prctl(RESET_KEYS, 1, 1, 0));
	say("reset of DA and GA", prctl(RESET_KEYS, 0x14, 0, 0));
	say("differ", (long)differ(mine));
	say("wrong", (long)wrong());
	sign_all(mine);
	say("reset of all", prctl(RESET_KEYS, 0, 0, 0));
	say("differ", (long)differ(mine));
	sign_all(mine);
	say("set with more", prctl(SET_ENABLED, 1, 0, 1));
	say("set of GA", prctl(SET_ENABLED, 0x10, 0, 0));
	say("set more than named", prctl(SET_ENABLED, 1, 3, 0));
	say("disable IB and DB", prctl(SET_ENABLED, 0xa, 0, 0));
	say("enabled", prctl(GET_ENABLED, 0, 0, 0));
	say("signing", (long)signing());
	say("wrong", (long)wrong());
	say("enable IB only", prctl(SET_ENABLED, 0xa, 2, 0));
	say("enabled", prctl(GET_ENABLED, 0, 0, 0));
	say("signing", (long)signing());
	say("get with argument", prctl(GET_ENABLED, 1, 0, 0));
	/* Forks have the same; what they change is theirs. */
	long child = fork_();
	if (child == 0) {
		say("child: enabled", prctl(GET_ENABLED, 0, 0, 0));
		prctl(SET_ENABLED, 0xf, 0xf, 0);
		say("child: differ", (long)differ(mine));
		prctl(RESET_KEYS, 1, 0, 0);
		u64 seen = 0;
		for (int n = 0; n < 30; n++) {
			call(SCHED_YIELD, 0, 0, 0, 0, 0, 0);
			seen |= differ(mine) | signing() << 8 | wrong() << 16;
		}
		call(EXIT, seen == 0x0f01, 0, 0, 0, 0, 0);
	}
	prctl(SET_ENABLED, 8, 8, 0);
	u64 seen = 0;
	for (int n = 0; n < 30; n++) {
		call(SCHED_YIELD, 0, 0, 0, 0, 0, 0);
		seen |= differ(mine) | wrong() << 16;
	}
	say("child's end", end_of(child));
	say("differ meanwhile", (long)seen);
	/* Threads as well. */
	long tid;
	u64 *top = (u64 *)(thread_stack + sizeof thread_stack);
	register u64 x0 asm("x0") = CLONE_THREAD, x1 asm("x1") = (u64)top, x2 asm("x2") = 0, x3 asm("x3") = 0, x4 asm("x4") = 0;
	register u64 x8 asm("x8") = CLONE;
	asm volatile("svc #0\n cbnz x0, 1f\n bl thread_entry\n1:" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8)
		     : "memory", "x30");
	tid = (long)x0;
	while ((thread_done & 2) == 0)
		call(SCHED_YIELD, 0, 0, 0, 0, 0, 0);
	say("thread", tid > 0);
	say("thread: differ, before and after", (long)thread_done >> 8);
	say("differ", (long)differ(mine));
}
__attribute__((used)) void thread_entry(void);
void thread_entry(void) { thread_body(); }

/* A failed check: at once, or when the pointer is used. */
#define FAIL(instruction, pointer)                                                                                     \
	asm volatile(".arch armv8.3-a\n adr x16, 1f\n str x16, [%1]\n mov x17, %0\n mov x18, #0\n " instruction " x17, x18\n ldr x17, [x17]\n" \
		     "1:\n" : : "r"(pointer), "r"(&resume) : "x16", "x17", "x18", "memory")
static void failures(void) {
	/* Not the right bits: so that it fails for certain. */
	u64 at = (u64)&signals;
	FAIL("autia", sign(IA, at, 0));
	signalled("check of A");
	FAIL("autia", sign(IA, at, 0) ^ 1ul << 50);
	signalled("failed check of A");
	FAIL("autdb", sign(DB, at, 0));
	signalled("check of DB");
	FAIL("autdb", sign(DB, at, 0) ^ 1ul << 50);
	signalled("failed check of DB");
}

/* A function without a landing pad, one with BTI C, one with PACIASP. */
asm(".pushsection .text\n.balign 4096\n.globl targets\ntargets:\n mov x0, #7\n ret\n hint #34\n mov x0, #8\n ret\n hint #25\n"
    "hint #29\n mov x0, #9\n ret\n hint #36\n mov x0, #10\n ret\n.popsection");
extern const u32 targets[] __attribute__((visibility("hidden")));
static u64 branch(u64 at, int by_call) {
	u64 result = 99;
	asm volatile("adr x16, 3f\n str x16, [%3]\n mov x17, %1\n mov x15, %1\n mov x0, #99\n cbz %2, 1f\n blr x15\n b 2f\n"
		     "1: adr x30, 2f\n br x15\n3:\n2: mov %0, x0\n"
		     : "=&r"(result) : "r"(at), "r"((u64)by_call), "r"(&resume)
		     : "x0", "x15", "x16", "x17", "x30", "memory");
	return result;
}
static void guarded(void) {
	static const int starts[] = {0, 2, 5, 9};
	u64 page = (u64)call(MMAP, 0, 4096, 3, 0x22, (u64)-1, 0);
	for (int n = 0; n < 12; n++)
		((volatile u32 *)page)[n] = targets[n];
	asm volatile("dc cvau, %0\n dsb ish\n ic ivau, %0\n dsb ish\n isb" : : "r"(page) : "memory");
	static const u64 rights[] = {5, 0x15, 5};
	for (int round = 0; round < 3; round++) {
		say("mprotect", call(MPROTECT, page, 4096, rights[round], 0, 0, 0));
		for (int n = 0; n < 4; n++)
			for (int by_call = 0; by_call < 2; by_call++) {
				put(by_call ? "call of " : "branch to ");
				number(n);
				number(branch(page + 4 * starts[n], by_call));
				signalled(" signals");
			}
	}
	say("unknown right", call(MPROTECT, page, 4096, 0x45, 0, 0, 0));
	/* This program's own code, by its note. */
	for (int n = 0; n < 4; n++)
		for (int by_call = 0; by_call < 2; by_call++) {
			put(by_call ? "own: call of " : "own: branch to ");
			number(n);
			number(branch((u64)(targets + starts[n]), by_call));
			signalled(" signals");
		}
}
/* GNU_PROPERTY_AARCH64_FEATURE_1_AND: BTI, PAC. */
asm(".pushsection .note.gnu.property, \"a\"\n.balign 8\n.word 4, 16, 5\n.asciz \"GNU\"\n.word 0xc0000000, 4, 3, 0\n.popsection");

static void handle(int signal) {
	struct {
		void (*handler)(int, u8 *, u8 *);
		u64 flags, restorer, mask;
	} action = {on_signal, SA_SIGINFO, 0, 0};
	call(SIGACTION, signal, (u64)&action, 0, 8, 0, 0);
}
static u64 hex(const char *text) {
	u64 value = 0;
	for (; *text; text++)
		value = value << 4 | (*text <= '9' ? *text - '0' : *text - 'a' + 10);
	return value;
}

/* Bits 54:48 of each signature, in the order of the pointers; and the lowest of GA's that have any. */
static u64 digest(int key) {
	u64 sum = 0;
	for (u64 n = 0; n < COUNT; n++)
		sum = sum * 31 + sign(key, 0x410000 + 64 * n, n);
	return sum;
}
static void text_of(u64 value, char *to) {
	for (int n = 0; n < 16; n++)
		to[n] = "0123456789abcdef"[value >> (60 - 4 * n) & 15];
	to[16] = 0;
}

__attribute__((used)) static void begin(u64 *stack) {
	char **arguments = (char **)(stack + 1);
	if (stack[0] == 1 + KEYS) {
		u64 differ = 0;
		for (int key = 0; key < KEYS; key++)
			differ |= (u64)(hex(arguments[1 + key]) != digest(key)) << key;
		say("after exec: differ", (long)differ);
		say("after exec: enabled", prctl(GET_ENABLED, 0, 0, 0));
		call(EXIT, 3, 0, 0, 0, 0, 0);
	}
	put("pauth: begin");
	end_line();
	handle(SIGILL);
	handle(SIGSEGV);
	handle(SIGBUS);
	keys();
	failures();
	guarded();
	long child = fork_();
	if (child == 0) {
		static char texts[KEYS][17];
		const char *words[2 + KEYS] = {"/init"};
		for (int key = 0; key < KEYS; key++) {
			text_of(digest(key), texts[key]);
			words[1 + key] = texts[key];
		}
		prctl(SET_ENABLED, 0xf, 0, 0);
		call(EXECVE, (u64)words[0], (u64)words, 0, 0, 0, 0);
		call(EXIT, 9, 0, 0, 0, 0, 0);
	}
	say("exec's end", end_of(child));
	put("pauth: end");
	end_line();
	if (call(GETPID, 0, 0, 0, 0, 0, 0) == 1)
		call(REBOOT, 0xfee1dead, 672274793, 0x4321fedc, 0, 0, 0);
	call(EXIT, 0, 0, 0, 0, 0, 0);
}
asm(".pushsection .text\n.globl _start\n_start:\nhint #34\nmov x0, sp\nb begin\n.popsection");
