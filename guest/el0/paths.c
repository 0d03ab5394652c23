/* The short ways through a kernel, each many times, from instructions that have names: a trace of the machine's exceptions
 * (`vambrace run --trace`) then tells what each cost. One CPU is enough, and makes the two threads take turns. Runs under any
 * Linux. No library. */

#include "call.h"

enum { INVALID = 1000 };
enum { PAGE = 4096, ROUNDS = 1000, PAGES = 512, SIGCHLD = 17, NOHUGEPAGE = 15, WAIT = 128, WAKE = 129 };
enum { PROT_READ = 1, PROT_WRITE = 2, MAP_PRIVATE = 2, MAP_ANONYMOUS = 0x20 };

static u64 failed;
static void expect(int is_true) { failed += !is_true; }

/* A system call from an instruction of that name. */
#define NAMED_CALL(name)                                                                                                        \
	static __attribute__((noinline, noclone)) long call_##name(long number, u64 a, u64 b, u64 c) {                         \
		register u64 x0 asm("x0") = a, x1 asm("x1") = b, x2 asm("x2") = c, x3 asm("x3") = 0;                           \
		register long x8 asm("x8") = number;                                                                           \
		asm volatile(".globl " #name "\n" #name ": svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x8) : "memory"); \
		return (long)x0;                                                                                               \
	}
NAMED_CALL(at_invalid)
NAMED_CALL(at_getpid)
NAMED_CALL(at_yield)
NAMED_CALL(at_other_yield)

static __attribute__((noinline, noclone)) u64 read_register(void) {
	u64 value;
	asm volatile(".globl at_mrs\nat_mrs: mrs %0, id_aa64isar0_el1" : "=r"(value));
	return value;
}

#define NAMED_ACCESS(name, text)                                                                                                \
	static __attribute__((noinline, noclone)) void access_##name(u64 at) {                                                         \
		asm volatile(".globl " #name "\n" #name ": " text " wzr, [%0]" : : "r"(at) : "memory");                       \
	}
NAMED_ACCESS(at_write, "str")
NAMED_ACCESS(at_read, "ldr")
NAMED_ACCESS(at_copy, "str")
NAMED_ACCESS(at_file, "ldr")

static u64 anonymous(u64 bytes) {
	u64 at = (u64)call(MMAP, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1ul, 0);
	call(MADVISE, at, bytes, NOHUGEPAGE, 0, 0, 0);
	return at;
}

/* A file whose pages are all there, mapped. */
static u64 file(void) {
	static char page[PAGE];
	long fd = call(OPENAT, -100ul, (u64) "/tmp/paths", 0102, 0600, 0, 0);
	for (u64 n = 0; n < PAGES; n++)
		expect(call(WRITE, (u64)fd, (u64)page, PAGE, 0, 0, 0) == PAGE);
	expect(call(UNLINKAT, -100ul, (u64) "/tmp/paths", 0, 0, 0, 0) == 0);
	return (u64)call(MMAP, 0, PAGES * PAGE, PROT_READ, MAP_PRIVATE, (u64)fd, 0);
}

static void faults(void) {
	u64 pages = file();
	for (u64 n = 0; n < PAGES; n++)
		access_at_file(pages + n * PAGE);
	u64 memory = anonymous(PAGES * PAGE);
	for (u64 n = 0; n < PAGES; n++)
		access_at_write(memory + n * PAGE);
	u64 zeros = anonymous(PAGES * PAGE);
	for (u64 n = 0; n < PAGES; n++)
		access_at_read(zeros + n * PAGE);
	long child = call(CLONE, SIGCHLD, 0, 0, 0, 0, 0);
	if (child == 0) {
		for (u64 n = 0; n < PAGES; n++)
			access_at_copy(memory + n * PAGE);
		call(EXIT_GROUP, 0, 0, 0, 0, 0, 0);
	}
	expect(child > 0);
	expect(call(WAIT4, (u64)child, 0, 0, 0, 0, 0) == child);
}

/* Two threads take turns. Each yields at an instruction of its own, so that the trace shows who ran next. As real-time
 * threads of one priority they do so at each yield under Linux too. */
static void become_fifo(void) {
	static const u32 priority = 1;
	call(SCHED_SETSCHEDULER, 0, 1, (u64)&priority, 0, 0, 0);
}
static volatile u32 turns[2], begun, ended;
static void take_turns(u32 me) {
	for (int n = 0; n < ROUNDS; n++) {
		turns[me]++;
		if (me)
			call_at_other_yield(SCHED_YIELD, 0, 0, 0);
		else
			call_at_yield(SCHED_YIELD, 0, 0, 0);
	}
}

/* The same by futexes: whose turn it is not waits. */
static volatile u32 whose;
NAMED_CALL(at_wait)
NAMED_CALL(at_wake)
static void wait_while(volatile u32 *at, u64 value) { call_at_wait(FUTEX, (u64)at, WAIT, value); }
static void wake_one(volatile u32 *at) { call_at_wake(FUTEX, (u64)at, WAKE, 1); }
static __attribute__((noinline)) void hand_over(u32 me) {
	for (int n = 0; n < ROUNDS; n++) {
		while (whose != me)
			wait_while(&whose, !me);
		whose = !me;
		wake_one(&whose);
	}
}

static void __attribute__((used)) other(void) {
	hand_over(1);
	become_fifo();
	begun = 1;
	wake_one(&begun);
	take_turns(1);
	ended = 1;
	wake_one(&ended);
	call(EXIT, 0, 0, 0, 0, 0, 0);
}

static char stack[16384] __attribute__((aligned(16)));
/* CLONE_VM, _FS, _FILES, _SIGHAND, _THREAD, _SYSVSEM */
static void start_other(void) {
	register u64 x0 asm("x0") = 0x50f00, x1 asm("x1") = (u64)(stack + sizeof stack), x2 asm("x2") = 0, x3 asm("x3") = 0,
		     x4 asm("x4") = 0;
	register long x8 asm("x8") = CLONE;
	asm volatile("svc #0\ncbnz x0, 1f\nbl other\n1:"
		     : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8) : "memory", "x30");
}

void begin(void);
void begin(void) {
	print_text("paths: begin\n");
	for (int n = 0; n < ROUNDS; n++)
		expect(call_at_invalid(INVALID, 0, 0, 0) == -38);
	long pid = call(GETPID, 0, 0, 0, 0, 0, 0);
	for (int n = 0; n < ROUNDS; n++)
		expect(call_at_getpid(GETPID, 0, 0, 0) == pid);
	u64 value = read_register();
	for (int n = 0; n < ROUNDS; n++)
		expect(read_register() == value);
	faults();
	start_other();
	hand_over(0);
	become_fifo();
	while (!begun)
		wait_while(&begun, 0);
	take_turns(0);
	while (!ended)
		wait_while(&ended, 0);
	expect(turns[0] == ROUNDS && turns[1] == ROUNDS);
	print_text(failed ? "paths: wrong\n" : "paths: right\n");
	call(EXIT_GROUP, failed ? 1 : 0, 0, 0, 0, 0, 0);
}

asm(".globl _start\n_start: bl begin\n");
