/* Console, running a case, page tables. */
#include "bare.h"

volatile struct caught caught;
struct features cpu;
struct upper upper = {.tables = {.fresh = heap}};
__attribute__((section(".user"), aligned(65536))) u8 user_data[65536];
__attribute__((aligned(65536))) u8 kernel_data[65536];

/* Compilers call these. */
void *memset(void *to, int value, u64 size);
void *memset(void *to, int value, u64 size) {
	for (u64 n = 0; n < size; n++)
		((volatile u8 *)to)[n] = (u8)value;
	return to;
}
void *memcpy(void *to, const void *from, u64 size);
void *memcpy(void *to, const void *from, u64 size) {
	for (u64 n = 0; n < size; n++)
		((volatile u8 *)to)[n] = ((const u8 *)from)[n];
	return to;
}

void out_char(char c) { store32(UART, (u32)c); }

void out(const char *text) {
	while (*text)
		out_char(*text++);
}

void out_hex(u64 value) {
	int shift = 60;
	while (shift > 0 && value >> shift == 0)
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		out_char("0123456789abcdef"[value >> shift & 15]);
}

void out_dec(u64 value) {
	if (value >= 10)
		out_dec(value / 10);
	out_char((char)('0' + value % 10));
}

void out_field(const char *name, u64 value) {
	out_char(' ');
	out(name);
	out_char('=');
	out_hex(value);
}

void out_line(void) { out_char('\n'); }


void run4(const void *code, u64 spsr, u64 x0, u64 x1, u64 x2, u64 x3) {
	const u64 args[4] = {x0, x1, x2, x3};
	run(code, spsr, args);
}

/* Does an exception of this class write FAR_EL1? With FnV it does not. */
static int has_far(u64 esr) {
	u64 ec = esr >> 26;
	int abort = ec == 0x20 || ec == 0x21 || ec == 0x24 || ec == 0x25;
	int not_valid = abort && (esr & 0x3f) == 0x10 && (esr >> 10 & 1);
	return (abort && !not_valid) || ec == 0x22 || ec == 0x34 || ec == 0x35;
}

static char prefix[80];
static u32 prefix_length;

static void prefix_add(const char *text) {
	while (*text && prefix_length < sizeof prefix - 1)
		prefix[prefix_length++] = *text++;
	prefix[prefix_length] = 0;
}

void section(const char *text) {
	prefix_length = 0;
	prefix_add(text);
	prefix_add(" ");
}

void subsection(const char *text) {
	prefix_add(text);
	prefix_add(" ");
}

void subsection_hex(const char *text, u64 value) {
	char digits[17];
	int n = 16;
	digits[n] = 0;
	do {
		digits[--n] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	prefix_add(text);
	prefix_add(digits + n);
	prefix_add(" ");
}

u32 section_mark(void) { return prefix_length; }
void section_back(u32 mark) {
	prefix_length = mark;
	prefix[mark] = 0;
}

void out_name(const char *name) {
	out(prefix);
	out(name);
	out_char(':');
}

/* Does an exception with this syndrome write HPFAR_EL2? Not every one of stage 2 (R_FKLWR), and none of stage 1: EL2 takes
 * those of EL0 under HCR_EL2.TGE. */
static int has_hpfar(u64 esr) {
	u64 ec = esr >> 26, fsc = esr & 0x3f;
	int by_level = fsc < 0xc || fsc == 0x29 || fsc == 0x2b;
	int on_walk = fsc >> 2 == 3 && (esr >> 7 & 1);
	return (ec == 0x20 || ec == 0x24) && (by_level || on_walk) && !(caught.hcr >> 27 & 1);
}

void report(const char *name, const void *code) {
	out_name(name);
	if (caught.level)
		out_field("el", caught.level);
	u64 offset = caught.elr - (u64)code;
	if (caught.vector & 0x180) {
		out_field("interrupt", caught.vector);
		out_field("spsr", caught.spsr);
	} else if (caught.esr == DONE) {
		out_field("done", caught.vector);
		out_field("x0", caught.x[0]);
		out_field("x1", caught.x[1]);
		out_field("spsr", caught.spsr);
	} else {
		out_field("vector", caught.vector);
		out_field("esr", caught.esr);
		if (has_far(caught.esr))
			out_field("far", caught.far);
		if (caught.level == 2 && has_hpfar(caught.esr))
			out_field("hpfar", caught.hpfar);
		if (offset < 4096)
			out_field("elr", offset);
		else
			out_field("elr-at", caught.elr);
		out_field("spsr", caught.spsr);
	}
	out_line();
}

void out_value(const char *name, u64 value) {
	out_name(name);
	out_field("value", value);
	out_line();
}

void test(const char *name, const u32 *code, u64 spsr, u64 x0, u64 x1, u64 x2, u64 x3) {
	run4(code, spsr, x0, x1, x2, x3);
	report(name, code);
}

void set_sctlr(u64 value) {
	write_sysreg(sctlr_el1, value);
	isb();
}

void tlb_flush(void) {
	dsb();
	/* A program at EL2 forgets stage 2 as well. */
	if (read_sysreg(CurrentEL) == 8)
		asm volatile("tlbi alle1" ::: "memory");
	else
		asm volatile("tlbi vmalle1" ::: "memory");
	dsb();
	isb();
}

static u64 heap_next;
#define HEAP 0x40a00000ul

u64 heap(u64 bytes, u64 align) {
	u64 at = (heap_next + align - 1) & ~(align - 1);
	heap_next = at + bytes;
	for (u64 n = 0; n < bytes; n += 8)
		*(volatile u64 *)(at + n) = 0;
	return at;
}

u32 shift_in(const struct tables *tables, int level) {
	return tables->page_bits + (tables->page_bits - 3) * (u32)(3 - level);
}

u64 *slot_in(const struct tables *tables, u64 address, int level) {
	u64 table = tables->root;
	u64 bytes = 1ul << tables->page_bits;
	for (int at = tables->start;; at++) {
		u32 shift = shift_in(tables, at);
		u32 width = at == tables->start ? 64 - tables->tsz - shift : tables->page_bits - 3;
		u64 *slot = (u64 *)table + (address >> shift & ((1ul << width) - 1));
		if (at == level)
			return slot;
		if ((*slot & 3) != TABLE)
			*slot = tables->fresh(bytes, bytes) | TABLE;
		table = *slot & (((1ul << 48) - 1) & ~(bytes - 1));
	}
}

u32 upper_shift(int level) { return shift_in(&upper.tables, level); }
u64 upper_base(void) { return -(1ul << (64 - upper.tables.tsz)); }

void upper_new(u32 page_bits, u32 tsz, u64 more) {
	static const u64 tg1[17] = {[12] = 2, [14] = 1, [16] = 3};
	heap_next = HEAP;
	upper.tables.page_bits = page_bits;
	upper.tables.tsz = tsz;
	upper.tcr = more;
	u32 bits = 64 - tsz;
	upper.tables.start = 3 - (int)((bits - 1 - page_bits) / (page_bits - 3));
	u64 bytes = 8ul << (bits - upper_shift(upper.tables.start));
	upper.tables.root = heap(bytes < 64 ? 64 : bytes, bytes < 4096 ? 4096 : bytes);
	u64 sh_cacheable = 1ul << 24 | 1ul << 26 | 3ul << 28;
	/* PS: as much as there is, 48 bits at most. */
	u64 ps = cpu.pa_range > 5 ? 5 : cpu.pa_range;
	u64 tcr = TCR_OWN | (u64)tsz << 16 | sh_cacheable | tg1[page_bits] << 30 | ps << 32 | 1ul << 36;
	write_sysreg(ttbr1_el1, upper.tables.root);
	write_sysreg(tcr_el1, tcr ^ more);
	isb();
	tlb_flush();
}

u64 *upper_slot(u64 va, int level) { return slot_in(&upper.tables, va, level); }

static __attribute__((aligned(4096))) u64 own1[512], own2[512];

void start(void);
void start(void) {
	u64 mmfr0 = read_sysreg(id_aa64mmfr0_el1), mmfr1 = read_sysreg(id_aa64mmfr1_el1);
	cpu.pa_range = (u32)field(mmfr0, 0, 4);
	cpu.granule16 = field(mmfr0, 20, 4) != 0;
	cpu.granule64 = field(mmfr0, 24, 4) == 0;
	cpu.granule4 = field(mmfr0, 28, 4) != 15;
	cpu.hafdbs = (u32)field(mmfr1, 0, 4);
	cpu.pan = (u32)field(mmfr1, 20, 4);
	cpu.epan = cpu.pan >= 3;
	has_pan = cpu.pan != 0;
	cpu.uao = (u32)field(read_sysreg(S3_0_C0_C7_2), 4, 4);
	cpu.lse = (u32)field(read_sysreg(id_aa64isar0_el1), 20, 4);

	/* Devices; then RAM in blocks of 2 MiB as bare.ld lays them out. */
	own1[0] = BLOCK | DEVICE | AF | PXN | UXN;
	own1[1] = (u64)own2 | TABLE;
	for (u64 n = 0; n < 512; n++)
		own2[n] = 0x40000000ul | n << 21 | BLOCK | KERNEL_RW;
	own2[1] = 0x40200000ul | BLOCK | NORMAL | AF | AP(2) | UXN;
	own2[2] = 0x40400000ul | BLOCK | NORMAL | AF | AP(3);
	own2[4] = 0x40800000ul | BLOCK | USER_RW;
	write_sysreg(mair_el1, MAIR);
	write_sysreg(ttbr0_el1, own1);
	write_sysreg(tcr_el1, TCR_OWN | TCR_EPD1 | 2ul << 30 | 25ul << 16 | (u64)(cpu.pa_range > 5 ? 5 : cpu.pa_range) << 32 | 1ul << 36);
	isb();
	tlb_flush();
	set_sctlr(SCTLR_ON);
	write_sysreg(cntkctl_el1, 0);
	write_sysreg(contextidr_el1, 0);
	write_sysreg(tpidr_el0, 0);
	write_sysreg(mdscr_el1, 0);
}
