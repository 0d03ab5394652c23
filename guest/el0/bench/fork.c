/* ITERATIONS children that end at once, each waited for. */
#include "bench.h"

static u64 work(void) {
	u64 good = 0;
	for (u64 n = 0; n < ITERATIONS; n++) {
		i64 child = call(CLONE, 17);
		if (child == 0)
			call(EXIT_GROUP, 0);
		int status = -1;
		good += call(WAIT4, child, &status, 0, 0) == child && status == 0;
	}
	return good;
}
