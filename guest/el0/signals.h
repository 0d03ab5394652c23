/* What programs about signals share: signals as the kernel gives them, processes, time. What they print between `run: begin`
 * and `run: end` must be the same under any kernel: numbers of processes are printed as names, times only as whether they are
 * what was asked for. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include "lines.h"

enum {
	SIGHUP = 1, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE,
	SIGALRM, SIGTERM, SIGSTKFLT, SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGXCPU, SIGXFSZ,
	SIGVTALRM, SIGPROF, SIGWINCH, SIGIO, SIGPWR, SIGSYS, SIGRTMIN,
};
enum { SA_NOCLDSTOP = 1, SA_NOCLDWAIT = 2, SA_SIGINFO = 4, SA_EXPOSE_TAGBITS = 0x800 };
#define SA_ONSTACK 0x08000000ul
#define SA_RESTART 0x10000000ul
#define SA_NODEFER 0x40000000ul
#define SA_RESETHAND 0x80000000ul
enum { WNOHANG = 1, WUNTRACED = 2, WEXITED = 4, WCONTINUED = 8, WNOWAIT = 0x1000000 };
enum { EINTR = 4, EAGAIN = 11 };

/* --- lines --- */

static inline void say(const char *text) {
	put(text);
	end_line();
}
/* A name and a number. */
static inline void show(const char *name, i64 value) {
	put(name);
	put(" ");
	put_number(value);
	end_line();
}
static inline void field(const char *name, i64 value) {
	put(" ");
	put(name);
	put(" ");
	put_number(value);
}
static inline void field_hex(const char *name, u64 value) {
	put(" ");
	put(name);
	put(" ");
	put_hex(value);
}

/* --- processes --- */

static i32 self_, parent_, child_;

/* The number of a process by what it is to this one. */
static inline const char *who(i32 pid) {
	if (pid == 0)
		return "0";
	if (pid == self_)
		return "self";
	if (pid == child_)
		return "child";
	if (pid == parent_)
		return "parent";
	return pid < 0 ? "negative" : "other";
}
static inline i32 fork_(void) {
	/* No handler runs before it can tell who the child is. */
	u64 all = ~0ul, before;
	call(SIGPROCMASK, 0, &all, &before, 8);
	i32 pid = (i32)call(CLONE, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		parent_ = self_;
		self_ = (i32)call(GETPID);
		child_ = 0;
	} else {
		child_ = pid;
	}
	call(SIGPROCMASK, 2, &before, 0, 8);
	return pid;
}
/* wait4's word for the child, or the error. */
static inline i64 wait_for(i32 pid, u32 options) {
	i32 status = 0;
	i64 got = call(WAIT4, pid, &status, options, 0);
	return got == pid ? status : got < 0 ? got : -1000;
}

struct timespec {
	i64 seconds, nanoseconds;
};
static inline u64 now_of(i32 clock) {
	struct timespec time;
	call(CLOCK_GETTIME, clock, &time);
	return (u64)time.seconds * 1000000000 + (u64)time.nanoseconds;
}
static inline u64 now(void) { return now_of(1); }
#define MILLISECOND 1000000ul
/* Sleeps whatever comes. */
static inline void pause_for(u64 nanoseconds) {
	u64 until = now() + nanoseconds;
	struct timespec time = {(i64)(until / 1000000000), (i64)(until % 1000000000)};
	while (call(CLOCK_NANOSLEEP, 1, 1, &time, 0) == -EINTR)
		;
}

/* --- signals --- */

struct siginfo {
	i32 signo, error, code, pad;
	union {
		struct {
			i32 pid, uid;
			u64 value;
		};
		struct {
			i32 child, child_uid, status, pad2;
			i64 utime, stime;
		};
		struct {
			i32 timer, overrun;
			u64 timer_value;
		};
		u64 address;
		u64 words[14];
	};
};
struct context {
	u64 flags, link;
	u64 stack, stack_flags, stack_size;
	u64 mask;
	u8 unused[120 + 8];
	u64 fault_address, x[31], sp, pc, pstate;
	u8 reserved[4096] __attribute__((aligned(16)));
};
struct action {
	void *handler;
	u64 flags;
	void *restorer;
	u64 mask;
};
struct stack {
	void *start;
	i32 flags;
	u64 size;
};
typedef void handler(i32, struct siginfo *, struct context *);

#define BIT(signal) (1ul << ((signal) - 1))

static inline i64 on(i32 signal, handler *function, u64 flags, u64 mask) {
	struct action action = {(void *)function, flags, 0, mask};
	return call(SIGACTION, signal, &action, 0, 8);
}
#define DEFAULT ((handler *)0)
#define IGNORE ((handler *)1)

static inline i64 block(u64 set) { return call(SIGPROCMASK, 0, &set, 0, 8); }
static inline i64 unblock(u64 set) { return call(SIGPROCMASK, 1, &set, 0, 8); }
static inline u64 blocked(void) {
	u64 set = 0;
	call(SIGPROCMASK, 0, 0, &set, 8);
	return set;
}
static inline u64 pending(void) {
	u64 set = 0;
	call(SIGPENDING, &set, 8);
	return set;
}

/* The parts of siginfo that its code has. */
static inline void put_info(const struct siginfo *info) {
	field("signo", info->signo);
	field("errno", info->error);
	field("code", info->code);
}
static inline void put_sender(const struct siginfo *info) {
	put(" from ");
	put(who(info->pid));
	field("uid", info->uid);
}
/* Are the bytes behind the first 48 zeros? Nothing of a signal lies there. */
static inline int rest_is_clear(const struct siginfo *info) {
	const u8 *bytes = (const u8 *)info;
	for (int i = 48; i < 128; i++)
		if (bytes[i])
			return 0;
	return 1;
}

/* --- the beginning: init forks, and the child does the work, since a first process is told of no signal that it has no
 * handler for --- */

static void work(void);

static inline __attribute__((noreturn)) void leave(i32 status) {
	for (;;)
		call(EXIT_GROUP, status);
}
__attribute__((used)) static void begin_(void) {
	self_ = (i32)call(GETPID);
	if (self_ != 1) {
		work();
		leave(0);
	}
	say("run: begin");
	if (fork_() == 0) {
		work();
		leave(0);
	}
	i64 status;
	while ((status = wait_for(child_, 0)) < 0)
		;
	show("ended", status);
	say("run: end");
	leave(0);
}
asm(".globl _start\n_start: mov x29, xzr\n mov x30, xzr\n bl begin_\n");

#endif
