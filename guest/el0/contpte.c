/* Blocks of 16 contiguous pages, taken apart and put together: 2 MiB of memory, of which the last page of each 64 KiB loses
 * the right to be written to and gets it back, again and again; then one page of each block is given back. Runs under any
 * Linux. Where there is /proc/contpte, what it says is printed at each step. No library. */

#include "contpte.h"

enum { PROT_READ = 1, PROT_WRITE = 2, DONTNEED = 4, LOOPS = 20 };
enum { PAGE = 4096, BLOCK = 16 * PAGE, SIZE = 2 << 20 };

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
	print_text(failed ? "contpte: wrong\n" : "contpte: right\n");
	call(EXIT, failed ? 1 : 0, 0, 0, 0, 0, 0);
}

asm(".globl _start\n_start: bl begin\n");
