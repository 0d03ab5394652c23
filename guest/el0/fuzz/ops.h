/* What a thread of fuzz.c does: one function for each kind of mischief. */

typedef struct Thread Thread;
typedef void Operation(Thread *);

/* The state of a thread, at the bottom of its alternate stack, where its handlers find it whatever the registers hold. */
struct Thread {
	Random random;
	u64 resume_sp;
	u64 faults;
	u64 id;
};
enum { ALTERNATE = 1 << 16 };

/* Pages that came and went. */
static void op_memory(Thread *thread) {
	Random *random = &thread->random;
	u64 at = ARENA + below(random, ARENA_PAGES) * PAGE, length = (1 + below(random, 40)) * PAGE;
	u64 rights = below(random, 8);
	switch (below(random, 12)) {
	case 0: call(MUNMAP, at, length); break;
	case 1: case 2:
		call(MMAP, at, length, rights | 3, PRIVATE | ANONYMOUS | FIXED, -1ul, 0);
		break;
	case 3: call(MMAP, at, length, rights | 3, SHARED | ANONYMOUS | FIXED, -1ul, 0); break;
	case 4: call(MPROTECT, at, length, rights); break;
	case 5: call(MADVISE, at, length, below(random, 30)); break;
	case 6: call(MREMAP, at, length, below(random, 60) * PAGE, below(random, 8), ARENA + below(random, ARENA_PAGES) * PAGE, 0); break;
	case 7: call(MMAP, argument(random), size_of(random), rights, next(random), below(random, 8), argument(random)); break;
	case 8: call(MREMAP, argument(random), size_of(random), size_of(random), below(random, 8), argument(random), 0); break;
	case 9: call(BRK, call(BRK, 0) + below(random, 64 * PAGE) - 16 * PAGE); break;
	case 10: call(MMAP, at, length, rights | 1, PRIVATE | FIXED, 3 + below(random, 6), PAGE * below(random, 4)); break;
	default: call(MUNMAP, wild_address(random), size_of(random)); break;
	}
}

static void op_touch(Thread *thread) {
	Random *random = &thread->random;
	volatile u64 *at = (u64 *)arena_address(random);
	switch (below(random, 5)) {
	case 0: *at = next(random); break;
	case 1: asm volatile("ldaxr x9, [%0]\n stlxr w10, x9, [%0]" : : "r"(at) : "x9", "x10", "memory"); break;
	case 2: asm volatile("ldp q0, q1, [%0]\n stp q1, q0, [%0, #32]" : : "r"(at) : "memory", "v0", "v1"); break;
	case 3: at = (u64 *)wild_address(random); /* fall through */
	default: (void)*at; break;
	}
}

static u64 number_of_call(Random *random) {
	for (;;) {
		u64 number = below(random, 16) ? below(random, 470) : next(random);
		/* The console's end of the run, and what only waits. */
		if (number != REBOOT && (number != EXIT_GROUP || below(random, 8) == 0) && (number != EXIT || below(random, 8) == 0))
			return number;
	}
}
static void op_call(Thread *thread) {
	Random *random = &thread->random;
	u64 number = number_of_call(random);
	/* Nobody but pid 1 is told to end by number, and the children that are meant by -1 are everyone. */
	if (number == KILL || number == TKILL) {
		call(number, call(number == KILL ? GETPID : GETTID), below(random, 66));
		return;
	}
	call(number, argument(random), argument(random), argument(random), argument(random), argument(random), argument(random));
}

/* Files of a tmpfs. */
static void op_file(Thread *thread) {
	Random *random = &thread->random;
	const char *at = name(random);
	u64 fd = below(random, 16);
	switch (below(random, 16)) {
	case 0: case 1: call(OPENAT, AT_CWD, at, below(random, 3) ? RDWR | CREAT : next(random), 0777); break;
	case 2: call(MKDIR, AT_CWD, at, 0777); break;
	case 3: call(UNLINKAT, AT_CWD, at, below(random, 2) * 0x200); break;
	case 4: call(RENAME, AT_CWD, at, AT_CWD, name(random)); break;
	case 5: call(SYMLINK, name(random), AT_CWD, at); break;
	case 6: call(LINK, (u64)AT_CWD, (u64)at, (u64)AT_CWD, (u64)name(random), 0, 0); break;
	case 7: call(FTRUNCATE, fd, below(random, 3) ? below(random, 1 << 20) : argument(random)); break;
	case 8: call(below(random, 2) ? PREAD : PWRITE, fd, arena_address(random), size_of(random), size_of(random)); break;
	case 9: call(below(random, 2) ? READ : WRITE, fd, arena_address(random), size_of(random)); break;
	case 10: call(GETDENTS, fd, arena_address(random), size_of(random)); break;
	case 11: call(LSEEK, fd, argument(random), below(random, 6)); break;
	case 12: call(MKNODAT, AT_CWD, at, 010777, 0); break;
	case 13: call(SENDFILE, fd, below(random, 16), below(random, 2) ? 0 : argument(random), size_of(random)); break;
	case 14: call(CHDIR, at); break;
	default: call(CLOSE, 3 + fd); break;
	}
}

/* Vectors of buffers, half of them nowhere. */
static void op_vector(Thread *thread) {
	Random *random = &thread->random;
	u64 *vector = (u64 *)(SCRATCH + SCRATCH_SIZE - 32768);
	u64 count = below(random, 8) ? 1 + below(random, 16) : below(random, 1030);
	for (u64 n = 0; n < 2 * count && n < 4096; n += 2) {
		vector[n] = below(random, 3) ? arena_address(random) : argument(random);
		vector[n + 1] = size_of(random);
	}
	call(below(random, 2) ? READV : WRITEV, below(random, 16), below(random, 8) ? (u64)vector : argument(random), count);
}

/* Numbers of files until there are no more. */
static void op_descriptors(Thread *thread) {
	Random *random = &thread->random;
	if (below(random, 8))
		return;
	u64 limit[2] = {below(random, 2) ? 64 : 1 + below(random, 1ul << 40), -1ul};
	if (below(random, 4) == 0)
		call(PRLIMIT64, 0, 7, limit, 0);
	for (int n = 0; n < 1100; n++) {
		u64 place = arena_address(random) & ~3ul;
		long result = below(random, 2) ? call(PIPE2, place, below(random, 8) ? 0 : next(random)) : call(DUP, below(random, 4));
		if (result < 0)
			break;
	}
	call(DUP3, 0, argument(random), 0);
	call(FCNTL, 0, 0, argument(random));
	call(PPOLL, arena_address(random), size_of(random), SCRATCH, 0);
	if (below(random, 2))
		call(CLOSE_RANGE, 4, -1u, 0);
}

static u32 junk_word(Random *random) {
	static const u32 systems[] = {
	    0xd4000001, 0xd4000002, 0xd4000003, 0xd4200000, 0xd69f03e0, 0xd4a00001, 0xd503207f, 0xd503205f, 0xd50320ff,
	    0xd5384100, 0xd5033fdf, 0xd5087100, 0xd50b7423, 0xd508871f, 0xd51b4200, 0xd53bd040, 0xd53be040, 0xd5380000,
	    0xd5380600, 0xd500409f, 0xd503245f, 0x00000000, 0xd65f03c0, 0xd503233f, 0x1e201000, 0xd51b4400, 0x9e670000,
	};
	u64 choice = below(random, 8);
	if (choice < 3)
		return systems[below(random, sizeof systems / sizeof *systems)];
	if (choice == 3)
		return 0xd5000000 | (u32)below(random, 1 << 22); /* system instructions and registers */
	if (choice == 4)
		return 0xd2800000 | (u32)below(random, 512) << 5 | 8; /* MOV X8 */
	return (u32)next(random);
}

/* Calls what is at X0, with X1 as the number of system calls; what the standard preserves is preserved, if it returns. */
asm("run_junk:\n"
    "stp x29, x30, [sp, #-96]!\n stp x19, x20, [sp, #16]\n stp x21, x22, [sp, #32]\n stp x23, x24, [sp, #48]\n"
    "stp x25, x26, [sp, #64]\n stp x27, x28, [sp, #80]\n"
    "mov x8, x1\n blr x0\n"
    "ldp x19, x20, [sp, #16]\n ldp x21, x22, [sp, #32]\n ldp x23, x24, [sp, #48]\n"
    "ldp x25, x26, [sp, #64]\n ldp x27, x28, [sp, #80]\n ldp x29, x30, [sp], #96\n ret\n");
void run_junk(const u32 *code, u64 number);

/* A page of junk, run. Handlers take up the thread behind it. */
static void op_junk(Thread *thread) {
	Random *random = &thread->random;
	u32 *code = (u32 *)(SCRATCH + PAGE * (2 + below(random, 16)));
	for (int n = 0; n < 64; n++)
		code[n] = junk_word(random);
	code[64] = 0xd65f03c0; /* RET */
	for (char *line = (char *)code; line < (char *)(code + 65); line += 16)
		asm volatile("dc cvau, %0\n dsb ish\n ic ivau, %0" : : "r"(line) : "memory");
	asm volatile("dsb ish\n isb" : : : "memory");
	run_junk(code + below(random, 64), number_of_call(random));
}

/* The return from a handler that never ran. */
static void op_sigreturn(Thread *thread) {
	Random *random = &thread->random;
	u64 *frame = (u64 *)(SCRATCH + 64 * PAGE + below(random, 16) * 16);
	for (int n = 0; n < 600; n++)
		frame[n] = below(random, 3) ? 0 : argument(random);
	u64 registers = 304 / 8;
	if (below(random, 4)) { /* as a frame should be, but for what is there */
		frame[registers + 34] = below(random, 2) ? next(random) & 0xf0000000 : next(random);
		frame[592 / 8] = (u64)below(random, 1000) << 32 | 0x46508001;
		if (below(random, 2))
			frame[592 / 8] = 528ul << 32 | 0x46508001;
		for (int n = 0; n < 3; n++)
			frame[(592 + 528) / 8 + n] = 0;
	}
	u64 sp = below(random, 8) ? (u64)frame : arena_address(random) & ~15ul;
	asm volatile("mov x9, sp\n mov x19, x9\n mov sp, %0\n mov x8, #139\n svc #0\n mov sp, x19"
		     :
		     : "r"(sp)
		     : "x0", "x8", "x9", "x19", "memory");
}

static void op_signals(Thread *thread) {
	Random *random = &thread->random;
	u64 action[4] = {argument(random), next(random), argument(random), next(random)};
	u64 stack[3] = {arena_address(random), next(random), size_of(random)};
	switch (below(random, 6)) {
	case 0: call(SIGACTION, 32 + below(random, 33), action, 0, 8); break;
	case 1: call(SIGPROCMASK, below(random, 4), action, 0, 8); break;
	case 2: if (below(random, 8) == 0) call(SIGALTSTACK, stack, argument(random)); break;
	case 3: call(TKILL, call(GETTID), below(random, 66)); break;
	case 4: call(SIGACTION, below(random, 66), argument(random), argument(random), 8); break;
	default: call(KILL, call(GETPID), 32 + below(random, 33)); break;
	}
}

static void op_futex(Thread *thread) {
	Random *random = &thread->random;
	u64 time[2] = {0, below(random, 300000)}, word = ARENA + 4 * below(random, 64);
	call(FUTEX, below(random, 4) ? word : argument(random), below(random, 2) * 128 + below(random, 14),
	     below(random, 3), below(random, 2) ? (u64)time : argument(random),
	     below(random, 2) ? ARENA + 4 * below(random, 64) : argument(random), next(random));
}

static u64 recursion(u64 depth) {
	volatile u64 place[64];
	place[depth % 64] = depth;
	return depth == 0 ? 0 : recursion(depth - 1) + place[depth % 64];
}
static void op_recursion(Thread *thread) {
	if (below(&thread->random, 100) == 0)
		recursion(1ul << 40);
}

/* /init with some bytes changed, or a script, run. */
static void op_exec(Thread *thread) {
	Random *random = &thread->random;
	if (below(random, 8))
		return;
	u8 *bytes = (u8 *)(SCRATCH + 512 * 1024 / 2);
	long from = call(OPENAT, AT_CWD, "/init", 0, 0);
	long length = call(READ, from, bytes, 65536);
	call(CLOSE, from);
	if (length < 256)
		return;
	u64 changes = 1 + below(random, 6);
	for (u64 n = 0; n < changes; n++) {
		/* The headers, mostly. */
		u64 at = below(random, 4) ? below(random, 240) : below(random, (u64)length);
		if (below(random, 2))
			bytes[at] = (u8)next(random);
		else
			*(u64 *)(bytes + (at & ~7ul)) = argument(random);
	}
	if (below(random, 4) == 0)
		length = (long)below(random, (u64)length);
	if (below(random, 8) == 0) {
		bytes[0] = '#', bytes[1] = '!', bytes[2] = '/', bytes[3] = 't', bytes[4] = '/', bytes[5] = 'x', bytes[6] = '\n';
	}
	long to = call(OPENAT, AT_CWD, "/t/x", RDWR | CREAT, 0777);
	call(WRITE, to, bytes, length);
	call(FCHMOD, to, 0777);
	call(CLOSE, to);
	const char *arguments[] = {"x", "again", 0};
	if (call(CLONE, 17, 0, 0, 0, 0, 0) == 0) {
		call(EXECVE, "/t/x", below(random, 4) ? (u64)arguments : argument(random), below(random, 2) ? 0 : argument(random));
		call(EXIT, 0);
	}
}

/* Forks within forks, up to a few. */
static void op_fork(Thread *thread) {
	Random *random = &thread->random;
	u64 depth = 1 + below(random, 4);
	switch (below(random, 12)) {
	case 0:
		for (u64 n = 0; n < depth; n++)
			call(CLONE, 17, 0, 0, 0, 0, 0);
		call(EXIT_GROUP, 0);
		break;
	case 1: { /* vfork */
		long child = call(CLONE, 0x4000 | 0x100 | 17, SCRATCH + 40 * PAGE, 0, 0, 0, 0);
		if (child == 0)
			call(EXIT, 3);
		break;
	}
	case 2: { /* any flags; a child that shares the stack must not return */
		u64 flags = next(random) & 0xffffffff;
		asm volatile("mov x0, %0\n mov x1, %1\n mov x2, %2\n mov x3, %3\n mov x4, %4\n mov x8, #220\n svc #0\n cbnz x0, 1f\n"
			     "mov x8, #93\n svc #0\n 1:"
			     :
			     : "r"(flags), "r"(argument(random)), "r"(argument(random)), "r"(argument(random)), "r"(argument(random))
			     : "x0", "x1", "x2", "x3", "x4", "x8", "memory");
		break;
	}
	case 3: call(WAIT4, -1, argument(random), 1, argument(random)); break;
	default: break;
	}
}

static Operation *const OPERATIONS[] = {
    op_memory, op_memory, op_memory, op_touch,	 op_touch,  op_call,   op_call,	 op_call,  op_call,	op_file,	op_file,
    op_vector, op_futex,  op_junk,   op_junk,	 op_sigreturn, op_signals, op_exec, op_fork, op_recursion, op_descriptors, op_memory,
};
