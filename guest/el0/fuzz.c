/* Mischief from EL0: random system calls, wild pointers, junk run as code, memory that goes while the kernel uses it, frames
 * of signals that never were. The kernel must survive it, and have all its memory back at the end. The first argument is the
 * seed, the second for how many milliseconds. No library.
 *
 * pid 1 mounts what is needed and starts nannies, round by round; each nanny starts one process after the other, with a few
 * threads, and kills it when it takes too long. At the end of a round all are killed. What /proc/frames says after the first
 * round must be what it says at the end. */

#include "fuzz/base.h"
#include "fuzz/ops.h"

enum { NANNIES = 6, ROUND_MS = 25, LIFE_US = 3000 };

asm(".globl _start\n_start: mov x0, sp\n b begin\n");

/* Handlers: the thread goes on at its loop, on its own stack. */
asm(".globl handler\nhandler:\n"
    "mov x9, sp\n and x9, x9, #0xffffffffffff0000\n" /* Thread */
    "ldr x10, [x9, #16]\n add x10, x10, #1\n str x10, [x9, #16]\n"
    "ldr x11, [x9, #8]\n"
    "add x12, x2, #176\n" /* sigcontext in the ucontext */
    "str x9, [x12, #8]\n"  /* X0 */
    "str x11, [x12, #256]\n" /* SP */
    "adr x13, loop\n str x13, [x12, #264]\n" /* PC */
    "str xzr, [x12, #272]\n"
    "ret\n");
void handler(void);

__attribute__((noreturn, used)) void loop(Thread *thread) {
	for (;;) {
		u64 which = below(&thread->random, sizeof OPERATIONS / sizeof *OPERATIONS);
		OPERATIONS[which](thread);
	}
}

static void handle_faults(u64 alternate) {
	u64 stack[3] = {alternate, 0, ALTERNATE};
	call(SIGALTSTACK, stack, 0);
	/* SIGINFO, ONSTACK, NODEFER */
	u64 action[4] = {(u64)handler, 4 | 0x08000000 | 0x40000000, 0, 0};
	static const int signals[] = {4, 5, 7, 8, 11, 13, 31};
	for (u64 n = 0; n < sizeof signals / sizeof *signals; n++)
		call(SIGACTION, signals[n], action, 0, 8);
}

/* Where a thread begins: X0 is its state. */
__attribute__((noreturn, used)) void thread_begin(Thread *thread) {
	thread->resume_sp = (u64)__builtin_frame_address(0) & ~15ul;
	u64 stack[3] = {(u64)thread, 0, ALTERNATE};
	call(SIGALTSTACK, stack, 0);
	loop(thread);
}

static u64 map(u64 at, u64 length, u64 rights) {
	return (u64)call(MMAP, at, length, rights, PRIVATE | ANONYMOUS | (at ? FIXED : 0), -1ul, 0);
}

/* An alternate stack begins at a multiple of its size, so that handlers find its bottom. */
static u64 alternate_stack(void) {
	u64 at = map(0, 2 * ALTERNATE, 3);
	return (at + ALTERNATE - 1) & ~(u64)(ALTERNATE - 1);
}

__attribute__((noreturn)) static void process(u64 seed) {
	Random random = {seed};
	call(SETPGID, 0, 0);
	map(ARENA, ARENA_PAGES * PAGE, 3);
	map(SCRATCH, SCRATCH_SIZE, 7);
	u64 threads = 1 + below(&random, 4);
	for (u64 n = 1; n < threads; n++) {
		Thread *thread = (Thread *)alternate_stack();
		u64 top = map(0, 16 * PAGE, 3) + 16 * PAGE;
		thread->random.state = next(&random);
		thread->id = n;
		/* VM, FS, FILES, SIGHAND, THREAD, SYSVSEM; sometimes each has its own. */
		u64 flags = below(&random, 4) ? 0x50f00 : 0x10900;
		asm volatile("mov x0, %0\n mov x1, %1\n mov x8, #220\n mov x9, %2\n svc #0\n cbnz x0, 1f\n mov x0, x9\n b thread_begin\n1:"
			     :
			     : "r"(flags), "r"(top), "r"(thread)
			     : "x0", "x1", "x8", "x9", "memory");
	}
	Thread *thread = (Thread *)alternate_stack();
	thread->random.state = next(&random);
	handle_faults((u64)thread);
	thread_begin(thread);
}

__attribute__((noreturn)) static void nanny(u64 seed) {
	Random random = {seed};
	call(CLOSE, 30);
	for (;;) {
		long child = call(CLONE, 17, 0, 0, 0, 0, 0);
		if (child == 0)
			process(next(&random));
		next(&random);
		u64 waited = 0;
		while (call(WAIT4, child, 0, 1, 0) == 0 && waited < LIFE_US) {
			sleep_microseconds(200);
			waited += 200;
		}
		call(KILL, -child, 9);
		call(KILL, child, 9);
		while (call(WAIT4, -1, 0, 1, 0) > 0)
			;
	}
}

/* What children may have left in the working directory, all of it but what pid 1 needs. */
static void remove_all(u64 depth) {
	static const char *const kept[] = {".", "..", "init", "dev", "proc", "safe", "t"};
	static u8 entries[2048]; /* one for all depths: each change begins anew */
	long fd = call(OPENAT, AT_CWD, ".", DIRECTORY, 0), length;
	u64 tries = 0;
	/* Positions shift when entries go: each time from the start, until nothing went. */
	for (u64 removed = 1; removed;) {
		removed = 0;
		call(LSEEK, fd, 0, 0);
		while (removed == 0 && (length = call(GETDENTS, fd, entries, sizeof entries)) > 0)
			for (long at = 0; at < length; at += *(unsigned short *)(entries + at + 16)) {
				const char *name = (const char *)entries + at + 19;
				u64 skip = 0;
				for (u64 n = 0; n < (depth ? 2 : sizeof kept / sizeof *kept); n++) {
					u64 m = 0;
					while (name[m] == kept[n][m] && name[m])
						m++;
					skip |= name[m] == kept[n][m];
				}
				if (skip)
					continue;
				char own[256];
				u64 m = 0;
				do
					own[m] = name[m];
				while (name[m++] && m < sizeof own);
				removed = call(UNLINKAT, AT_CWD, own, 0) == 0;
				if (!removed && depth < 50 && call(CHDIR, own) == 0) {
					remove_all(depth + 1);
					call(CHDIR, "..");
					removed = 1;
					if (call(UNLINKAT, AT_CWD, own, 0x200) && tries++ > 8)
						goto out;
				}
				if (removed)
					break;
			}
	}
out:
	call(CLOSE, fd);
}

static void one_round(u64 seed, u64 end) {
	Random random = {seed};
	call(MOUNT, (u64) "t", (u64) "/t", (u64) "tmpfs", 0, 0, 0);
	call(CHDIR, "/t");
	for (int n = 0; n < NANNIES; n++) {
		u64 own = next(&random);
		if (call(CLONE, 17, 0, 0, 0, 0, 0) == 0)
			nanny(own);
	}
	while (milliseconds() < end)
		sleep_microseconds(1000);
	/* Some are being born. */
	do
		call(KILL, -1, 9);
	while (call(WAIT4, -1, 0, 0, 0) > 0);
	call(CHDIR, "/");
	while (call(UMOUNT, "/t", 0) == 0)
		;
	while (call(UMOUNT, "/proc", 0) == 0)
		;
	while (call(UMOUNT, "/dev", 0) == 0)
		;
	call(CHDIR, "/");
	remove_all(0);
	static const char *const covered[] = {"/t", "/dev", "/proc"};
	for (int n = 0; n < 3; n++)
		if (call(CHDIR, covered[n]) == 0)
			remove_all(1);
	call(CHDIR, "/");
}

static void mounts(void) {
	call(MKDIR, AT_CWD, "/proc", 0755);
	call(MKDIR, AT_CWD, "/dev", 0755);
	call(MKDIR, AT_CWD, "/t", 0755);
	call(MKDIR, AT_CWD, "/safe", 0755);
	call(MOUNT, (u64) "p", (u64) "/proc", (u64) "proc", 0, 0, 0);
	call(MOUNT, (u64) "d", (u64) "/dev", (u64) "devtmpfs", 0, 0, 0);
}

static void frames(const char *when) {
	static char text[512];
	/* Children may have lowered it. */
	u64 limit[2] = {1024, 4096};
	call(PRLIMIT64, 0, 7, limit, 0);
	long fd = call(OPENAT, AT_CWD, "/safe/frames", 0, 0);
	long length = call(READ, fd, text, sizeof text - 1);
	call(CLOSE, fd);
	if (length < 0)
		length = 0;
	for (long start = 0, n = 0; n < length; n++) {
		if (text[n] != '\n')
			continue;
		text[n] = 0;
		print_text("fuzz: ");
		print_text(when);
		print_text(" ");
		print_text(text + start);
		print_text("\n");
		start = n + 1;
	}
}

static u64 parse(const char *text) {
	u64 value = 0;
	for (; *text >= '0' && *text <= '9'; text++)
		value = 10 * value + (u64)(*text - '0');
	return value;
}

void begin(u64 *stack) {
	char **arguments = (char **)(stack + 1);
	u64 seed = stack[0] > 1 ? parse(arguments[1]) : 1, duration = stack[0] > 2 ? parse(arguments[2]) : 100;
	if (call(GETPID) != 1)
		process(seed); /* run again by itself, perhaps in pieces */
	print_text("fuzz: seed ");
	say_number(seed);
	print_text(", ");
	say_number(duration);
	print_text(" ms\n");
	/* Nothing that a child writes goes to the console. */
	mounts();
	/* Under a name that no child knows. */
	call(MOUNT, (u64) "p", (u64) "/safe", (u64) "proc", 0, 0, 0);
	long null = call(OPENAT, AT_CWD, "/dev/null", RDWR, 0);
	call(DUP3, null, 0, 0);
	call(DUP3, 1, 30, 0x80000);
	u64 start = milliseconds(), rounds = 0;
	Random random = {seed};
	do {
		call(DUP3, null, 1, 0);
		call(DUP3, null, 2, 0);
		mounts();
		one_round(next(&random), milliseconds() + ROUND_MS);
		call(DUP3, 30, 1, 0);
		if (rounds++ == 0)
			frames("first");
	} while (milliseconds() < start + duration);
	frames("last");
	print_text("fuzz: ");
	say_number(rounds);
	print_text(" rounds\nfuzz: done\n");
	call(EXIT, 0);
}
