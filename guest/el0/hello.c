/* The smallest program that shows a kernel runs programs: says hello, and where its arguments are. Ends with status 7. */

#include "call.h"

/* The stack begins with argc, then argv. */
asm(".globl _start\n_start: mov x0, sp\n b begin\n");

static char zeros[4096], ones[] = "1";

void begin(u64 *stack) {
	char **argv = (char **)(stack + 1);
	print_text("hello from EL0, ");
	print_text(stack[0] == 1 && argv[1] == 0 ? argv[0] : "(no name)");
	print_text("\n");
	/* Memory that the file has not, and memory that is written to. */
	for (int i = 0; i < 4096; i++)
		if (zeros[i])
			call(EXIT, 1, 0, 0);
	zeros[4095] = 1;
	ones[0]++;
	print_text(zeros[4095] == 1 && ones[0] == '2' ? "hello again\n" : "hello, wrong memory\n");
	call(EXIT, 7, 0, 0);
}
