/* What a kernel does with allocation tags: its prctl, PROT_MTE, tags of pages that are copied, moved and given back, modes of
 * threads, tags in addresses of system calls. No library, so that it runs as init under any kernel; what it prints between
 * `mte: begin` and `mte: end` is the same under each. With the argument `loop` it only makes N x 1000 system calls. */

#include "lines.h"

enum { SIGBUS = 7, SIGSEGV = 11, SIGCHLD = 17, SA_SIGINFO = 4, SA_EXPOSE_TAGBITS = 0x800 };
enum { SET = 55, GET = 56, ENABLE = 1, SYNC = 2, ASYNC = 4 };
enum { READ_WRITE = 3, MTE = 0x20, PRIVATE = 0x22, SHARED = 0x21 };
#define INCLUDE(mask) ((u64)(mask) << 3)
#define TAGGED(at, tag) ((u64)(at) | (u64)(tag) << 56)

static void number(u64 value) {
	put(" ");
	put_hex(value);
}
/* A name, and what a system call gave: negative errors as their numbers. */
static void say(const char *name, long value) {
	put(name);
	if (value < 0 && value > -4096) {
		put(" error");
		value = -value;
	}
	number((u64)value);
	end_line();
}

static volatile u64 code, address, context_address, signals, base;
static void on_signal(int signal, u8 *info, u8 *context) {
	code = *(u32 *)(info + 8) | (u64)signal << 8;
	address = *(u64 *)(info + 16);
	context_address = *(u64 *)(context + 176);
	signals++;
	u64 *pc = (u64 *)(context + 176 + 8 + 32 * 8);
	if (*(u32 *)(info + 8) != 8)
		*pc += 4;
}
/* The signals since last time: code, address relative to the memory, tag bits in both places. */
static void signalled(const char *name) {
	put(name);
	number(signals);
	if (signals) {
		put(" code");
		number(code);
		if (address) {
			put(" offset");
			number((address & ~(0xfful << 56)) - base);
			put(" tags");
			number(address >> 56);
			number(context_address >> 56);
		}
	}
	end_line();
	signals = code = address = context_address = 0;
}
static void handle(int signal, u64 flags) {
	struct {
		void (*handler)(int, u8 *, u8 *);
		u64 flags, restorer, mask;
	} action = {on_signal, SA_SIGINFO | flags, 0, 0};
	call(SIGACTION, signal, (u64)&action, 0, 8, 0, 0);
}

static u64 tag_of(u64 at) {
	u64 value = 0;
	asm volatile(".arch armv8.5-a+memtag\n ldg %0, [%1]" : "+r"(value) : "r"(at) : "memory");
	return value >> 56;
}
static void set_tag(u64 at, u64 tag) {
	asm volatile(".arch armv8.5-a+memtag\n stg %0, [%1]" : : "r"(TAGGED(0, tag)), "r"(at) : "memory");
}
static u64 load(u64 at) {
	u64 value = 0x5a5a;
	asm volatile("ldr %0, [%1]" : "+r"(value) : "r"(at) : "memory");
	return value;
}
static void store(u64 at, u64 value) { asm volatile("str %0, [%1]" : : "r"(value), "r"(at) : "memory"); }
static u64 colours(void) {
	u64 seen = 0;
	for (int n = 0; n < 400; n++) {
		u64 pointer;
		asm volatile(".arch armv8.5-a+memtag\n irg %0, %1" : "=r"(pointer) : "r"(base));
		seen |= 1ul << (pointer >> 56 & 15);
	}
	return seen;
}
static long set(u64 word) { return call(PRCTL, SET, word, 0, 0, 0, 0); }
static long get(void) { return call(PRCTL, GET, 0, 0, 0, 0, 0); }
static u64 map(u64 pages, u64 protection, u64 flags) {
	return (u64)call(MMAP, 0, pages << 12, protection, flags, (u64)-1, 0);
}
static long end_of(long child) {
	u32 status = 0xffff;
	call(WAIT4, child, (u64)&status, 0, 0, 0, 0);
	return status;
}
static long fork_(void) { return call(CLONE, SIGCHLD, 0, 0, 0, 0, 0); }

static void controls(void) {
	say("get at first", get());
	say("unknown bit", set(1ul << 20));
	say("more arguments", call(PRCTL, SET, ENABLE, 1, 0, 0, 0));
	say("get with argument", call(PRCTL, GET, 1, 0, 0, 0, 0));
	say("set", set(ENABLE | SYNC | INCLUDE(0x00f2)));
	say("get", get());
	say("IRG gives", colours());
	set(ENABLE | SYNC | INCLUDE(0));
	say("IRG gives of none", colours());
	set(ENABLE | ASYNC | SYNC | INCLUDE(0xffff));
	say("get both", get());
	say("IRG gives of all", colours());
}

static void addresses(void) {
	static const char text[] = "tagged text\n";
	u64 tagged = TAGGED(text, 9);
	set(0);
	say("write of tagged address, not allowed", call(WRITE, 1, tagged, sizeof text - 1, 0, 0, 0));
	set(ENABLE);
	say("write of tagged address, allowed", call(WRITE, 1, tagged, sizeof text - 1, 0, 0, 0));
	u64 at = map(2, READ_WRITE, PRIVATE);
	say("mmap at a tagged address", call(MMAP, TAGGED(at, 3), 4096, READ_WRITE, PRIVATE | 0x10, (u64)-1, 0));
	say("mprotect of one", call(MPROTECT, TAGGED(at, 3), 4096, 1, 0, 0, 0));
	say("madvise of one", call(MADVISE, TAGGED(at, 3), 4096, 4, 0, 0, 0));
	say("munmap of one", call(MUNMAP, TAGGED(at, 3), 4096, 0, 0, 0, 0));
}

static void pages(void) {
	set(ENABLE | SYNC | INCLUDE(0xfffe));
	base = map(4, READ_WRITE | MTE, PRIVATE);
	say("tag of zeros", (long)tag_of(base + 4096));
	set_tag(base, 3);
	store(TAGGED(base, 3), 77);
	say("tag", (long)tag_of(base));
	load(base);
	signalled("load by another");
	handle(SIGSEGV, SA_EXPOSE_TAGBITS);
	load(TAGGED(base + 8, 0xf4));
	signalled("load by another, shown");
	store(TAGGED(base + 0x5000, 0xf4), 0);
	signalled("store where nothing is, shown");
	handle(SIGSEGV, 0);
	store(TAGGED(base + 0x5000, 0xf4), 0);
	signalled("store where nothing is");
	/* PROT_MTE stays when rights change. */
	call(MPROTECT, base, 4096, 1, 0, 0, 0);
	say("tag when read-only", (long)tag_of(base));
	set_tag(base, 5);
	signalled("STG when read-only");
	call(MPROTECT, base, 4096, READ_WRITE, 0, 0, 0);
	say("tag when writable again", (long)tag_of(base));
	/* Given back: zeros, and tag 0. */
	call(MADVISE, base, 4096, 4, 0, 0, 0);
	say("tag after DONTNEED", (long)tag_of(base));
	say("contents", (long)load(base));
	signalled("loads");
	/* Moved: the tags go with the contents. */
	set_tag(base + 4096, 7);
	store(TAGGED(base + 4096, 7), 78);
	u64 moved = (u64)call(MREMAP, base, 4 << 12, 64 << 12, 1, 0, 0);
	base = moved;
	say("tag after a move", (long)tag_of(base + 4096));
	say("contents", (long)load(TAGGED(base + 4096, 7)));
	say("tag of what was added", (long)tag_of(base + 0x20000));
	signalled("loads");
	/* Plain memory becomes tagged: old contents, tag 0. */
	u64 plain = map(2, READ_WRITE, PRIVATE);
	*(volatile u64 *)plain = 79;
	say("tag of plain memory", (long)tag_of(plain));
	set_tag(plain, 9);
	say("and after STG", (long)tag_of(plain));
	say("mprotect", call(MPROTECT, plain, 8192, READ_WRITE | MTE, 0, 0, 0));
	say("tag when made tagged", (long)tag_of(plain));
	set_tag(plain, 9);
	say("and after STG", (long)tag_of(plain));
	say("contents", (long)load(TAGGED(plain, 9)));
	/* A 64K block, a part of which changes. */
	u64 block = (map(64, READ_WRITE, PRIVATE) + 0xffff) & ~0xfffful;
	for (int n = 0; n < 16; n++)
		*(volatile u64 *)(block + n * 4096) = n;
	call(MPROTECT, block + 0x3000, 0x2000, READ_WRITE | MTE, 0, 0, 0);
	u64 sum = 0;
	for (int n = 0; n < 16; n++) {
		set_tag(block + n * 4096, n);
		sum = sum << 4 | tag_of(block + n * 4096);
	}
	say("tags in a block", (long)sum);
	sum = 0;
	for (int n = 0; n < 16; n++)
		sum += load(TAGGED(block + n * 4096, n)) << n;
	say("contents", (long)sum);
	signalled("loads");
	/* The process's own image, and its stack. */
	static u8 own[8192] __attribute__((aligned(4096)));
	own[0] = 1;
	say("mprotect of .bss", call(MPROTECT, (u64)own, 8192, READ_WRITE | MTE, 0, 0, 0));
	set_tag((u64)own, 4);
	say("tag in .bss", (long)tag_of((u64)own));
	signalled("stores");
}

static void forks(void) {
	set(ENABLE | SYNC | INCLUDE(0xfffe));
	base = map(4, READ_WRITE | MTE, PRIVATE);
	u64 shared = map(1, READ_WRITE | MTE, SHARED);
	set_tag(base, 3);
	store(TAGGED(base, 3), 80);
	set_tag(shared, 6);
	long child = fork_();
	if (child == 0) {
		say("child: control", get());
		say("child: tag", (long)tag_of(base));
		say("child: contents", (long)load(TAGGED(base, 3)));
		load(base);
		signalled("child: load by another");
		/* The write copies, tags too; and STG alone copies. */
		store(TAGGED(base, 3), 81);
		say("child: tag of the copy", (long)tag_of(base));
		set_tag(base + 0x1000, 8);
		say("child: tag of the next page", (long)tag_of(base + 0x1000));
		set_tag(shared, 7);
		call(EXIT, (u64)load(TAGGED(base, 3)), 0, 0, 0, 0, 0);
	}
	say("child's end", end_of(child));
	say("tag", (long)tag_of(base));
	say("contents", (long)load(TAGGED(base, 3)));
	say("tag of the next page", (long)tag_of(base + 0x1000));
	say("tag of shared memory", (long)tag_of(shared));
	set_tag(base, 10);
	say("tag, set after the fork", (long)tag_of(base));
	signalled("loads");
}

/* Modes are a thread's: two processes that yield to each other, one of them failing without an exception. */
static void modes(void) {
	base = map(1, READ_WRITE | MTE, PRIVATE);
	set(ENABLE | ASYNC | INCLUDE(0xfffe));
	set_tag(base, 3);
	long child = fork_();
	if (child == 0) {
		store(base, 2);
		call(SCHED_YIELD, 0, 0, 0, 0, 0, 0);
		signalled("child: its maker's mode");
		say("child: write from a tagged address", call(WRITE, 1, TAGGED(base, 3), 0, 0, 0, 0));
		set(ENABLE | INCLUDE(0x0010));
		for (int n = 0; n < 50; n++) {
			store(base, 1);
			call(SCHED_YIELD, 0, 0, 0, 0, 0, 0);
		}
		signalled("child: unchecked");
		say("child: IRG gives", colours());
		set(ENABLE | SYNC | INCLUDE(0x0020));
		for (int n = 0; n < 50; n++) {
			store(base, 1);
			call(SCHED_YIELD, 0, 0, 0, 0, 0, 0);
		}
		signalled("child: sync");
		say("child: IRG gives", colours());
		call(EXIT, 0, 0, 0, 0, 0, 0);
	}
	u64 seen = 0;
	for (int n = 0; n < 50; n++) {
		signals = 0;
		store(base, 2);
		call(SCHED_YIELD, 0, 0, 0, 0, 0, 0);
		seen += signals;
		/* None but for the own failure. */
		signals = 0;
		call(SCHED_YIELD, 0, 0, 0, 0, 0, 0);
		seen += signals << 32;
	}
	say("child's end", end_of(child));
	say("async signals", (long)seen);
	signals = 0;
	say("IRG gives", colours());
	/* A failure that stands when the mode ends belongs to it. */
	store(base, 2);
	set(ENABLE | INCLUDE(0xfffe));
	signalled("async, then off");
	/* Overridden by the program itself, and what the kernel does for it all the same. */
	set(ENABLE | SYNC | INCLUDE(0xfffe));
	asm volatile("msr S3_3_C4_C2_7, %1\n str xzr, [%0]\n" ::"r"(base), "r"(1ul << 25) : "memory");
	long written = call(WRITE, 1, base, 1, 0, 0, 0);
	asm volatile("msr S3_3_C4_C2_7, xzr" ::: "memory");
	say("write while overridden", written);
	signalled("overridden");
	/* The kernel stores: all or part of it. */
	int fds[2];
	call(PIPE2, (u64)fds, 0, 0, 0, 0, 0);
	call(WRITE, fds[1], (u64)"0123456789abcdef0123456789abcdef", 32, 0, 0, 0);
	set_tag(base + 16, 3);
	set_tag(base + 32, 4);
	say("read by another tag", call(READ, fds[0], base, 16, 0, 0, 0));
	say("read by the tag", call(READ, fds[0], TAGGED(base, 3), 16, 0, 0, 0));
	say("loaded", (long)load(TAGGED(base, 3)));
	signalled("in the kernel");
	set(ENABLE | ASYNC | INCLUDE(0xfffe));
	call(WRITE, fds[1], (u64)"01234567", 8, 0, 0, 0);
	say("async read by another tag", call(READ, fds[0], base, 8, 0, 0, 0));
	call(GETPID, 0, 0, 0, 0, 0, 0);
	signalled("async in the kernel");
}

/* Pages whose frames had tags before: new ones have none. */
static void reuse(void) {
	enum { PAGES = 64 };
	set(ENABLE | INCLUDE(0xfffe));
	u64 left = 0;
	for (int round = 0; round < 4; round++) {
		u64 at = map(PAGES, READ_WRITE | MTE, PRIVATE);
		for (u64 page = at; page < at + (PAGES << 12); page += 4096) {
			store(page, 1);
			left += tag_of(page) + tag_of(page + 4080);
			set_tag(page, 7);
			set_tag(page + 4080, 9);
		}
		call(MUNMAP, at, PAGES << 12, 0, 0, 0, 0);
	}
	say("tags left in new pages", (long)left);
}

/* A page fault in the midst of a function that fails asynchronously; and sleep. */
static void sleeps(void) {
	set(ENABLE | ASYNC | INCLUDE(0xfffe));
	u64 fresh = map(1, READ_WRITE, PRIVATE);
	store(base, 3);
	*(volatile u64 *)fresh = 1;
	signalled("async, then a page fault");
	store(base, 3);
	u64 time[2] = {0, 2000000};
	say("nanosleep", call(NANOSLEEP, (u64)time, 0, 0, 0, 0, 0));
	signalled("async, then sleep");
}

__attribute__((used)) static void begin(u64 *stack) {
	char **arguments = (char **)(stack + 1);
	if (stack[0] > 2) {
		u64 count = 0;
		for (char *at = arguments[2]; *at; at++)
			count = count * 10 + (*at - '0');
		for (count *= 1000; count; count--)
			asm volatile("mov x8, #172\n svc #0" ::: "x0", "x8", "memory");
		call(EXIT, 0, 0, 0, 0, 0, 0);
	}
	if (stack[0] > 1) {
		say("after exec: control", get());
		call(EXIT, 3, 0, 0, 0, 0, 0);
	}
	put("mte: begin");
	end_line();
	handle(SIGSEGV, 0);
	handle(SIGBUS, 0);
	controls();
	addresses();
	pages();
	forks();
	reuse();
	modes();
	sleeps();
	long child = fork_();
	if (child == 0) {
		const char *words[] = {"/init", "again", 0};
		call(EXECVE, (u64)words[0], (u64)words, 0, 0, 0, 0);
		call(EXIT, 9, 0, 0, 0, 0, 0);
	}
	say("exec's end", end_of(child));
	put("mte: end");
	end_line();
	if (call(GETPID, 0, 0, 0, 0, 0, 0) == 1)
		call(REBOOT, 0xfee1dead, 672274793, 0x4321fedc, 0, 0, 0);
	call(EXIT, 0, 0, 0, 0, 0, 0);
}
asm(".pushsection .text\n.globl _start\n_start:\nmov x0, sp\nb begin\n.popsection");
