/* The first and only program of the demonstration that `vambrace run` boots when it is given no kernel: it says what is
 * there, then takes commands. It ends, and so the machine is switched off, when it is told to or nobody says anything. No
 * library. */

#include "call.h"

enum { AT_CWD = -100, SIGCHLD = 17, POLLIN = 1, PAGE = 4096 };
/* Seconds for which it waits for a command. */
enum { PATIENCE = 60 };

static void say_number(u64 value, u32 base) {
	char text[24];
	u32 at = sizeof text;
	text[--at] = 0;
	do
		text[--at] = "0123456789abcdef"[value % base];
	while (value /= base);
	print_text(text + at);
}
static void say_hex(const char *name, u64 value) {
	print_text(name);
	print_text(" 0x");
	say_number(value, 16);
	print_text("\n");
}

static int is(const char *a, const char *b) {
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static void about(void) {
	static char names[6][65];
	if (call(UNAME, (u64)names, 0, 0, 0, 0) != 0)
		return;
	print_text(names[0]);
	print_text(" as seen by programs: release ");
	print_text(names[2]);
	print_text(", machine ");
	print_text(names[4]);
	print_text("\n");
}

static void show(const char *path) {
	static char text[4096];
	long fd = call(OPENAT, (u64)AT_CWD, (u64)path, 0, 0, 0), length;
	while (fd >= 0 && (length = call(READ, (u64)fd, (u64)text, sizeof text, 0, 0)) > 0)
		call(WRITE, 1, (u64)text, (u64)length, 0, 0);
	call(CLOSE, (u64)fd, 0, 0, 0, 0);
}

/* Registers of EL1 that this program, at EL0, reads: each read traps, and the kernel answers. */
static void registers(void) {
	u64 value;
#define SHOW(name)                                                    \
	do {                                                          \
		asm volatile("mrs %0, " #name : "=r"(value));         \
		say_hex("  " #name, value);                           \
	} while (0)
	SHOW(midr_el1);
	SHOW(id_aa64pfr0_el1);
	SHOW(id_aa64isar0_el1);
	SHOW(id_aa64mmfr0_el1);
}

/* The clock counts nanoseconds, and the machine executes an instruction in each. */
static u64 now(void) {
	u64 value;
	asm volatile("isb\nmrs %0, cntvct_el0" : "=r"(value) : : "memory");
	return value;
}
static void report(const char *what, u64 ticks, u64 times) {
	u64 frequency;
	asm("mrs %0, cntfrq_el0" : "=r"(frequency));
	print_text("  ");
	say_number(ticks * (1000000000 / frequency) / times, 10);
	print_text(" ns ");
	print_text(what);
	print_text("\n");
}
static void times(void) {
	enum { ROUNDS = 256 };
	u64 since = now();
	for (int n = 0; n < ROUNDS; n++)
		call(GETPPID, 0, 0, 0, 0, 0);
	report("a system call (getppid)", now() - since, ROUNDS);

	since = now();
	for (int n = 0; n < ROUNDS; n++) {
		u64 value;
		asm volatile("mrs %0, id_aa64isar0_el1" : "=r"(value));
	}
	report("a read of an ID register, emulated", now() - since, ROUNDS);

	u64 memory = (u64)call(MMAP, 0, ROUNDS * PAGE, 3, 0x22, -1ul);
	since = now();
	for (u64 n = 0; n < ROUNDS; n++)
		*(volatile u64 *)(memory + n * PAGE) = n;
	report("a page of memory, first written to", now() - since, ROUNDS);

	since = now();
	long child = call(CLONE, SIGCHLD, 0, 0, 0, 0);
	if (child == 0)
		call(EXIT_GROUP, 0, 0, 0, 0, 0);
	call(WAIT4, (u64)child, 0, 0, 0, 0);
	report("a process made, run, ended and waited for", now() - since, 1);
}

static void help(void) {
	print_text("  help       this\n"
	    "  about      what this calls itself\n"
	    "  cpus       the CPUs that it runs on\n"
	    "  registers  some ID registers, read from EL0\n"
	    "  times      what things cost\n"
	    "  exit       end, and switch the machine off\n");
}

/* Does somebody say something? */
static int wait_for_input(void) {
	struct { int fd; short events, found; } input = { 0, POLLIN, 0 };
	struct { long seconds, nanoseconds; } patience = { PATIENCE, 0 };
	return call(PPOLL, (u64)&input, 1, (u64)&patience, 0, 0) > 0;
}

void begin(void);
void begin(void) {
	static char line[256];
	call(MKDIR, (u64)AT_CWD, (u64) "/proc", 0755, 0, 0);
	call(MOUNT, (u64) "proc", (u64) "/proc", (u64) "proc", 0, 0);
	print_text("\nThis is Vambrace: an arm64 machine in software, and on it an arm64 kernel, both in Rust.\n"
	    "To boot a kernel of your own: vambrace run --kernel Image --initrd initrd.gz\n\n");
	about();
	registers();
	times();
	print_text("\nCommands:\n");
	help();
	for (;;) {
		print_text("demo> ");
		if (!wait_for_input()) {
			print_text("\nNobody says anything: good bye.\n");
			break;
		}
		long length = call(READ, 0, (u64)line, sizeof line - 1, 0, 0);
		if (length <= 0)
			break;
		while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == ' '))
			length--;
		line[length] = 0;
		if (is(line, "exit") || is(line, "quit") || is(line, "poweroff"))
			break;
		else if (is(line, "help"))
			help();
		else if (is(line, "about"))
			about();
		else if (is(line, "cpus"))
			show("/proc/cpuinfo");
		else if (is(line, "registers"))
			registers();
		else if (is(line, "times"))
			times();
		else if (line[0])
			print_text("There is no such command; help lists them.\n");
	}
	print_text("demo: end\n");
	call(EXIT_GROUP, 0, 0, 0, 0, 0);
}

asm(".globl _start\n_start: bl begin\n");
