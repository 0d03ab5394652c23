//! The manual's permission tables, spelled out.

mod common;

use common::*;
use vambrace_mmu::{Access, AccessKind, FaultKind, PanState, Privilege, Regs, Rights, Stage1, permissions, walk};
use vambrace_mmu::{Direction, Outcome};

/// AP[2:1], UXN, PXN; then EL1 and EL0 without WXN; EL1 and EL0 with WXN.
const EL10: [(u64, u64, u64, &str, &str, &str, &str); 16] = [
    (0b00, 0, 0, "rwx", "--x", "rw-", "--x"),
    (0b00, 0, 1, "rw-", "--x", "rw-", "--x"),
    (0b00, 1, 0, "rwx", "---", "rw-", "---"),
    (0b00, 1, 1, "rw-", "---", "rw-", "---"),
    (0b01, 0, 0, "rw-", "rwx", "rw-", "rw-"),
    (0b01, 0, 1, "rw-", "rwx", "rw-", "rw-"),
    (0b01, 1, 0, "rw-", "rw-", "rw-", "rw-"),
    (0b01, 1, 1, "rw-", "rw-", "rw-", "rw-"),
    (0b10, 0, 0, "r-x", "--x", "r-x", "--x"),
    (0b10, 0, 1, "r--", "--x", "r--", "--x"),
    (0b10, 1, 0, "r-x", "---", "r-x", "---"),
    (0b10, 1, 1, "r--", "---", "r--", "---"),
    (0b11, 0, 0, "r-x", "r-x", "r-x", "r-x"),
    (0b11, 0, 1, "r--", "r-x", "r--", "r-x"),
    (0b11, 1, 0, "r-x", "r--", "r-x", "r--"),
    (0b11, 1, 1, "r--", "r--", "r--", "r--"),
];

fn rights(text: &str) -> Rights {
    text.chars().fold(Rights::NONE, |r, c| {
        r.union(match c {
            'r' => Rights::READ,
            'w' => Rights::WRITE,
            'x' => Rights::FETCH,
            _ => Rights::NONE,
        })
    })
}

const KINDS: [(AccessKind, &str); 6] = [
    (AccessKind::Read, "r"),
    (AccessKind::Write, "w"),
    (AccessKind::ReadWrite, "rw"),
    (AccessKind::Fetch, "x"),
    (AccessKind::AtRead, "r"),
    (AccessKind::AtWrite, "w"),
];

#[test]
fn el1_and_0() {
    let t = Tables::new();
    let root = t.alloc();
    let mut cases = 0;
    for (ap, uxn, pxn, el1, el0, el1_wxn, el0_wxn) in EL10 {
        t.map(K4, root, 0, 0x4000_0000, 3, AF | ap << 6 | uxn << 54 | pxn << 53);
        for wxn in [0, 1] {
            for epan in [0, 1] {
                let sctlr = 1 | wxn << 19 | epan << 57;
                let s = Stage1::new(&Regs { sctlr, ..regs(K4, root, root) }, &features(K4));
                for (privilege, plain, with_wxn) in [(Privilege::El1, el1, el1_wxn), (Privilege::El0, el0, el0_wxn)] {
                    for pan in [PanState::Off, PanState::On] {
                        let mut expect = rights(if wxn == 1 { with_wxn } else { plain });
                        // PAN: no privileged data access where EL0 has one; with EPAN, also where EL0 may execute.
                        let user = rights(if wxn == 1 { el0_wxn } else { el0 });
                        let user_data = user.contains(Rights::READ) || user.contains(Rights::WRITE);
                        let user_exec = epan == 1 && user.contains(Rights::FETCH);
                        if privilege == Privilege::El1 && pan == PanState::On && (user_data || user_exec) {
                            expect = expect.without(Rights::READ.union(Rights::WRITE));
                        }
                        for (kind, needs) in KINDS {
                            let access = Access::new(kind, privilege).with_pan(pan);
                            let got = walk(&s, va(0), access, &t);
                            let ok = expect.contains(rights(needs));
                            assert_eq!(
                                got.is_ok(),
                                ok,
                                "AP {ap:02b} UXN {uxn} PXN {pxn} WXN {wxn} EPAN {epan} {access:?}"
                            );
                            if let Err(fault) = got {
                                assert_eq!((fault.kind, fault.level, fault.fsc()), (FaultKind::Permission, 3, 0x0f));
                                let write_only = kind == AccessKind::ReadWrite && expect.contains(Rights::READ);
                                let write =
                                    matches!(kind, AccessKind::Write | AccessKind::AtRead | AccessKind::AtWrite);
                                let direction = if write || write_only { Direction::Write } else { Direction::Read };
                                assert_eq!(fault.direction, direction, "{access:?}");
                            }
                            cases += 1;
                        }
                        // The set that fills the fast cache says the same.
                        let any = Access::new(AccessKind::CacheMaintenance, Privilege::El1);
                        let entry = walk(&s, va(0), any, &t).unwrap();
                        assert_eq!(permissions::rights(&s, &entry, privilege, pan), expect);
                    }
                }
            }
        }
    }
    assert_eq!(cases, 16 * 2 * 2 * 2 * 2 * 6);
}

/// EPAN without FEAT_PAN3 is not there.
#[test]
fn epan_needs_pan3() {
    let t = Tables::new();
    let root = t.alloc();
    t.map(K4, root, 0, 0x4000_0000, 3, AF);
    let mut f = features(K4);
    let r = Regs { sctlr: 1 | 1 << 57, ..regs(K4, root, root) };
    let access = READ.with_pan(PanState::On);
    assert!(walk(&Stage1::new(&r, &f), va(0), access, &t).is_err());
    f.epan = vambrace_mmu::Switch::Off;
    assert!(walk(&Stage1::new(&r, &f), va(0), access, &t).is_ok());
}

#[test]
fn cache_maintenance() {
    let t = Tables::new();
    let root = t.alloc();
    let s = stage1(K4, root);
    let clean = |p| Access::new(AccessKind::CacheMaintenance, p).with_pan(PanState::On);
    let invalidate = |p| Access::new(AccessKind::CacheInvalidate, p).with_pan(PanState::On);
    for (ap, el0_clean, el1_invalidate) in
        [(0b00, false, true), (0b01, true, true), (0b10, false, false), (0b11, true, false)]
    {
        t.map(K4, root, 0, 0x4000_0000, 3, AF | ap << 6);
        assert!(walk(&s, va(0), clean(Privilege::El1), &t).is_ok(), "never a Permission fault at EL1");
        assert_eq!(walk(&s, va(0), clean(Privilege::El0), &t).is_ok(), el0_clean);
        let got = walk(&s, va(0), invalidate(Privilege::El1), &t);
        assert_eq!(got.is_ok(), el1_invalidate);
        if let Err(fault) = got {
            assert_eq!(fault.direction, Direction::Write);
        }
    }
}

#[test]
fn clean_page_asks_for_a_walk() {
    let t = Tables::new();
    let root = t.alloc();
    t.map(K4, root, 0, 0x4000_0000, 3, AF | AP2 | DBM);
    let s = Stage1::new(&Regs { tcr: K4.tcr(5) | 3 << 39, ..regs(K4, root, root) }, &features(K4));
    let e = walk(&s, va(0), READ, &t).unwrap();
    assert_eq!(permissions::check(&s, &e, READ), Outcome::Allowed);
    assert_eq!(permissions::check(&s, &e, WRITE), Outcome::Rewalk);
    assert_eq!(permissions::check(&s, &e, Access::new(AccessKind::AtWrite, Privilege::El1)), Outcome::Allowed);
    assert!(matches!(permissions::check(&s, &e, WRITE0), Outcome::Denied(_)));
    let e = walk(&s, va(0), WRITE, &t).unwrap();
    assert_eq!(permissions::check(&s, &e, WRITE), Outcome::Allowed);
}

/// HCR_EL2.NV1 (D8.11): bit 54 is PXN, AP[1] and bit 53 count for nothing, and no page is EL0's.
#[test]
fn a_guest_hypervisors_tables() {
    use vambrace_mmu::Switch;
    for (ap, bit54, el1) in [(0b00, 0, "rwx"), (0b00, 1, "rw-"), (0b01, 0, "rwx"), (0b10, 0, "r-x"), (0b11, 1, "r--")] {
        for bit53 in [0, 1] {
            let t = Tables::new();
            let root = t.alloc();
            t.map(K4, root, 0, 0x4000_0000, 3, AF | ap << 6 | bit54 << 54 | bit53 << 53);
            let s = Stage1::new(&Regs { nv1: Switch::On, ..regs(K4, root, root) }, &features(K4));
            for (kind, needs) in KINDS {
                let got = walk(&s, va(0), Access::new(kind, Privilege::El1), &t);
                assert_eq!(got.is_ok(), rights(el1).contains(rights(needs)), "AP {ap:02b} {bit54} {bit53} {kind:?}");
            }
            assert!(walk(&s, va(0), Access::new(AccessKind::Read, Privilege::El0), &t).is_err());
        }
    }
}
