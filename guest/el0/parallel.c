/* Threads on all CPUs at once, each result fixed by what C and Linux promise: counters, a mutex, messages, store buffering,
 * pages that change under others' feet, code that others wrote, processes and pipes. Prints a line for each: what was counted
 * and what must not have been. `xtask/src/parallel.rs` has the lines. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4

static int rounds;
static pthread_barrier_t barrier;
static struct {
	_Alignas(128) _Atomic uint64_t value;
} cells[8];
static uint64_t plain;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t wrong;
static unsigned char *page;
static uint32_t *code;
static int pipes[THREADS][2];

static void *on_all(void *(*body)(void *)) {
	pthread_t threads[THREADS];
	wrong = 0;
	for (int n = 0; n < 8; n++)
		cells[n].value = 0;
	for (long n = 0; n < THREADS; n++)
		if (pthread_create(&threads[n], NULL, body, (void *)n))
			abort();
	for (int n = 0; n < THREADS; n++)
		pthread_join(threads[n], NULL);
	return NULL;
}

static long begin(void *arg) {
	long me = (long)arg;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(me % sysconf(_SC_NPROCESSORS_ONLN), &set);
	if (sched_setaffinity(0, sizeof set, &set))
		abort();
	pthread_barrier_wait(&barrier);
	return me;
}

static void *count(void *arg) {
	begin(arg);
	for (int n = 0; n < rounds; n++) {
		cells[0].value++;
		pthread_mutex_lock(&mutex);
		plain++;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

/* Even threads write, odd ones read. */
static void *message(void *arg) {
	long me = begin(arg);
	volatile uint64_t *data = (uint64_t *)&cells[me & ~1].value;
	_Atomic uint64_t *flag = &cells[(me & ~1) + 1].value;
	for (uint64_t n = 1; n <= (uint64_t)rounds; n++)
		if (me & 1) {
			uint64_t seen = atomic_load_explicit(flag, memory_order_acquire);
			if (*data < seen)
				wrong++;
		} else {
			*data = n;
			atomic_store_explicit(flag, n, memory_order_release);
		}
	return NULL;
}

/* Two threads: of what each stores and then loads, one at least must see the other's. */
static void *buffer(void *arg) {
	long me = begin(arg);
	if (me > 1)
		return NULL;
	for (uint64_t n = 1; n <= (uint64_t)rounds / 10; n++) {
		atomic_store(&cells[me].value, n);
		uint64_t seen = atomic_load(&cells[1 - me].value);
		atomic_store(&cells[2 + me].value, 2 * n + (seen >= n));
		while (atomic_load(&cells[3 - me].value) < 2 * n)
			sched_yield();
		if (seen < n && atomic_load(&cells[3 - me].value) == 2 * n)
			wrong++;
		atomic_store(&cells[4 + me].value, n);
		while (atomic_load(&cells[5 - me].value) < n)
			sched_yield();
	}
	return NULL;
}

/* Thread 0 puts new pages, with 1 in them, in the place of old ones, which it spoils through a second mapping. */
static void *change_pages(void *arg) {
	long me = begin(arg);
	if (me) {
		while (!cells[0].value)
			if (*(volatile unsigned char *)page != 1)
				wrong++;
		return NULL;
	}
	int file = memfd_create("pages", 0);
	if (ftruncate(file, 2 * 4096))
		abort();
	unsigned char *both = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	for (int n = 0; n < rounds / 20; n++) {
		both[n % 2 * 4096] = 1;
		if (mmap(page, 4096, PROT_READ, MAP_SHARED | MAP_FIXED | MAP_POPULATE, file, n % 2 * 4096) != page)
			abort();
		both[(n + 1) % 2 * 4096] = 99;
	}
	cells[0].value = 1;
	munmap(both, 2 * 4096);
	close(file);
	return NULL;
}

/* Thread 0 changes what a function returns; the others call it. */
static void *change_code(void *arg) {
	long me = begin(arg);
	for (uint64_t n = 1; me == 0 && n <= (uint64_t)rounds / 20; n++) {
		*(volatile uint32_t *)code = 0x52800000 | (n & 0xffff) << 5; /* mov w0, #n */
		__builtin___clear_cache((char *)code, (char *)(code + 2));
		atomic_store(&cells[0].value, n);
	}
	while (me && cells[0].value < (uint64_t)rounds / 20) {
		uint64_t seen = atomic_load(&cells[0].value);
		asm volatile("isb" ::: "memory");
		if (seen && ((uint32_t(*)(void))code)() < seen)
			wrong++;
	}
	return NULL;
}

/* A byte goes round through pipes, and each thread makes processes. */
static void *processes(void *arg) {
	long me = begin(arg);
	for (int n = 0; n < rounds / 2000; n++) {
		pid_t child = fork();
		if (child == 0)
			_exit(n & 63);
		int status;
		if (waitpid(child, &status, 0) != child || status != (n & 63) << 8)
			wrong++;
	}
	for (int n = 0; n < rounds / 50; n++) {
		unsigned char byte = n;
		if (me == 0 && write(pipes[0][1], &byte, 1) != 1)
			wrong++;
		if (read(pipes[me][0], &byte, 1) != 1 || byte != (unsigned char)n)
			wrong++;
		if (me != THREADS - 1 && write(pipes[me + 1][1], &byte, 1) != 1)
			wrong++;
	}
	return NULL;
}

int main(int argc, char **argv) {
	rounds = argc > 1 ? atoi(argv[1]) : 20000;
	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_barrier_init(&barrier, NULL, THREADS);
	on_all(count);
	printf("parallel: counted %s\n",
	       cells[0].value == (uint64_t)THREADS * rounds && plain == cells[0].value ? "all" : "WRONG");
	on_all(message);
	printf("parallel: messages, %llu wrong\n", (unsigned long long)wrong);
	on_all(buffer);
	printf("parallel: stores before loads, %llu wrong\n", (unsigned long long)wrong);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*page = 1;
	on_all(change_pages);
	printf("parallel: pages, %llu wrong\n", (unsigned long long)wrong);
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	code[0] = 0x52800000;
	code[1] = 0xd65f03c0; /* ret */
	__builtin___clear_cache((char *)code, (char *)(code + 2));
	on_all(change_code);
	printf("parallel: code, %llu wrong\n", (unsigned long long)wrong);
	for (int n = 0; n < THREADS; n++)
		if (pipe(pipes[n]))
			abort();
	on_all(processes);
	printf("parallel: processes, %llu wrong\n", (unsigned long long)wrong);
	return 0;
}
