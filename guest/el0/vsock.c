/* AF_VSOCK between this program, under Linux, and programs of the host, which are in xtask/src/devices/vsock.rs. What each
 * side sends is the same stream of bytes, and whoever receives it knows it. */

#include "el0.h"

enum { VSOCK = 40, STREAM = 1, NONBLOCK = 04000, NOSIGNAL = 0x4000, SHUT_WR = 1, GET_LOCAL_CID = 0x7b9 };
enum { HOST = 2, NOBODY = 7 };
/* Ports of the host: who takes a stream and sends one, who is slow, who sends back, who connects to us, who is not there. */
enum { STREAMS = 1000, SLOW, ECHO, CALLER, MISSING };
/* Ports of ours. */
enum { SERVED = 2000 };
enum { LEN = 3 << 20, CALLS = 5, ECHOES = 8, PIECE = 48 << 10 };

struct address { u16 family, reserved; u32 port, cid; u8 flags, zero[3]; };

/* In the file: Linux 5.10 does not load a segment of which a file has nothing. */
static u8 piece[PIECE] = { 1 };

static void fail(const char *what, long value) {
	show(what, value);
	call(EXIT_GROUP, 1);
}
static long check(const char *what, long value) {
	if (value < 0)
		fail(what, value);
	return value;
}

/* The stream. */
static u8 next(u64 *state) {
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return *state >> 56;
}

static long reach(u32 cid, u32 port) {
	struct address to = { VSOCK, 0, port, cid, 0, { 0 } };
	int fd = check("devices: vsock socket", call(SOCKET, VSOCK, STREAM, 0));
	long result = call(CONNECT, fd, &to, sizeof to);
	if (result == 0)
		return fd;
	call(CLOSE, fd);
	return result;
}

static void send_stream(int fd, u64 len) {
	u64 state = 0;
	while (len) {
		u64 n = len < PIECE ? len : PIECE;
		for (u64 i = 0; i < n; i++)
			piece[i] = next(&state);
		for (u64 done = 0; done < n;)
			done += check("devices: vsock send", call(SENDTO, fd, piece + done, n - done, NOSIGNAL, 0, 0));
		len -= n;
	}
}

/* All until the end; how much that is. */
static u64 take_stream(int fd) {
	u64 state = 0, sum = 0;
	for (long n; (n = check("devices: vsock receive", call(READ, fd, piece, PIECE)));) {
		for (long i = 0; i < n; i++)
			if (piece[i] != next(&state))
				fail("devices: vsock wrong byte at", sum + i);
		sum += n;
	}
	return sum;
}

static void streams(void) {
	int fd = check("devices: vsock connect", reach(HOST, STREAMS));
	send_stream(fd, LEN);
	call(SHUTDOWN, fd, SHUT_WR);
	show("devices: vsock received", take_stream(fd));
	call(CLOSE, fd);
}

/* The host does not read at first: there is an end to what can be sent, and nothing of it is lost. */
static void slow(void) {
	int fd = check("devices: vsock connect", reach(HOST, SLOW));
	u64 sum = 0;
	long n;
	for (u64 i = 0; i < PIECE; i++)
		piece[i] = 0x5a;
	check("devices: vsock nonblock", call(FCNTL, fd, 4, NONBLOCK));
	/* What the device has passed on comes back as room a little later. */
	for (int idle = 0; idle < 20 && sum < 64 << 20; idle++) {
		while ((n = call(SENDTO, fd, piece, PIECE, NOSIGNAL, 0, 0)) > 0)
			sum += n, idle = 0;
		sleep_ms(1);
	}
	show("devices: vsock full", n);
	show("devices: vsock full within a mebibyte", sum > 256 << 10 && sum < 1 << 20);
	/* That wakes the host's program. */
	call(CLOSE, check("devices: vsock connect", reach(HOST, SLOW)));
	check("devices: vsock block", call(FCNTL, fd, 4, 0));
	call(SENDTO, fd, "x", 1, NOSIGNAL, 0, 0);
	call(SHUTDOWN, fd, SHUT_WR);
	u64 said = 0;
	call(READ, fd, &said, sizeof said);
	show("devices: vsock lost", sum + 1 - said);
	call(CLOSE, fd);
}

static void echoes(void) {
	int fd[ECHOES], good = 0;
	char text[6] = "echo?";
	for (int n = 0; n < ECHOES; n++)
		fd[n] = check("devices: vsock connect", reach(HOST, ECHO));
	for (int n = 0; n < ECHOES; n++) {
		text[4] = '0' + n;
		check("devices: vsock send", call(WRITE, fd[n], text, 5));
	}
	for (int n = ECHOES; n--;) {
		check("devices: vsock receive", call(READ, fd[n], piece, 5));
		good += piece[0] == 'e' && piece[4] == '0' + n;
		call(CLOSE, fd[n]);
	}
	show("devices: vsock echoes", good);
}

/* The host connects to us, when we say so. */
static void serve(void) {
	struct address at = { VSOCK, 0, SERVED, ~0u, 0, { 0 } };
	int listener = check("devices: vsock socket", call(SOCKET, VSOCK, STREAM, 0));
	check("devices: vsock bind", call(BIND, listener, &at, sizeof at));
	check("devices: vsock listen", call(LISTEN, listener, CALLS));
	int caller = check("devices: vsock connect", reach(HOST, CALLER));
	for (int n = 0; n < CALLS; n++) {
		int len = sizeof at;
		int fd = check("devices: vsock accept", call(ACCEPT, listener, &at, &len));
		if (at.cid != HOST || at.port < 1u << 30) {
			show_hex("devices: vsock from port", at.port);
			fail("devices: vsock from", at.cid);
		}
		u64 got = take_stream(fd);
		show("devices: vsock called with", got);
		send_stream(fd, got);
		call(CLOSE, fd);
	}
	long n = check("devices: vsock receive", call(READ, caller, piece, 100));
	piece[n] = 0;
	show_text("devices: vsock caller says", (char *)piece);
	call(CLOSE, caller);
}

void _start(void) {
	u32 cid = 0;
	int device = check("devices: /dev/vsock", call(OPENAT, -100, "/dev/vsock", 0, 0));
	check("devices: vsock cid", call(IOCTL, device, GET_LOCAL_CID, &cid));
	show("devices: vsock cid", cid);
	streams();
	slow();
	echoes();
	serve();
	show("devices: vsock missing", reach(HOST, MISSING));
	show("devices: vsock nobody", reach(NOBODY, STREAMS));
	call(EXIT_GROUP, 0);
}
