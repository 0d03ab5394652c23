/* GICv3: the system-register interface by number, the distributor and the first redistributor. */
#pragma once
#include "gicd.h"

#define ICC_IAR0 S3_0_C12_C8_0
#define ICC_EOIR0 S3_0_C12_C8_1
#define ICC_HPPIR0 S3_0_C12_C8_2
#define ICC_BPR0 S3_0_C12_C8_3
#define ICC_AP0R0 S3_0_C12_C8_4
#define ICC_AP1R0 S3_0_C12_C9_0
#define ICC_DIR S3_0_C12_C11_1
#define ICC_RPR S3_0_C12_C11_3
#define ICC_SGI1R S3_0_C12_C11_5
#define ICC_ASGI1R S3_0_C12_C11_6
#define ICC_SGI0R S3_0_C12_C11_7
#define ICC_IAR1 S3_0_C12_C12_0
#define ICC_EOIR1 S3_0_C12_C12_1
#define ICC_HPPIR1 S3_0_C12_C12_2
#define ICC_BPR1 S3_0_C12_C12_3
#define ICC_CTLR S3_0_C12_C12_4
#define ICC_SRE S3_0_C12_C12_5
#define ICC_IGRPEN0 S3_0_C12_C12_6
#define ICC_IGRPEN1 S3_0_C12_C12_7
#define ICC_PMR S3_0_C4_C6_0

#define GICD_IROUTER(n) (GICD + 0x6000 + 8 * (n))
#define GICR_CTLR (GICR + 0)
#define GICR_TYPER (GICR + 8)
#define GICR_WAKER (GICR + 0x14)
#define GICR_SGI (GICR + 0x10000)
#define GICR_IGROUPR0 (GICR_SGI + 0x80)
#define GICR_ISENABLER0 (GICR_SGI + 0x100)
#define GICR_ICENABLER0 (GICR_SGI + 0x180)
#define GICR_ISPENDR0 (GICR_SGI + 0x200)
#define GICR_ICPENDR0 (GICR_SGI + 0x280)
#define GICR_ISACTIVER0 (GICR_SGI + 0x300)
#define GICR_ICACTIVER0 (GICR_SGI + 0x380)
#define GICR_IPRIORITYR(n) (GICR_SGI + 0x400 + (n))
#define GICR_ICFGR(n) (GICR_SGI + 0xc00 + 4 * (n))

/* Waits until register writes have arrived. */
static inline void gic_wait(void) {
	while (load32(GICD_CTLR) >> 31)
		;
	dsb();
	isb();
}

/* A known state: everything Group 1, disabled, inactive, priority 0x80, both groups on, nothing masked. */
static inline void gic_reset(void) {
	store32(GICD_CTLR, 0x10);
	gic_wait();
	store32(GICD_CTLR, 0x13);
	store32(GICR_WAKER, 0);
	while (load32(GICR_WAKER) & 4)
		;
	store32(GICR_IGROUPR0, ~0u);
	store32(GICR_ICENABLER0, ~0u);
	store32(GICR_ICPENDR0, ~0u);
	store32(GICR_ICACTIVER0, ~0u);
	store32(GICD_IGROUPR(1), ~0u);
	store32(GICD_ICENABLER(1), ~0u);
	store32(GICD_ICPENDR(1), ~0u);
	store32(GICD_ICACTIVER(1), ~0u);
	store32(GICD_ICFGR(2), 0);
	store32(GICD_ICFGR(3), 0);
	for (u32 n = 0; n < 32; n++) {
		store8(GICR_IPRIORITYR(n), 0x80);
		store8(GICD_IPRIORITYR(32 + n), 0x80);
		store64(GICD_IROUTER(32 + n), 0);
	}
	gic_wait();
	write_sysreg(ICC_SRE, 7);
	isb();
	write_sysreg(ICC_CTLR, 0);
	write_sysreg(ICC_BPR0, 0);
	write_sysreg(ICC_BPR1, 0);
	write_sysreg(ICC_AP0R0, 0);
	write_sysreg(ICC_AP1R0, 0);
	write_sysreg(ICC_PMR, 0xff);
	write_sysreg(ICC_IGRPEN0, 1);
	write_sysreg(ICC_IGRPEN1, 1);
	isb();
}

/* What is pending in group 1, which is active from here on; and its end. */
static inline u64 acknowledge(void) {
	u64 intid = read_sysreg(ICC_IAR1);
	isb();
	out_value("iar1", intid);
	return intid;
}
static inline void end(u64 intid) {
	write_sysreg(ICC_EOIR1, intid);
	isb();
}

static inline void sgi(u32 intid) {
	write_sysreg(ICC_SGI1R, (u64)intid << 24 | 1);
	isb();
	dsb();
}
static inline void sgi0(u32 intid) {
	write_sysreg(ICC_SGI0R, (u64)intid << 24 | 1);
	isb();
	dsb();
}
