// The performance monitors through Linux's perf_event_open: a loop of known length, counted and sampled.

#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 1000000, PERIOD = 100000, SAMPLED_ROUNDS = 5 * ROUNDS, PAGE = 4096, PAGES = 64 };

// Five instructions a round: a load, a store, two of arithmetic, a branch.
__attribute__((noipa)) static void loop(uint64_t rounds, uint64_t *at)
{
	asm volatile(".globl loop_start, loop_end\nloop_start:\n"
		     "ldr x9, [%1]\n add x9, x9, #1\n str x9, [%1]\n subs %0, %0, #1\n b.ne loop_start\nloop_end:"
		     : "+r"(rounds)
		     : "r"(at)
		     : "x9", "cc", "memory");
}
extern const char loop_start[], loop_end[];

static int open_event(struct perf_event_attr *attr)
{
	attr->size = sizeof *attr;
	attr->disabled = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	int fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
	if (fd < 0)
		perror("perf_event_open");
	return fd;
}

// What `rounds` of the loop count, with what starting and stopping adds.
static uint64_t count(int fd, uint64_t rounds)
{
	static uint64_t place;
	uint64_t value = 0;
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	loop(rounds, &place);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (read(fd, &value, sizeof value) != sizeof value)
		perror("read");
	return value;
}

// The difference between two lengths is the loop's own.
static void counted(const char *name, uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {.type = type, .config = config};
	int fd = open_event(&attr);
	if (fd < 0) {
		printf("perf: %s cannot be counted\n", name);
		return;
	}
	count(fd, 1);
	uint64_t once = count(fd, ROUNDS), twice = count(fd, 2 * ROUNDS);
	printf("perf: %s %llu\n", name, (unsigned long long)(twice - once));
	close(fd);
}

static volatile unsigned signals;

static void on_signal(int number)
{
	(void)number;
	signals++;
}

static void sampled(void)
{
	static uint64_t place;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = PERIOD,
		.sample_type = PERF_SAMPLE_IP,
		.wakeup_events = 1,
	};
	int fd = open_event(&attr);
	if (fd < 0)
		return;
	struct perf_event_mmap_page *ring = mmap(0, (1 + PAGES) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED) {
		perror("mmap");
		return;
	}
	struct sigaction action = {.sa_handler = on_signal};
	sigaction(SIGUSR1, &action, 0);
	fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK | O_ASYNC);
	fcntl(fd, F_SETSIG, SIGUSR1);
	fcntl(fd, F_SETOWN, getpid());
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	loop(SAMPLED_ROUNDS, &place);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	unsigned samples = 0, inside = 0, others = 0;
	const char *data = (const char *)ring + PAGE;
	for (uint64_t at = 0; at < ring->data_head;) {
		const struct perf_event_header *header = (const void *)(data + at % (PAGES * PAGE));
		if (header->type == PERF_RECORD_SAMPLE) {
			uint64_t ip = *(const uint64_t *)(header + 1);
			samples++;
			inside += ip >= (uint64_t)loop_start && ip < (uint64_t)loop_end;
		} else {
			others++;
		}
		at += header->size;
	}
	printf("perf: %u samples, %u in the loop, %u other records\n", samples, inside, others);
	printf("perf: a signal for each but %d\n", (int)(samples - signals));
	close(fd);
}

int main(void)
{
	counted("instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	counted("branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	counted("INST_RETIRED", PERF_TYPE_RAW, 0x08);
	counted("LD_RETIRED", PERF_TYPE_RAW, 0x06);
	counted("ST_RETIRED", PERF_TYPE_RAW, 0x07);
	counted("BR_IMMED_RETIRED", PERF_TYPE_RAW, 0x0d);
	counted("BR_RETURN_RETIRED", PERF_TYPE_RAW, 0x0e);
	sampled();
	// A cycle for each exception comes on top: interrupts while the loop runs.
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES};
	int fd = open_event(&attr);
	uint64_t cycles = count(fd, ROUNDS) - 5 * ROUNDS;
	printf("perf: %s\n", cycles < 1000 ? "a cycle for each instruction" : "cycles are off");
	return 0;
}
