/* Allocation tags as a Linux program sees them (PROT_MTE, prctl). No library, so that it runs under any Linux and any
 * emulator of one; prints one line for each question. With an argument it also asks what only a kernel answers. */

#include "lines.h"

enum { SIGSEGV = 11, SA_SIGINFO = 4 };
enum { PR_SET_TAGGED_ADDR_CTRL = 55, ENABLE = 1, SYNC = 2, ASYNC = 4, INCLUDE = 0xfffe << 3 };

static void say(const char *name, u64 value) {
	put("tags: ");
	put(name);
	put(" ");
	put_hex(value);
	end_line();
}

/* The last signal: its code, and where. */
static volatile u64 code, address, signals;
/* siginfo has si_code at 8 and si_addr at 16; the PC in the context stands behind the mask, X0 to X30 and SP. */
static void on_signal(int signal, u8 *info, u8 *context) {
	code = *(u32 *)(info + 8);
	address = *(u64 *)(info + 16);
	signals++;
	u64 *pc = (u64 *)(context + 176 + 8 + 32 * 8);
	/* An asynchronous fault belongs to no instruction. */
	if (code == 9)
		*pc += 4;
	(void)signal;
}

static u64 tag_of(u64 at) {
	u64 value = 0;
	asm volatile(".arch armv8.5-a+memtag\n ldg %0, [%1]" : "+r"(value) : "r"(at) : "memory");
	return value >> 56;
}
#define TAGGED(at, tag) ((u64)(at) | (u64)(tag) << 56)
#define STORE(instruction, at, tag)                                                                                    \
	asm volatile(".arch armv8.5-a+memtag\n " instruction " %0, [%1]" ::"r"(TAGGED(0, tag)), "r"(at) : "memory")

static void mode(u64 bits) { say("prctl", (u64)call(PRCTL, PR_SET_TAGGED_ADDR_CTRL, ENABLE | INCLUDE | bits, 0, 0, 0, 0)); }

static void asked(const char *name) {
	put("tags: ");
	put(name);
	put(" signals ");
	put_hex(signals);
	put(" code ");
	put_hex(code);
	put(" offset ");
	put_hex(address & 0xfff);
	end_line();
	signals = code = address = 0;
}

static u8 tags[512];

void begin(u64 *stack);
void begin(u64 *stack) {
	struct {
		void (*handler)(int, u8 *, u8 *);
		u64 flags, restorer, mask;
	} action = {on_signal, SA_SIGINFO, 0, 0};
	call(SIGACTION, SIGSEGV, (u64)&action, 0, 8, 0, 0);
	mode(SYNC);
	/* PROT_READ, PROT_WRITE, PROT_MTE; private, anonymous. */
	u64 memory = (u64)call(MMAP, 0, 16384, 0x23, 0x22, -1ul, 0);
	say("mapped", memory & 0xfff);

	/* Random stores of tags, against a model. */
	u64 random = 1, wrong = 0, sum = 0;
	for (u32 n = 0; n < 20000; n++) {
		random = random * 6364136223846793005ul + 1442695040888963407ul;
		u64 granule = random >> 40 & 511, tag = random >> 50 & 15, at = memory + 16 * granule;
		switch (random >> 60) {
		case 0:
			STORE("st2g", at, tag);
			tags[granule] = tags[granule + 1 & 511] = (u8)tag;
			if (granule == 511)
				tags[0] = (u8)tag_of(memory);
			break;
		case 1:
			*(volatile u64 *)TAGGED(at, tags[granule]) = ~0ul;
			STORE("stzg", at, tag);
			tags[granule] = (u8)tag;
			wrong += *(volatile u64 *)TAGGED(at, tag) != 0;
			break;
		case 2:
		case 3:
			wrong += tag_of(at) != tags[granule];
			break;
		default:
			STORE("stg", at, tag);
			tags[granule] = (u8)tag;
		}
	}
	for (u64 n = 0; n < 512; n++) {
		wrong += tag_of(memory + 16 * n) != tags[n];
		sum = sum * 31 + tags[n];
	}
	say("wrong", wrong + signals);
	say("sum", sum);

	u64 colours = 0;
	for (u32 n = 0; n < 1000; n++) {
		u64 pointer;
		asm volatile(".arch armv8.5-a+memtag\n irg %0, %1" : "=r"(pointer) : "r"(memory));
		colours |= 1ul << (pointer >> 56);
	}
	say("random tags", colours);

	STORE("stg", memory, 5);
	STORE("stg", memory + 16, 6);
	u64 right = TAGGED(memory, 5), bad = TAGGED(memory, 7);
	asm volatile("str xzr, [%0]" ::"r"(right) : "memory");
	asked("right");
	asm volatile("ldr xzr, [%0, #8]" ::"r"(bad) : "memory");
	asked("sync load");
	asm volatile("strb wzr, [%0, #3]" ::"r"(bad) : "memory");
	asked("sync store");
	asm volatile("ldp xzr, x9, [%0, #8]" ::"r"(right) : "memory", "x9");
	asked("sync pair over granules");
	asm volatile("ldr q0, [%0]" ::"r"(bad) : "memory", "v0");
	asked("sync q");
	asm volatile(".arch armv8.5-a+memtag\n ldadd xzr, x9, [%0]" ::"r"(bad) : "memory", "x9");
	asked("sync atomic");
	asm volatile("msr S3_3_C4_C2_7, %1\n ldr xzr, [%0]\n msr S3_3_C4_C2_7, xzr" ::"r"(bad), "r"(1ul << 25) : "memory");
	asked("overridden");
	mode(ASYNC);
	asm volatile("ldr xzr, [%0]" ::"r"(bad) : "memory");
	call(GETPID, 0, 0, 0, 0, 0, 0);
	asked("async load");
	asm volatile("str xzr, [%0]\n str xzr, [%0]" ::"r"(bad) : "memory");
	call(GETPID, 0, 0, 0, 0, 0, 0);
	asked("async store");
	mode(0);
	asm volatile("str xzr, [%0]" ::"r"(bad) : "memory");
	call(GETPID, 0, 0, 0, 0, 0, 0);
	asked("off");
	if (*stack > 1) {
		/* The kernel checks its own accesses to user memory as the program's. */
		mode(SYNC);
		say("write of wrong tag", (u64)-call(WRITE, 1, bad, 1, 0, 0, 0));
		asked("in the kernel");
		/* /sys/devices/system/cpu/cpu0/mte_tcf_preferred is asymm. */
		mode(SYNC | ASYNC);
		asm volatile("ldr xzr, [%0]" ::"r"(bad) : "memory");
		asked("asym load");
		asm volatile("str xzr, [%0]" ::"r"(bad) : "memory");
		call(GETPID, 0, 0, 0, 0, 0, 0);
		asked("asym store");
	}
	call(EXIT, 0, 0, 0, 0, 0, 0);
}

asm(".globl _start\n_start: mov x0, sp\n bl begin\n");
