// Writes one place of a disk after the other, in four ways, and says a place's number only once its flush has returned. What
// was said must be on the disk, whole, whatever becomes of the machine then. xtask/src/devices/durable.rs knows what is where.
// It begins when a line is typed, and spins until then, so that instructions pass: a snapshot is taken meanwhile.

#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

// More than the device moves at once.
enum { LENGTH = 96 << 10, WORDS = LENGTH / 8 };

static uint64_t place[WORDS] __attribute__((aligned(4096)));

static void fill(uint64_t number)
{
	for (uint64_t n = 0; n < WORDS; n++)
		place[n] = (number << 32 | n) * 0x9e3779b97f4a7c15;
}

// Whether all of it was done; `direct` and `cached` are the same disk, without the page cache and with it.
static int write_place(uint64_t number, int direct, int cached)
{
	uint64_t range[2] = { number * LENGTH, LENGTH };
	fill(number);
	switch (number % 4) {
	case 0:
		return pwrite(direct, place, LENGTH, range[0]) == LENGTH && fsync(direct) == 0;
	case 1:
		return pwrite(cached, place, LENGTH, range[0]) == LENGTH && fsync(cached) == 0;
	case 2:
		return ioctl(direct, BLKZEROOUT, range) == 0 && fsync(direct) == 0;
	default:
		return ioctl(direct, BLKDISCARD, range) == 0 && pwrite(direct, place, LENGTH, range[0]) == LENGTH &&
		       fsync(direct) == 0;
	}
}

static void wait_for_a_line(void)
{
	volatile int *typed = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fork() == 0) {
		char byte;
		while (read(0, &byte, 1) == 1 && byte != '\n')
			;
		*typed = 1;
		_exit(0);
	}
	while (!*typed)
		;
	wait(0);
}

int main(int argc, char **argv)
{
	const char *disk = argc > 1 ? argv[1] : "/dev/vda";
	int direct = open(disk, O_RDWR | O_DIRECT), cached = open(disk, O_RDWR);
	uint64_t length = 0;
	if (direct < 0 || cached < 0 || ioctl(direct, BLKGETSIZE64, &length)) {
		perror(disk);
		return 1;
	}
	puts("devices: ready");
	fflush(stdout);
	wait_for_a_line();
	for (uint64_t number = 0; number < length / LENGTH; number++) {
		if (!write_place(number, direct, cached)) {
			perror("devices: place");
			return 1;
		}
		char line[64];
		int len = snprintf(line, sizeof line, "devices: durable %llu\n", (unsigned long long)number);
		if (write(1, line, len) != len)
			return 1;
	}
	return 0;
}
