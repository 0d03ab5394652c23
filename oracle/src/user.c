/* The judge's half of `user.rs`: executes one instruction per case under whatever runs this program (qemu-user, or an
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
#define WINDOW 128

struct cpu {
    u64 x[31], sp, pc, nzcv;
    u64 q[64];
    u32 fpsr, fpcr;
};
struct test {
    struct cpu cpu;
    u64 seed;
    u32 word, pad;
};
struct outcome {
    struct cpu cpu;
    u32 signal, pad;
    u64 fault;
    u64 changed; /* offset in the data page of the first changed byte, DATA_SIZE where none */
    u64 last;    /* of the last */
    u8 bytes[WINDOW];
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

static u64 count, now = ~0UL;
static struct test *tests;
static struct outcome *outcomes;
static u64 stack[8192];

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
    volatile u8 *t = to;
    const u8 *f = from;
    while (size--)
        *t++ = *f++;
}

static void collect(int signal, struct ucontext *uc)
{
    struct outcome *o = &outcomes[now];
    u64 *data = (u64 *)DATA;
    put(o->cpu.x, uc->x, sizeof uc->x);
    put(o->cpu.q, uc->fp.q, sizeof uc->fp.q);
    o->cpu.sp = uc->sp;
    o->cpu.pc = uc->pc;
    o->cpu.nzcv = uc->pstate & 0xf0000000UL;
    o->cpu.fpsr = uc->fp.fpsr;
    o->cpu.fpcr = uc->fp.fpcr;
    o->signal = signal;
    o->fault = uc->fault;
    o->changed = DATA_SIZE;
    for (u64 i = 0; i < DATA_SIZE / 8; i++) {
        u64 difference = data[i] ^ mix(tests[now].seed ^ (DATA + 8 * i) >> 3);
        for (u64 j = 0; j < 8; j++)
            if (difference >> 8 * j & 0xff) {
                o->last = 8 * i + j;
                if (o->changed == DATA_SIZE)
                    o->changed = o->last;
            }
    }
    for (u64 i = 0; i < WINDOW && o->changed + i < DATA_SIZE; i++)
        o->bytes[i] = ((u8 *)DATA)[o->changed + i];
}

static void handler(int signal, u8 *info, struct ucontext *uc)
{
    (void)info;
    if (now != ~0UL)
        collect(signal, uc);
    if (++now == count) {
        u64 done = 0, size = count * sizeof *outcomes;
        while (done < size) {
            long n = call(64, 1, (long)((u8 *)outcomes + done), size - done, 0, 0, 0);
            if (n <= 0)
                leave(4);
            done += n;
        }
        leave(0);
    }
    struct test *t = &tests[now];
    for (u64 i = 0; i < DATA_SIZE / 8; i++)
        ((volatile u64 *)DATA)[i] = mix(t->seed ^ (DATA + 8 * i) >> 3);
    *(volatile u32 *)PC = t->word;
    __asm__ volatile("dc cvau, %0\n dsb ish\n ic ivau, %0\n dsb ish\n isb" ::"r"(PC) : "memory");
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
    outcomes = map(0, (count + 1) * sizeof *outcomes, 3);
    map(DATA, DATA_SIZE, 3);
    u32 *code = map(CODE, CODE_SIZE, 7);
    for (u64 i = 0; i < CODE_SIZE / 4; i++)
        code[i] = BRK;
    struct {
        void *base;
        u64 flags, size;
    } alternate = {stack, 0, sizeof stack};
    call(132, (long)&alternate, 0, 0, 0, 0, 0);
    static const int signals[] = {4, 5, 7, 8, 11};
    for (u64 i = 0; i < sizeof signals / sizeof *signals; i++) {
        /* SA_SIGINFO | SA_ONSTACK */
        struct sigaction action = {handler, 0x08000004, 0, ~0UL};
        if (call(134, signals[i], (long)&action, 0, 8, 0, 0))
            leave(6);
    }
    __asm__ volatile("brk #0");
    leave(7);
}
