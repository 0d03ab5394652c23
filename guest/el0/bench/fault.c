/* ITERATIONS first writes to pages of private anonymous memory, 4096 pages a mapping. */
#include "bench.h"

enum { PAGES = 4096, PAGE = 4096, NOHUGEPAGE = 15 };

static u64 work(void) {
	u64 good = 0;
	for (u64 left = ITERATIONS; left >= PAGES; left -= PAGES) {
		i64 at = call(MMAP, 0, PAGES * PAGE, 3, 0x22, -1, 0);
		if (at < 0)
			return good;
		/* Or 2M would come with one fault. */
		call(MADVISE, at, PAGES * PAGE, NOHUGEPAGE);
		volatile u64 *page = (volatile u64 *)at;
		for (u64 n = 0; n < PAGES; n++) {
			page[n * (PAGE / 8)] = n;
			good += page[n * (PAGE / 8)] == n && page[n * (PAGE / 8) + 1] == 0;
		}
		call(MUNMAP, at, PAGES * PAGE);
	}
	return good;
}
