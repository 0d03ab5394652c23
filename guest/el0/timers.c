/* Timers and clocks: what their signals tell, what is left of them, how often they were missed; sleeps that signals
 * interrupt. Times are printed as whether they lie where they must. */
#include "signals.h"

struct itimerspec {
	struct timespec interval, value;
};
struct event {
	u64 value;
	i32 signal, kind;
	i32 thread, pad[11];
};

static volatile u64 count;
static u64 until_count, began;
static void quiet(i32 signal, struct siginfo *info, struct context *context) {
	(void)signal, (void)info, (void)context;
	count++;
}
static void print(i32 signal, struct siginfo *info, struct context *context) {
	(void)context;
	count++;
	put("handler"), field("signal", signal), put_info(info);
	if (info->code == -2)
		field("timer", info->timer), field("overrun", info->overrun), field_hex("value", info->timer_value);
	else
		put_sender(info);
	put(rest_is_clear(info) ? "" : " rest");
	end_line();
}

static struct itimerspec spec(u64 value, u64 interval) {
	return (struct itimerspec){{(i64)(interval / 1000000000), (i64)(interval % 1000000000)},
				   {(i64)(value / 1000000000), (i64)(value % 1000000000)}};
}
static u64 of(struct timespec time) { return (u64)time.seconds * 1000000000 + (u64)time.nanoseconds; }

static void spin(u64 nanoseconds) {
	for (u64 end = now() + nanoseconds; now() < end;)
		;
}
static void until(u64 signals) {
	while (count < signals)
		pause_for(MILLISECOND);
}
static int is_between(u64 value, u64 low, u64 high) { return value >= low && value <= high; }

/* --- clocks --- */

static void clocks(void) {
	say("-- clocks");
	for (i32 clock = -1; clock < 13; clock++) {
		struct timespec time, resolution = {-1, -1};
		put("clock"), field("number", clock);
		field("gettime", call(CLOCK_GETTIME, clock, &time));
		field("getres", call(CLOCK_GETRES, clock, &resolution));
		if (clock != 8 && clock != 9)
			field("seconds", resolution.seconds), field("nanoseconds", resolution.nanoseconds);
		end_line();
	}
	show("getres without a place", call(CLOCK_GETRES, 1, 0));
	show("bad pointer", call(CLOCK_GETTIME, 1, 8));
	u64 before = now_of(2), thread = now_of(3);
	spin(5 * MILLISECOND);
	show("process time went on", now_of(2) - before >= 4 * MILLISECOND);
	show("thread time went on", now_of(3) - thread >= 4 * MILLISECOND);
	before = now_of(2);
	pause_for(100 * MILLISECOND);
	show("not asleep", now_of(2) - before < 50 * MILLISECOND);
	show("own by number", now_of(-6) != 0 && now_of((i32)((~(u32)self_ << 3) | 2)) != 0);
	struct timespec unused;
	show("nobody's", call(CLOCK_GETTIME, (i32)((~999999u << 3) | 2), &unused));
	i64 buffer[4] = {-1, -1, -1, -1};
	show("times", call(TIMES, buffer) > 0 && buffer[0] >= 0 && buffer[1] >= 0 && buffer[2] >= 0);
	static i64 usage[18];
	show("getrusage", call(GETRUSAGE, 0, usage));
	show("time of it", usage[0] * 1000000 + usage[1] + usage[2] * 1000000 + usage[3] >= 4000);
	show("faults of it", usage[8] > 0);
	show("memory of it", usage[4] > 0);
	show("children", call(GETRUSAGE, -1, usage));
	show("thread", call(GETRUSAGE, 1, usage));
	show("nobody", call(GETRUSAGE, 2, usage));
}

/* --- sleeps --- */

static void send_later(i32 signal, u64 after) {
	i32 to = self_;
	if (fork_() == 0) {
		pause_for(after);
		call(KILL, to, signal);
		leave(0);
	}
}
static void sleeps(void) {
	say("-- sleeps");
	struct timespec time = {0, 3000000}, left = {77, 77};
	u64 before = now();
	show("nanosleep", call(NANOSLEEP, &time, &left));
	u64 took = now() - before;
	show("took so long", is_between(took, 3 * MILLISECOND, 900 * MILLISECOND));
	show("nothing left", left.seconds == 77);
	time.nanoseconds = 1000000000;
	show("bad nanoseconds", call(NANOSLEEP, &time, 0));
	time = (struct timespec){-1, 0};
	show("negative", call(NANOSLEEP, &time, 0));
	show("bad pointer", call(NANOSLEEP, 8, 0));
	time = (struct timespec){0, 0};
	show("none", call(NANOSLEEP, &time, 0));
	for (i32 clock = 0; clock < 13; clock++)
		if (clock != 8 && clock != 9) {
			time = (struct timespec){0, 1000};
			put("clock_nanosleep"), field("clock", clock);
			if (clock != 2)
				field("gave", call(CLOCK_NANOSLEEP, clock, 0, &time, 0));
			end_line();
		}
	/* A time of the clock, one that is over, one that comes. */
	show("over", call(CLOCK_NANOSLEEP, 1, 1, &time, 0));
	u64 end = now_of(0) + 5 * MILLISECOND;
	time = (struct timespec){(i64)(end / 1000000000), (i64)(end % 1000000000)};
	show("until", call(CLOCK_NANOSLEEP, 0, 1, &time, 0));
	show("not before", now_of(0) >= end);

	on(SIGUSR1, quiet, SA_SIGINFO | SA_RESTART, 0);
	/* A handler ends a sleep, even one that restarts calls. */
	time = (struct timespec){1, 0};
	left = (struct timespec){77, 77};
	send_later(SIGUSR1, 5 * MILLISECOND);
	show("interrupted", call(NANOSLEEP, &time, &left));
	show("left", is_between(of(left), MILLISECOND, 995 * MILLISECOND));
	show("child", wait_for(child_, 0));
	left = (struct timespec){77, 77};
	end = now() + 1000 * MILLISECOND;
	time = (struct timespec){(i64)(end / 1000000000), (i64)(end % 1000000000)};
	send_later(SIGUSR1, 5 * MILLISECOND);
	show("interrupted until", call(CLOCK_NANOSLEEP, 1, 1, &time, &left));
	show("nothing told", left.seconds == 77);
	show("child", wait_for(child_, 0));
	/* What is ignored does not; stopping and going on lets it sleep for the rest. */
	on(SIGUSR1, IGNORE, 0, 0);
	time = (struct timespec){0, 20000000};
	before = now();
	send_later(SIGUSR1, 5 * MILLISECOND);
	show("ignored", call(NANOSLEEP, &time, &left));
	show("whole", is_between(now() - before, 20 * MILLISECOND, 900 * MILLISECOND));
	show("child", wait_for(child_, 0));
	i32 sleeper = fork_();
	if (sleeper == 0) {
		time = (struct timespec){0, 60000000};
		before = now();
		i64 gave = call(NANOSLEEP, &time, 0);
		leave(gave == 0 && is_between(now() - before, 60 * MILLISECOND, 900 * MILLISECOND) ? 0 : 1);
	}
	pause_for(20 * MILLISECOND);
	call(KILL, sleeper, SIGSTOP);
	show("stopped", wait_for(sleeper, WUNTRACED));
	pause_for(20 * MILLISECOND);
	call(KILL, sleeper, SIGCONT);
	show("slept 60 ms in all", wait_for(sleeper, 0));
	/* The same for a futex with a time. */
	static u32 word;
	sleeper = fork_();
	if (sleeper == 0) {
		time = (struct timespec){0, 60000000};
		before = now();
		i64 gave = call(FUTEX, &word, 0, 0, &time, 0, 0);
		leave(gave == -110 && is_between(now() - before, 60 * MILLISECOND, 900 * MILLISECOND) ? 0 : 1);
	}
	pause_for(20 * MILLISECOND);
	call(KILL, sleeper, SIGSTOP);
	show("stopped", wait_for(sleeper, WUNTRACED));
	pause_for(20 * MILLISECOND);
	call(KILL, sleeper, SIGCONT);
	show("waited 60 ms in all", wait_for(sleeper, 0));
	on(SIGUSR1, quiet, SA_SIGINFO | SA_RESTART, 0);
	time = (struct timespec){1, 0};
	send_later(SIGUSR1, 5 * MILLISECOND);
	show("futex with a time, interrupted", call(FUTEX, &word, 0, 0, &time, 0, 0));
	show("child", wait_for(child_, 0));
	/* Without a time it is made again. */
	i32 ends[2];
	char byte;
	call(PIPE2, ends, 0);
	i32 to = self_;
	if (fork_() == 0) {
		pause_for(5 * MILLISECOND);
		call(KILL, to, SIGUSR1);
		pause_for(5 * MILLISECOND);
		call(WRITE, ends[1], "x", 1);
		leave(0);
	}
	show("read, made again", call(READ, ends[0], &byte, 1));
	show("child", wait_for(child_, 0));
	on(SIGUSR1, quiet, SA_SIGINFO, 0);
	send_later(SIGUSR1, 5 * MILLISECOND);
	show("read, interrupted", call(READ, ends[0], &byte, 1));
	show("child", wait_for(child_, 0));
	show("nothing to restart", call(RESTART));
	on(SIGUSR1, DEFAULT, 0, 0);
}

/* --- setitimer --- */

static i64 set_interval(i32 which, u64 value, u64 interval, i64 *old) {
	i64 new[4] = {(i64)(interval / 1000000), (i64)(interval % 1000000), (i64)(value / 1000000), (i64)(value % 1000000)};
	return call(SETITIMER, which, new, old);
}
static void intervals(void) {
	say("-- setitimer");
	i64 old[4] = {9, 9, 9, 9};
	show("get", call(GETITIMER, 0, old));
	show("nothing", old[0] | old[1] | old[2] | old[3]);
	show("which 3", call(GETITIMER, 3, old));
	show("microseconds", set_interval(0, 0, 0, old));
	i64 bad[4] = {0, 0, 0, 1000000};
	show("bad microseconds", call(SETITIMER, 0, bad, 0));
	show("which 3", set_interval(3, 1000, 0, old));
	on(SIGALRM, print, SA_SIGINFO, 0);
	count = 0;
	began = now();
	show("once", set_interval(0, 50000, 0, old));
	call(GETITIMER, 0, old);
	show("left", old[2] == 0 && is_between((u64)old[3], 0, 50000));
	until(1);
	show("so late", is_between(now() - began, 50 * MILLISECOND, 900 * MILLISECOND));
	call(GETITIMER, 0, old);
	show("nothing", old[0] | old[1] | old[2] | old[3]);
	/* Again and again: the time is kept although each is late. */
	on(SIGALRM, quiet, SA_SIGINFO, 0);
	count = 0;
	began = now();
	set_interval(0, 3000, 2000, 0);
	until(5);
	show("five", is_between(now() - began, 11 * MILLISECOND, 900 * MILLISECOND));
	set_interval(0, 0, 0, old);
	show("interval", old[1]);
	pause_for(5 * MILLISECOND);
	until_count = count;
	pause_for(10 * MILLISECOND);
	show("no more", count == until_count);
	/* Ignored ones do not come later. */
	on(SIGALRM, IGNORE, 0, 0);
	set_interval(0, 1000, 0, 0);
	pause_for(3 * MILLISECOND);
	on(SIGALRM, print, SA_SIGINFO, 0);
	pause_for(3 * MILLISECOND);
	/* CPU time. */
	on(SIGVTALRM, print, SA_SIGINFO, 0);
	on(SIGPROF, print, SA_SIGINFO, 0);
	count = 0;
	set_interval(1, 20000, 0, 0);
	pause_for(40 * MILLISECOND);
	show("not asleep", count == 0);
	for (u64 end = now() + 2000 * MILLISECOND; count == 0 && now() < end;)
		;
	show("virtual", (i64)count);
	set_interval(2, 20000, 0, 0);
	for (u64 end = now() + 2000 * MILLISECOND; count == 1 && now() < end;)
		;
	show("prof", (i64)count);
	/* A child has none of these, but a new program keeps them. */
	set_interval(0, 1000000, 0, 0);
	if (fork_() == 0) {
		call(GETITIMER, 0, old);
		leave(old[2] || old[3]);
	}
	show("child", wait_for(child_, 0));
	set_interval(0, 0, 0, 0);
	on(SIGALRM, DEFAULT, 0, 0);
	on(SIGVTALRM, DEFAULT, 0, 0);
	on(SIGPROF, DEFAULT, 0, 0);
}

/* --- timer_create --- */

static void created(void) {
	say("-- timer_create");
	i32 timer = -1;
	struct itimerspec set, got;
	for (i32 clock = -1; clock < 13; clock++)
		if (clock != 8 && clock != 9) {
			i64 gave = call(TIMER_CREATE, clock, 0, &timer);
			put("create"), field("clock", clock), field("gave", gave);
			if (gave == 0)
				field("number", timer), field("delete", call(TIMER_DELETE, timer));
			end_line();
		}
	struct event event = {.value = 0x1122334455667788, .signal = SIGRTMIN, .kind = 0};
	event.kind = 3;
	show("bad kind", call(TIMER_CREATE, 1, &event, &timer));
	event.kind = 0, event.signal = 65;
	show("bad signal", call(TIMER_CREATE, 1, &event, &timer));
	event.signal = 0;
	show("signal 0", call(TIMER_CREATE, 1, &event, &timer));
	event.signal = SIGRTMIN, event.kind = 4, event.thread = parent_;
	show("another's thread", call(TIMER_CREATE, 1, &event, &timer));
	show("bad place", call(TIMER_CREATE, 1, 0, 8));
	show("nobody", call(TIMER_GETTIME, 4711, &got));
	show("nobody's overrun", call(TIMER_GETOVERRUN, 4711));
	show("deleting nobody", call(TIMER_DELETE, 4711));

	on(SIGALRM, print, SA_SIGINFO, 0);
	on(SIGRTMIN, print, SA_SIGINFO, 0);
	show("plain", call(TIMER_CREATE, 1, 0, &timer));
	show("number", timer);
	set = spec(50 * MILLISECOND, 0);
	count = 0;
	show("set", call(TIMER_SETTIME, timer, 0, &set, &got));
	show("before", of(got.value) == 0 && of(got.interval) == 0);
	call(TIMER_GETTIME, timer, &got);
	show("left", of(got.value) <= 50 * MILLISECOND);
	until(1);
	call(TIMER_GETTIME, timer, &got);
	show("left", (i64)of(got.value));
	set.value.nanoseconds = 1000000000;
	show("bad time", call(TIMER_SETTIME, timer, 0, &set, 0));
	show("deleted", call(TIMER_DELETE, timer));
	show("set", call(TIMER_SETTIME, timer, 0, &set, &got));

	/* With a value; missed times are told when it is taken. */
	event.kind = 0;
	show("valued", call(TIMER_CREATE, 0, &event, &timer));
	show("number", timer);
	block(BIT(SIGRTMIN));
	u64 first = now_of(0) + 2 * MILLISECOND;
	set = spec(first, 10 * MILLISECOND);
	show("set, absolute", call(TIMER_SETTIME, timer, 1, &set, 0));
	u64 stop = first + 45 * MILLISECOND;
	struct timespec time = {(i64)(stop / 1000000000), (i64)(stop % 1000000000)};
	call(CLOCK_NANOSLEEP, 0, 1, &time, 0);
	call(TIMER_GETTIME, timer, &got);
	show("left", is_between(of(got.value), 1, 10 * MILLISECOND));
	show("interval", (i64)of(got.interval));
	show("overrun before", call(TIMER_GETOVERRUN, timer));
	show("waits", pending() == BIT(SIGRTMIN));
	u64 set_of = BIT(SIGRTMIN);
	struct siginfo info;
	struct timespec none = {0, 0};
	u64 before = now_of(0);
	i64 taken = call(SIGTIMEDWAIT, &set_of, &info, &none, 8);
	u64 missed[] = {(before - first) / (10 * MILLISECOND), (now_of(0) - first) / (10 * MILLISECOND)};
	show("taken", taken);
	put("info"), put_info(&info), field("timer", info.timer), field_hex("value", info.timer_value);
	field("overrun", missed[0] >= 4 && is_between((u64)info.overrun, missed[0], missed[1])), end_line();
	show("overrun after", call(TIMER_GETOVERRUN, timer) == info.overrun);
	/* Stopped while its signal waits: that comes, and no other. */
	pause_for(15 * MILLISECOND);
	set = spec(0, 0);
	call(TIMER_SETTIME, timer, 0, &set, &got);
	show("was", of(got.interval) == 10 * MILLISECOND && of(got.value) <= 10 * MILLISECOND);
	show("waits", pending() == BIT(SIGRTMIN));
	taken = call(SIGTIMEDWAIT, &set_of, &info, &none, 8);
	show("taken", taken);
	/* Two timers, one signal. */
	i32 second;
	event.value = 2;
	call(TIMER_CREATE, 1, &event, &second);
	show("another", second);
	set = spec(MILLISECOND, 0);
	call(TIMER_SETTIME, second, 0, &set, 0);
	set = spec(2 * MILLISECOND, 0);
	call(TIMER_SETTIME, timer, 0, &set, 0);
	pause_for(5 * MILLISECOND);
	count = 0;
	unblock(BIT(SIGRTMIN));
	show("came", (i64)count);
	show("deleted", call(TIMER_DELETE, second));
	/* One that tells nobody. */
	event.kind = 1;
	call(TIMER_CREATE, 1, &event, &second);
	set = spec(3 * MILLISECOND, 2 * MILLISECOND);
	call(TIMER_SETTIME, second, 0, &set, 0);
	pause_for(10 * MILLISECOND);
	call(TIMER_GETTIME, second, &got);
	show("silent, left", is_between(of(got.value), 1, 2 * MILLISECOND));
	call(TIMER_DELETE, second);
	/* To a thread. */
	event.kind = 4, event.thread = self_;
	call(TIMER_CREATE, 7, &event, &second);
	count = 0;
	set = spec(MILLISECOND, 0);
	call(TIMER_SETTIME, second, 0, &set, 0);
	until(1);
	/* CPU time of the process. */
	event.kind = 0, event.value = 3;
	i32 third;
	show("of CPU time", call(TIMER_CREATE, 2, &event, &third));
	count = 0;
	set = spec(10 * MILLISECOND, 0);
	call(TIMER_SETTIME, third, 0, &set, 0);
	for (u64 end = now() + 2000 * MILLISECOND; count == 0 && now() < end;)
		;
	show("came", (i64)count);
	if (fork_() == 0)
		leave(call(TIMER_GETTIME, timer, &got) == -22);
	show("a child has none", wait_for(child_, 0));
	call(TIMER_DELETE, timer), call(TIMER_DELETE, second), call(TIMER_DELETE, third);
	on(SIGALRM, DEFAULT, 0, 0);
	on(SIGRTMIN, DEFAULT, 0, 0);
}

/* --- timerfd --- */

static void files(void) {
	say("-- timerfd");
	u64 value = 99;
	struct itimerspec set, got;
	show("clock 3", call(TIMERFD_CREATE, 3, 0));
	show("clock 12", call(TIMERFD_CREATE, 12, 0));
	show("flags", call(TIMERFD_CREATE, 1, 1));
	i32 fd = (i32)call(TIMERFD_CREATE, 1, 04000);
	show("created", fd >= 0);
	show("read", call(READ, fd, &value, 8));
	show("short", call(READ, fd, &value, 7));
	show("write", call(WRITE, fd, &value, 8));
	set = spec(2 * MILLISECOND, 10 * MILLISECOND);
	u64 start = now();
	show("set", call(TIMERFD_SETTIME, fd, 0, &set, &got));
	show("flags", call(TIMERFD_SETTIME, fd, 8, &set, &got));
	show("no timerfd", call(TIMERFD_SETTIME, 1, 0, &set, &got));
	show("before", of(got.value) == 0);
	struct {
		i32 fd;
		u16 events, revents;
	} poll = {fd, 1, 0};
	struct timespec second = {1, 0};
	show("poll", call(PPOLL, &poll, 1, &second, 0, 8));
	show("events", poll.revents);
	u64 stop = start + 35 * MILLISECOND;
	struct timespec time = {(i64)(stop / 1000000000), (i64)(stop % 1000000000)};
	call(CLOCK_NANOSLEEP, 1, 1, &time, 0);
	call(TIMERFD_GETTIME, fd, &got);
	show("left", is_between(of(got.value), 1, 10 * MILLISECOND));
	u64 before = now();
	show("read", call(READ, fd, &value, 8));
	u64 first = start + 2 * MILLISECOND;
	/* It was set a little later than the time that was looked at. */
	show("expired", is_between(value, (before - first) / (10 * MILLISECOND), (now() - first) / (10 * MILLISECOND) + 1));
	/* With patience, and once. */
	call(FCNTL, fd, 4, 0);
	stop = now_of(1) + 5 * MILLISECOND;
	set = spec(stop, 0);
	show("absolute", call(TIMERFD_SETTIME, fd, 1, &set, 0));
	show("read", call(READ, fd, &value, 8));
	show("expired", (i64)value);
	show("not before", now() >= stop);
	call(TIMERFD_GETTIME, fd, &got);
	show("left", (i64)(of(got.value) + of(got.interval)));
	set = spec(0, 0);
	show("stopped", call(TIMERFD_SETTIME, fd, 0, &set, &got));
	call(CLOSE, fd);
	/* Of the other clock: a time that is over is due at once. */
	fd = (i32)call(TIMERFD_CREATE, 0, 0);
	set = spec(now_of(0) - 1, 0);
	call(TIMERFD_SETTIME, fd, 1, &set, 0);
	show("read", call(READ, fd, &value, 8));
	show("expired", (i64)value);
	call(CLOSE, fd);
}

static void work(void) {
	clocks();
	sleeps();
	intervals();
	created();
	files();
}
