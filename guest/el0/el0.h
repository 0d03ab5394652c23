/* What the programs here that print one result a line have in common: text, threads. */

#include "call.h"

void *memset(void *to, int value, u64 len) {
	for (u64 n = 0; n < len; n++)
		((volatile char *)to)[n] = (char)value;
	return to;
}
void *memcpy(void *to, const void *from, u64 len) {
	for (u64 n = 0; n < len; n++)
		((volatile char *)to)[n] = ((const char *)from)[n];
	return to;
}

/* A line is written at once, so that lines of several threads do not mix. */
static void show_text(const char *what, const char *text) {
	char line[256];
	u64 at = length_of(what), len = length_of(text);
	memcpy(line, what, at);
	line[at++] = ' ';
	memcpy(line + at, text, len);
	at += len;
	line[at++] = '\n';
	call(WRITE, 1, line, at);
}

static void show(const char *what, long value) {
	char digits[24], *at = digits + sizeof digits;
	u64 left = value < 0 ? -(u64)value : (u64)value;
	*--at = 0;
	do
		*--at = (char)('0' + left % 10);
	while (left /= 10);
	if (value < 0)
		*--at = '-';
	show_text(what, at);
}

static void show_hex(const char *what, u64 value) {
	char digits[20], *at = digits + sizeof digits;
	*--at = 0;
	do
		*--at = "0123456789abcdef"[value % 16];
	while (value /= 16);
	show_text(what, at);
}

static __attribute__((unused)) void sleep_ms(long ms) {
	long time[2] = { ms / 1000, ms % 1000 * 1000000 };
	call(NANOSLEEP, time, 0);
}

/* A child process that calls `body`; its number. */
static __attribute__((unused)) long spawn(void (*body)(void)) {
	long pid = call(CLONE, 17);
	if (pid == 0) {
		body();
		call(EXIT_GROUP, 0);
	}
	return pid;
}

static __attribute__((unused)) int wait_for(long pid) {
	int status = -1;
	call(WAIT4, pid, &status, 0, 0);
	return status;
}

/* A thread that calls `body` with `argument`, on a stack of its own; its number, which is stored at `tid` as well, until the
 * thread's end clears it. */
static __attribute__((unused, noinline)) long thread(void (*body)(long), long argument, int *tid) {
	enum { VM = 0x100, FS = 0x200, FILES = 0x400, SIGHAND = 0x800, THREAD = 0x10000, PARENT_SETTID = 0x100000, CHILD_CLEARTID = 0x200000 };
	static char stacks[16][16384] __attribute__((aligned(16)));
	static int next;
	u64 *top = (u64 *)stacks[next++ % 15 + 1];
	top -= 2;
	top[0] = (u64)body;
	top[1] = (u64)argument;
	register u64 x0 asm("x0") = VM | FS | FILES | SIGHAND | THREAD | PARENT_SETTID | CHILD_CLEARTID;
	register u64 x1 asm("x1") = (u64)top, x2 asm("x2") = (u64)tid, x3 asm("x3") = 0, x4 asm("x4") = (u64)tid;
	register long x8 asm("x8") = CLONE;
	asm volatile("svc #0\n"
		     "cbnz x0, 1f\n"
		     "ldp x9, x0, [sp], #16\n"
		     "mov x29, #0\n"
		     "blr x9\n"
		     "mov x0, #0\n"
		     "mov x8, #93\n"
		     "svc #0\n"
		     "1:\n"
		     : "+r"(x0)
		     : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8)
		     : "memory", "x9", "x30");
	return (long)x0;
}

/* The end of a thread: its word is cleared, and who waits there is woken. */
static __attribute__((unused)) void join(int *tid) {
	int value;
	while ((value = __atomic_load_n(tid, __ATOMIC_ACQUIRE)))
		call(FUTEX, tid, 0, value, 0, 0, 0);
}
