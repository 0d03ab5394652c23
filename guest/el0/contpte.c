/* Blocks of 16 contiguous pages, taken apart and put together: 2 MiB of memory, of which the last page of each 64 KiB loses
 * the right to be written to and gets it back, again and again; then one page of each block is given back. Runs under any
 * Linux. Where there is /proc/contpte, what it says is printed at each step. No library. */

typedef unsigned long u64;
typedef unsigned char u8;

static long call(long number, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
	register u64 x0 asm("x0") = a, x1 asm("x1") = b, x2 asm("x2") = c, x3 asm("x3") = d, x4 asm("x4") = e,
		     x5 asm("x5") = f;
	register long x8 asm("x8") = number;
	asm volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5), "r"(x8) : "memory");
	return (long)x0;
}
enum { MKDIR = 34, MOUNT = 40, OPEN = 56, CLOSE = 57, READ = 63, WRITE = 64, EXIT = 93, MMAP = 222, MPROTECT = 226,
       MADVISE = 233 };
enum { AT_CWD = -100, PROT_READ = 1, PROT_WRITE = 2, DONTNEED = 4, LOOPS = 20 };
enum { PAGE = 4096, BLOCK = 16 * PAGE, SIZE = 2 << 20 };

static void say(const char *text) {
	u64 length = 0;
	while (text[length])
		length++;
	call(WRITE, 1, (u64)text, length, 0, 0, 0);
}

/* Each line of the file with the step before it. */
static void counts(const char *step) {
	static char text[1024];
	long fd = call(OPEN, (u64)AT_CWD, (u64) "/proc/contpte", 0, 0, 0, 0);
	if (fd < 0)
		return;
	long length = call(READ, (u64)fd, (u64)text, sizeof text - 1, 0, 0, 0);
	call(CLOSE, (u64)fd, 0, 0, 0, 0, 0);
	for (long start = 0, n = 0; n < length; n++) {
		if (text[n] != '\n')
			continue;
		text[n] = 0;
		say("contpte: ");
		say(step);
		say(" ");
		say(text + start);
		say("\n");
		start = n + 1;
	}
}

static u64 failed;
static void expect(u64 is_true) { failed += !is_true; }

void begin(void);
void begin(void) {
	call(MKDIR, (u64)AT_CWD, (u64) "/proc", 0755, 0, 0, 0);
	call(MOUNT, (u64) "proc", (u64) "/proc", (u64) "proc", 0, 0, 0);
	/* Somewhat more, to begin at a multiple of its size. */
	u64 memory = (u64)call(MMAP, 0, 2 * SIZE, PROT_READ | PROT_WRITE, 0x22, -1ul, 0);
	memory = (memory + SIZE - 1) & -(u64)SIZE;
	for (u64 at = memory; at < memory + SIZE; at += PAGE)
		*(volatile u64 *)at = at;
	counts("populated");
	for (int loop = 0; loop < LOOPS; loop++)
		for (u64 block = memory; block < memory + SIZE; block += BLOCK) {
			u64 last = block + BLOCK - PAGE;
			expect(call(MPROTECT, last, PAGE, PROT_READ, 0, 0, 0) == 0);
			expect(*(volatile u64 *)last == last && *(volatile u64 *)block == block);
			expect(call(MPROTECT, last, PAGE, PROT_READ | PROT_WRITE, 0, 0, 0) == 0);
			*(volatile u64 *)last = last;
		}
	counts("changed");
	for (u64 block = memory; block < memory + SIZE; block += BLOCK)
		expect(call(MADVISE, block + PAGE, PAGE, DONTNEED, 0, 0, 0) == 0);
	counts("given back");
	for (u64 at = memory; at < memory + SIZE; at += PAGE)
		expect(*(volatile u64 *)at == (at % BLOCK == PAGE ? 0 : at));
	say(failed ? "contpte: wrong\n" : "contpte: right\n");
	call(EXIT, failed ? 1 : 0, 0, 0, 0, 0, 0);
}

asm(".globl _start\n_start: bl begin\n");
