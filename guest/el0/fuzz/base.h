/* What the parts of fuzz.c share: random numbers, and the places that arguments point to. */

#include "../call.h"

enum { PAGE = 4096 };

enum { AT_CWD = -100, RDWR = 2, CREAT = 0100, DIRECTORY = 040000 };
enum { PRIVATE = 2, SHARED = 1, FIXED = 0x10, ANONYMOUS = 0x20 };

static void say_number(u64 value) {
	char digits[21];
	int at = 20;
	digits[20] = 0;
	do
		digits[--at] = (char)('0' + value % 10);
	while (value /= 10);
	print_text(digits + at);
}
static u64 milliseconds(void) {
	u64 time[2];
	call(CLOCK_GETTIME, 1, time);
	return time[0] * 1000 + time[1] / 1000000;
}
static void sleep_microseconds(u64 us) {
	u64 time[2] = {us / 1000000, us % 1000000 * 1000};
	call(NANOSLEEP, time, 0);
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
