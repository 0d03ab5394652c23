//! Where interrupts go: SGIs by affinity, SPIs by route.

use super::*;

#[test]
fn sgis() {
    check(
        "SGI1R reaches the PEs of its target list",
        40,
        &[
            // INTID 5 to Aff1 = 1, Aff0 = 0, 3 and 15: PEs 16, 19 and 31.
            Msr(2, icc::SGI1R, 5 << 24 | 1 << 16 | 0x8009),
            Wires(0, 0),
            Wires(16, IRQ),
            Wires(19, IRQ),
            Wires(31, IRQ),
            Wires(17, 0),
            Mrs(19, icc::IAR1, 5),
            Wires(19, 0),
            Wires(16, IRQ),
            Msr(19, icc::EOIR1, 5),
            Mrs(19, icc::IAR1, NONE),
            // A PE that does not exist, and ranges that hold none.
            Msr(2, icc::SGI1R, 2 << 16 | 1 << 15),
            Msr(2, icc::SGI1R, 1 << 44 | 0xffff),
            Msr(2, icc::SGI1R, 1 << 48 | 0xffff),
            Msr(2, icc::SGI1R, 1 << 32 | 0xffff),
            Wires(0, 0),
            Wires(2, 0),
            // IRM: everyone but the sender.
            Msr(2, icc::SGI1R, 1 << 40 | 7 << 24 | 0xffff),
            Wires(2, 0),
            Mrs(0, icc::IAR1, 7),
            Mrs(39, icc::IAR1, 7),
        ],
    );
    check(
        "the register chooses the group that an SGI may have",
        2,
        &[
            Redist(1, SGI + IGROUPR, !(1 << 6)),
            Msr(0, icc::SGI0R, 7 << 24 | 2),
            Msr(0, icc::ASGI1R, 7 << 24 | 2),
            Wires(1, 0),
            Msr(0, icc::SGI0R, 6 << 24 | 2),
            Wires(1, FIQ),
            Mrs(1, icc::IAR0, 6),
            Msr(1, icc::EOIR0, 6),
            Msr(0, icc::ASGI1R, 6 << 24 | 2),
            Mrs(1, icc::IAR0, 6),
            Msr(1, icc::EOIR0, 6),
            Msr(0, icc::SGI1R, 6 << 24 | 2),
            Wires(1, FIQ),
        ],
    );
    let mut wide = Board::with(vec![0x12_0034_5637, 0x12_0034_56ff], 32, Sleep::Awake);
    wide.run(
        "Aff3 and the range selector",
        &[
            Dist(CTLR, 3),
            Redist(0, SGI + ISENABLER, 1),
            Redist(1, SGI + ISENABLER, 1),
            Msr(0, icc::PMR, 0xff),
            Msr(0, icc::IGRPEN0, 1),
            Msr(1, icc::PMR, 0xff),
            Msr(1, icc::IGRPEN0, 1),
            Msr(0, icc::SGI0R, 0x12 << 48 | 0x34 << 32 | 0x56 << 16 | 15 << 44 | 0x8000),
            Wires(0, 0),
            Wires(1, FIQ),
            Msr(1, icc::SGI0R, 0x12 << 48 | 0x34 << 32 | 0x56 << 16 | 3 << 44 | 0x80),
            Wires(0, FIQ),
        ],
    );
}

#[test]
fn routing() {
    check(
        "IROUTER moves a pending SPI; a PE that does not exist gets nothing",
        20,
        &[
            Spi(60, HIGH),
            Wires(0, IRQ),
            DistDouble(IROUTER + 8 * 60, 0x103),
            Wires(0, 0),
            Wires(19, IRQ),
            DistIs(IROUTER + 8 * 60, 0x103),
            // The upper half alone: Aff3 = 1 is nobody.
            Dist(IROUTER + 8 * 60 + 4, 1),
            Wires(19, 0),
            DistIs(IROUTER + 8 * 60 + 4, 1),
            Dist(IROUTER + 8 * 60 + 4, 0),
            Wires(19, IRQ),
            Mrs(19, icc::IAR1, 60),
            // Moved while active: it stays active, and is pending for the new target after the end.
            Dist(IROUTER + 8 * 60, 1),
            Wires(1, 0),
            Msr(19, icc::EOIR1, 60),
            Wires(1, IRQ),
            Wires(19, 0),
            DistDouble(IROUTER + 8 * 61, u64::MAX),
            DistIs(IROUTER + 8 * 61, 0x80ff_ffff),
            DistIs(IROUTER + 8 * 61 + 4, 0xff),
            // INTIDs below 32 have no IROUTER.
            DistDouble(IROUTER + 8 * 31, 5),
            DistIs(IROUTER + 8 * 31, 0),
        ],
    );
    check(
        "1-of-N: the lowest participating PE takes it",
        3,
        &[
            DistDouble(IROUTER + 8 * 60, 1 << 31),
            Spi(60, HIGH),
            Wires(0, IRQ),
            Wires(1, 0),
            // PE 0 leaves by its group enable, PE 1 by DPG1NS, all by sleep.
            Msr(0, icc::IGRPEN1, 0),
            Wires(0, 0),
            Wires(1, IRQ),
            Redist(1, CTLR, 1 << 25),
            RedistIs(1, CTLR, 1 << 25),
            Wires(1, 0),
            Wires(2, IRQ),
            Redist(2, 0x14, 2),
            RedistIs(2, 0x14, 6),
            Wires(2, 0),
            Redist(2, 0x14, 0),
            Wires(2, IRQ),
            Msr(0, icc::IGRPEN1, 1),
            Wires(2, 0),
            Mrs(0, icc::IAR1, 60),
            Msr(0, icc::IGRPEN1, 0),
            Msr(0, icc::EOIR1, 60),
            Wires(0, 0),
            Wires(2, IRQ),
            // DPG0 concerns Group 0 only.
            Redist(2, CTLR, 1 << 24),
            Wires(2, IRQ),
            Dist(IGROUPR + 4, 0),
            Wires(2, 0),
            Wires(0, FIQ),
        ],
    );
}
