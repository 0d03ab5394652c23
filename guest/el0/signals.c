/* Signals between processes and threads: what siginfo says of each kind, in which order they come, what blocks them and
 * what is on the stack of a handler. */
#include "signals.h"

static volatile u64 count;

static void print_handler(i32 signal, struct siginfo *info, struct context *context) {
	(void)context;
	count++;
	put("handler");
	field("signal", signal);
	put_info(info);
	put_sender(info);
	field_hex("value", info->value);
	put(rest_is_clear(info) ? "" : " rest");
	field_hex("blocked", blocked());
	end_line();
}
static void quiet_handler(i32 signal, struct siginfo *info, struct context *context) {
	(void)signal, (void)info, (void)context;
	count++;
}

/* --- kinds --- */

static void kinds(void) {
	say("-- kinds");
	for (i32 signal = 1; signal <= 64; signal++)
		if (signal != SIGKILL && signal != SIGSTOP)
			on(signal, print_handler, SA_SIGINFO | SA_RESTART, 0);
	call(KILL, self_, SIGUSR1);
	call(KILL, 0 - (i64)0, 0);
	call(TKILL, self_, SIGUSR2);
	call(TGKILL, self_, self_, SIGRTMIN);
	struct siginfo info = {.signo = 99, .error = 7, .code = -1, .pad = 5};
	info.pid = 1234, info.uid = 77, info.value = 0x123456789abcdef0;
	info.words[2] = 1, info.words[3] = 2;
	show("queue", call(SIGQUEUEINFO, self_, SIGRTMIN + 2, &info));
	show("tgqueue", call(TGSIGQUEUEINFO, self_, self_, SIGRTMIN + 3, &info));
	info.code = -60;
	show("queue own code", call(SIGQUEUEINFO, self_, SIGUSR1, &info));
	info.code = 0;
	show("queue to self SI_USER", call(SIGQUEUEINFO, self_, SIGUSR1, &info));
	show("queue to parent SI_USER", call(SIGQUEUEINFO, parent_, SIGUSR1, &info));
	info.code = -6;
	show("queue to parent SI_TKILL", call(SIGQUEUEINFO, parent_, SIGUSR1, &info));
	show("queue nobody", call(SIGQUEUEINFO, 999999, SIGUSR1, &info));
	info.code = -1;
	info.words[12] = 1;
	show("queue long", call(SIGQUEUEINFO, self_, SIGUSR2, &info));
	info.code = -61;
	show("queue long, own code", call(SIGQUEUEINFO, self_, SIGUSR2, &info));
	show("queue bad signal", call(SIGQUEUEINFO, self_, 65, &info));
	show("queue bad pointer", call(SIGQUEUEINFO, self_, SIGUSR1, 8));
	show("kill 65", call(KILL, self_, 65));
	show("kill -1 signal", call(KILL, self_, -1));
	show("kill nobody", call(KILL, 999999, SIGUSR1));
	show("kill no group", call(KILL, -999999, SIGUSR1));
	show("tkill 0", call(TKILL, 0, SIGUSR1));
	show("tgkill 0", call(TGKILL, 0, self_, SIGUSR1));
	show("tgkill wrong group", call(TGKILL, parent_, self_, SIGUSR1));
	show("tgkill probe", call(TGKILL, self_, self_, 0));
	/* A pipe without a reader. */
	i32 ends[2];
	call(PIPE2, ends, 0);
	call(CLOSE, ends[0]);
	show("write", call(WRITE, ends[1], "x", 1));
	call(CLOSE, ends[1]);
	show("handled", (i64)count);
	for (i32 signal = 1; signal <= 64; signal++)
		if (signal != SIGKILL && signal != SIGSTOP)
			on(signal, DEFAULT, 0, 0);
}

/* --- order --- */

static void order(void) {
	say("-- order");
	const i32 sent[] = {SIGTERM, SIGRTMIN + 5, SIGUSR2, SIGRTMIN + 5, SIGUSR1, SIGTERM, SIGRTMIN + 1, SIGSEGV, SIGRTMIN + 5};
	for (u32 i = 0; i < sizeof sent / sizeof *sent; i++)
		on(sent[i], print_handler, SA_SIGINFO, ~0ul);
	block(~0ul);
	for (u32 i = 0; i < sizeof sent / sizeof *sent; i++) {
		struct siginfo info = {.code = -1};
		info.pid = self_, info.value = i;
		call(SIGQUEUEINFO, self_, sent[i], &info);
	}
	call(TKILL, self_, SIGUSR2);
	field_hex("pending", pending());
	end_line();
	unblock(~0ul);
	field_hex("pending", pending());
	end_line();
	/* Without SA_NODEFER and other masks each handler is entered on top of the one before. */
	say("nested");
	for (i32 signal = SIGRTMIN; signal < SIGRTMIN + 3; signal++)
		on(signal, print_handler, SA_SIGINFO, 0);
	block(~0ul);
	for (i32 signal = SIGRTMIN; signal < SIGRTMIN + 3; signal++)
		call(KILL, self_, signal), call(KILL, self_, signal);
	unblock(~0ul);
	/* No more than this may wait. */
	u64 limit[2], few[2] = {3, 3};
	call(PRLIMIT64, 0, 11, 0, limit);
	few[1] = limit[1];
	show("limit", call(PRLIMIT64, 0, 11, few, 0));
	block(~0ul);
	for (i32 i = 0; i < 5; i++) {
		struct siginfo info = {.code = -1};
		info.value = (u64)i;
		show("queue", call(SIGQUEUEINFO, self_, SIGRTMIN, &info));
	}
	show("queue another", call(KILL, self_, SIGRTMIN + 1));
	show("queue an old one", call(KILL, self_, SIGUSR1));
	unblock(~0ul);
	call(PRLIMIT64, 0, 11, limit, 0);
	for (u32 i = 0; i < sizeof sent / sizeof *sent; i++)
		on(sent[i], DEFAULT, 0, 0);
}

/* --- actions --- */

static void show_action(const char *name, i32 signal) {
	struct action action = {0, 0, 0, 0};
	i64 got = call(SIGACTION, signal, 0, &action, 8);
	put(name);
	field("got", got);
	field("handler", action.handler == 0 ? 0 : action.handler == (void *)1 ? 1 : 2);
	field_hex("flags", action.flags);
	field_hex("mask", action.mask);
	end_line();
}

static u64 nested, calls;
static void nesting_handler(i32 signal, struct siginfo *info, struct context *context) {
	(void)info;
	nested++;
	put("nesting");
	field("depth", (i64)nested);
	field_hex("blocked", blocked());
	field_hex("saved", context->mask);
	end_line();
	if (++calls < 3)
		call(KILL, self_, signal);
	nested--;
}

static void actions(void) {
	say("-- actions");
	show("SIGKILL", on(SIGKILL, quiet_handler, 0, 0));
	show("SIGSTOP", on(SIGSTOP, IGNORE, 0, 0));
	show("0", on(0, quiet_handler, 0, 0));
	show("65", on(65, quiet_handler, 0, 0));
	show_action("SIGKILL asked", SIGKILL);
	show("all flags", on(SIGUSR1, quiet_handler, ~0ul, ~0ul));
	show_action("all flags", SIGUSR1);
	show("size 4", call(SIGACTION, SIGUSR1, 0, 0, 4));
	on(SIGUSR1, nesting_handler, SA_SIGINFO | SA_NODEFER, BIT(SIGHUP));
	call(KILL, self_, SIGUSR1);
	say("deferred");
	calls = 0;
	on(SIGUSR1, nesting_handler, SA_SIGINFO, BIT(SIGHUP) | BIT(SIGKILL));
	count = 0;
	call(KILL, self_, SIGUSR1);
	on(SIGUSR2, print_handler, SA_SIGINFO | SA_RESETHAND, 0);
	call(KILL, self_, SIGUSR2);
	show_action("reset", SIGUSR2);
	/* What is ignored, or made ignored, does not wait; what is blocked does. */
	block(BIT(SIGUSR2) | BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGWINCH));
	on(SIGUSR2, quiet_handler, 0, 0);
	call(KILL, self_, SIGUSR2);
	call(KILL, self_, SIGCHLD);
	call(KILL, self_, SIGWINCH);
	call(KILL, self_, SIGCONT);
	field_hex("pending", pending());
	end_line();
	on(SIGUSR2, IGNORE, 0, 0);
	field_hex("pending", pending());
	call(KILL, self_, SIGUSR2);
	field_hex("and", pending());
	end_line();
	on(SIGCHLD, DEFAULT, 0, 0);
	field_hex("pending", pending());
	end_line();
	unblock(~0ul);
	on(SIGUSR1, DEFAULT, 0, 0);
	on(SIGUSR2, DEFAULT, 0, 0);
	/* Masks. */
	u64 all = ~0ul;
	show("set all", call(SIGPROCMASK, 2, &all, 0, 8));
	field_hex("blocked", blocked());
	end_line();
	show("how 3", call(SIGPROCMASK, 3, &all, 0, 8));
	show("how 3 without a set", call(SIGPROCMASK, 3, 0, 0, 8));
	show("size 16", call(SIGPROCMASK, 0, &all, 0, 16));
	show("bad pointer", call(SIGPROCMASK, 0, 8, 0, 8));
	unblock(~0ul);
	show("pending, size 4", call(SIGPENDING, &all, 4));
	show("pending, size 16", call(SIGPENDING, &all, 16));
}

/* --- waiting --- */

static i64 timed_wait(u64 set, struct siginfo *info, i64 nanoseconds) {
	struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
	return call(SIGTIMEDWAIT, &set, info, nanoseconds < 0 ? 0 : &time, 8);
}

static void send_later(i32 signal, u64 value) {
	i32 to = self_;
	if (fork_() == 0) {
		pause_for(5 * MILLISECOND);
		struct siginfo info = {.code = -1};
		info.pid = self_, info.value = value;
		call(SIGQUEUEINFO, to, signal, &info);
		leave(0);
	}
}

static void waiting(void) {
	say("-- waiting");
	struct siginfo info;
	block(BIT(SIGRTMIN) | BIT(SIGUSR1));
	show("nothing", timed_wait(BIT(SIGRTMIN), &info, 0));
	show("after a while", timed_wait(BIT(SIGRTMIN), &info, 2000000));
	call(KILL, self_, SIGRTMIN);
	call(KILL, self_, SIGUSR1);
	i64 got = timed_wait(BIT(SIGRTMIN) | BIT(SIGUSR1), &info, 0);
	show("first", got);
	put("info"), put_info(&info), put_sender(&info), put(rest_is_clear(&info) ? "" : " rest"), end_line();
	show("second", timed_wait(BIT(SIGRTMIN) | BIT(SIGUSR1), 0, 0));
	show("none left", timed_wait(BIT(SIGRTMIN) | BIT(SIGUSR1), 0, 0));
	send_later(SIGRTMIN, 0xabc);
	got = timed_wait(BIT(SIGRTMIN), &info, -1);
	show("came", got);
	put("info"), put_info(&info), put_sender(&info), field_hex("value", info.value), end_line();
	show("child", wait_for(child_, 0));
	/* A handler of another signal ends it. */
	on(SIGUSR2, print_handler, SA_SIGINFO | SA_RESTART, 0);
	send_later(SIGUSR2, 0xdef);
	show("interrupted", timed_wait(BIT(SIGRTMIN), &info, -1));
	show("child", wait_for(child_, 0));
	/* One that nobody handles and the default of which is to do nothing, but which is waited for. */
	i32 child = fork_();
	if (child == 0)
		leave(3);
	got = timed_wait(BIT(SIGCHLD), &info, 2000000000);
	show("SIGCHLD not blocked", got);
	show("child", wait_for(child_, 0));
	block(BIT(SIGCHLD));
	if (fork_() == 0)
		leave(3);
	got = timed_wait(BIT(SIGCHLD), &info, 2000000000);
	show("SIGCHLD blocked", got);
	put("info"), put_info(&info), put_sender(&info), field("status", info.status), end_line();
	show("child", wait_for(child_, 0));
	struct timespec bad = {0, 1000000000};
	u64 set = BIT(SIGRTMIN);
	show("bad time", call(SIGTIMEDWAIT, &set, &info, &bad, 8));
	show("bad size", call(SIGTIMEDWAIT, &set, &info, &bad, 4));
	set = ~0ul;
	show("SIGKILL is not waited for", timed_wait(BIT(SIGKILL), &info, 1000000));
	unblock(~0ul);
	/* Suspended. */
	block(BIT(SIGUSR2));
	send_later(SIGUSR2, 1);
	set = ~BIT(SIGUSR2);
	show("suspended", call(SIGSUSPEND, &set, 8));
	field_hex("blocked", blocked());
	end_line();
	show("child", wait_for(child_, 0));
	/* Two at once: both handlers run before it returns. */
	on(SIGUSR1, print_handler, SA_SIGINFO, 0);
	block(BIT(SIGUSR1));
	call(KILL, self_, SIGUSR1);
	call(KILL, self_, SIGUSR2);
	set = 0;
	show("suspended", call(SIGSUSPEND, &set, 8));
	field_hex("blocked", blocked());
	end_line();
	show("size", call(SIGSUSPEND, &set, 4));
	unblock(~0ul);
	/* A mask for ppoll. */
	block(BIT(SIGUSR1));
	call(KILL, self_, SIGUSR1);
	set = 0;
	struct timespec soon = {1, 0};
	i64 polled = call(PPOLL, 0, 0, &soon, &set, 8);
	show("ppoll", polled);
	field_hex("blocked", blocked());
	field("less than a second left", soon.seconds == 0 && soon.nanoseconds > 0);
	end_line();
	soon = (struct timespec){0, 1000000};
	polled = call(PPOLL, 0, 0, &soon, &set, 8);
	show("ppoll, nothing", polled);
	field_hex("blocked", blocked());
	field("left", soon.seconds + soon.nanoseconds);
	end_line();
	show("size", call(PPOLL, 0, 0, 0, &set, 4));
	unblock(~0ul);
	on(SIGUSR1, DEFAULT, 0, 0);
	on(SIGUSR2, DEFAULT, 0, 0);
}

/* --- files of signals --- */

static void files(void) {
	say("-- signalfd");
	u64 set = BIT(SIGUSR1) | BIT(SIGRTMIN) | BIT(SIGKILL);
	block(set);
	i32 fd = (i32)call(SIGNALFD4, -1, &set, 8, 04000);
	show("opened", fd >= 0);
	static struct {
		u32 signo, error, code, pid, uid, fd, tid, band, overrun, trapno, status, value;
		u64 pointer, utime, stime, address;
		u8 rest[48];
	} got[3];
	show("nothing", call(READ, fd, got, sizeof got));
	struct siginfo info = {.code = -1};
	info.pid = self_, info.uid = 3, info.value = 0x1122334455667788;
	call(SIGQUEUEINFO, self_, SIGRTMIN, &info);
	call(KILL, self_, SIGUSR1);
	struct {
		i32 fd;
		u16 events, revents;
	} poll = {fd, 1, 0};
	struct timespec none = {0, 0};
	show("poll", call(PPOLL, &poll, 1, &none, 0, 8));
	show("events", poll.revents);
	show("short", call(READ, fd, got, 127));
	show("read", call(READ, fd, got, sizeof got));
	for (int i = 0; i < 2; i++) {
		put("info");
		field("signo", got[i].signo), field("code", (i32)got[i].code), put(" from "), put(who((i32)got[i].pid));
		field("uid", got[i].uid), field_hex("value", got[i].value), field_hex("pointer", got[i].pointer);
		end_line();
	}
	set = BIT(SIGUSR2);
	show("changed", call(SIGNALFD4, fd, &set, 8, 0) == fd);
	call(KILL, self_, SIGUSR1);
	show("nothing", call(READ, fd, got, sizeof got));
	show("no signalfd", call(SIGNALFD4, 1, &set, 8, 0));
	show("flags", call(SIGNALFD4, -1, &set, 8, 1));
	call(CLOSE, fd);
	on(SIGUSR1, IGNORE, 0, 0);
	on(SIGUSR1, DEFAULT, 0, 0);
	unblock(~0ul);
}

/* --- frames and stacks --- */

static u8 other[16384] __attribute__((aligned(16)));
static u64 interrupted_sp;

/* Which records are in a frame. */
static void put_records(const struct context *context) {
	u64 at = 0;
	for (int i = 0; i < 8; i++) {
		u32 magic = *(const u32 *)(context->reserved + at), size = *(const u32 *)(context->reserved + at + 4);
		put(" ["), put_hex(magic), field("size", size), put("]");
		if (magic == 0)
			break;
		at += size;
	}
}
static void frame_handler(i32 signal, struct siginfo *info, struct context *context) {
	u64 sp = (u64)info;
	put("frame");
	field("signal", signal);
	field("context at", (i64)((u64)context - sp));
	field("aligned", sp % 16 == 0);
	u64 x29 = (u64)__builtin_frame_address(0);
	(void)x29;
	field("on other stack", sp >= (u64)other && sp < (u64)other + sizeof other);
	field_hex("flags", context->flags);
	field_hex("link", context->link);
	field("stack", context->stack == 0 ? 0 : context->stack == (u64)other ? 1 : 2);
	field_hex("stack flags", context->stack_flags);
	field("stack size", (i64)context->stack_size);
	field_hex("mask", context->mask);
	field_hex("fault", context->fault_address);
	field_hex("pstate", context->pstate & 0xffffffff0fffffff);
	put_records(context);
	end_line();
	struct stack now;
	call(SIGALTSTACK, 0, &now);
	put("stack now"), field("flags", now.flags), field("size", (i64)now.size);
	struct stack new = {other, 0, sizeof other};
	field("change", call(SIGALTSTACK, &new, 0));
	end_line();
	interrupted_sp = context->sp;
}

/* What lies above the frame: X29 and X30 of the interrupted code. Registers are those that were there. */
static u64 seen[8];
__attribute__((used)) static void look(u64 signal, struct siginfo *info, struct context *context, u64 x29, u64 x30, u64 sp) {
	(void)signal;
	seen[0] = x29 - sp;
	seen[1] = ((u64 *)x29)[0];
	seen[2] = ((u64 *)x29)[1];
	seen[3] = context->x[19];
	seen[4] = context->x[7];
	seen[5] = (u64)info - sp;
	seen[6] = context->sp - x29;
	seen[7] = *(u32 *)x30;
	/* Changed registers are what goes on. */
	context->x[19] = 0x5678;
	for (int i = 0; i < 32; i++)
		((u64 *)(context->reserved + 16))[2 * i] += 1;
}
void look_handler(void);
asm(".globl look_handler\nlook_handler: mov x3, x29\n mov x4, x30\n mov x5, sp\n stp x29, x30, [sp, #-16]!\n bl look\n"
    " ldp x29, x30, [sp], #16\n ret\n");

static void frames(void) {
	say("-- frames");
	struct stack new = {other, 0, sizeof other}, old = {0, 9, 9};
	show("ask", call(SIGALTSTACK, 0, &old));
	put("stack"), field("flags", old.flags), field("size", (i64)old.size), field("start", old.start == 0), end_line();
	on(SIGUSR1, frame_handler, SA_SIGINFO | SA_ONSTACK, BIT(SIGHUP));
	call(KILL, self_, SIGUSR1);
	for (u64 size = 5110; size < 5130; size++) {
		new.size = size;
		if (call(SIGALTSTACK, &new, 0) == 0) {
			show("least size", (i64)size);
			break;
		}
	}
	new.size = sizeof other;
	new.flags = 3;
	show("flags 3", call(SIGALTSTACK, &new, 0));
	new.flags = 1;
	show("flags SS_ONSTACK", call(SIGALTSTACK, &new, 0));
	call(SIGALTSTACK, 0, &old);
	put("stack"), field("flags", old.flags), field("size", (i64)old.size), end_line();
	call(KILL, self_, SIGUSR1);
	new.flags = (i32)0x80000000;
	show("SS_AUTODISARM", call(SIGALTSTACK, &new, 0));
	call(KILL, self_, SIGUSR1);
	call(SIGALTSTACK, 0, &old);
	put("stack"), field_hex("flags", (u32)old.flags), field("size", (i64)old.size), end_line();
	new.flags = 2;
	show("SS_DISABLE", call(SIGALTSTACK, &new, 0));
	call(SIGALTSTACK, 0, &old);
	put("stack"), field_hex("flags", (u32)old.flags), field("size", (i64)old.size), field("start", old.start == 0), end_line();
	call(KILL, self_, SIGUSR1);

	struct action action = {(void *)look_handler, SA_SIGINFO, 0, 0};
	call(SIGACTION, SIGUSR2, &action, 0, 8);
	register u64 x19 asm("x19") = 0x1234;
	register u64 x7 asm("x7") = 0x77;
	register u64 x8 asm("x8") = KILL;
	register u64 x0 asm("x0") = (u64)self_, x1 asm("x1") = SIGUSR2;
	u64 vector, x29, x30, sp;
	asm volatile("mov x9, #41\n dup v7.2d, x9\n adr x30, .\n mov %4, x29\n mov %5, x30\n mov %6, sp\n svc #0\n"
		     "mov %3, v7.d[0]\n"
		     : "+r"(x0), "+r"(x19), "+r"(x7), "=&r"(vector), "=&r"(x29), "=&r"(x30), "=&r"(sp)
		     : "r"(x8), "r"(x1)
		     : "memory", "x9", "x30", "v7");
	(void)sp;
	const u64 after[] = {x0, x19, x7};
	put("look");
	field("x0", (i64)after[0]), field_hex("x19", after[1]), field_hex("x7", after[2]), field("v7", (i64)vector);
	field("record at", (i64)seen[0]), field("x29", seen[1] == x29), field("x30", seen[2] == x30);
	field_hex("x19 saved", seen[3]), field_hex("x7 saved", seen[4]), field("frame at", (i64)seen[5]);
	field("above", (i64)seen[6]), field("returns to code", seen[7] != 0);
	end_line();
	on(SIGUSR1, DEFAULT, 0, 0);
	on(SIGUSR2, DEFAULT, 0, 0);
}

/* --- ends --- */

static void ends(void) {
	say("-- ends");
	for (i32 signal = 1; signal <= 64; signal++) {
		if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU)
			continue;
		if (fork_() == 0) {
			call(KILL, self_, signal);
			leave(77);
		}
		i64 status = wait_for(child_, 0);
		put("default"), field("signal", signal), field_hex("status", (u64)status & ~0x80ul), end_line();
	}
}

static void work(void) {
	kinds();
	order();
	actions();
	waiting();
	files();
	frames();
	ends();
}
