/* What every bare-metal program uses: console, running a case, page tables. */
#pragma once

typedef unsigned long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

#define UART 0x09000000ul
#define GICD 0x08000000ul
#define GICR 0x080a0000ul

/* SPSR_EL1 of a case. */
#define EL0T 0x3c0ul
#define EL1T 0x3c4ul
#define EL1H 0x3c5ul
#define SPSR_PAN (1ul << 22)
#define SPSR_UAO (1ul << 23)
#define SPSR_IL (1ul << 20)

#define TEXT_OF_(x) #x
#define TEXT_OF(x) TEXT_OF_(x)

/* A case's code; `svc #0x7777` says that it came to its end. */
#define CODE(label, body)                                                                                             \
	extern const u32 label[];                                                                                      \
	asm(".pushsection .cases, \"ax\"\n.arch armv8.6-a+crc+memtag\n.balign 64\n" #label ":\n" body                       \
	    "\n\tsvc #0x7777\n.popsection\n")
#define DONE 0x56007777ul

/* The exception that ended a case; the vector's offset says which kind. */
struct caught {
	u64 x[8];
	u64 sp, sp_el0;
	u64 esr, far, elr, spsr, vector, daif;
	/* Programs at EL2 only: HPFAR_EL2, HCR_EL2, the level that took the exception, all registers but SP;
	 * PSTATE.PAN in EL2 afterwards. */
	u64 hpfar, hcr, level, all[31], pan;
};
extern volatile struct caught caught;
extern u64 case_sp, has_pan;

void run(const void *code, u64 spsr, const u64 args[4]);
void run4(const void *code, u64 spsr, u64 x0, u64 x1, u64 x2, u64 x3);
/* Prints how the last case, which began at `code`, ended. */
void report(const char *name, const void *code);
void test(const char *name, const u32 *code, u64 spsr, u64 x0, u64 x1, u64 x2, u64 x3);
/* Calls firmware: HVC from EL1, SMC from EL2. */
u64 psci(u64 function, u64 a, u64 b, u64 c);
void power_off(void);

void out_char(char c);
void out(const char *text);
void out_hex(u64 value);
void out_dec(u64 value);
/* Name, '=', hexadecimal value, with a blank before. */
void out_field(const char *name, u64 value);
void out_line(void);
/* What the names of the following lines begin with. */
void section(const char *text);
void subsection(const char *text);
void subsection_hex(const char *text, u64 value);
u32 section_mark(void);
void section_back(u32 mark);
/* Begins a line. */
void out_name(const char *name);
/* A line of a name and one value. */
void out_value(const char *name, u64 value);

#define read_sysreg(name)                                                                                              \
	({                                                                                                             \
		u64 value_;                                                                                            \
		asm volatile("mrs %0, " TEXT_OF(name) : "=r"(value_)::"memory");                                         \
		value_;                                                                                                \
	})
#define write_sysreg(name, value) asm volatile("msr " TEXT_OF(name) ", %0" ::"r"((u64)(value)) : "memory")
#define isb() asm volatile("isb" ::: "memory")
#define dsb() asm volatile("dsb sy" ::: "memory")
#define field(value, low, bits) ((value) >> (low) & ((1ul << (bits)) - 1))

static inline u32 load32(u64 at) {
	u32 value;
	asm volatile("ldr %w0, [%1]" : "=r"(value) : "r"(at) : "memory");
	return value;
}
static inline void store32(u64 at, u32 value) { asm volatile("str %w0, [%1]" ::"r"(value), "r"(at) : "memory"); }
static inline void store64(u64 at, u64 value) { asm volatile("str %0, [%1]" ::"r"(value), "r"(at) : "memory"); }
static inline u64 load64(u64 at) {
	u64 value;
	asm volatile("ldr %0, [%1]" : "=r"(value) : "r"(at) : "memory");
	return value;
}
static inline void store8(u64 at, u32 value) { asm volatile("strb %w0, [%1]" ::"r"(value), "r"(at) : "memory"); }

/* What the CPU has, from its ID registers. */
struct features {
	u32 pan, uao, hafdbs, lse, vhe, granule4, granule16, granule64, pa_range, epan, atomics;
};
extern struct features cpu;

/* SCTLR_EL1 bits. */
#define SCTLR_M (1ul << 0)
#define SCTLR_A (1ul << 1)
#define SCTLR_C (1ul << 2)
#define SCTLR_SA (1ul << 3)
#define SCTLR_SA0 (1ul << 4)
#define SCTLR_UMA (1ul << 9)
#define SCTLR_I (1ul << 12)
#define SCTLR_DZE (1ul << 14)
#define SCTLR_UCT (1ul << 15)
#define SCTLR_NTWI (1ul << 16)
#define SCTLR_NTWE (1ul << 18)
#define SCTLR_WXN (1ul << 19)
#define SCTLR_SPAN (1ul << 23)
#define SCTLR_UCI (1ul << 26)
#define SCTLR_EPAN (1ul << 57)
/* With the MMU on, and what a program starts with. */
#define SCTLR_ON                                                                                                       \
	(0x30d00800ul | SCTLR_M | SCTLR_C | SCTLR_I | SCTLR_SA | SCTLR_SA0 | SCTLR_SPAN)
void set_sctlr(u64 value);

/* Descriptors. */
#define VALID 1ul
#define TABLE 3ul
#define PAGE 3ul
#define BLOCK 1ul
#define ATTR(n) ((u64)(n) << 2)
#define NORMAL ATTR(0)
#define DEVICE ATTR(1)
#define NON_CACHEABLE ATTR(2)
#define AP(n) ((u64)(n) << 6)
#define SH_INNER (3ul << 8)
#define AF (1ul << 10)
#define NG (1ul << 11)
#define DBM (1ul << 51)
#define CONTIGUOUS (1ul << 52)
#define PXN (1ul << 53)
#define UXN (1ul << 54)
#define PXN_TABLE (1ul << 59)
#define UXN_TABLE (1ul << 60)
#define AP_TABLE(n) ((u64)(n) << 61)
/* Without shareability, whose bits are an address with TCR_EL1.DS. */
#define KERNEL_RW (NORMAL | AF | AP(0) | PXN | UXN)
#define USER_RW (NORMAL | AF | AP(1) | PXN | UXN)

/* MAIR_EL1: 0 Normal write-back, 1 Device-nGnRE, 2 Normal non-cacheable, 3 Device-nGnRnE, 4 Normal write-through. */
#define MAIR 0xbb004404fful
/* TCR_EL1 of the program's own half: 4 KiB granule, 39 bits, 40-bit addresses or fewer. TTBR1's half is off. */
#define TCR_OWN (25ul | 1ul << 8 | 1ul << 10 | 3ul << 12)
#define TCR_EPD1 (1ul << 23)

/* Translation tables that cases make and break: granule, TCR's TnSZ, the level they start at, and where. */
struct tables {
	u32 page_bits; /* 12, 14 or 16 */
	u32 tsz;
	int start;
	u64 root;
	/* A zeroed, aligned piece for a table. */
	u64 (*fresh)(u64 bytes, u64 align);
};
/* The descriptor of `address` at `level`, with tables made down to it. */
u64 *slot_in(const struct tables *tables, u64 address, int level);
/* log2 of what a descriptor at `level` maps. */
u32 shift_in(const struct tables *tables, int level);

/* The upper half, TTBR1's. */
struct upper {
	struct tables tables;
	u64 tcr; /* further bits of TCR_EL1 */
};
extern struct upper upper;
/* An empty upper half, with `more` in TCR_EL1; forgets everything that was there. */
void upper_new(u32 page_bits, u32 tsz, u64 more);
/* The descriptor of `va` at `level`, with tables made down to it. */
u64 *upper_slot(u64 va, int level);
/* log2 of what a descriptor at `level` maps. */
u32 upper_shift(int level);
/* Lowest address of the upper half. */
u64 upper_base(void);
void tlb_flush(void);
/* A zeroed, aligned piece of the heap, which upper_new empties. */
u64 heap(u64 bytes, u64 align);

/* 4 KiB of data that EL0 may read and write. */
extern u8 user_data[65536];
/* The same for EL1 alone. */
extern u8 kernel_data[65536];
