//! Tables in guest RAM, and PAR_EL1.

mod common;

use std::sync::Arc;

use arch::{Ipa, Pa};
use bus::ram::Stale;
use bus::{Bus, Ram};
use common::*;
use vambrace_mmu::{Access, AccessKind};
use vambrace_mmu::{
    Fault, FaultKind, Privilege, Regs, Stage, Stage1, Stage2Cause, TableFault, TableMemory, par_value, walk,
};

const BASE: u64 = 0x4000_0000;

fn bus() -> Bus {
    Bus::new(Arc::new(Ram::new(1 << 20).unwrap()), Pa(BASE))
}

#[test]
fn tables_in_ram() {
    let bus = bus();
    let s = Stage1::new(&Regs { tcr: K4.tcr(5) | 1 << 39, ..regs(K4, BASE, 0) }, &features(K4));
    for level in 0..3 {
        bus.ram().write_u64(level << 12, (BASE + ((level + 1) << 12)) | 3).unwrap();
    }
    bus.ram().write_u64(3 << 12, 0x8000_0000 | 3).unwrap();
    bus.ram().mark_code(3 << 12);
    assert_eq!(walk(&s, va(0x10), READ, &bus).unwrap().output(va(0x10)), Pa(0x8000_0010));
    assert_eq!(bus.ram().read_u64(3 << 12), Some(0x8000_0000 | 3 | AF));
    assert_eq!(bus.ram().stale_since(&mut 0), Stale::Pages(vec![3]), "the update of a page with code is noted");
    // A table where there is no RAM.
    bus.ram().write_u64(2 << 12, 0x1000 | 3).unwrap();
    let f = walk(&s, va(0), READ, &bus).unwrap_err();
    assert_eq!((what(f), f.fsc(), f.steps), ((FaultKind::ExternalOnWalk, 3), 0x17, 3));
    for outside in [0, BASE - 8, BASE + (1 << 20), u64::MAX - 7] {
        assert_eq!(bus.read(Pa(outside)), Err(TableFault::External));
        assert_eq!(bus.compare_exchange(Pa(outside), 0, 1), Err(TableFault::External));
    }
    assert_eq!(bus.compare_exchange(Pa(BASE + 0x8000), 1, 2), Ok(Err(0)));
    assert_eq!(bus.read(Pa(BASE + 0x8000)), Ok(0));
}

#[test]
fn par_of_success() {
    let t = Tables::new();
    let root = t.alloc();
    let s = stage1(K4, root);
    let at = Access::new(AccessKind::AtRead, Privilege::El1);
    let par = |value: u64| par_value(va(value), &walk(&s, va(value), at, &t));
    // ATTR [63:56], PA [47:12], RES1 [11], NS [9], SH [8:7], F [0].
    t.map(K4, root, 0x40_0000, 0x1234_5660_0000, 2, AF | 3 << 8);
    assert_eq!(par(0x41_2abc), 0xff00_1234_5661_2b80);
    t.map(K4, root, 0x1000, 0x900_0000, 3, AF | 1 << 2);
    assert_eq!(par(0x1fff), 0x0400_0000_0900_0b00, "Device memory is Outer Shareable");
}

#[test]
fn par_of_faults() {
    let fault = |kind, level, stage| {
        let f = Fault { stage, ..Fault::stage1(kind, level, READ) };
        par_value(va(0), &Err(f))
    };
    // F [0], FST [6:1], PTW [8], S [9], RES1 [11].
    assert_eq!(fault(FaultKind::Translation, 3, Stage::One), 0x80f);
    assert_eq!(fault(FaultKind::Translation, -1, Stage::One), 0x857);
    assert_eq!(fault(FaultKind::Permission, 2, Stage::One), 0x81d);
    let ipa = Ipa(0x5000);
    assert_eq!(fault(FaultKind::Translation, 1, Stage::Two { ipa, cause: Stage2Cause::Output }), 0xa0b);
    assert_eq!(fault(FaultKind::Translation, 1, Stage::Two { ipa, cause: Stage2Cause::Stage1Walk }), 0xb0b);
}

/// The codes that no walk produces.
#[test]
fn other_status_codes() {
    for (kind, fsc) in [
        (FaultKind::External, 0x10),
        (FaultKind::TagCheck, 0x11),
        (FaultKind::Alignment, 0x21),
        (FaultKind::TlbConflict, 0x30),
        (FaultKind::UnsupportedAtomicUpdate, 0x31),
        (FaultKind::UnsupportedExclusive, 0x35),
    ] {
        assert_eq!(Fault::stage1(kind, 0, READ).fsc(), fsc);
    }
}
