/* Pairs of local sockets: every result is printed. The same on Linux 6.1 and on our kernel. */

#include "el0.h"

enum { UNIX = 1, STREAM = 1, DATAGRAM = 2, PACKET = 5, NONBLOCK = 04000, CLOEXEC = 02000000 };
enum { PEEK = 2, TRUNC = 0x20, DONTWAIT = 0x40, WAITALL = 0x100, NOSIGNAL = 0x4000 };
static const int kinds[] = { STREAM, DATAGRAM, PACKET };
static const char *const names[] = { "stream", "datagram", "packet" };
static int fd[2];
static char buffer[300000];

struct pollfd { int fd; short events, revents; };

static void open_pair(int kind) {
	long result = call(SOCKETPAIR, UNIX, kind, 0, fd);
	if (result)
		show("socketpair", result);
}
static void close_pair(void) {
	call(CLOSE, fd[0]);
	call(CLOSE, fd[1]);
}
static void polled(const char *what, int which) {
	struct pollfd entry = { fd[which], 0x23c7, 0 };
	long time[2] = { 0, 0 };
	call(PPOLL, &entry, 1, time, 0, 8);
	show_hex(what, (unsigned short)entry.revents);
}
static long send(int which, const char *text, int flags) {
	return call(SENDTO, fd[which], text, length_of(text), flags | DONTWAIT | NOSIGNAL, 0, 0);
}
static void receive(const char *what, int which, u64 len, int flags) {
	long got = call(RECVFROM, fd[which], buffer, len, flags | DONTWAIT, 0, 0);
	show(what, got);
	if (got > 0) {
		buffer[got < 20 ? got : 20] = 0;
		show_text("  ", buffer);
	}
}

static void bounds(void) {
	show("send", send(0, "one", 0));
	show("send", send(0, "three", 0));
	int bytes = -1;
	show("ioctl", call(IOCTL, fd[1], 0x541b, &bytes));
	show("  bytes", bytes);
	receive("peek", 1, 4, PEEK);
	receive("peek whole", 1, 2, PEEK | TRUNC);
	receive("read", 1, 4, 0);
	receive("cut", 1, 2, TRUNC);
	receive("rest", 1, 9, 0);
	receive("none", 1, 9, 0);
	show("empty", call(SENDTO, fd[0], buffer, 0, DONTWAIT, 0, 0));
	show("read none", call(READ, fd[1], buffer, 0));
	receive("empty", 1, 9, 0);
	polled("poll 0", 0);
	send(0, "x", 0);
	polled("poll 1", 1);
}

static void vectors(void) {
	struct { const void *at; u64 len; } parts[3] = { { "ab", 2 }, { "", 0 }, { "cde", 3 } };
	show("writev", call(WRITEV, fd[0], parts, 3));
	struct {
		void *name;
		u64 name_len;
		void *parts;
		u64 count;
		void *control;
		u64 control_len, flags;
	} message = { 0, 0, parts, 3, 0, 0, 0 };
	show("sendmsg", call(SENDMSG, fd[0], &message, 0));
	char a[3] = "..", b[3] = "..";
	struct { void *at; u64 len; } to[2] = { { a, 2 }, { b, 2 } };
	show("readv", call(READV, fd[1], to, 2));
	show_text("  ", a);
	show_text("  ", b);
	message.parts = to;
	message.count = 2;
	message.flags = 0x77;
	message.name_len = 9;
	show("recvmsg", call(RECVMSG, fd[1], &message, DONTWAIT));
	show_text("  ", a);
	show_text("  ", b);
	show_hex("  flags", message.flags);
	show("  name", (int)message.name_len);
	show("recvmsg", call(RECVMSG, fd[1], &message, DONTWAIT));
	show_hex("  flags", message.flags);
	message.count = 2000;
	show("too many", call(SENDMSG, fd[0], &message, 0));
}

static void closing(int kind) {
	send(0, "left", 0);
	call(CLOSE, fd[0]);
	polled("poll", 1);
	receive("left", 1, 9, 0);
	receive("end", 1, 9, 0);
	show("send", send(1, "x", 0));
	show("send", send(1, "x", 0));
	show("peer", call(GETPEERNAME, fd[1], buffer, (u64 *)(buffer + 64)));
	polled("poll", 1);
	call(CLOSE, fd[1]);

	open_pair(kind);
	send(1, "unread", 0);
	send(0, "x", 0);
	call(CLOSE, fd[0]);
	polled("poll", 1);
	receive("x", 1, 9, 0);
	receive("reset", 1, 9, 0);
	receive("end", 1, 9, 0);
	call(CLOSE, fd[1]);

	open_pair(kind);
	send(1, "unread", 0);
	call(CLOSE, fd[0]);
	int error = -1, len = 4;
	show("SO_ERROR", call(GETSOCKOPT, fd[1], 1, 4, &error, &len));
	show("  error", error);
	show("send", send(1, "x", 0));
	call(CLOSE, fd[1]);
	open_pair(kind);
}

static void shutting(int kind) {
	for (int how = 0; how < 3; how++) {
		send(0, "before", 0);
		show("shutdown", call(SHUTDOWN, fd[0], how));
		polled("poll 0", 0);
		polled("poll 1", 1);
		show("send 0", send(0, "x", 0));
		show("send 1", send(1, "y", 0));
		receive("read 1", 1, 9, 0);
		receive("read 1", 1, 9, 0);
		receive("read 0", 0, 9, 0);
		receive("read 0", 0, 9, 0);
		close_pair();
		open_pair(kind);
	}
	show("shutdown", call(SHUTDOWN, fd[0], 3));
}

static void room(int kind) {
	static const int sizes[] = { 1, 100, 192, 193, 448, 449, 1000, 3776, 3777, 4096, 16064, 16065, 20000, 36544, 36545, 100000, 212960, 212961 };
	for (u64 n = 0; n < sizeof sizes / sizeof *sizes; n++) {
		long sent = 0, bytes = 0, got;
		while ((got = call(SENDTO, fd[0], buffer, sizes[n], DONTWAIT, 0, 0)) > 0)
			sent++, bytes += got;
		show("size", sizes[n]);
		show("  sends", sent);
		show("  bytes", bytes);
		show("  end", got);
		long before = -1;
		struct pollfd entry = { fd[0], 4, 0 };
		long time[2] = { 0, 0 };
		for (long read = 0; sent && before < 0; read++) {
			if (call(PPOLL, &entry, 1, time, 0, 8) > 0)
				before = read;
			else
				call(RECVFROM, fd[1], buffer, sizes[n], DONTWAIT, 0, 0);
		}
		show("  reads until writable", before);
		close_pair();
		open_pair(kind);
	}
}

/* Those that sleep are woken. */
static void echo(void) {
	call(CLOSE, fd[0]);
	for (long got; (got = call(READ, fd[1], buffer, 1000)) > 0;)
		call(WRITE, fd[1], buffer, got);
}
static void fill(void) {
	call(CLOSE, fd[1]);
	long sum = 0;
	for (int n = 0; n < 40; n++)
		sum += call(WRITE, fd[0], buffer, 50000);
	call(EXIT_GROUP, sum == 40 * 50000 ? 7 : 1);
}
static void write_to_none(void) {
	call(CLOSE, fd[1]);
	show("write", call(WRITE, fd[0], "x", 1));
}
static void sleeping(int kind) {
	long child = spawn(echo);
	long sum = 0;
	for (int n = 0; n < 50; n++) {
		call(WRITE, fd[0], buffer, 100 + n);
		sum += call(RECVFROM, fd[0], buffer, 100 + n, WAITALL, 0, 0);
	}
	show("echoed", sum);
	call(SHUTDOWN, fd[0], 1);
	if (kind == DATAGRAM)
		call(KILL, child, 9);
	show("child", wait_for(child));
	close_pair();
	open_pair(kind);
	child = spawn(fill);
	call(CLOSE, fd[0]);
	sum = 0;
	while (sum < 40 * 50000) {
		long got = call(READ, fd[1], buffer, 70000);
		if (got <= 0) {
			show("early end", got);
			break;
		}
		sum += got;
	}
	show("read", sum);
	show("child", wait_for(child));
	call(CLOSE, fd[1]);
	open_pair(kind);
	call(CLOSE, fd[1]);
	fd[1] = fd[0];
	show("killed", wait_for(spawn(write_to_none)));
	open_pair(kind);
	call(CLOSE, fd[1]);
	fd[1] = -1;
	show("killed", wait_for(spawn(write_to_none)));
}

static void names_and_options(void) {
	int len = 100, value = -1;
	memset(buffer, 0x55, 16);
	show("getsockname", call(GETSOCKNAME, fd[0], buffer, &len));
	show("  len", len);
	show_hex("  name", *(u32 *)buffer);
	len = 1;
	show("getpeername", call(GETPEERNAME, fd[0], buffer, &len));
	show("  len", len);
	len = -1;
	show("getpeername", call(GETPEERNAME, fd[0], buffer, &len));
	static const int options[] = { 3, 4, 7, 8, 30, 38, 39, 77 };
	for (u64 n = 0; n < sizeof options / sizeof *options; n++) {
		len = 4;
		value = -1;
		show("getsockopt", call(GETSOCKOPT, fd[0], 1, options[n], &value, &len));
		show("  value", value);
		show("  len", len);
	}
	len = 2;
	value = -1;
	show("getsockopt", call(GETSOCKOPT, fd[0], 1, 3, &value, &len));
	show("  len", len);
	show("other level", call(GETSOCKOPT, fd[0], 6, 1, &value, &len));
	u32 stat[32];
	show("fstat", call(FSTAT, fd[0], stat));
	show_hex("  mode", stat[4]);
	show("lseek", call(LSEEK, fd[0], 0, 0));
	show("pread", call(PREAD, fd[0], buffer, 1, 0));
	show("to a name", call(SENDTO, fd[0], "x", 1, DONTWAIT | NOSIGNAL, "\1\0/none", 8));
	show("bad buffer", call(SENDTO, fd[0], 8, 100, DONTWAIT, 0, 0));
	send(1, "lost?", 0);
	show("bad buffer", call(RECVFROM, fd[0], 8, 100, DONTWAIT, 0, 0));
	receive("lost?", 0, 9, 0);
}

static void errors(void) {
	int two[2];
	show("family", call(SOCKETPAIR, 77, STREAM, 0, two));
	show("kind", call(SOCKETPAIR, UNIX, 4, 0, two));
	show("flags", call(SOCKETPAIR, UNIX, STREAM | 0x100, 0, two));
	show("protocol", call(SOCKETPAIR, UNIX, STREAM, 7, two));
	show("protocol", call(SOCKETPAIR, UNIX, STREAM, 1, two));
	call(CLOSE, two[0]);
	call(CLOSE, two[1]);
	show("raw", call(SOCKETPAIR, UNIX, 3, 0, two));
	call(CLOSE, two[0]);
	call(CLOSE, two[1]);
	show("place", call(SOCKETPAIR, UNIX, STREAM, 0, 8));
	show("flags", call(SOCKETPAIR, UNIX, STREAM | NONBLOCK | CLOEXEC, 0, two));
	show("  numbers", two[0] * 10 + two[1]);
	show_hex("  fl", call(FCNTL, two[0], 3, 0));
	show_hex("  fd", call(FCNTL, two[1], 1, 0));
	show("read", call(READ, two[0], buffer, 1));
	call(CLOSE, two[0]);
	call(CLOSE, two[1]);
	show("none", call(SENDTO, 99, buffer, 1, 0, 0, 0));
	call(PIPE2, two, 0);
	show("no socket", call(SENDTO, two[0], buffer, 1, 0, 0, 0));
	show("no socket", call(RECVFROM, two[0], buffer, 1, 0, 0, 0));
	show("no socket", call(SHUTDOWN, two[0], 0));
}

void _start(void) {
	for (int n = 0; n < 3; n++) {
		show_text("--", names[n]);
		void (*const parts[])(int) = { closing, shutting, room };
		open_pair(kinds[n]);
		bounds();
		close_pair();
		open_pair(kinds[n]);
		vectors();
		close_pair();
		open_pair(kinds[n]);
		names_and_options();
		close_pair();
		for (int m = 0; m < 3; m++) {
			open_pair(kinds[n]);
			parts[m](kinds[n]);
			close_pair();
		}
		open_pair(kinds[n]);
		sleeping(kinds[n]);
	}
	errors();
	call(EXIT_GROUP, 0);
}
