/* What the kernel has done for contiguous blocks, where it tells. */
#include "lines.h"

enum { AT_CWD = -100 };

/* Each line of the file with the step before it. */
static void counts(const char *step) {
	static char text[1024];
	long fd = call(OPENAT, (u64)AT_CWD, (u64) "/proc/contpte", 0, 0, 0, 0);
	if (fd < 0)
		return;
	long length = call(READ, (u64)fd, (u64)text, sizeof text - 1, 0, 0, 0);
	call(CLOSE, (u64)fd, 0, 0, 0, 0, 0);
	for (long start = 0, n = 0; n < length; n++) {
		if (text[n] != '\n')
			continue;
		text[n] = 0;
		put("contpte: ");
		put(step);
		put(" ");
		put(text + start);
		end_line();
		start = n + 1;
	}
}
