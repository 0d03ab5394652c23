/* Children and what their parents hear of them, stopping and going on, process groups, sessions, the terminal. */
#include "signals.h"

static volatile u64 count;
static void print(i32 signal, struct siginfo *info, struct context *context) {
	(void)context;
	count++;
	put("handler"), field("signal", signal), put_info(info), put_sender(info);
	if (signal == SIGCHLD)
		field("status", info->status), put(info->utime < 1000 && info->stime < 1000 ? "" : " times");
	put(rest_is_clear(info) ? "" : " rest");
	end_line();
}
static void quiet(i32 signal, struct siginfo *info, struct context *context) {
	(void)signal, (void)info, (void)context;
	count++;
}
static void until(u64 signals) {
	while (count < signals)
		pause_for(MILLISECOND);
}
static void show_status(const char *name, i64 status) {
	put(name);
	if (status < 0)
		field("error", status);
	else
		field_hex("status", (u64)status & ~0x80ul);
	end_line();
}

/* --- children --- */

static void show_waitid(const char *name, i32 kind, i32 id, u32 options) {
	struct siginfo info;
	for (u32 i = 0; i < sizeof info; i++)
		((u8 *)&info)[i] = 0x55;
	i64 got = call(WAITID, kind, id, &info, options, 0);
	put(name), field("gave", got);
	if (got == 0) {
		put_info(&info);
		put(" of "), put(who(info.child)), field("uid", info.child_uid), field("status", info.status);
		field_hex("pad", (u32)info.pad);
		field_hex("behind", (u32)info.pad2);
	}
	end_line();
}

static void children(void) {
	say("-- children");
	on(SIGCHLD, print, SA_SIGINFO, 0);
	count = 0;
	if (fork_() == 0)
		leave(0x123);
	until(1);
	show_waitid("not reaped", 1, child_, WEXITED | WNOWAIT);
	show_waitid("asked for another change", 1, child_, WUNTRACED | WNOHANG);
	show_status("exit", wait_for(child_, 0));
	show_status("gone", wait_for(child_, 0));
	show_status("none", call(WAIT4, -1, 0, 0, 0));
	show_status("no hang, none", call(WAIT4, -1, 0, WNOHANG, 0));
	show_status("options", call(WAIT4, -1, 0, 0x100, 0));
	show_waitid("no options", 0, 0, 0);
	show_waitid("kind", 7, 0, WEXITED);
	show_waitid("pid 0", 1, 0, WEXITED);
	if (fork_() == 0) {
		call(KILL, self_, SIGKILL);
		leave(0);
	}
	until(2);
	show_waitid("killed", 0, 0, WEXITED);
	if (fork_() == 0) {
		asm volatile("udf #0");
		leave(0);
	}
	until(3);
	show_waitid("crashed", 2, 0, WEXITED);
	if (fork_() == 0) {
		call(PRCTL, 15, "x");
		call(146, 1000); /* setuid */
		leave(1);
	}
	until(4);
	show_waitid("another user's", 1, child_, WEXITED);
	/* One that still runs. */
	i32 child = fork_();
	if (child == 0) {
		pause_for(1000 * MILLISECOND);
		leave(0);
	}
	show_status("no hang", call(WAIT4, child, 0, WNOHANG, 0));
	show_waitid("no hang", 1, child, WEXITED | WNOHANG);
	call(KILL, child, SIGTERM);
	static i64 usage[18];
	i32 status = 0;
	i64 got = call(WAIT4, child, &status, 0, usage);
	show("usage", got == child);
	show("seconds of it", usage[0]);
	show("faults of it", usage[8] > 0);
	show_status("terminated", status);
	until(5);
	/* A child that tells nothing, and one that tells by another signal. */
	on(SIGUSR1, print, SA_SIGINFO, 0);
	count = 0;
	child = (i32)call(CLONE, 0, 0, 0, 0, 0);
	if (child == 0)
		leave(4);
	child_ = child;
	pause_for(10 * MILLISECOND);
	show_status("clone child", call(WAIT4, -1, &status, WNOHANG, 0));
	show_status("clone child", wait_for(child, (u32)1 << 31));
	show_status("clone child", status);
	block(BIT(SIGUSR1));
	child = (i32)call(CLONE, SIGUSR1, 0, 0, 0, 0);
	if (child == 0)
		leave(5);
	child_ = child;
	unblock(BIT(SIGUSR1));
	until(1);
	show_status("by another signal", wait_for(child, 0x40000000));
	/* Nobody waits for them. */
	on(SIGCHLD, print, SA_SIGINFO | SA_NOCLDWAIT, 0);
	count = 0;
	if (fork_() == 0)
		leave(6);
	until(1);
	show_status("SA_NOCLDWAIT", wait_for(child_, 0));
	on(SIGCHLD, IGNORE, 0, 0);
	if (fork_() == 0)
		leave(6);
	show_status("ignored", wait_for(child_, 0));
	on(SIGCHLD, DEFAULT, 0, 0);
	/* A grandchild becomes init's. */
	i32 ends[2];
	call(PIPE2, ends, 0);
	if (fork_() == 0) {
		if (fork_() == 0) {
			while (call(GETPPID) != 1)
				pause_for(MILLISECOND);
			call(WRITE, ends[1], "i", 1);
			leave(0);
		}
		leave(0);
	}
	show_status("its parent", wait_for(child_, 0));
	char byte = 0;
	call(READ, ends[0], &byte, 1);
	show("orphan", byte);
	call(CLOSE, ends[0]), call(CLOSE, ends[1]);
	on(SIGUSR1, DEFAULT, 0, 0);
}

/* --- stopping --- */

static void stopping(void) {
	say("-- stopping");
	on(SIGCHLD, print, SA_SIGINFO, 0);
	const i32 stops[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
	for (int i = 0; i < 4; i++) {
		count = 0;
		i32 child = fork_();
		if (child == 0) {
			on(SIGCHLD, DEFAULT, 0, 0);
			/* In its parent's group nobody could make it go on. */
			if (stops[i] != SIGSTOP)
				call(KILL, self_, stops[i]);
			call(SETPGID, 0, 0);
			call(KILL, self_, stops[i]);
			leave(10 + i);
		}
		until(1);
		show_waitid("stopped", 1, child, WUNTRACED | WNOWAIT);
		show_status("without WUNTRACED", call(WAIT4, child, 0, WNOHANG, 0));
		show_status("stopped", wait_for(child, WUNTRACED));
		show_status("told once", call(WAIT4, child, 0, WNOHANG | WUNTRACED, 0));
		call(KILL, child, SIGTERM);
		pause_for(5 * MILLISECOND);
		show_status("still", call(WAIT4, child, 0, WNOHANG, 0));
		block(BIT(SIGCHLD));
		call(KILL, child, SIGCONT);
		show_status("terminated", wait_for(child, 0));
		unblock(BIT(SIGCHLD));
	}
	/* It goes on, and says so. */
	count = 0;
	i32 child = fork_();
	if (child == 0) {
		on(SIGCHLD, DEFAULT, 0, 0);
		on(SIGCONT, quiet, SA_SIGINFO, 0);
		count = 0;
		call(KILL, self_, SIGSTOP);
		pause_for(30 * MILLISECOND);
		show("handled", (i64)count);
		leave(20);
	}
	until(1);
	show_status("stopped", wait_for(child, WUNTRACED));
	call(KILL, child, SIGCONT);
	until(2);
	show_waitid("continued", 1, child, WCONTINUED | WNOWAIT);
	show_status("continued", wait_for(child, WCONTINUED));
	show_status("told once", call(WAIT4, child, 0, WNOHANG | WCONTINUED, 0));
	show_status("ended", wait_for(child, 0));
	/* SA_NOCLDSTOP: only its end is told by a signal. */
	on(SIGCHLD, print, SA_SIGINFO | SA_NOCLDSTOP, 0);
	count = 0;
	child = fork_();
	if (child == 0) {
		call(KILL, self_, SIGSTOP);
		leave(21);
	}
	show_status("stopped", wait_for(child, WUNTRACED));
	show("signals", (i64)count);
	call(KILL, child, SIGKILL);
	show_status("killed while stopped", wait_for(child, WUNTRACED));
	until(1);
	on(SIGCHLD, DEFAULT, 0, 0);
	/* Stop signals and SIGCONT call each other off. */
	child = fork_();
	if (child == 0) {
		block(BIT(SIGCONT) | BIT(SIGTSTP) | BIT(SIGTTIN));
		call(KILL, self_, SIGTSTP), call(KILL, self_, SIGTTIN);
		field_hex("pending", pending()), end_line();
		call(KILL, self_, SIGCONT);
		field_hex("pending", pending()), end_line();
		call(KILL, self_, SIGTSTP);
		field_hex("pending", pending()), end_line();
		/* A handler in place of stopping. */
		on(SIGTSTP, print, SA_SIGINFO, 0);
		unblock(~0ul);
		/* Blocked, it makes the process go on all the same. */
		block(BIT(SIGCONT));
		call(KILL, self_, SIGSTOP);
		field_hex("pending", pending()), end_line();
		leave(22);
	}
	show_status("stopped", wait_for(child, WUNTRACED));
	call(KILL, child, SIGCONT);
	show_status("ended", wait_for(child, 0));
	/* A call that is interrupted by stopping goes on afterwards: but not one that waits for a signal. */
	i32 ends[2];
	call(PIPE2, ends, 0);
	child = fork_();
	if (child == 0) {
		char byte = 0;
		i64 got = call(READ, ends[0], &byte, 1);
		leave(got == 1 && byte == 'y' ? 23 : 24);
	}
	pause_for(5 * MILLISECOND);
	call(KILL, child, SIGSTOP);
	show_status("stopped", wait_for(child, WUNTRACED));
	call(KILL, child, SIGCONT);
	pause_for(5 * MILLISECOND);
	call(WRITE, ends[1], "y", 1);
	show_status("ended", wait_for(child, 0));
	call(CLOSE, ends[0]), call(CLOSE, ends[1]);
	/* Two threads stop together. */
	static u8 stack[8192] __attribute__((aligned(16)));
	static volatile u64 turns;
	child = fork_();
	if (child == 0) {
		register u64 x0 asm("x0") = 0x10f00, x1 asm("x1") = (u64)stack + sizeof stack, x2 asm("x2") = 0, x3 asm("x3") = 0,
			     x4 asm("x4") = 0, x8 asm("x8") = CLONE;
		asm volatile("svc #0\n cbnz x0, 2f\n 1: ldr x9, [%6]\n add x9, x9, #1\n str x9, [%6]\n mov x8, #124\n svc #0\n"
			     "b 1b\n 2:"
			     : "+r"(x0)
			     : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8), "r"(&turns)
			     : "x9", "memory");
		while (turns == 0)
			call(SCHED_YIELD);
		u64 before = turns;
		call(KILL, self_, SIGSTOP);
		while (turns == before)
			call(SCHED_YIELD);
		leave(25);
	}
	show_status("threads stopped", wait_for(child, WUNTRACED));
	call(KILL, child, SIGCONT);
	show_status("ended", wait_for(child, 0));
}

/* --- groups and sessions --- */

static void groups(void) {
	say("-- groups");
	put("own group "), put(who((i32)call(GETPGID, 0))), put(" session "), put(who((i32)call(GETSID, 0))), end_line();
	put("init's group "), put(who((i32)call(GETPGID, 1))), put(" session "), put(who((i32)call(GETSID, 1))), end_line();
	show("nobody's", call(GETPGID, 999999));
	show("nobody's", call(GETSID, 999999));
	show("negative", call(SETPGID, 0, -1));
	show("nobody", call(SETPGID, 999999, 0));
	show("no such group", call(SETPGID, 0, 999999));
	show("parent", call(SETPGID, parent_, 0));
	i32 child = fork_();
	if (child == 0) {
		pause_for(500 * MILLISECOND);
		leave(0);
	}
	show("child to own", call(SETPGID, child, 0));
	put("its group "), put(who((i32)call(GETPGID, child))), end_line();
	show("back", call(SETPGID, child, call(GETPGID, 0)));
	show("again", call(SETPGID, child, child));
	show("join it", call(SETPGID, 0, child));
	put("own group "), put(who((i32)call(GETPGID, 0))), end_line();
	show("own", call(SETPGID, 0, 0));
	put("own group "), put(who((i32)call(GETPGID, 0))), end_line();
	show("leader's session", call(SETSID));
	/* Signals and waits by group. */
	on(SIGUSR1, print, SA_SIGINFO, 0);
	show("kill own group", call(KILL, 0, SIGUSR1));
	show_status("wait for own group", call(WAIT4, 0, 0, WNOHANG, 0));
	show_status("wait for its group", call(WAIT4, -child, 0, WNOHANG, 0));
	show("kill its group", call(KILL, -child, SIGTERM));
	show_status("killed", wait_for(child, 0));
	show("an empty group", call(KILL, -child, 0));
	on(SIGUSR1, DEFAULT, 0, 0);
	/* A new session. */
	child = fork_();
	if (child == 0) {
		show("new session is own", call(SETSID) == self_);
		put("group "), put(who((i32)call(GETPGID, 0))), put(" session "), put(who((i32)call(GETSID, 0))), end_line();
		show("again", call(SETSID));
		show("leader's group", call(SETPGID, 0, 0));
		pause_for(10 * MILLISECOND);
		leave(0);
	}
	pause_for(5 * MILLISECOND);
	show("to another session's group", call(SETPGID, 0, child));
	show("another session's process", call(SETPGID, child, 0));
	show_status("ended", wait_for(child, 0));
	/* One that has run another program is left alone. */
	i32 go[2];
	call(PIPE2, go, 0);
	child = fork_();
	if (child == 0) {
		const char *arguments[] = {"/init", 0};
		call(DUP3, go[1], 0, 0);
		call(EXECVE, "/init", arguments, arguments + 1);
		leave(1);
	}
	char ready;
	call(READ, go[0], &ready, 1);
	show("after exec", call(SETPGID, child, child));
	call(KILL, child, SIGKILL);
	show_status("killed", wait_for(child, 0));
	call(CLOSE, go[0]), call(CLOSE, go[1]);
}

/* --- the terminal --- */

enum { TCGETS = 0x5401, TCSETS, TIOCSCTTY = 0x540e, TIOCGPGRP, TIOCSPGRP, TIOCSTI = 0x5412, TIOCNOTTY = 0x5422, TIOCGSID = 0x5429 };

static i32 open_terminal(u32 flags) { return (i32)call(OPENAT, -100, "/dev/ttyAMA0", 2 | flags, 0); }
static void type(i32 fd, const char *text) {
	while (*text)
		call(IOCTL, fd, TIOCSTI, text++);
}

static void in_session(void) {
	i32 group = -7, session = -7, fd;
	show("console's group", call(IOCTL, 0, TIOCGPGRP, &group));
	show("tty, without", call(OPENAT, -100, "/dev/tty", 2, 0));
	fd = open_terminal(0400);
	show("NOCTTY", call(IOCTL, fd, TIOCGPGRP, &group));
	show("session", call(IOCTL, fd, TIOCGSID, &session));
	call(CLOSE, fd);
	fd = open_terminal(0);
	show("group", call(IOCTL, fd, TIOCGPGRP, &group));
	put("is "), put(who(group)), end_line();
	show("session", call(IOCTL, fd, TIOCGSID, &session));
	put("is "), put(who(session)), end_line();
	show("tty", call(OPENAT, -100, "/dev/tty", 2, 0) >= 0);
	show("again", call(IOCTL, fd, TIOCSCTTY, 0));
	group = 999999;
	show("no group", call(IOCTL, fd, TIOCSPGRP, &group));
	group = -1;
	show("negative", call(IOCTL, fd, TIOCSPGRP, &group));
	group = 1;
	show("another session's", call(IOCTL, fd, TIOCSPGRP, &group));
	/* What is typed. */
	struct {
		u32 flags[4];
		u8 line, characters[19];
	} raw, termios;
	call(IOCTL, fd, TCGETS, &termios);
	raw = termios;
	raw.flags[3] &= ~8u; /* no echo */
	call(IOCTL, fd, TCSETS, &raw);
	on(SIGINT, print, SA_SIGINFO, 0);
	on(SIGQUIT, print, SA_SIGINFO, 0);
	on(SIGTSTP, print, SA_SIGINFO, 0);
	type(fd, "\3");
	pause_for(5 * MILLISECOND);
	type(fd, "\34");
	pause_for(5 * MILLISECOND);
	type(fd, "\32");
	pause_for(5 * MILLISECOND);
	char text[16];
	type(fd, "ab\177c\n");
	show("line", call(READ, fd, text, 16));
	type(fd, "lost\3kept\n");
	pause_for(5 * MILLISECOND);
	show("line", call(READ, fd, text, 16));
	/* In the background. */
	on(SIGTTIN, IGNORE, 0, 0);
	i32 child = fork_();
	if (child == 0) {
		on(SIGTTIN, DEFAULT, 0, 0);
		call(SETPGID, 0, 0);
		show("write", call(WRITE, fd, "", 0));
		show("read", call(READ, fd, text, 16));
		show("read, ignoring", (on(SIGTTIN, IGNORE, 0, 0), call(READ, fd, text, 16)));
		group = self_;
		on(SIGTTOU, print, SA_SIGINFO, 0);
		show("to the foreground", call(IOCTL, fd, TIOCSPGRP, &group));
		block(BIT(SIGTTOU));
		show("to the foreground, blocked", call(IOCTL, fd, TIOCSPGRP, &group));
		pause_for(2000 * MILLISECOND);
		leave(30);
	}
	/* The read stops it until it is in the foreground. */
	show_status("stopped", wait_for(child, WUNTRACED));
	group = child;
	show("to the foreground", call(IOCTL, fd, TIOCSPGRP, &group));
	call(IOCTL, fd, TIOCGPGRP, &group);
	put("is "), put(who(group)), end_line();
	type(fd, "xyz\n");
	call(KILL, child, SIGCONT);
	pause_for(5 * MILLISECOND);
	on(SIGTTOU, IGNORE, 0, 0);
	group = self_;
	show("back", call(IOCTL, fd, TIOCSPGRP, &group));
	pause_for(5 * MILLISECOND);
	call(KILL, child, SIGKILL);
	show_status("ended", wait_for(child, 0));
	/* Ctrl-C ends the foreground. */
	child = fork_();
	if (child == 0) {
		on(SIGINT, DEFAULT, 0, 0);
		call(SETPGID, 0, 0);
		group = self_;
		call(IOCTL, fd, TIOCSPGRP, &group);
		pause_for(2000 * MILLISECOND);
		leave(31);
	}
	pause_for(10 * MILLISECOND);
	type(fd, "\3");
	show_status("interrupted", wait_for(child, 0));
	show("back", call(IOCTL, fd, TIOCSPGRP, &self_));
	call(IOCTL, fd, TCSETS, &termios);
	/* Giving it up. */
	on(SIGHUP, print, SA_SIGINFO, 0);
	on(SIGCONT, print, SA_SIGINFO, 0);
	show("given up", call(IOCTL, fd, TIOCNOTTY));
	show("group", call(IOCTL, fd, TIOCGPGRP, &group));
	show("taken", call(IOCTL, fd, TIOCSCTTY, 0));
	show("group", call(IOCTL, fd, TIOCGPGRP, &group));
	child = fork_();
	if (child == 0) {
		show("not by others", (call(SETSID), call(IOCTL, fd, TIOCSCTTY, 0)));
		leave(0);
	}
	show_status("ended", wait_for(child, 0));
	/* The leader's end hangs the foreground up; a group that it leaves stopped is told to go on. */
	i32 ends[2];
	call(PIPE2, ends, 0);
	child = fork_();
	if (child == 0) {
		on(SIGHUP, DEFAULT, 0, 0);
		call(SETPGID, 0, 0);
		child = fork_();
		if (child == 0) {
			call(CLOSE, ends[0]);
			call(KILL, self_, SIGSTOP);
			leave(0);
		}
		call(CLOSE, ends[1]);
		wait_for(child, WUNTRACED);
		call(KILL, self_, SIGSTOP);
		leave(0);
	}
	show_status("stopped", wait_for(child, WUNTRACED));
	call(CLOSE, ends[1]);
	/* The pipe's last writer is the stopped grandchild. */
	i32 watcher = fork_();
	if (watcher == 0) {
		call(SETSID);
		i64 got = call(READ, ends[0], text, 1);
		pause_for(20 * MILLISECOND);
		show("hung up", got);
		leave(0);
	}
	call(CLOSE, ends[0]);
	pause_for(10 * MILLISECOND);
	leave(0);
}

static void terminal(void) {
	say("-- terminal");
	call(MKNODAT, -100, "/dev/ttyAMA0", 020600, 204 << 8 | 64);
	call(MKNODAT, -100, "/dev/tty", 020600, 5 << 8);
	if (fork_() == 0) {
		show("new session", call(SETSID) == self_);
		in_session();
	}
	show_status("session", wait_for(child_, 0));
	pause_for(50 * MILLISECOND);
}

static void work(void) {
	/* The program that a child runs instead: waits to be killed. */
	if (call(GETPPID) != 1) {
		call(WRITE, 0, "", 1);
		pause_for(5000 * MILLISECOND);
		leave(0);
	}
	on(SIGUSR2, quiet, 0, 0);
	children();
	stopping();
	groups();
	terminal();
}
