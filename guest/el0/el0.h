/* What the programs here that print results have in common: system calls, text, threads. */

typedef unsigned long u64;
typedef unsigned int u32;

static long call6(long number, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
	register u64 x0 asm("x0") = a, x1 asm("x1") = b, x2 asm("x2") = c, x3 asm("x3") = d, x4 asm("x4") = e;
	register u64 x5 asm("x5") = f;
	register long x8 asm("x8") = number;
	asm volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5), "r"(x8) : "memory");
	return (long)x0;
}
#define CALL_(n, a, b, c, d, e, f, ...) call6(n, (u64)(a), (u64)(b), (u64)(c), (u64)(d), (u64)(e), (u64)(f))
#define CALL(...) CALL_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

/* Numbers of include/uapi/asm-generic/unistd.h. */
enum {
	EVENTFD2 = 19, EPOLL_CREATE1, EPOLL_CTL, EPOLL_PWAIT, DUP, DUP3, FCNTL, IOCTL = 29, OPENAT = 56, CLOSE, PIPE2 = 59,
	LSEEK = 62, READ, WRITE, READV, WRITEV, PREAD, PSELECT = 72, PPOLL, READLINKAT = 78, FSTAT = 80, EXIT = 93,
	EXIT_GROUP, SET_TID_ADDRESS = 96, FUTEX = 98, SET_ROBUST_LIST, GET_ROBUST_LIST, NANOSLEEP, CLOCK_GETTIME = 113,
	SCHED_SETAFFINITY = 122, SCHED_GETAFFINITY, YIELD, KILL = 129, TKILL, SIGACTION = 134, SIGPROCMASK, GETPID = 172,
	GETTID = 178, SOCKETPAIR = 199, GETSOCKNAME = 204, GETPEERNAME, SENDTO, RECVFROM, SETSOCKOPT, GETSOCKOPT, SHUTDOWN,
	SENDMSG, RECVMSG, MUNMAP = 215, CLONE = 220, EXECVE, MMAP, MPROTECT = 226, WAIT4 = 260, EPOLL_PWAIT2 = 441
};

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

static u64 length(const char *text) {
	u64 len = 0;
	while (text[len])
		len++;
	return len;
}

/* A line is written at once, so that lines of several threads do not mix. */
static void show_text(const char *what, const char *text) {
	char line[256];
	u64 at = length(what), len = length(text);
	memcpy(line, what, at);
	line[at++] = ' ';
	memcpy(line + at, text, len);
	at += len;
	line[at++] = '\n';
	CALL(WRITE, 1, line, at);
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
	CALL(NANOSLEEP, time, 0);
}

/* A child process that calls `body`; its number. */
static __attribute__((unused)) long spawn(void (*body)(void)) {
	long pid = CALL(CLONE, 17);
	if (pid == 0) {
		body();
		CALL(EXIT_GROUP, 0);
	}
	return pid;
}

static __attribute__((unused)) int wait_for(long pid) {
	int status = -1;
	CALL(WAIT4, pid, &status, 0, 0);
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
		CALL(FUTEX, tid, 0, value, 0, 0, 0);
}
