/* Threads that add to one number under a lock made of a futex, and die with a lock held: the kernel's compare and
 * exchange of user memory (FUTEX_WAKE_OP, robust lists at a thread's end), waiting and waking. Runs as init; status 7 and
 * `hello from uaccess` if all is well. */

#pragma GCC target("no-outline-atomics")

#include "call.h"

enum { WAIT = 0, WAKE = 1, WAKE_OP = 5, OWNER_DIED = 0x40000000 };
/* VM, FS, FILES, SIGHAND, THREAD, and 0 stored at the end. */
enum { FLAGS = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x200000, THREADS = 6, ROUNDS = 300 };

static u32 lock, words[THREADS], tids[THREADS], second;
static u64 total;
static struct {
	u64 next, offset, pending;
} heads[THREADS];
static struct {
	u64 next;
	u32 word;
} robust[THREADS];

static u32 swap(u32 *at, u32 value) { return __atomic_exchange_n(at, value, __ATOMIC_ACQ_REL); }
static void take(void) {
	u32 seen = 0;
	if (__atomic_compare_exchange_n(&lock, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (swap(&lock, 2) != 0)
		call(FUTEX, (u64)&lock, WAIT, 2, 0, 0, 0);
}
static void give(void) {
	if (swap(&lock, 0) == 2)
		call(FUTEX, (u64)&lock, WAKE, 1, 0, 0, 0);
}

static void fail(const char *text) {
	print_text(text);
	call(EXIT_GROUP, 1, 0, 0, 0, 0, 0);
}

__attribute__((used, noreturn)) void body(u64 n);
__attribute__((noreturn)) void body(u64 n) {
	/* A robust lock that this thread dies with. */
	heads[n].next = (u64)&robust[n].next;
	heads[n].offset = (u64)&robust[n].word - (u64)&robust[n].next;
	robust[n].next = (u64)&heads[n].next;
	__atomic_store_n(&robust[n].word, (u32)call(GETTID, 0, 0, 0, 0, 0, 0), __ATOMIC_RELEASE);
	if (call(SET_ROBUST_LIST, (u64)&heads[n], sizeof heads[n], 0, 0, 0, 0) != 0)
		fail("uaccess: no robust list\n");
	for (int round = 0; round < ROUNDS; round++) {
		take();
		total++;
		give();
	}
	for (;;)
		call(EXIT, 0, 0, 0, 0, 0, 0);
}

static void start(u64 n, u64 stack) {
	register u64 x0 asm("x0") = FLAGS, x1 asm("x1") = stack, x2 asm("x2") = 0, x3 asm("x3") = 0, x4 asm("x4") = (u64)&tids[n];
	register u64 x8 asm("x8") = CLONE, x19 asm("x19") = n;
	asm volatile("svc #0\n cbnz x0, 1f\n mov x0, x19\n bl body\n1:"
		     : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8), "r"(x19) : "memory", "x30", "cc");
	if ((long)x0 < 0)
		fail("uaccess: no thread\n");
}

__attribute__((used)) static void begin(void) {
	u64 stacks = (u64)call(MMAP, 0, THREADS * 16384, 3, 0x22, (u64)-1, 0);
	for (u64 n = 0; n < THREADS; n++) {
		tids[n] = 1;
		start(n, stacks + (n + 1) * 16384);
	}
	for (u64 n = 0; n < THREADS; n++) {
		while (__atomic_load_n(&tids[n], __ATOMIC_ACQUIRE) != 0)
			call(FUTEX, (u64)&tids[n], WAIT, 1, 0, 0, 0);
		/* The kernel has put "the owner died" into it, in place of its number. */
		if (robust[n].word != OWNER_DIED)
			fail("uaccess: a robust lock was not given up\n");
	}
	if (total != THREADS * ROUNDS)
		fail("uaccess: a wrong sum\n");
	/* FUTEX_WAKE_OP: adds 5 to the second word, and says nothing woke; then compares with what was there. */
	for (u32 n = 0; n < 100; n++)
		if (call(FUTEX, (u64)&words[0], WAKE_OP, 1, 1, (u64)&second, 1u << 28 | 5 << 12 | 0) != 0)
			fail("uaccess: no FUTEX_WAKE_OP\n");
	if (second != 500)
		fail("uaccess: a wrong word\n");
	call(WRITE, 1, (u64)"hello from uaccess\n", 19, 0, 0, 0);
	/* The last thread's status would count, and another may still be on its way out. */
	call(EXIT_GROUP, 7, 0, 0, 0, 0, 0);
}
asm(".pushsection .text\n.globl _start\n_start:\nb begin\n.popsection");
