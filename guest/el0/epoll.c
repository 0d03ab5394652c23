/* epoll, eventfd, poll and select: every result is printed. The same on Linux 6.1 and on our kernel. */

#include "el0.h"

enum { IN = 1, OUT = 4, RDHUP = 0x2000, ONESHOT = 1 << 30, NONBLOCK = 04000, CLOEXEC = 02000000 };
static const u32 EDGE = 1u << 31;
enum { ADD = 1, DEL, MOD };

struct event { u32 events, pad; u64 data; };
struct pollfd { int fd; short events, revents; };

static int epoll;
static char buffer[70000];

static long control(int operation, int fd, u32 events, u64 data) {
	struct event event = { events, 0, data };
	return call(EPOLL_CTL, epoll, operation, fd, &event);
}
static void ready_in(const char *what, int epoll, int most, int timeout) {
	struct event events[8];
	long count = call(EPOLL_PWAIT, epoll, events, most, timeout, 0, 8);
	show(what, count);
	for (long n = 0; n < count; n++) {
		show("  data", (long)events[n].data);
		show_hex("  events", events[n].events);
	}
}
static void ready(const char *what, int most) {
	ready_in(what, epoll, most, 0);
}
static void raise(int fd, u64 value) {
	show("raise", call(WRITE, fd, &value, 8));
}
static void lower(int fd) {
	u64 value = 0;
	show("lower", call(READ, fd, &value, 8));
	show("  value", (long)value);
}
static int event(u32 count, int flags) {
	return (int)call(EVENTFD2, count, flags | NONBLOCK);
}

static void counters(void) {
	int fd = event(3, 0);
	lower(fd);
	lower(fd);
	raise(fd, 5);
	raise(fd, -1UL);
	raise(fd, -2UL);
	raise(fd, -2UL - 5);
	raise(fd, 1);
	lower(fd);
	show("short", call(READ, fd, buffer, 7));
	show("short", call(WRITE, fd, buffer, 7));
	show("bad", call(WRITE, fd, 8, 8));
	show("long", call(READ, fd, buffer, 100));
	u32 stat[32];
	show("fstat", call(FSTAT, fd, stat));
	show_hex("  mode", stat[4]);
	call(CLOSE, fd);
	fd = event(2, 1);
	lower(fd);
	lower(fd);
	lower(fd);
	call(CLOSE, fd);
	show("flags", call(EVENTFD2, 0, 2));
}

static void levels_and_edges(void) {
	epoll = (int)call(EPOLL_CREATE1, CLOEXEC);
	int fds[4] = { event(0, 0), event(0, 0), event(0, 0), event(0, 0) };
	static const u32 modes[] = { IN, IN | EDGE, IN | ONESHOT, IN | OUT | EDGE };
	for (int n = 0; n < 4; n++)
		show("add", control(ADD, fds[n], modes[n], (u64)n));
	ready("none but writable", 8);
	ready("none", 8);
	for (int n = 0; n < 4; n++)
		raise(fds[n], 1);
	ready("all", 8);
	ready("level", 8);
	for (int n = 0; n < 4; n++)
		raise(fds[n], 1);
	ready("again", 8);
	show("modify", control(MOD, fds[2], IN | ONESHOT, 22));
	ready("one shot", 8);
	show("modify", control(MOD, fds[1], IN | EDGE, 11));
	ready("edge", 8);
	lower(fds[0]);
	lower(fds[3]);
	ready("lowered", 8);
	raise(fds[0], 1);
	show("delete", control(DEL, fds[0], 0, 0));
	show("delete", control(DEL, fds[0], 0, 0));
	ready("deleted", 8);
	for (int n = 0; n < 4; n++)
		call(CLOSE, fds[n]);
	ready("closed", 8);
	call(CLOSE, epoll);
}

static void order(void) {
	epoll = (int)call(EPOLL_CREATE1, 0);
	int fds[5];
	for (int n = 0; n < 5; n++) {
		fds[n] = event(0, 0);
		control(ADD, fds[n], n == 3 ? IN | EDGE : IN, (u64)n);
	}
	static const int raised[] = { 2, 0, 3, 4, 1 };
	for (int n = 0; n < 5; n++)
		call(WRITE, fds[raised[n]], &(u64){ 1 }, 8);
	for (int n = 0; n < 7; n++)
		ready("two", 2);
	for (int n = 0; n < 5; n++)
		call(CLOSE, fds[n]);
	call(CLOSE, epoll);
}

static void pipes(void) {
	epoll = (int)call(EPOLL_CREATE1, 0);
	int fd[2];
	call(PIPE2, fd, NONBLOCK);
	show("add", control(ADD, fd[0], IN | EDGE, 0));
	show("add", control(ADD, fd[1], OUT | EDGE, 1));
	ready("writable", 8);
	call(WRITE, fd[1], buffer, 10);
	ready("readable", 8);
	call(WRITE, fd[1], buffer, 10);
	ready("edge of more", 8);
	call(READ, fd[0], buffer, 5);
	ready("part", 8);
	long sum = 0, got;
	while ((got = call(WRITE, fd[1], buffer, 4096)) > 0)
		sum += got;
	show("filled", sum);
	ready("full", 8);
	call(READ, fd[0], buffer, 3000);
	ready("some room", 8);
	call(READ, fd[0], buffer, 5000);
	ready("room", 8);
	call(CLOSE, fd[1]);
	ready("hang-up", 8);
	ready("told", 8);
	int copy = (int)call(DUP, fd[0]);
	call(CLOSE, fd[0]);
	control(ADD, copy, IN, 5);
	ready("of a copy", 8);
	call(CLOSE, copy);
	ready("gone", 8);
	call(PIPE2, fd, NONBLOCK);
	control(ADD, fd[1], OUT, 1);
	call(CLOSE, fd[0]);
	ready("no reader", 8);
	call(CLOSE, fd[1]);
	call(CLOSE, epoll);
}

static void sockets(void) {
	epoll = (int)call(EPOLL_CREATE1, 0);
	int fd[2];
	call(SOCKETPAIR, 1, 1 | NONBLOCK, 0, fd);
	control(ADD, fd[0], IN | RDHUP | EDGE, 0);
	control(ADD, fd[1], IN | OUT | EDGE, 1);
	ready("writable", 8);
	call(WRITE, fd[1], buffer, 100);
	ready("readable", 8);
	call(WRITE, fd[1], buffer, 100);
	ready("more", 8);
	call(READ, fd[0], buffer, 150);
	ready("part read", 8);
	call(WRITE, fd[0], buffer, 100);
	ready("back", 8);
	while (call(WRITE, fd[1], buffer, 1000) > 0)
		;
	ready("full", 8);
	for (int n = 0; n < 100; n++)
		call(READ, fd[0], buffer, 1000);
	ready("half", 8);
	for (int n = 0; n < 40; n++)
		call(READ, fd[0], buffer, 1000);
	ready("room", 8);
	call(SHUTDOWN, fd[1], 1);
	ready("shut", 8);
	call(CLOSE, fd[1]);
	ready("closed", 8);
	call(CLOSE, fd[0]);
	call(CLOSE, epoll);
}

static void nested(void) {
	int outer = (int)call(EPOLL_CREATE1, 0), inner = (int)call(EPOLL_CREATE1, 0), fd = event(0, 0);
	epoll = outer;
	show("add", control(ADD, inner, IN, 1));
	epoll = inner;
	show("add", control(ADD, fd, IN, 2));
	ready_in("outer", outer, 8, 0);
	raise(fd, 1);
	ready_in("outer", outer, 8, 0);
	ready_in("inner", inner, 8, 0);
	ready_in("outer", outer, 8, 0);
	struct pollfd entry = { outer, IN, 0 };
	long time[2] = { 0, 0 };
	show("poll", call(PPOLL, &entry, 1, time, 0, 8));
	show_hex("  events", (unsigned short)entry.revents);
	lower(fd);
	ready_in("outer", outer, 8, 0);
	show("circle", control(ADD, outer, IN, 3));
	show("itself", control(ADD, inner, IN, 3));
	int below = inner;
	for (int n = 0; n < 9; n++) {
		epoll = (int)call(EPOLL_CREATE1, 0);
		show("chain", control(ADD, below, IN, 3));
		below = epoll;
	}
	for (int n = 3; n < 20; n++)
		call(CLOSE, n);
}

static void errors(void) {
	epoll = (int)call(EPOLL_CREATE1, 0);
	int fd = event(1, 0);
	show("create", call(EPOLL_CREATE1, 1));
	show("add", control(ADD, fd, IN, 0));
	show("twice", control(ADD, fd, IN, 0));
	int copy = (int)call(DUP, fd);
	show("copy", control(ADD, copy, IN, 1));
	ready("both", 8);
	show("no fd", control(ADD, 99, IN, 0));
	show("no epoll", call(EPOLL_CTL, 99, ADD, fd, buffer));
	show("no epoll", call(EPOLL_CTL, fd, ADD, copy, buffer));
	show("operation", control(9, fd, IN, 0));
	show("modify", control(MOD, 0, IN, 0));
	show("event", call(EPOLL_CTL, epoll, ADD, fd, 8));
	int file = (int)call(OPENAT, -100, "/init", 0);
	show("file", control(ADD, file, IN, 0));
	int null = (int)call(OPENAT, -100, "/dev/null", 0);
	show("null", control(ADD, null, IN, 0));
	ready("most", 0);
	ready("most", -1);
	ready_in("no epoll", fd, 8, 0);
	ready_in("none", 99, 8, 0);
	show("place", call(EPOLL_PWAIT, epoll, 8, 8, 0, 0, 8));
	show("mask", call(EPOLL_PWAIT, epoll, buffer, 8, 0, buffer, 7));
	control(DEL, fd, 0, 0);
	control(DEL, copy, 0, 0);
	ready_in("time", epoll, 8, 20);
	long time[2] = { 0, 2000000 };
	show("time", call(EPOLL_PWAIT2, epoll, buffer, 8, time, 0, 8));
	time[1] = 1000000000;
	show("no time", call(EPOLL_PWAIT2, epoll, buffer, 8, time, 0, 8));
	for (int n = 3; n < 12; n++)
		call(CLOSE, n);
}

/* Those that sleep are woken. */
static int shared[2];
static void write_later(void) {
	sleep_ms(30);
	call(WRITE, shared[1], "x", 1);
	sleep_ms(30);
	call(WRITE, shared[1], "yz", 2);
}
static void waiting(void) {
	call(PIPE2, shared, 0);
	epoll = (int)call(EPOLL_CREATE1, 0);
	control(ADD, shared[0], IN | EDGE, 1);
	long child = spawn(write_later);
	ready_in("first", epoll, 8, -1);
	ready_in("second", epoll, 8, -1);
	show("child", wait_for(child));
	ready_in("no more", epoll, 8, 5);
	show("read", call(READ, shared[0], buffer, 9));
	child = spawn(write_later);
	struct pollfd entries[3] = { { shared[0], IN, 0 }, { -1, IN, 7 }, { 99, IN, 0 } };
	show("poll", call(PPOLL, entries, 2, 0, 0, 8));
	for (int n = 0; n < 3; n++)
		show_hex("  events", (unsigned short)entries[n].revents);
	show("poll", call(PPOLL, entries, 3, 0, 0, 8));
	for (int n = 0; n < 3; n++)
		show_hex("  events", (unsigned short)entries[n].revents);
	wait_for(child);
	call(READ, shared[0], buffer, 9);
	child = spawn(write_later);
	u64 reads = 1UL << shared[0], writes = 1UL << shared[0], exceptions = 1UL << shared[0];
	show("select", call(PSELECT, shared[1] + 1, &reads, &writes, &exceptions, 0, 0));
	show_hex("  reads", reads);
	show_hex("  writes", writes);
	show_hex("  exceptions", exceptions);
	wait_for(child);
	reads = writes = 1UL << shared[0] | 1UL << shared[1];
	show("select", call(PSELECT, 64, &reads, &writes, 0, 0, 0));
	show_hex("  reads", reads);
	show_hex("  writes", writes);
	reads = 1UL << 50;
	show("select", call(PSELECT, 64, &reads, 0, 0, 0, 0));
	call(READ, shared[0], buffer, 9);
	reads = 1UL << shared[0];
	long time[2] = { 0, 1000000 };
	show("select", call(PSELECT, 64, &reads, 0, 0, time, 0));
	show_hex("  reads", reads);
	show("  left", time[0] + time[1]);
	show("count", call(PSELECT, -1, 0, 0, 0, time, 0));
	call(CLOSE, shared[0]);
	call(CLOSE, shared[1]);
	call(CLOSE, epoll);
}

/* A signal that only the call's mask lets through ends the call, and the mask is as before. */
static volatile int caught;
static void handler(int number) {
	caught = number;
}
static void masks(void) {
	struct { void *handler; u64 flags; void *restorer; u64 mask; } action = { handler, 0, 0, 0 };
	call(SIGACTION, 10, &action, 0, 8);
	u64 blocked = 1 << 9, none = 0, now = 0;
	call(SIGPROCMASK, 0, &blocked, 0, 8);
	epoll = (int)call(EPOLL_CREATE1, 0);
	struct { u64 *mask, size; } pair = { &none, 8 };
	for (int n = 0; n < 6; n++) {
		caught = 0;
		call(KILL, call(GETPID), 10);
		long time[2] = { 0, 5000000 };
		if (n == 0)
			show("ppoll", call(PPOLL, 0, 0, 0, &none, 8));
		else if (n == 1)
			show("pselect", call(PSELECT, 0, 0, 0, 0, 0, &pair));
		else if (n == 2)
			show("epoll", call(EPOLL_PWAIT, epoll, buffer, 8, -1, &none, 8));
		else if (n == 3)
			show("ppoll", call(PPOLL, 0, 0, time, &blocked, 8));
		else if (n == 4)
			show("epoll", call(EPOLL_PWAIT, epoll, buffer, 8, 5, &blocked, 8));
		else
			show("epoll", call(EPOLL_PWAIT, epoll, buffer, 8, 5, 0, 8));
		show("  caught", caught);
		call(SIGPROCMASK, 0, 0, &now, 8);
		show_hex("  blocked", now);
	}
	call(SIGPROCMASK, 1, &blocked, 0, 8);
	show("caught", caught);
	call(CLOSE, epoll);
}

void _start(void) {
	static void (*const parts[])(void) = { counters, levels_and_edges, order, pipes, sockets, nested, errors, waiting, masks };
	for (u64 n = 0; n < sizeof parts / sizeof *parts; n++) {
		show("-- part", (long)n);
		parts[n]();
	}
	call(EXIT_GROUP, 0);
}
