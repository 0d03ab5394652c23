/* Samples on our kernel (/dev/profile): each carries the number of the process in whose code its PC is. Children spin in
 * code of their own while a counter samples, sleep, yield to each other and end; some live only a moment. Runs as init;
 * status 7 and `hello from sampler` if all is well. The argument is what is written to begin, with a comma for a space, or
 * `off`: then there is no session to be had. */

#include "lines.h"

enum { SIGKILL = 9, SIGCHLD = 17, ENXIO = 6, EINVAL = 22, EBUSY = 16 };

static void number(u64 value) {
	put(" ");
	put_number((i64)value);
}
static void fail(const char *text, long value) {
	put("sampler: ");
	put(text);
	number((u64)value);
	end_line();
	call(EXIT, 1, 0, 0, 0, 0);
}

/* Code for each child: spins X0 times, then makes the system call sched_yield, and so on for ever. 64 bytes each. */
enum { CHILDREN = 6, MOMENTS = 20, CODE = 64 };
asm(".pushsection .text\n.balign 64\n.globl codes\ncodes:\n.rept 26\n1: mov x9, x19\n2: add x10, x10, #1\n subs x9, x9, #1\n"
    "b.ne 2b\n mov x8, #124\n svc #0\n subs x20, x20, #1\n b.ne 1b\n mov x0, #0\n mov x8, #93\n svc #0\n.balign 64\n.endr\n"
    ".popsection");
extern const char codes[] __attribute__((visibility("hidden")));

static long child(int n, u64 spins, u64 rounds) {
	long pid = call(CLONE, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		register u64 x19 asm("x19") = spins, x20 asm("x20") = rounds;
		asm volatile("br %0" : : "r"(codes + n * CODE), "r"(x19), "r"(x20));
		__builtin_unreachable();
	}
	return pid;
}

static u32 samples[4 * 2048];
static long pids[CHILDREN + MOMENTS];
static u64 found[CHILDREN + MOMENTS], others, lost;

/* Reads what there is, and checks it. */
static void drain(long fd, long self) {
	long len;
	while ((len = call(READ, fd, (u64)samples, sizeof samples, 0, 0)) > 0)
		for (u32 *at = samples; at < samples + len / 4; at += 4) {
			u64 pid = at[0], pc = *(u64 *)(at + 2), code = pc - (u64)codes;
			if (pid == 0xffffffff) {
				lost += pc;
				continue;
			}
			if (code < (CHILDREN + MOMENTS) * CODE) {
				if (pid != (u64)pids[code / CODE])
					fail("a child's PC with another number", (long)pid);
				found[code / CODE]++;
			} else {
				/* The parent; or a child at its beginning, which is the parent's code. */
				int known = pid == (u64)self;
				for (int n = 0; n < CHILDREN + MOMENTS; n++)
					known |= pid == (u64)pids[n];
				if (!known)
					fail("a number that nobody has", (long)pid);
				others++;
			}
		}
	if (len < 0)
		fail("read", -len);
}

static void rest(u64 milliseconds) {
	u64 time[2] = {0, milliseconds * 1000000};
	call(NANOSLEEP, (u64)time, 0, 0, 0, 0);
}

__attribute__((used)) static void begin(u64 *stack) {
	char **arguments = (char **)(stack + 1);
	char *command = arguments[1];
	call(MOUNT, (u64)"devtmpfs", (u64)"/dev", (u64)"devtmpfs", 0, 0);
	long self = call(GETPID, 0, 0, 0, 0, 0);
	long fd = call(OPENAT, (u64)-100, (u64)"/dev/profile", 2, 0, 0);
	if (command[0] == 'o') {
		if (fd != -ENXIO)
			fail("a session without CONTEXTIDR", fd);
		put("hello from sampler: off");
		end_line();
		call(EXIT, 7, 0, 0, 0, 0);
	}
	if (fd < 0)
		fail("no session", -fd);
	u64 len = 0;
	for (; command[len]; len++)
		if (command[len] == ',')
			command[len] = ' ';
	for (int n = 0; n < CHILDREN; n++)
		pids[n] = child(n, 20000 + 3000 * n, ~0ul);
	if (call(WRITE, fd, (u64)"cycles 1", 8, 0, 0) != -EINVAL)
		fail("a period of one", 0);
	long written = call(WRITE, fd, (u64)command, len, 0, 0);
	if (written != (long)len)
		fail("cannot begin", -written);
	long second = call(OPENAT, (u64)-100, (u64)"/dev/profile", 2, 0, 0);
	if (call(WRITE, second, (u64)command, len, 0, 0) != -EBUSY)
		fail("two samplers", second);
	call(CLOSE, second, 0, 0, 0, 0);
	/* Children that live for a moment while samples come. */
	for (int n = CHILDREN; n < CHILDREN + MOMENTS; n++) {
		pids[n] = child(n, 4000, 3);
		rest(1);
		drain(fd, self);
	}
	int rounds = 0;
	for (int n = 0; n < CHILDREN;) {
		rest(4);
		drain(fd, self);
		for (n = 0; n < CHILDREN && found[n] >= 20; n++)
			;
		if (++rounds > 2000)
			fail("too few samples of child", n);
	}
	for (int n = 0; n < CHILDREN; n++)
		call(KILL, pids[n], SIGKILL, 0, 0, 0);
	for (int n = 0; n < CHILDREN + MOMENTS; n++)
		call(WAIT4, (u64)-1, 0, 0, 0, 0);
	drain(fd, self);
	/* After the end there are none. */
	call(WRITE, fd, (u64)"stop", 4, 0, 0);
	call(CLOSE, fd, 0, 0, 0, 0);
	u64 moments = 0;
	for (int n = CHILDREN; n < CHILDREN + MOMENTS; n++)
		moments += found[n];
	put("sampler: samples of children");
	for (int n = 0; n < CHILDREN; n++)
		number(found[n]);
	put(", of short-lived ones");
	number(moments);
	put(", others");
	number(others);
	put(", lost");
	number(lost);
	end_line();
	put("hello from sampler");
	end_line();
	call(EXIT, 7, 0, 0, 0, 0);
}
asm(".pushsection .text\n.globl _start\n_start:\nmov x0, sp\nb begin\n.popsection");
