/* The smallest program that shows a kernel runs programs: says hello, and where its arguments are. Ends with status 7. */

typedef unsigned long u64;

static long call(long number, u64 a, u64 b, u64 c) {
	register u64 x0 asm("x0") = a, x1 asm("x1") = b, x2 asm("x2") = c;
	register long x8 asm("x8") = number;
	asm volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x8) : "memory");
	return (long)x0;
}
enum { WRITE = 64, EXIT = 93 };

static void say(const char *text) {
	u64 length = 0;
	while (text[length])
		length++;
	call(WRITE, 1, (u64)text, length);
}

/* The stack begins with argc, then argv. */
asm(".globl _start\n_start: mov x0, sp\n b begin\n");

static char zeros[4096], ones[] = "1";

void begin(u64 *stack) {
	char **argv = (char **)(stack + 1);
	say("hello from EL0, ");
	say(stack[0] == 1 && argv[1] == 0 ? argv[0] : "(no name)");
	say("\n");
	/* Memory that the file has not, and memory that is written to. */
	for (int i = 0; i < 4096; i++)
		if (zeros[i])
			call(EXIT, 1, 0, 0);
	zeros[4095] = 1;
	ones[0]++;
	say(zeros[4095] == 1 && ones[0] == '2' ? "hello again\n" : "hello, wrong memory\n");
	call(EXIT, 7, 0, 0);
}
