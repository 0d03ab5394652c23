/* The GIC's ITS: registers, commands, and tables for a few devices and LPIs. */
#pragma once
#include "gic.h"

#define GITS 0x08080000ul
#define GITS_CTLR (GITS + 0)
#define GITS_TYPER (GITS + 8)
#define GITS_CBASER (GITS + 0x80)
#define GITS_CWRITER (GITS + 0x88)
#define GITS_CREADR (GITS + 0x90)
#define GITS_BASER(n) (GITS + 0x100 + 8 * (n))
#define GITS_TRANSLATER (GITS + 0x10040)
#define GICR_PROPBASER(n) (GICR + 0x20000 * (n) + 0x70)
#define GICR_PENDBASER(n) (GICR + 0x20000 * (n) + 0x78)
#define GICR_CTLR_OF(n) (GICR + 0x20000 * (n))

#define BASER_VALID (1ul << 63)
#define BASER_INDIRECT (1ul << 62)
#define LPI 8192u
#define CPUS 2

/* What the tables are: pages of 4 KiB, or of 16 (1) or 64 (2); one level or two. */
struct shape {
	u64 page_size, indirect;
};

struct its_memory {
	u64 queue, devices, collections, properties, pending[CPUS], itts;
};
extern struct its_memory its_memory;

static inline void store16(u64 at, u32 value) { asm volatile("strh %w0, [%1]" ::"r"(value), "r"(at) : "memory"); }

/* The configuration of an LPI: priority and enable. */
static inline void configure(u32 intid, u8 value) { store8(its_memory.properties + intid - LPI, value); }

/* Appends a command to the queue, which has 4 KiB. */
static inline void its_put(u64 a, u64 b, u64 c, u64 d) {
	u64 offset = load64(GITS_CWRITER) & 0xfffe0;
	u64 at = its_memory.queue + offset;
	store64(at, a);
	store64(at + 8, b);
	store64(at + 16, c);
	store64(at + 24, d);
	dsb();
	store64(GITS_CWRITER, (offset + 32) % 4096);
}
/* Waits until the queue is empty, or stalls, or time is up. */
static inline void its_wait(void) {
	for (u32 n = 0; n < 1000; n++) {
		u64 creadr = load64(GITS_CREADR);
		if (creadr & 1 || creadr == load64(GITS_CWRITER))
			return;
	}
}
static inline void its_do(u64 a, u64 b, u64 c, u64 d) {
	its_put(a, b, c, d);
	its_wait();
}

#define VALID_BIT (1ul << 63)
static inline void mapd(u64 device, u64 bits, u64 itt) { its_do(0x08 | device << 32, bits - 1, itt | VALID_BIT, 0); }
static inline void unmapd(u64 device) { its_do(0x08 | device << 32, 0, 0, 0); }
static inline void mapc(u64 collection, u64 pe) { its_do(0x09, 0, collection | pe << 16 | VALID_BIT, 0); }
static inline void unmapc(u64 collection) { its_do(0x09, 0, collection, 0); }
static inline void mapti(u64 device, u64 event, u64 intid, u64 collection) {
	its_do(0x0a | device << 32, event | intid << 32, collection, 0);
}
static inline void mapi(u64 device, u64 event, u64 collection) { its_do(0x0b | device << 32, event, collection, 0); }
static inline void movi(u64 device, u64 event, u64 collection) { its_do(0x01 | device << 32, event, collection, 0); }
static inline void movall(u64 from, u64 to) { its_do(0x0e, 0, from << 16, to << 16); }
static inline void discard(u64 device, u64 event) { its_do(0x0f | device << 32, event, 0, 0); }
static inline void its_int(u64 device, u64 event) { its_do(0x03 | device << 32, event, 0, 0); }
static inline void its_clear(u64 device, u64 event) { its_do(0x04 | device << 32, event, 0, 0); }
static inline void inv(u64 device, u64 event) { its_do(0x0c | device << 32, event, 0, 0); }
static inline void invall(u64 collection) { its_do(0x0d, 0, collection, 0); }
static inline void its_sync(u64 pe) { its_do(0x05, 0, pe << 16, 0); }
