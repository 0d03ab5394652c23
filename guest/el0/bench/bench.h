/* Frame of a timed program: `work` does ITERATIONS operations and gives a sum that must be the same on every machine. */
#ifndef BENCH_H
#define BENCH_H

#include "../lines.h"

static u64 work(void);

void _start(void) {
	print_text("bench: begin " NAME "\n");
	u64 sum = work();
	print_text("bench: end " NAME "\n");
	put("bench: sum " NAME " ");
	put_hex(sum);
	end_line();
	call(EXIT, 0);
}

#endif
