/* The judge's half of `user.rs`: executes a few instructions per case under whatever runs this program (qemu-user, or an
 * arm64 machine's own Linux), freestanding. A case's state is loaded by returning from a signal and read back in the
 * next one, so no register is touched in between. Cases come on standard input, outcomes go to standard output. */
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;

/* The same numbers as in user.rs. */
#define CODE 0x20000000UL
#define CODE_SIZE 0x10000UL
#define PC (CODE + 0x8000)
#define DATA (CODE + 2 * CODE_SIZE)
#define DATA_SIZE 0x1000UL
#define BRK 0xd4200000u
#define WORDS 16
/* The seconds after which a case counts as one that does not end, at least; at most twice as many. */
#define PATIENCE 3
#define SIGALRM 14

struct cpu {
    u64 x[31], sp, pc, nzcv;
    u64 q[64];
    u32 fpsr, fpcr;
};
struct test {
    struct cpu cpu;
    u64 seed;
    u32 count, pad;
    u32 words[WORDS];
};
struct outcome {
    struct cpu cpu;
    u32 signal, pad;
    u64 fault;
    /* How many of the data page's words changed: so many pairs of address and value follow. */
    u64 changed;
};
struct word {
    u64 address, value;
};

struct fpsimd {
    u32 magic, size, fpsr, fpcr;
    u64 q[64];
};
struct ucontext {
    u64 flags;
    void *link;
    void *stack_base;
    u64 stack_flags, stack_size;
    u64 mask;
    u8 unused[120];
    u64 align;
    u64 fault;
    u64 x[31];
    u64 sp, pc, pstate;
    u64 align2;
    struct fpsimd fp;
};
struct sigaction {
    void (*handler)(int, u8 *, struct ucontext *);
    u64 flags;
    void *restorer;
    u64 mask;
};

static long call(long n, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}

static void leave(int status)
{
    for (;;)
        call(94, status, 0, 0, 0, 0, 0);
}

/* mmap at `at` (or anywhere for 0); `prot` is PROT_READ 1, PROT_WRITE 2, PROT_EXEC 4. */
static void *map(u64 at, u64 size, int prot)
{
    long p = call(222, at, size, prot, at ? 0x32 : 0x22, -1, 0);
    if (p < 0 && p > -4096)
        leave(3);
    return (void *)p;
}

static u64 count, now = ~0UL, last_tick = ~1UL;
static struct test *tests;
static u64 stack[8192];

/* Outcomes wait here until there are many. */
static u8 *out;
static u64 waiting;
#define ROOM (1UL << 20)

/* What the data page holds before each case with the seed `filled`. */
static u64 before[DATA_SIZE / 8], filled;
static int is_filled;
/* How many words at PC are not breakpoints. */
static u64 dirty;

/* `mix` of sem::eval. */
static u64 mix(u64 n)
{
    n += 0x9e3779b97f4a7c15UL;
    n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9UL;
    n = (n ^ n >> 27) * 0x94d049bb133111ebUL;
    return n ^ n >> 31;
}

static void put(void *to, const void *from, u64 size)
{
    volatile u64 *t = to;
    const u64 *f = from;
    for (u64 i = 0; i < size / 8; i++)
        t[i] = f[i];
}

static void flush(void)
{
    for (u64 done = 0; done < waiting;) {
        long n = call(64, 1, (long)(out + done), waiting - done, 0, 0, 0);
        if (n <= 0)
            leave(4);
        done += n;
    }
    waiting = 0;
}

static void collect(int signal, u8 *info, struct ucontext *uc)
{
    if (waiting + sizeof(struct outcome) + 2 * DATA_SIZE > ROOM)
        flush();
    struct outcome *o = (struct outcome *)(out + waiting);
    volatile u64 *data = (u64 *)DATA;
    put(o->cpu.x, uc->x, sizeof uc->x);
    put(o->cpu.q, uc->fp.q, sizeof uc->fp.q);
    o->cpu.sp = uc->sp;
    o->cpu.pc = uc->pc;
    o->cpu.nzcv = uc->pstate & 0xf0000000UL;
    o->cpu.fpsr = uc->fp.fpsr;
    o->cpu.fpcr = uc->fp.fpcr;
    o->signal = signal;
    o->pad = 0;
    o->fault = *(u64 *)(info + 16);
    struct word *words = (struct word *)(o + 1);
    u64 n = 0;
    for (u64 i = 0; i < DATA_SIZE / 8; i++)
        if (data[i] != before[i]) {
            words[n].address = DATA + 8 * i;
            words[n++].value = data[i];
            data[i] = before[i];
        }
    o->changed = n;
    waiting += sizeof *o + n * sizeof *words;
}

static void handler(int signal, u8 *info, struct ucontext *uc)
{

    if (signal == SIGALRM && now != last_tick) {
        last_tick = now;
        return;
    }
    if (now != ~0UL)
        collect(signal, info, uc);
    if (++now == count) {
        flush();
        leave(0);
    }
    struct test *t = &tests[now];
    if (!is_filled || filled != t->seed) {
        filled = t->seed;
        is_filled = 1;
        for (u64 i = 0; i < DATA_SIZE / 8; i++)
            ((volatile u64 *)DATA)[i] = before[i] = mix(filled ^ (DATA + 8 * i) >> 3);
    }
    volatile u32 *code = (u32 *)PC;
    u64 i;
    for (i = 0; i < t->count; i++)
        code[i] = t->words[i];
    for (; i < dirty; i++)
        code[i] = BRK;
    dirty = t->count;
    for (i = 0; i < WORDS; i += 4)
        __asm__ volatile("dc cvau, %0\n dsb ish\n ic ivau, %0" ::"r"(PC + 4 * i) : "memory");
    __asm__ volatile("dsb ish\n isb\n clrex\n msr tpidr_el0, xzr" ::: "memory");
    put(uc->x, t->cpu.x, sizeof uc->x);
    put(uc->fp.q, t->cpu.q, sizeof uc->fp.q);
    uc->sp = t->cpu.sp;
    uc->pc = PC;
    uc->pstate = t->cpu.nzcv;
    uc->fp.fpsr = t->cpu.fpsr;
    uc->fp.fpcr = t->cpu.fpcr;
}

void _start(void)
{
    u64 capacity = 1UL << 28, have = 0;
    u8 *input = map(0, capacity, 3);
    for (;;) {
        long n = call(63, 0, (long)(input + have), capacity - have, 0, 0, 0);
        if (n < 0 || have == capacity)
            leave(5);
        if (n == 0)
            break;
        have += n;
    }
    tests = (struct test *)input;
    count = have / sizeof *tests;
    out = map(0, ROOM, 3);
    map(DATA, DATA_SIZE, 3);
    u32 *code = map(CODE, CODE_SIZE, 7);
    for (u64 i = 0; i < CODE_SIZE / 4; i++)
        code[i] = BRK;
    struct {
        void *base;
        u64 flags, size;
    } alternate = {stack, 0, sizeof stack};
    call(132, (long)&alternate, 0, 0, 0, 0, 0);
    static const int signals[] = {4, 5, 7, 8, 11, SIGALRM};
    for (u64 i = 0; i < sizeof signals / sizeof *signals; i++) {
        /* SA_SIGINFO | SA_ONSTACK */
        struct sigaction action = {handler, 0x08000004, 0, ~0UL};
        if (call(134, signals[i], (long)&action, 0, 8, 0, 0))
            leave(6);
    }
    u64 timer[4] = {PATIENCE, 0, PATIENCE, 0};
    call(103, 0, (long)timer, 0, 0, 0, 0);
    __asm__ volatile("brk #0");
    leave(7);
}
