/* Many signals at once, on all CPUs: none that must be queued is lost or comes twice, each stop and each going on is told,
 * and everybody ends. */
#include "signals.h"

static volatile u64 received, wrong, expected_value;
static volatile i32 stop;

/* Without the compiler's library. */
static void change(volatile u64 *at, u64 by) {
	u64 value, failed;
	asm volatile("1: ldaxr %0, [%2]\n add %0, %0, %3\n stlxr %w1, %0, [%2]\n cbnz %w1, 1b"
		     : "=&r"(value), "=&r"(failed)
		     : "r"(at), "r"(by)
		     : "memory");
}

/* --- threads --- */

static u8 stacks[4][16384] __attribute__((aligned(16)));
static volatile u64 running;

/* A thread of this process that calls `body`, and ends. */
static i32 spawn(u64 n, void (*body)(u64)) {
	u64 *top = (u64 *)(stacks[n] + sizeof stacks[n]);
	*--top = n;
	*--top = (u64)body;
	register u64 x0 asm("x0") = 0x50f00, x1 asm("x1") = (u64)top, x2 asm("x2") = 0, x3 asm("x3") = 0, x4 asm("x4") = 0,
		     x8 asm("x8") = CLONE;
	asm volatile("svc #0\n cbnz x0, 1f\n mov x29, xzr\n ldp x9, x0, [sp], #16\n blr x9\n mov x8, #93\n mov x0, #0\n svc #0\n 1:"
		     : "+r"(x0)
		     : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8)
		     : "x9", "x30", "memory");
	return (i32)x0;
}
static void spinning(u64 n) {
	(void)n;
	change(&running, 1);
	while (!stop)
		call(SCHED_YIELD);
	change(&running, -1ul);
}
static void sleeping(u64 n) {
	change(&running, 1);
	while (!stop)
		pause_for((n + 1) * 300000);
	change(&running, -1ul);
}
static void start(u64 count, void (*body)(u64)) {
	stop = 0;
	for (u64 n = 0; n < count; n++)
		spawn(n, body);
	while (running < count)
		call(SCHED_YIELD);
}
static void finish(void) {
	stop = 1;
	while (running)
		call(SCHED_YIELD);
	pause_for(2 * MILLISECOND);
}

/* --- handlers --- */

static void in_order(i32 signal, struct siginfo *info, struct context *context) {
	(void)signal, (void)context;
	wrong += info->value != expected_value;
	expected_value = info->value + 1;
	received++;
}
static void counting(i32 signal, struct siginfo *info, struct context *context) {
	(void)signal, (void)info, (void)context;
	change(&received, 1);
}
static u64 timed;
static void of_timer(i32 signal, struct siginfo *info, struct context *context) {
	(void)signal, (void)context;
	timed += 1 + (u64)info->overrun;
	received++;
}

static i64 queue(i32 to, i32 signal, u64 value) {
	struct siginfo info = {.code = -1};
	info.pid = self_, info.value = value;
	return call(SIGQUEUEINFO, to, signal, &info);
}
static void reset(void) { received = wrong = expected_value = 0; }

/* --- storms --- */

/* A child floods its parent: every value comes, in order. */
static void flood(void) {
	enum { COUNT = 500 };
	reset();
	on(SIGRTMIN, in_order, SA_SIGINFO | SA_RESTART, 0);
	i32 to = self_;
	if (fork_() == 0) {
		u64 refused = 0;
		for (u64 n = 0; n < COUNT; n++)
			while (queue(to, SIGRTMIN, n) == -EAGAIN)
				refused++, call(SCHED_YIELD);
		leave(0);
	}
	i32 child = child_;
	while (received < COUNT)
		call(SCHED_YIELD);
	show("flood", wait_for(child, 0));
	show("received", (i64)received);
	show("wrong", (i64)wrong);
}

/* Question and answer, with blocked signals that are waited for. */
static void answers(void) {
	enum { COUNT = 300 };
	u64 set = BIT(SIGRTMIN + 1);
	struct siginfo info;
	block(set);
	i32 to = self_;
	if (fork_() == 0) {
		for (u64 n = 0; n < COUNT; n++) {
			if (call(SIGTIMEDWAIT, &set, &info, 0, 8) != SIGRTMIN + 1 || info.value != n)
				leave(1);
			queue(to, SIGRTMIN + 1, n * 3);
		}
		leave(0);
	}
	i32 child = child_;
	u64 bad = 0;
	for (u64 n = 0; n < COUNT; n++) {
		queue(child, SIGRTMIN + 1, n);
		while (call(SIGTIMEDWAIT, &set, &info, 0, 8) == -EINTR)
			;
		bad += info.value != n * 3;
	}
	show("answers", wait_for(child, 0));
	show("wrong", (i64)bad);
	unblock(set);
}

/* Signals for a process of several threads: each is handled once, by any of them. */
static void threads(const char *name, void (*body)(u64)) {
	enum { COUNT = 200 };
	reset();
	on(SIGRTMIN, counting, SA_SIGINFO | SA_RESTART, 0);
	start(3, body);
	i32 to = self_;
	if (fork_() == 0) {
		for (u64 n = 0; n < COUNT; n++)
			while (queue(to, SIGRTMIN, n) == -EAGAIN)
				call(SCHED_YIELD);
		leave(0);
	}
	i32 child = child_;
	while (received < COUNT)
		call(SCHED_YIELD);
	show(name, wait_for(child, 0));
	finish();
	show("received", (i64)received);
}

/* A process of several threads stops and goes on, again and again. */
static void stops(const char *name, void (*body)(u64)) {
	if (fork_() == 0) {
		start(3, body);
		for (;;)
			body == spinning ? call(SCHED_YIELD) : (pause_for(MILLISECOND), 0);
	}
	i32 child = child_;
	pause_for(5 * MILLISECOND);
	u64 bad = 0;
	for (int n = 0; n < 30; n++) {
		call(KILL, child, SIGSTOP);
		bad += wait_for(child, WUNTRACED) != 0x137f;
		call(KILL, child, SIGCONT);
		bad += wait_for(child, WCONTINUED) != 0xffff;
	}
	show(name, (i64)bad);
	call(KILL, child, SIGSTOP);
	call(KILL, child, SIGKILL);
	i64 status = wait_for(child, 0);
	show("killed", status);
}

/* Many children, ended at any time in their life. */
static void ends(void) {
	u64 bad = 0;
	for (int n = 0; n < 42; n++) {
		if (fork_() == 0) {
			if (n % 3 == 0)
				start(2, spinning);
			else if (n % 3 == 1)
				pause_for(50 * MILLISECOND);
			for (;;)
				call(GETPID);
		}
		i32 child = child_;
		for (int turn = 0; turn < n % 7; turn++)
			call(SCHED_YIELD);
		i32 signal = n % 2 ? SIGKILL : SIGTERM;
		call(KILL, child, signal);
		bad += wait_for(child, 0) != signal;
	}
	show("ends", (i64)bad);
	/* All that is left of a group. */
	i32 group = 0;
	for (int n = 0; n < 20; n++) {
		if (fork_() == 0) {
			call(SETPGID, 0, group);
			for (;;)
				pause_for(MILLISECOND);
		}
		call(SETPGID, child_, group);
		group = group ? group : child_;
	}
	call(KILL, -group, SIGTERM);
	int ended = 0;
	while (call(WAIT4, -group, 0, 0, 0) > 0)
		ended++;
	show("group", ended);
}

/* Timers: what comes and what is missed is as many as the time has intervals; and calls that they interrupt go on. */
static void timers(void) {
	struct {
		u64 value;
		i32 signal, kind, rest[12];
	} event = {.signal = SIGRTMIN, .kind = 0};
	struct {
		struct timespec interval, value;
	} spec = {{0, 200000}, {0, 200000}}, none = {{0, 0}, {0, 0}};
	i32 timer;
	reset();
	on(SIGRTMIN, of_timer, SA_SIGINFO | SA_RESTART, 0);
	call(TIMER_CREATE, 1, &event, &timer);
	u64 before = now();
	call(TIMER_SETTIME, timer, 0, &spec, 0);
	u64 after = now(), bad = 0;
	for (int n = 0; n < 50; n++) {
		if (fork_() == 0)
			leave(n);
		i32 child = child_;
		bad += wait_for(child, 0) != n << 8;
	}
	u64 end = before + 50 * MILLISECOND;
	while (now() < end || received == 0)
		call(SCHED_YIELD);
	/* The next signal tells of all that was until now. */
	u64 now_ = now(), count = received;
	while (received == count)
		call(SCHED_YIELD);
	call(TIMER_SETTIME, timer, 0, &none, 0);
	u64 last = now();
	show("waits that failed", (i64)bad);
	u64 least = (now_ - after) / 200000, most = (last - before) / 200000;
	show("too few", timed < least ? (i64)(least - timed) : 0);
	show("too many", timed > most ? (i64)(timed - most) : 0);
	call(TIMER_DELETE, timer);
	/* setitimer while others run. */
	on(SIGALRM, counting, SA_SIGINFO | SA_RESTART, 0);
	reset();
	i64 interval[4] = {0, 300, 0, 300};
	call(SETITIMER, 0, interval, 0);
	start(3, spinning);
	while (received < 10)
		pause_for(MILLISECOND);
	interval[1] = interval[3] = 0;
	call(SETITIMER, 0, interval, 0);
	finish();
	show("alarms", received >= 10);
	on(SIGALRM, IGNORE, 0, 0);
}

/* The status of a process is that of its last thread, if nothing ends all of them. */
static void ending(u64 n) {
	(void)n;
	change(&running, 1);
	pause_for(5 * MILLISECOND);
}
static void last_thread(void) {
	if (fork_() == 0) {
		start(2, ending);
		call(EXIT, 42);
	}
	i32 child = child_;
	show("last thread's", wait_for(child, 0));
	if (fork_() == 0) {
		start(2, sleeping);
		call(EXIT, 42);
	}
	child = child_;
	pause_for(5 * MILLISECOND);
	show("still runs", call(WAIT4, child, 0, WNOHANG, 0));
	call(KILL, child, SIGTERM);
	show("terminated", wait_for(child, 0));
}

static void work(void) {
	flood();
	answers();
	threads("threads that run", spinning);
	threads("threads that sleep", sleeping);
	stops("stops of running threads", spinning);
	stops("stops of sleeping threads", sleeping);
	ends();
	timers();
	last_thread();
}
