/* What programs here without a library begin with: types, system calls, text. So they run under any kernel. */
#ifndef CALL_H
#define CALL_H

typedef unsigned long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;
typedef long i64;
typedef int i32;

/* System calls by the numbers of asm-generic/unistd.h; those that take a directory have AT in their names there too. */
enum {
	GETCWD = 17, EVENTFD2 = 19, EPOLL_CREATE1 = 20, EPOLL_CTL = 21, EPOLL_PWAIT = 22, DUP = 23, DUP3 = 24,
	FCNTL = 25, IOCTL = 29, MKNODAT = 33, MKDIR = 34, UNLINKAT = 35, SYMLINK = 36, LINK = 37, RENAME = 38,
	UMOUNT = 39, MOUNT = 40, TRUNCATE = 45, FTRUNCATE = 46, CHDIR = 49, FCHMOD = 52, OPENAT = 56, CLOSE = 57,
	PIPE2 = 59, GETDENTS = 61, LSEEK = 62, READ = 63, WRITE = 64, READV = 65, WRITEV = 66, PREAD = 67,
	PWRITE = 68, SENDFILE = 71, PSELECT = 72, PPOLL = 73, SIGNALFD4 = 74, READLINKAT = 78, FSTAT = 80,
	TIMERFD_CREATE = 85, TIMERFD_SETTIME = 86, TIMERFD_GETTIME = 87, EXIT = 93, EXIT_GROUP = 94, WAITID = 95,
	SET_TID_ADDRESS = 96, FUTEX = 98, SET_ROBUST_LIST = 99, GET_ROBUST_LIST = 100, NANOSLEEP = 101,
	GETITIMER = 102, SETITIMER = 103, TIMER_CREATE = 107, TIMER_GETTIME = 108, TIMER_GETOVERRUN = 109,
	TIMER_SETTIME = 110, TIMER_DELETE = 111, CLOCK_GETTIME = 113, CLOCK_GETRES = 114, CLOCK_NANOSLEEP = 115,
	SCHED_SETSCHEDULER = 119, SCHED_SETAFFINITY = 122, SCHED_GETAFFINITY = 123, SCHED_YIELD = 124, RESTART = 128,
	KILL = 129, TKILL = 130, TGKILL = 131, SIGALTSTACK = 132, SIGSUSPEND = 133, SIGACTION = 134,
	SIGPROCMASK = 135, SIGPENDING = 136, SIGTIMEDWAIT = 137, SIGQUEUEINFO = 138, SIGRETURN = 139, REBOOT = 142,
	TIMES = 153, SETPGID = 154, GETPGID = 155, GETSID = 156, SETSID = 157, UNAME = 160, GETRUSAGE = 165,
	PRCTL = 167, GETPID = 172, GETPPID = 173, GETTID = 178, SOCKET = 198, SOCKETPAIR = 199, BIND = 200,
	LISTEN = 201, ACCEPT = 202, CONNECT = 203, GETSOCKNAME = 204, GETPEERNAME = 205,
	SENDTO = 206, RECVFROM = 207, SETSOCKOPT = 208, GETSOCKOPT = 209, SHUTDOWN = 210,
	SENDMSG = 211, RECVMSG = 212, BRK = 214, MUNMAP = 215, MREMAP = 216, CLONE = 220, EXECVE = 221, MMAP = 222,
	MPROTECT = 226, MADVISE = 233, TGSIGQUEUEINFO = 240, WAIT4 = 260, PRLIMIT64 = 261, CLONE3 = 435,
	CLOSE_RANGE = 436, EPOLL_PWAIT2 = 441,
};

static inline i64 call6(i64 number, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) {
	register u64 x0 asm("x0") = a, x1 asm("x1") = b, x2 asm("x2") = c, x3 asm("x3") = d, x4 asm("x4") = e,
		     x5 asm("x5") = f;
	register i64 x8 asm("x8") = number;
	asm volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5), "r"(x8) : "memory");
	return (i64)x0;
}
#define CALL_7(n, a, b, c, d, e, f, ...) call6(n, (u64)(a), (u64)(b), (u64)(c), (u64)(d), (u64)(e), (u64)(f))
/* A system call with up to six arguments; those that are not given are 0. */
#define call(...) CALL_7(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

static inline u64 length_of(const char *text) {
	u64 length = 0;
	while (text[length])
		length++;
	return length;
}
static inline void print_text(const char *text) {
	call(WRITE, 1, text, length_of(text));
}

#endif
