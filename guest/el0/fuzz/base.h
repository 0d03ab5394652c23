/* What the parts of fuzz.c share: system calls, random numbers, and the places that arguments point to. No library. */

typedef unsigned long u64;
typedef unsigned int u32;
typedef unsigned char u8;

enum { PAGE = 4096 };

enum { GETCWD = 17, DUP = 23, DUP3 = 24, FCNTL = 25, IOCTL = 29, MKNOD = 33, MKDIR = 34, UNLINK = 35, SYMLINK = 36, LINK = 37,
       RENAME = 38, UMOUNT = 39, MOUNT = 40, TRUNCATE = 45, FTRUNCATE = 46, CHDIR = 49, FCHMOD = 52, OPEN = 56, CLOSE = 57,
       PIPE = 59, GETDENTS = 61, SEEK = 62, READ = 63, WRITE = 64, READV = 65, WRITEV = 66, PREAD = 67, PWRITE = 68,
       SENDFILE = 71, PPOLL = 73, READLINK = 78, EXIT = 93, EXIT_GROUP = 94, FUTEX = 98, NANOSLEEP = 101, CLOCK_GETTIME = 113,
       YIELD = 124, KILL = 129, TKILL = 130, SIGALTSTACK = 132, SIGACTION = 134, SIGPROCMASK = 135, SIGRETURN = 139,
       REBOOT = 142, SETPGID = 154, GETPID = 172, GETTID = 178, BRK = 214, MUNMAP = 215, MREMAP = 216, CLONE = 220, EXEC = 221,
       MMAP = 222, MPROTECT = 226, MADVISE = 233, WAIT = 260, PRLIMIT = 261, CLOSE_RANGE = 436, CLONE3 = 435 };
enum { AT_CWD = -100, RDWR = 2, CREAT = 0100, DIRECTORY = 040000 };
enum { PRIVATE = 2, SHARED = 1, FIXED = 0x10, ANONYMOUS = 0x20 };

static long call(u64 number, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
	register u64 x0 asm("x0") = a, x1 asm("x1") = b, x2 asm("x2") = c, x3 asm("x3") = d, x4 asm("x4") = e,
		     x5 asm("x5") = f;
	register u64 x8 asm("x8") = number;
	asm volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5), "r"(x8) : "memory");
	return (long)x0;
}
#define call0(n) call(n, 0, 0, 0, 0, 0, 0)
#define call1(n, a) call(n, (u64)(a), 0, 0, 0, 0, 0)
#define call2(n, a, b) call(n, (u64)(a), (u64)(b), 0, 0, 0, 0)
#define call3(n, a, b, c) call(n, (u64)(a), (u64)(b), (u64)(c), 0, 0, 0)
#define call4(n, a, b, c, d) call(n, (u64)(a), (u64)(b), (u64)(c), (u64)(d), 0, 0)

static u64 length_of(const char *text) {
	u64 length = 0;
	while (text[length])
		length++;
	return length;
}
static void say(const char *text) {
	call3(WRITE, 1, text, length_of(text));
}
static void say_number(u64 value) {
	char digits[21];
	int at = 20;
	digits[20] = 0;
	do
		digits[--at] = (char)('0' + value % 10);
	while (value /= 10);
	say(digits + at);
}
static u64 milliseconds(void) {
	u64 time[2];
	call2(CLOCK_GETTIME, 1, time);
	return time[0] * 1000 + time[1] / 1000000;
}
static void sleep_microseconds(u64 us) {
	u64 time[2] = {us / 1000000, us % 1000000 * 1000};
	call2(NANOSLEEP, time, 0);
}

/* SplitMix64. Each thread has its own state, on its stack or where its handlers find it. */
typedef struct {
	u64 state;
} Random;
static u64 next(Random *random) {
	u64 z = random->state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}
static u64 below(Random *random, u64 limit) {
	return next(random) % limit;
}

/* Memory that races are about: areas of all kinds, and holes. Arguments that are pointers mostly point here. */
#define ARENA 0x100000000ul
enum { ARENA_PAGES = 256 };
/* Programs that were altered, and junk, are made here. */
#define SCRATCH 0x200000000ul
enum { SCRATCH_SIZE = 1 << 20 };

static const char *const NAMES[] = {
    "a", "b", "c/d", "./a", "a/..", "c", "c/../c/d/e", "/t/a", "/t", "/", ".", "..", "", "/proc/self/maps", "/proc/stat",
    "/proc/1/status", "/proc/self/cmdline", "/proc/self/environ", "/dev/null", "/dev/zero", "/dev/full", "/dev/urandom",
    "/dev/profile", "/proc/contpte", "fifo", "link", "loop", "/proc/self", "/proc", "/nothing/here", "a/b/c/d/e",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
};
static const char *name(Random *random) {
	return NAMES[below(random, sizeof NAMES / sizeof *NAMES)];
}

static u64 arena_address(Random *random) {
	u64 page = ARENA + below(random, ARENA_PAGES) * PAGE;
	switch (below(random, 5)) {
	case 0: return page;
	case 1: return page - 1 - below(random, 40);
	case 2: return page + below(random, PAGE);
	case 3: return page + PAGE - 8 * (1 + below(random, 8));
	default: return page + 8 * below(random, PAGE / 8);
	}
}

/* Where EL0 has nothing to do. */
static u64 wild_address(Random *random) {
	static const u64 places[] = {
	    0, 1, 8, PAGE - 1, PAGE, 0x10000, 1ul << 32, (1ul << 47), (1ul << 48) - 1, (1ul << 48) - 8, (1ul << 48) - PAGE,
	    1ul << 48, 1ul << 52, 1ul << 55, 0x00ff000000000000, 0xff00000000000000, 0xffff000000000000, 0xffff000040000000,
	    0xffff000040200000, 0xffff800040000000, 0xffff800080000000, 0xffff800080001000, 0xffff900009000000,
	    0xffff900008000000, 0xffffa00000000000, 0xfffffffffffff000, 0xfffffffffffffff8, 0xffffffffffffffff,
	    0x8000000000000000, 0x7fffffffffffffff,
	};
	u64 place = places[below(random, sizeof places / sizeof *places)];
	return below(random, 2) ? place : place + below(random, 64) - 32;
}

static u64 size_of(Random *random) {
	static const u64 sizes[] = {0,	1,	7,	8,	 16,	  64,	    4095,     4096,	4097,		 8192,
				    65536, 65537, 1 << 20, 1 << 24, 1ul << 31, 1ul << 32, 1ul << 47, 1ul << 48, 0x7fffffffffffffff,
				    -1ul, -4096ul, -4095ul};
	return below(random, 3) ? 1 + below(random, 64) : sizes[below(random, sizeof sizes / sizeof *sizes)];
}

/* A register of a system call, of any kind. */
static u64 argument(Random *random) {
	switch (below(random, 12)) {
	case 0: case 1: return arena_address(random);
	case 2: return arena_address(random) | (next(random) << 56);
	case 3: return wild_address(random);
	case 4: case 5: return below(random, 20) - 2;
	case 6: return (u64)name(random);
	case 7: return size_of(random);
	case 8: return 1ul << below(random, 64);
	case 9: return (1ul << below(random, 64)) - below(random, 3);
	case 10: return PAGE * below(random, 64);
	default: return next(random);
	}
}
