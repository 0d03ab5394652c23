/* An address space that changes while threads on other CPUs use it. First, 2 MiB of memory of which the last page of each
 * 64 KiB loses the right to be written to and gets it back, again and again, while siblings count in all other pages. Then,
 * page by page, what a change takes away: a sibling that has just used a page does so again after its rights, its contents
 * or the page itself have gone, or after a fork. Runs under any Linux, where it says the same. Where there is /proc/contpte,
 * what it says is printed around the first part. No library. */

#include "contpte.h"

enum { PROT_READ = 1, PROT_WRITE = 2, DONTNEED = 4, LOOPS = 20, SIBLINGS = 3, PROBED = 4 };
enum { PAGE = 4096, BLOCK = 16 * PAGE, SIZE = 2 << 20, BLOCKS = SIZE / BLOCK };
/* CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM */
enum { THREAD = 0x50f00, SIGCHLD = 17, SIGSEGV = 11 };

static void count(const char *what, u64 value, u64 of) {
	put("siblings: ");
	put(what);
	put(" ");
	put_number((i64)value);
	put(" of ");
	put_number((i64)of);
	end_line();
}

/* A fault of a probe: counted, and the instruction passed over. */
static volatile u64 faults;
static void on_fault(int signal, void *info, u8 *context) {
	(void)signal, (void)info;
	faults++;
	*(u64 *)(context + 440) += 4; /* uc_mcontext.pc */
}
void restorer(void);
asm(".globl restorer\nrestorer: mov x8, #139\nsvc #0\n");

static u64 memory;
static volatile u64 stop;
static struct sibling {
	volatile u64 passes, wrong, request, value, answer, is_gone;
	u64 own[BLOCKS][15];
	u8 stack[16384] __attribute__((aligned(16)));
} siblings[SIBLINGS];
enum { NOTHING, TO_READ, TO_WRITE, TO_END };

static volatile u64 *own_place(u64 id, u64 block, u64 page) {
	return (volatile u64 *)(memory + block * BLOCK + page * PAGE + 8 + 8 * id);
}

void sibling(u64 id);
void sibling(u64 id) {
	struct sibling *me = &siblings[id];
	while (!stop) {
		for (u64 block = 0; block < BLOCKS; block++) {
			for (u64 page = 0; page < 15; page++) {
				volatile u64 *place = own_place(id, block, page);
				me->wrong += *place != me->own[block][page];
				*place = ++me->own[block][page];
			}
			u64 last = memory + block * BLOCK + 15 * PAGE;
			me->wrong += *(volatile u64 *)last != last;
			/* Where CPUs take turns, the others' come soon. */
			asm volatile("yield");
		}
		me->passes++;
	}
	for (;;) {
		u64 request = me->request, value = me->value;
		if (request == NOTHING) {
			call(SCHED_YIELD, 0, 0, 0, 0, 0, 0);
			continue;
		}
		if (request == TO_END)
			break;
		if (request == TO_WRITE)
			asm volatile("str %0, [%1]" ::"r"(value), "r"(value) : "memory");
		else
			asm volatile("mov %0, #-1\n\tldr %0, [%1]" : "=&r"(value) : "r"(value) : "memory");
		me->answer = value;
		asm volatile("dmb ish" ::: "memory");
		me->request = NOTHING;
	}
	me->is_gone = 1;
	call(EXIT, 0, 0, 0, 0, 0, 0);
}

/* Has a sibling do it; how many faults that was. */
static u64 probe(u64 id, u64 what, u64 address) {
	u64 before = faults;
	siblings[id].value = address;
	asm volatile("dmb ish" ::: "memory");
	siblings[id].request = what;
	while (siblings[id].request != NOTHING)
		call(SCHED_YIELD, 0, 0, 0, 0, 0, 0);
	asm volatile("dmb ish" ::: "memory");
	return faults - before;
}

static long start(u64 id) {
	register u64 x0 asm("x0") = THREAD, x1 asm("x1") = (u64)siblings[id].stack + sizeof siblings[id].stack,
		     x2 asm("x2") = 0, x3 asm("x3") = 0, x4 asm("x4") = 0;
	register u64 x8 asm("x8") = CLONE, x19 asm("x19") = id;
	asm volatile("svc #0\n\tcbnz x0, 1f\n\tmov x0, x19\n\tbl sibling\n1:"
		     : "+r"(x0)
		     : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8), "r"(x19)
		     : "memory", "x30");
	return (long)x0;
}

/* A child that shares nothing sees what was there when it was made, whatever a sibling of its parent writes afterwards. */
static u64 is_child_apart(u64 id, u64 address) {
	int ends[2];
	call(PIPE2, (u64)ends, 0, 0, 0, 0, 0);
	probe(id, TO_WRITE, address);
	long child = call(CLONE, SIGCHLD, 0, 0, 0, 0, 0);
	if (child == 0) {
		u8 byte;
		call(READ, (u64)ends[0], (u64)&byte, 1, 0, 0, 0);
		call(EXIT_GROUP, *(volatile u64 *)address == address ? 7 : 8, 0, 0, 0, 0, 0);
	}
	/* The place is the same, the value is not: the store's address is one byte off. */
	u64 wrong = probe(id, TO_WRITE, address + 1);
	call(WRITE, (u64)ends[1], (u64) "x", 1, 0, 0, 0);
	int status = 0;
	call(WAIT4, (u64)child, (u64)&status, 0, 0, 0, 0);
	call(CLOSE, (u64)ends[0], 0, 0, 0, 0, 0);
	call(CLOSE, (u64)ends[1], 0, 0, 0, 0, 0);
	return !wrong && status == 7 << 8;
}

void begin(void);
void begin(void) {
	call(MKDIR, (u64)AT_CWD, (u64) "/proc", 0755, 0, 0, 0);
	call(MOUNT, (u64) "proc", (u64) "/proc", (u64) "proc", 0, 0, 0);
	struct {
		void *handler;
		u64 flags;
		void (*restorer)(void);
		u64 mask;
	} action = { (void *)on_fault, 4 | 0x04000000 /* SA_SIGINFO, SA_RESTORER */, restorer, 0 };
	call(SIGACTION, SIGSEGV, (u64)&action, 0, 8, 0, 0);
	memory = (u64)call(MMAP, 0, 2 * SIZE, PROT_READ | PROT_WRITE, 0x22, -1ul, 0);
	memory = (memory + SIZE - 1) & -(u64)SIZE;
	for (u64 at = memory; at < memory + SIZE; at += PAGE)
		*(volatile u64 *)at = at;

	for (u64 id = 0; id < SIBLINGS; id++)
		if (start(id) < 0)
			print_text("siblings: no thread\n");
	for (u64 id = 0; id < SIBLINGS; id++)
		while (!siblings[id].passes)
			call(SCHED_YIELD, 0, 0, 0, 0, 0, 0);
	counts("before");
	u64 failed = 0;
	for (int loop = 0; loop < LOOPS; loop++)
		for (u64 block = memory; block < memory + SIZE; block += BLOCK) {
			u64 last = block + BLOCK - PAGE;
			failed += call(MPROTECT, last, PAGE, PROT_READ, 0, 0, 0) != 0;
			failed += *(volatile u64 *)last != last || *(volatile u64 *)block != block;
			failed += call(MPROTECT, last, PAGE, PROT_READ | PROT_WRITE, 0, 0, 0) != 0;
			*(volatile u64 *)last = last;
		}
	counts("behind");
	stop = 1;
	asm volatile("dmb ish" ::: "memory");
	count("wrong in main", failed, 0);
	for (u64 id = 0; id < SIBLINGS; id++) {
		/* It answers once it has stopped counting. */
		probe(id, TO_READ, memory);
		count("wrong in a sibling", siblings[id].wrong, 0);
		u64 lost = 0;
		for (u64 block = 0; block < BLOCKS; block++)
			for (u64 page = 0; page < 15; page++)
				lost += *own_place(id, block, page) != siblings[id].own[block][page];
		count("counts lost", lost, 0);
	}

	u64 writes = 0, refused = 0, allowed = 0, zeros = 0, gone = 0, apart = 0, tries = SIBLINGS * PROBED;
	for (u64 id = 0; id < SIBLINGS; id++)
		for (u64 n = 0; n < PROBED; n++) {
			u64 block = memory + (id * PROBED + n) * BLOCK;
			writes += probe(id, TO_WRITE, block + PAGE) == 0;
			call(MPROTECT, block, BLOCK, PROT_READ, 0, 0, 0);
			refused += probe(id, TO_WRITE, block + PAGE) == 1;
			call(MPROTECT, block, BLOCK, PROT_READ | PROT_WRITE, 0, 0, 0);
			allowed += probe(id, TO_WRITE, block + PAGE) == 0;
			probe(id, TO_WRITE, block + 2 * PAGE);
			call(MADVISE, block + 2 * PAGE, PAGE, DONTNEED, 0, 0, 0);
			probe(id, TO_READ, block + 2 * PAGE);
			zeros += siblings[id].answer == 0;
			probe(id, TO_WRITE, block + 3 * PAGE);
			call(MUNMAP, block + 3 * PAGE, PAGE, 0, 0, 0, 0);
			gone += probe(id, TO_READ, block + 3 * PAGE) == 1;
			apart += is_child_apart(id, block + 5 * PAGE);
		}
	count("writes before", writes, tries);
	count("writes refused without the right", refused, tries);
	count("writes with it again", allowed, tries);
	count("zeros after contents were given back", zeros, tries);
	count("reads refused of what is gone", gone, tries);
	count("children apart", apart, tries);
	for (u64 id = 0; id < SIBLINGS; id++) {
		siblings[id].request = TO_END;
		while (!siblings[id].is_gone)
			call(SCHED_YIELD, 0, 0, 0, 0, 0, 0);
	}
	counts("end");
	print_text("siblings: end\n");
	call(EXIT_GROUP, 0, 0, 0, 0, 0, 0);
}

asm(".globl _start\n_start: bl begin\n");
