/* What signals say of instructions that fault: siginfo, the fault address and the records of the frame. */
#include "signals.h"

static u8 memory[3 * 4096] __attribute__((aligned(4096)));
static u8 other[16384] __attribute__((aligned(16)));
static u64 hole;

/* An address by where it is. */
static void put_address(const char *name, u64 address) {
	put(" "), put(name), put(" ");
	u64 plain = address << 8 >> 8;
	if (plain != address)
		put("tag "), put_hex(address >> 56), put(" ");
	if (plain >= (u64)memory && plain < (u64)memory + sizeof memory)
		put("memory+"), put_hex(plain - (u64)memory);
	else if (hole && plain >= hole && plain < hole + 0x10000)
		put("hole+"), put_hex(plain - hole);
	else
		put_hex(address);
}

static volatile u64 expected_pc, resume;
static i32 skip = 1;

static void on_fault(i32 signal, struct siginfo *info, struct context *context) {
	put("  signal"), field("number", signal), put_info(info);
	if (info->code == 0)
		put_sender(info);
	else if (info->address == expected_pc)
		put(" at the instruction");
	else
		put_address("at", info->address);
	put_address("fault", context->fault_address);
	if (context->pc != expected_pc)
		put_address("pc", context->pc);
	u64 place = 0;
	for (int i = 0; i < 8; i++) {
		u32 magic = *(u32 *)(context->reserved + place), size = *(u32 *)(context->reserved + place + 4);
		put(" ["), put_hex(magic), field("size", size);
		if (magic == 0x45535201)
			field_hex("esr", *(u64 *)(context->reserved + place + 8));
		put("]");
		if (magic == 0)
			break;
		place += size;
	}
	put(rest_is_clear(info) ? "" : " rest");
	field_hex("blocked", blocked());
	end_line();
	if (skip)
		context->pc = resume ? resume : expected_pc + 4;
	else
		on(signal, DEFAULT, 0, 0);
}

/* Runs an instruction that may use X9 and X10, and says so. */
#define TRY(name, text, a, b)                                                                                          \
	do {                                                                                                           \
		say(name);                                                                                             \
		register u64 x9_ asm("x9") = (u64)(a), x10_ asm("x10") = (u64)(b);                                      \
		asm volatile("adr x11, 1f\n adr x12, 2f\n str x11, [%2]\n str x12, [%3]\n 1: " text "\n 2:"              \
			     : "+r"(x9_), "+r"(x10_)                                                                   \
			     : "r"(&expected_pc), "r"(&resume)                                                         \
			     : "x11", "x12", "x13", "memory", "cc");                                                   \
	} while (0)

static const i32 synchronous[] = {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV};

static void on_all(handler *function, u64 flags) {
	for (u32 i = 0; i < sizeof synchronous / sizeof *synchronous; i++)
		on(synchronous[i], function, flags, 0);
}

static void memory_faults(void) {
	say("-- memory");
	TRY("load from 0", "ldr x10, [x9]", 0, 0);
	TRY("store to 8", "str x10, [x9]", 8, 0);
	TRY("load from a hole", "ldrb w10, [x9]", hole + 5, 0);
	TRY("load over an end", "ldr x10, [x9]", hole - 4, 0);
	TRY("store of a pair over an end", "stp x10, x10, [x9]", hole - 8, 0);
	call(MPROTECT, memory + 4096, 4096, 1);
	TRY("store to read-only", "str x10, [x9, #16]", memory + 4096, 0);
	TRY("zeroing of read-only", "dc zva, x9", memory + 4096, 0);
	call(MPROTECT, memory + 4096, 4096, 0);
	TRY("load from PROT_NONE", "ldr x10, [x9]", memory + 4096, 0);
	TRY("store to PROT_NONE", "str x10, [x9]", memory + 4096 + 8, 0);
	TRY("fetch from PROT_NONE", "blr x9", memory + 4096, 0);
	call(MPROTECT, memory + 4096, 4096, 3);
	TRY("fetch from data", "blr x9", memory + 4096 + 32, 0);
	TRY("fetch from a hole", "blr x9", hole, 0);
	TRY("fetch from 0", "blr x9", 0, 0);
	TRY("load by a tag", "ldr x10, [x9]", 0x2a00000000000000ul, 0);
	on(SIGSEGV, on_fault, SA_SIGINFO | SA_EXPOSE_TAGBITS, 0);
	TRY("load by a tag, shown", "ldr x10, [x9]", 0x2a00000000000000ul, 0);
	TRY("load from a hole by a tag, shown", "ldr x10, [x9]", hole | 0x8000000000000000ul >> 4, 0);
	on(SIGSEGV, on_fault, SA_SIGINFO, 0);
	TRY("load from the kernel", "ldr x10, [x9]", 0xffff800008000000ul, 0);
	TRY("store to the kernel", "str x10, [x9]", 0xffff800008000000ul, 0);
	TRY("fetch from the kernel", "blr x9", 0xffff800008000000ul, 0);
	TRY("load from the middle", "ldr x10, [x9]", 0x0070000000000000ul, 0);
	TRY("load from the other middle", "ldr x10, [x9]", 0xff90000000000000ul, 0);
	TRY("load from where nobody is", "ldr x10, [x9]", 0x700000000000, 0);
	/* A file that ends before its mapping. */
	i32 fd = (i32)call(OPENAT, -100, "/tmp/file", 0102 | 01000, 0600);
	call(WRITE, fd, "abc", 3);
	u64 file = (u64)call(MMAP, 0, 3 * 4096, 3, 1, fd, 0);
	u64 before = hole;
	hole = file;
	TRY("load from behind the file", "ldr x10, [x9]", file + 4096, 0);
	TRY("store to behind the file", "str x10, [x9]", file + 8192, 0);
	hole = before;
	call(MUNMAP, file, 3 * 4096);
}

static void other_faults(void) {
	say("-- instructions");
	TRY("undefined", "udf #0", 0, 0);
	TRY("undefined by features", ".inst 0x00000001", 0, 0);
	TRY("privileged register", "mrs x10, sctlr_el1", 0, 0);
	TRY("privileged write", "msr vbar_el1, x10", 0, 0);
	TRY("privileged instruction", "eret", 0, 0);
	TRY("HVC", "hvc #0", 0, 0);
	TRY("SMC", "smc #0", 0, 0);
	TRY("HLT", "hlt #1", 0, 0);
	TRY("DAIF", "msr daifset, #2", 0, 0);
	TRY("TLBI", "tlbi vmalle1", 0, 0);
	TRY("DC IVAC", "dc ivac, x9", memory, 0);
	TRY("BRK", "brk #7", 0, 0);
	TRY("unaligned acquire", "ldaxr x10, [x9]", memory + 12, 0);
	TRY("load of a clock", "mrs x10, cntvct_el0\n cmp x10, #0", 0, 0);
	TRY("PRFM of a hole", "prfm pldl1keep, [x9]", hole, 0);
	TRY("division by zero", "udiv x10, x9, xzr", 1, 0);
}

/* QEMU 7.2 has no FEAT_LSE2, checks the alignment of SP not at all and that of PC after the fetch's permission, and does
 * nothing for cache maintenance by address. */
static void not_on_qemu(void) {
	say("-- not on QEMU");
	TRY("unaligned exclusive", "ldxr x10, [x9]", memory + 4, 0);
	TRY("jump to an unaligned address", "br x9", memory + 2, 0);
	say("SP that is not aligned");
	register u64 old asm("x13");
	asm volatile("adr x11, 1f\n adr x12, 2f\n str x11, [%1]\n str x12, [%2]\n mov %0, sp\n mov x9, %3\n add x9, x9, #8\n"
		     "mov sp, x9\n 1: ldr x10, [sp]\n 2: mov sp, %0\n"
		     : "=&r"(old)
		     : "r"(&expected_pc), "r"(&resume), "r"(memory + 4096)
		     : "x9", "x10", "x11", "x12", "memory");
	TRY("DC CVAU of a hole", "dc cvau, x9", hole, 0);
	TRY("IC IVAU of a hole", "ic ivau, x9", hole, 0);
	TRY("DC CVAC of the kernel", "dc cvac, x9", 0xffff800008000000ul, 0);
	say("-- on QEMU too");
}

/* What a frame says of the last fault stays there for signals that are no faults. */
static void stays(void) {
	say("-- afterwards");
	skip = 0;
	expected_pc = 0;
	on(SIGUSR1, on_fault, SA_SIGINFO, 0);
	skip = 1;
	on(SIGUSR1, on_fault, SA_SIGINFO | SA_RESETHAND, 0);
	TRY("load from 0", "ldr x10, [x9]", 0, 0);
	say("kill");
	register u64 x8 asm("x8") = KILL;
	register u64 x0 asm("x0") = (u64)self_, x1 asm("x1") = SIGUSR1;
	asm volatile("adr x11, 1f\n str x11, [%3]\n adr x11, 1f\n str x11, [%4]\n svc #0\n 1:"
		     : "+r"(x0)
		     : "r"(x1), "r"(x8), "r"(&expected_pc), "r"(&resume)
		     : "x11", "memory");
	if (fork_() == 0) {
		on(SIGUSR1, on_fault, SA_SIGINFO, 0);
		register u64 x8_ asm("x8") = KILL;
		register u64 x0_ asm("x0") = (u64)self_, x1_ asm("x1") = SIGUSR1;
		asm volatile("adr x11, 1f\n str x11, [%3]\n adr x11, 1f\n str x11, [%4]\n svc #0\n 1:"
			     : "+r"(x0_)
			     : "r"(x1_), "r"(x8_), "r"(&expected_pc), "r"(&resume)
			     : "x11", "memory");
		leave(0);
	}
	show("child", wait_for(child_, 0));
}

/* --- ends by faults, in children --- */

static void touch(u64 address) { asm volatile("str xzr, [%0]" ::"r"(address) : "memory"); }

static void overflow(u64 depth);
static void (*volatile again)(u64) = overflow;
static void overflow(u64 depth) {
	volatile u8 room[4000];
	room[depth % 4000] = (u8)depth;
	again(depth + 1);
	room[0]++;
}
static void on_overflow(i32 signal, struct siginfo *info, struct context *context) {
	put("  overflow"), field("signal", signal), field("code", info->code);
	field("near SP", info->address - (context->sp - 8192) < 16384);
	field("on the other stack", (u64)info >= (u64)other && (u64)info < (u64)other + sizeof other);
	end_line();
	leave(9);
}
static void on_kernel(i32 signal, struct siginfo *info, struct context *context) {
	put("  handler"), field("signal", signal), put_info(info);
	/* The stack is somewhere else under each kernel. */
	put(info->address >> 36 == 0xfff ? " at the stack" : ""), field_hex("address", info->address >> 36 == 0xfff ? 0 : info->address);
	field_hex("fault", context->fault_address), field_hex("mask", context->mask), field_hex("blocked", blocked());
	end_line();
	leave(8);
}
static void nothing(i32 signal, struct siginfo *info, struct context *context) {
	(void)signal, (void)info, (void)context;
}
#define CHILD(name, ...)                                                                                               \
	do {                                                                                                           \
		if (fork_() == 0) {                                                                                    \
			on_all(DEFAULT, 0);                                                                            \
			__VA_ARGS__;                                                                                   \
			leave(77);                                                                                     \
		}                                                                                                      \
		i64 status_ = wait_for(child_, 0);                                                                     \
		put(name), field_hex("status", (u64)status_ & ~0x80ul), end_line();                                    \
	} while (0)
#define ALTERNATE                                                                                                      \
	struct stack new = {other, 0, sizeof other};                                                                   \
	call(SIGALTSTACK, &new, 0)

static void ends(void) {
	say("-- ends");
	CHILD("SIGSEGV", touch(8));
	CHILD("SIGILL", asm volatile("udf #0"));
	CHILD("SIGTRAP", asm volatile("brk #1"));
	CHILD("SIGSEGV ignored", on(SIGSEGV, IGNORE, 0, 0); touch(8));
	CHILD("SIGSEGV blocked", on(SIGSEGV, on_fault, SA_SIGINFO, 0); block(BIT(SIGSEGV)); touch(8));
	CHILD("overflow", again(0));
	CHILD("overflow with a handler", on(SIGSEGV, on_overflow, SA_SIGINFO, 0); again(0));
	CHILD("overflow with a stack", ALTERNATE; on(SIGSEGV, on_overflow, SA_SIGINFO | SA_ONSTACK, 0); again(0));
	CHILD("no room for a frame", ALTERNATE; on(SIGUSR1, nothing, SA_SIGINFO, BIT(SIGHUP));
	      on(SIGSEGV, on_kernel, SA_SIGINFO | SA_ONSTACK, 0);
	      asm volatile("mov x9, #64\n mov sp, x9\n mov x8, #129\n mov x0, %0\n mov x1, #10\n svc #0" ::"r"((u64)self_)
			   : "x0", "x1", "x8", "x9", "memory"));
	CHILD("no room for a frame of SIGSEGV", on(SIGSEGV, on_kernel, SA_SIGINFO, 0);
	      asm volatile("mov x9, #64\n mov sp, x9\n ldr x0, [sp]" ::: "x0", "x9", "memory"));
	CHILD("sigreturn from nowhere", ALTERNATE; on(SIGSEGV, on_kernel, SA_SIGINFO | SA_ONSTACK, 0);
	      asm volatile("mov x9, #64\n mov sp, x9\n mov x8, #139\n svc #0" ::: "x0", "x8", "x9", "memory"));
	CHILD("sigreturn from above", ALTERNATE; on(SIGSEGV, on_kernel, SA_SIGINFO | SA_ONSTACK, 0);
	      asm volatile("movn x9, #0xf, lsl #0\n lsr x9, x9, #16\n and x9, x9, #~15\n mov sp, x9\n mov x8, #139\n svc #0" ::
				   : "x0", "x8", "x9", "memory"));
	CHILD("sigreturn of zeros", ALTERNATE; on(SIGSEGV, on_kernel, SA_SIGINFO | SA_ONSTACK, 0);
	      asm volatile("mov x9, %0\n mov sp, x9\n mov x8, #139\n svc #0" ::"r"(memory) : "x0", "x8", "x9", "memory"));
}

/* A frame that was changed: PSTATE, PC, records. */
static i32 change;
static void on_change(i32 signal, struct siginfo *info, struct context *context) {
	(void)signal, (void)info;
	switch (change) {
	case 0:
		context->pstate |= 4; /* EL1t */
		break;
	case 1:
		context->pstate |= 0x80; /* I */
		break;
	case 2:
		context->pstate |= 0x10; /* AArch32 */
		break;
	case 3:
		context->pstate |= 1ul << 31 | 1ul << 21 | 1ul << 20; /* N, SS, IL */
		break;
	case 4:
		*(u32 *)context->reserved = 0; /* no records */
		*(u32 *)(context->reserved + 4) = 0;
		break;
	case 5:
		*(u32 *)(context->reserved + 4) = 512; /* wrong size */
		break;
	case 6:
		*(u64 *)(context->reserved + 528) = 0x1000000042ul; /* an unknown record */
		break;
	case 7:
		*(u64 *)(context->reserved + 528) = 0x210046508001ul; /* twice */
		break;
	case 8:
		context->mask = ~0ul;
		break;
	case 9:
		context->pc = 0xffff800008000000ul;
		break;
	case 10:
		context->stack_flags = 77;
		break;
	default:
		context->pstate |= 1ul << 24 | 1ul << 25 | 3ul << 10; /* DIT, TCO, BTYPE */
	}
}
static void changes(void) {
	say("-- changed frames");
	for (change = 0; change < 12; change++) {
		if (fork_() == 0) {
			on_all(on_kernel, SA_SIGINFO);
			on(SIGUSR1, on_change, SA_SIGINFO, 0);
			call(KILL, self_, SIGUSR1);
			show("  went on, blocked", (i64)blocked());
			leave(3);
		}
		i64 status = wait_for(child_, 0);
		put("change"), field("number", change), field_hex("status", (u64)status & ~0x80ul), end_line();
	}
}

static void work(void) {
	/* Pages that nothing is mapped behind. */
	hole = (u64)call(MMAP, 0, 0x20000, 3, 0x22, -1, 0);
	call(MUNMAP, hole + 0x10000, 0x10000);
	hole += 0x10000;
	on_all(on_fault, SA_SIGINFO);
	memory_faults();
	other_faults();
	not_on_qemu();
	stays();
	on_all(DEFAULT, 0);
	ends();
	changes();
}
