/* The distributor, whose registers here are at the same places in a GICv2 and a GICv3. */
#pragma once
#include "bare.h"

#define GICD_CTLR (GICD + 0)
#define GICD_TYPER (GICD + 4)
#define GICD_IGROUPR(n) (GICD + 0x80 + 4 * (n))
#define GICD_ISENABLER(n) (GICD + 0x100 + 4 * (n))
#define GICD_ICENABLER(n) (GICD + 0x180 + 4 * (n))
#define GICD_ISPENDR(n) (GICD + 0x200 + 4 * (n))
#define GICD_ICPENDR(n) (GICD + 0x280 + 4 * (n))
#define GICD_ISACTIVER(n) (GICD + 0x300 + 4 * (n))
#define GICD_ICACTIVER(n) (GICD + 0x380 + 4 * (n))
#define GICD_IPRIORITYR(n) (GICD + 0x400 + (n))
#define GICD_ICFGR(n) (GICD + 0xc00 + 4 * (n))
