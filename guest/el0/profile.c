/* A session of profiling on our kernel (/dev/profile): while it is open, CONTEXTIDR of each CPU has the number of the
 * thread that runs there, at once and after switches. Runs as init. Status 7 and `hello from profile` if all is well. */

#include "call.h"

enum { SIGCHLD = 17 };

static void fail(const char *text) {
	print_text(text);
	call(EXIT, 1, 0, 0, 0, 0);
}

/* How many CPUs report that number. */
static int count(long fd, long number) {
	static char text[16384];
	long len = call(READ, fd, (u64)text, sizeof text, 0, 0);
	int found = 0;
	for (long at = 0; at < len; at++) {
		while (at < len && text[at] != ' ')
			at++;
		long value = 0;
		for (at++; at < len && text[at] != '\n'; at++)
			value = value * 10 + (text[at] - '0');
		found += value == number;
	}
	return len > 0 ? found : -1;
}

/* Opens a session, finds itself, opens another, closes both. */
static void check(void) {
	long self = call(GETPID, 0, 0, 0, 0, 0);
	long first = call(OPENAT, (u64)-100, (u64)"/dev/profile", 0, 0, 0);
	if (first < 0)
		fail("profile: no session\n");
	if (count(first, self) != 1)
		fail("profile: not found at once\n");
	long second = call(OPENAT, (u64)-100, (u64)"/dev/profile", 0, 0, 0);
	call(CLOSE, first, 0, 0, 0, 0);
	if (count(second, self) != 1)
		fail("profile: lost when another session ended\n");
	call(CLOSE, second, 0, 0, 0, 0);
}

__attribute__((used)) static void begin(void) {
	call(MOUNT, (u64)"devtmpfs", (u64)"/dev", (u64)"devtmpfs", 0, 0);
	check();
	/* Children on all CPUs, at the same time, each with sessions of its own: the key goes on and off. */
	enum { CHILDREN = 6, ROUNDS = 20 };
	for (int n = 0; n < CHILDREN; n++)
		if (call(CLONE, SIGCHLD, 0, 0, 0, 0) == 0) {
			for (int round = 0; round < ROUNDS; round++)
				check();
			call(EXIT, 0, 0, 0, 0, 0);
		}
	for (int n = 0; n < CHILDREN; n++) {
		int status = -1;
		call(WAIT4, (u64)-1, (u64)&status, 0, 0, 0);
		if (status != 0)
			fail("profile: a child failed\n");
	}
	print_text("hello from profile\n");
	call(EXIT, 7, 0, 0, 0, 0);
}
asm(".pushsection .text\n.globl _start\n_start:\nb begin\n.popsection");
