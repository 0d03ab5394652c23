/* What programs at EL2 use beside bare.h: their names begin with "el2_", and they start at EL2 with HCR_EL2.{E2H, TGE} = 0.
 *
 * A case of theirs runs at EL0, EL1 or EL2 by its SPSR, under HCR_EL2 = case_hcr, which holds for the case alone. EL2's own
 * tables and CPTR_EL2 mean the same with and without E2H, so that a case may have it; TTBR0_EL2 maps the cases and
 * user_data for EL0 as well, for cases with TGE. EL1's registers are as in a program at EL1, with VBAR_EL1 = vectors1,
 * whose HVC hands over what EL1 took. */
#pragma once
#include "bare.h"

#define EL2T 0x3c8ul
#define EL2H 0x3c9ul

#define HCR_VM (1ul << 0)
#define HCR_SWIO (1ul << 1)
#define HCR_PTW (1ul << 2)
#define HCR_FMO (1ul << 3)
#define HCR_IMO (1ul << 4)
#define HCR_AMO (1ul << 5)
#define HCR_VF (1ul << 6)
#define HCR_VI (1ul << 7)
#define HCR_VSE (1ul << 8)
#define HCR_FB (1ul << 9)
#define HCR_DC (1ul << 12)
#define HCR_TWI (1ul << 13)
#define HCR_TWE (1ul << 14)
#define HCR_TSC (1ul << 19)
#define HCR_TVM (1ul << 26)
#define HCR_TGE (1ul << 27)
#define HCR_TDZ (1ul << 28)
#define HCR_HCD (1ul << 29)
#define HCR_TRVM (1ul << 30)
#define HCR_RW (1ul << 31)
#define HCR_CD (1ul << 32)
#define HCR_ID (1ul << 33)
#define HCR_E2H (1ul << 34)
#define HCR_TEA (1ul << 37)
#define HCR_API (1ul << 41)
#define HCR_APK (1ul << 40)
#define HCR_FWB (1ul << 46)

/* HCR_EL2 of the next cases; HCR_RW at first. */
extern u64 case_hcr;
/* HCR_EL2 of the program itself: HCR_RW. */
extern u64 own_hcr;
/* SP_EL2 of a case at EL2. */
extern u64 case_sp2;
extern const u32 vectors1[], vectors1_smc[];

/* Runs a case as `test` does, under HCR_EL2 = HCR_RW | hcr; with empty TLBs where a bit changed that they may hold. With
 * HCD, EL1 hands over by SMC and TSC is set. */
void test_hcr(const char *name, u64 hcr, const u32 *code, u64 spsr, u64 x0, u64 x1, u64 x2, u64 x3);
/* The same where the case needs no arguments. */
#define test2(name, hcr, code, spsr) test_hcr(name, hcr, code, spsr, 0, 0, 0, 0)

/* EL2's own translation, for a CPU that has just started. */
void regime2(void);
/* The descriptor of the 2 MiB block that holds `va`, from 0x40000000 to 0x7fffffff, in EL2's own tables. */
u64 *regime2_slot(u64 va);

/* Stage 2 descriptors. */
#define S2_ATTR(n) ((u64)(n) << 2)
#define S2_NORMAL S2_ATTR(15)
#define S2_NON_CACHEABLE S2_ATTR(5)
#define S2_DEVICE S2_ATTR(1)
#define S2AP_R (1ul << 6)
#define S2AP_W (1ul << 7)
#define S2_RW (S2AP_R | S2AP_W)
#define S2_XN(n) ((u64)(n) << 53)
/* All rights. */
#define S2_ALL (S2_NORMAL | S2_RW | SH_INNER | AF)

/* Stage 2's tables. */
struct stage2 {
	struct tables tables;
	u64 vtcr, vmid;
};
extern struct stage2 stage2;

/* Empty tables for VTCR_EL2.T0SZ = tsz that are walked from level `start` (as many concatenated tables as that takes), with
 * `more` in VTCR_EL2; writes VTCR_EL2 and VTTBR_EL2, not HCR_EL2. Forgets all stage 2 tables that were there. */
void stage2_new(u32 page_bits, u32 tsz, int start, u64 more);
/* The same for what a program needs most: 4 KiB granule, 40 bits (or as many as there are), and the RAM that it lies in
 * mapped to itself with all rights. */
void stage2_plain(void);
/* Maps RAM, which holds the program, its tables and its data, to itself with all rights. */
void stage2_identity(void);
/* Another VMID. */
void stage2_vmid(u64 vmid);
/* The descriptor of `ipa` at `level`, with tables made down to it. */
u64 *stage2_slot(u64 ipa, int level);
/* log2 of what a descriptor at `level` maps. */
u32 stage2_shift(int level);
/* Maps the block or page of `level` that holds `ipa` to the one that holds `pa`. */
void stage2_map(u64 ipa, u64 pa, int level, u64 attributes);
/* Forgets stages 1 and 2 of all VMIDs. */
void stage2_flush(void);
