/* Futexes: every result is printed. The same on Linux 6.1 and on our kernel. */

#include "el0.h"

enum { WAIT, WAKE, REQUEUE = 3, CMP_REQUEUE, WAKE_OP, LOCK_PI, UNLOCK_PI, TRYLOCK_PI, WAIT_BITSET, WAKE_BITSET, LOCK_PI2 = 13 };
enum { PRIVATE = 128, REALTIME = 256 };
enum { WAITERS = 1 << 31, DIED = 1 << 30 };
#define FUTEX_CALL(...) call(FUTEX, __VA_ARGS__)

static int words[8];
static int tids[16];
static volatile long results[16];
static volatile int arrived;

static void time_from_now(long *time, int clock, long ms) {
	call(CLOCK_GETTIME, clock, time);
	time[1] += ms * 1000000;
	time[0] += time[1] / 1000000000;
	time[1] %= 1000000000;
}

static void results_at_once(void) {
	long time[2] = { 0, 1000000 }, bad[2] = { 0, 1000000000 }, absolute[2];
	words[0] = 5;
	show("other value", FUTEX_CALL(words, WAIT, 4, 0, 0, 0));
	show("time", FUTEX_CALL(words, WAIT, 5, time, 0, 0));
	show("time", FUTEX_CALL(words, WAIT | PRIVATE, 5, time, 0, 0));
	show("bad time", FUTEX_CALL(words, WAIT, 5, bad, 0, 0));
	show("bad time", FUTEX_CALL(words, WAIT, 5, 8, 0, 0));
	show("clock", FUTEX_CALL(words, WAIT | REALTIME, 5, time, 0, 0));
	show("clock", FUTEX_CALL(words, WAKE | REALTIME, 5, time, 0, 0));
	time_from_now(absolute, 1, 2);
	show("absolute", FUTEX_CALL(words, WAIT_BITSET, 5, absolute, 0, -1));
	time_from_now(absolute, 0, 2);
	show("realtime", FUTEX_CALL(words, WAIT_BITSET | REALTIME | PRIVATE, 5, absolute, 0, -1));
	show("past", FUTEX_CALL(words, WAIT_BITSET, 5, time, 0, -1));
	show("no bits", FUTEX_CALL(words, WAIT_BITSET, 5, time, 0, 0));
	show("no bits", FUTEX_CALL(words, WAKE_BITSET, 5, 0, 0, 0));
	show("odd", FUTEX_CALL((char *)words + 2, WAIT, 5, time, 0, 0));
	show("odd", FUTEX_CALL((char *)words + 2, WAKE, 5, 0, 0, 0));
	show("nowhere", FUTEX_CALL(8, WAIT, 5, time, 0, 0));
	show("nowhere", FUTEX_CALL(8, WAIT | PRIVATE, 5, time, 0, 0));
	show("nowhere", FUTEX_CALL(8, WAKE, 5, 0, 0, 0));
	show("nowhere", FUTEX_CALL(8, WAKE | PRIVATE, 5, 0, 0, 0));
	show("kernel", FUTEX_CALL(-4096, WAKE | PRIVATE, 5, 0, 0, 0));
	show("nobody", FUTEX_CALL(words, WAKE, 5, 0, 0, 0));
	show("unknown", FUTEX_CALL(words, 77, 5, 0, 0, 0));
	show("requeue", FUTEX_CALL(words, CMP_REQUEUE, 1, 1, words + 1, 4));
	show("requeue", FUTEX_CALL(words, CMP_REQUEUE, 1, 1, words + 1, 5));
	show("requeue", FUTEX_CALL(words, CMP_REQUEUE, -1, 1, words + 1, 5));
	show("requeue", FUTEX_CALL(words, REQUEUE, 1, -1, words + 1, 0));
}

/* Threads that wait at words[0], with the bits that their number says. */
static void wait_thread(long n) {
	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	results[n] = FUTEX_CALL(words, WAIT_BITSET | PRIVATE, 0, 0, 0, 1 << n);
}
static void start(int count) {
	words[0] = 0;
	arrived = 0;
	for (int n = 0; n < count; n++) {
		results[n] = -1000;
		thread(wait_thread, n, tids + n);
	}
	while (arrived < count)
		call(SCHED_YIELD);
	sleep_ms(10);
}
static void finish(int count) {
	for (int n = 0; n < count; n++) {
		join(tids + n);
		show("  result", results[n]);
	}
}

static void waking(void) {
	start(4);
	show("shared", FUTEX_CALL(words, WAKE, 9, 0, 0, 0));
	show("one", FUTEX_CALL(words, WAKE | PRIVATE, 1, 0, 0, 0));
	show("none is one", FUTEX_CALL(words, WAKE | PRIVATE, 0, 0, 0, 0));
	show("rest", FUTEX_CALL(words, WAKE | PRIVATE, 0x7fffffff, 0, 0, 0));
	finish(4);
	start(5);
	show("bits", FUTEX_CALL(words, WAKE_BITSET | PRIVATE, 9, 0, 0, 2 | 8));
	join(tids + 1);
	join(tids + 3);
	show("bits", FUTEX_CALL(words, WAKE_BITSET | PRIVATE, 1, 0, 0, 1 | 16));
	show("rest", FUTEX_CALL(words, WAKE | PRIVATE, -1, 0, 0, 0));
	show("rest", FUTEX_CALL(words, WAKE | PRIVATE, 9, 0, 0, 0));
	finish(5);
	start(6);
	show("requeue", FUTEX_CALL(words, CMP_REQUEUE | PRIVATE, 1, 2, words + 1, 0));
	show("there", FUTEX_CALL(words + 1, WAKE | PRIVATE, 9, 0, 0, 0));
	show("requeue", FUTEX_CALL(words, REQUEUE | PRIVATE, 0, 9, words + 1, 0));
	show("here", FUTEX_CALL(words, WAKE | PRIVATE, 9, 0, 0, 0));
	show("there", FUTEX_CALL(words + 1, WAKE | PRIVATE, 9, 0, 0, 0));
	finish(6);
}

static void operations(void) {
	static const u32 codes[] = {
		0x0 << 28 | 0u << 24 | 7 << 12 | 3, 0x1u << 28 | 4u << 24 | 1 << 12 | 2, 0x2u << 28 | 1u << 24 | 0x18 << 12 | 3,
		0x3u << 28 | 2u << 24 | 1 << 12 | 4, 0x4u << 28 | 3u << 24 | 0xfff << 12 | 3, 0x9u << 28 | 5u << 24 | 5 << 12 | 4,
		0x5u << 28, 6u << 24, 0x1u << 28 | 0u << 24 | 0xffe << 12 | 3,
	};
	for (u64 n = 0; n < sizeof codes / sizeof *codes; n++) {
		words[1] = 3;
		show("operation", FUTEX_CALL(words + 2, WAKE_OP | PRIVATE, 1, 1, words + 1, codes[n]));
		show("  value", words[1]);
	}
	start(3);
	/* The word is 0: not less, so nobody more; then it is. */
	show("first", FUTEX_CALL(words + 2, WAKE_OP | PRIVATE, 1, 1, words, 2u << 24 | 1 << 12));
	show("  value", words[0]);
	show("second", FUTEX_CALL(words + 2, WAKE_OP | PRIVATE, 1, 2, words, 4u << 24 | 0 << 12));
	show("both", FUTEX_CALL(words, WAKE_OP | PRIVATE, 1, 2, words + 2, 0));
	finish(3);
	show("nowhere", FUTEX_CALL(words, WAKE_OP, 1, 1, 8, 0));
}

/* Memory that is shared by processes. */
static int *page;
static void wait_shared(void) {
	call(EXIT_GROUP, FUTEX_CALL(page + 1, WAIT, 0, 0, 0, 0) + 100);
}
static void sharing(void) {
	page = (int *)call(MMAP, 0, 4096, 3, 0x21, -1, 0);
	long child = spawn(wait_shared);
	long woken;
	while (!(woken = FUTEX_CALL(page + 1, WAKE, 1, 0, 0, 0)))
		sleep_ms(1);
	show("woken", woken);
	show("child", wait_for(child));
	call(MUNMAP, page, 4096);
	show("gone", FUTEX_CALL(page + 1, WAKE, 1, 0, 0, 0));
}

/* A signal ends a wait: with a time EINTR, without one too unless the handler is to restart. */
static void handler(int number) {
	(void)number;
}
static long waiter_tid;
static void interrupt(long n) {
	(void)n;
	sleep_ms(20);
	call(TKILL, waiter_tid, 10);
	sleep_ms(20);
	FUTEX_CALL(words, WAKE | PRIVATE, 1, 0, 0, 0);
}
static void signals(void) {
	waiter_tid = call(GETTID);
	for (u64 n = 0; n < 4; n++) {
		struct { void *handler; u64 flags; void *restorer; u64 mask; } action = { handler, n % 2 ? 0x10000000 : 0, 0, 0 };
		call(SIGACTION, 10, &action, 0, 8);
		words[0] = 0;
		thread(interrupt, 0, tids);
		long time[2] = { 5, 0 };
		show("interrupted", FUTEX_CALL(words, WAIT | PRIVATE, 0, n < 2 ? 0 : (u64)time, 0, 0));
		join(tids);
	}
}

/* Robust lists. */
struct robust { struct robust *next; int word; int pad; };
static struct { struct robust *next; long offset; struct robust *pending; } head;
static struct robust locks[4];
static void die_with_locks(long how) {
	int tid = (int)call(GETTID);
	show("set", call(SET_ROBUST_LIST, &head, 24));
	head.next = locks;
	head.offset = 8;
	head.pending = how == 1 ? locks + 3 : 0;
	for (int n = 0; n < 3; n++)
		locks[n].next = n == 2 ? (struct robust *)&head : locks + n + 1;
	if (how == 2)
		locks[2].next = locks;
	if (how == 3)
		locks[1].next = (struct robust *)8;
	locks[0].word = tid;
	locks[1].word = 7;
	locks[2].word = (int)(WAITERS | tid);
	locks[3].word = how == 1 ? tid : 0;
	arrived = 1;
	sleep_ms(20);
}
static void wait_for_lock(long n) {
	results[n] = FUTEX_CALL(&locks[2].word, WAIT, locks[2].word, 0, 0, 0);
}
static void robust(void) {
	show("len", call(SET_ROBUST_LIST, &head, 23));
	void *at = (void *)77;
	u64 len = 0;
	call(SET_ROBUST_LIST, &head, 24);
	show("get", call(GET_ROBUST_LIST, 0, &at, &len));
	show("  same", at == &head);
	show("  len", (long)len);
	call(SET_ROBUST_LIST, 0, 24);
	for (int how = 0; how < 4; how++) {
		arrived = 0;
		thread(die_with_locks, how, tids);
		while (!arrived)
			call(SCHED_YIELD);
		results[1] = -1000;
		if (how != 3)
			thread(wait_for_lock, 1, tids + 1);
		join(tids);
		if (how != 3) {
			join(tids + 1);
			show("woken", results[1]);
		}
		for (int n = 0; n < 4; n++) {
			int word = locks[n].word;
			show_hex("  marks", (u32)(word & (WAITERS | DIED)));
			show("  owner", how == 3 && n == 2 ? 0 : word & ~(WAITERS | DIED));
		}
	}
}

/* Locks that are handed on. */
static void lock_thread(long n) {
	results[n] = FUTEX_CALL(words, LOCK_PI | PRIVATE, 0, 0, 0, 0);
	results[n + 8] = (words[0] & ~(WAITERS | DIED)) == call(GETTID);
	int mine = (int)call(GETTID);
	if (!__atomic_compare_exchange_n(words, &mine, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		FUTEX_CALL(words, UNLOCK_PI | PRIVATE, 0, 0, 0, 0);
}
static void owned(void) {
	int tid = (int)call(GETTID);
	words[0] = 0;
	show("try", FUTEX_CALL(words, TRYLOCK_PI | PRIVATE, 0, 0, 0, 0));
	show("  own", words[0] == tid);
	show("try", FUTEX_CALL(words, TRYLOCK_PI | PRIVATE, 0, 0, 0, 0));
	show("lock", FUTEX_CALL(words, LOCK_PI | PRIVATE, 0, 0, 0, 0));
	show("unlock", FUTEX_CALL(words, UNLOCK_PI | PRIVATE, 0, 0, 0, 0));
	show("  word", words[0]);
	show("unlock", FUTEX_CALL(words, UNLOCK_PI | PRIVATE, 0, 0, 0, 0));
	show("lock", FUTEX_CALL(words, LOCK_PI | PRIVATE, 0, 0, 0, 0));
	show("  own", words[0] == tid);
	for (int n = 0; n < 3; n++)
		thread(lock_thread, n, tids + n);
	while (!(__atomic_load_n(words, __ATOMIC_SEQ_CST) & WAITERS))
		call(SCHED_YIELD);
	sleep_ms(20);
	show("unlock", FUTEX_CALL(words, UNLOCK_PI | PRIVATE, 0, 0, 0, 0));
	for (int n = 0; n < 3; n++) {
		join(tids + n);
		show("  result", results[n]);
		show("  owner", results[n + 8]);
	}
	show("  word", words[0]);
	words[0] = 0x3ffffff0;
	show("no such", FUTEX_CALL(words, LOCK_PI | PRIVATE, 0, 0, 0, 0));
	words[0] = DIED;
	show("died", FUTEX_CALL(words, LOCK_PI | PRIVATE, 0, 0, 0, 0));
	show("  word", words[0] == (DIED | tid));
	show("odd", FUTEX_CALL((char *)words + 2, LOCK_PI | PRIVATE, 0, 0, 0, 0));
	show("nowhere", FUTEX_CALL(8, LOCK_PI | PRIVATE, 0, 0, 0, 0));
	show("nowhere", FUTEX_CALL(8, UNLOCK_PI | PRIVATE, 0, 0, 0, 0));
}
static void hold(long n) {
	FUTEX_CALL(words, LOCK_PI | PRIVATE, 0, 0, 0, 0);
	arrived = 1;
	sleep_ms(n);
	FUTEX_CALL(words, UNLOCK_PI | PRIVATE, 0, 0, 0, 0);
}
static void patience(void) {
	words[0] = 0;
	arrived = 0;
	thread(hold, 60, tids);
	while (!arrived)
		call(SCHED_YIELD);
	long time[2];
	time_from_now(time, 0, 5);
	show("late", FUTEX_CALL(words, LOCK_PI | PRIVATE, 0, time, 0, 0));
	time_from_now(time, 1, 5);
	show("late", FUTEX_CALL(words, LOCK_PI2 | PRIVATE, 0, time, 0, 0));
	show_hex("  marks", (u32)(words[0] & (WAITERS | DIED)));
	show("lock", FUTEX_CALL(words, LOCK_PI | PRIVATE, 0, 0, 0, 0));
	show("  own", (words[0] & ~(WAITERS | DIED)) == call(GETTID));
	show("unlock", FUTEX_CALL(words, UNLOCK_PI | PRIVATE, 0, 0, 0, 0));
	show("  word", words[0]);
	join(tids);
}

void _start(void) {
	static void (*const parts[])(void) = { results_at_once, waking, operations, sharing, signals, robust, owned, patience };
	for (u64 n = 0; n < sizeof parts / sizeof *parts; n++) {
		show("-- part", (long)n);
		parts[n]();
	}
	call(EXIT_GROUP, 0);
}
