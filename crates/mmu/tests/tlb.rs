//! The TLB and the TLBI instructions.

mod common;

use arch::sysreg::Enc;
use common::*;
use vambrace_mmu::{
    AccessKind, AsidMatch, Broadcast, Entry, FaultKind, Granule, Key, Levels, Origin, Privilege, Regime, Regs, Source,
    Stage1, Switch, Tlb, TlbiOp, TlbiSupport, TlbiTarget, Ttl, VmidMatch, translate, walk,
};

fn op(crm: u16, op2: u16, xt: u64) -> TlbiOp {
    TlbiOp::decode(Enc::new(1, 0, 8, crm, op2), xt, ORIGIN).unwrap()
}

/// An address operand.
fn by_va(asid: u64, va: u64) -> u64 {
    asid << 48 | va >> 12 & 0xfff_ffff_ffff
}

/// Three ASIDs' worth of stage 1 over one set of tables.
struct World {
    tables: Tables,
    stage1: [Stage1; 4],
    tlb: Tlb,
}

const PAGE: u64 = 0x40_0000; // nG page
const GLOBAL_PAGE: u64 = 0x40_1000;
const BLOCK: u64 = 0x80_0000; // nG block of 2 MiB
const RUN: u64 = 0xc0_0000; // nG contiguous run of 64 KiB
const HIGH: u64 = 0xffff_8000_0000_0000; // global page
const ALL: [u64; 5] = [PAGE, GLOBAL_PAGE, BLOCK, RUN, HIGH];

fn world() -> World {
    let tables = Tables::new();
    let root = tables.alloc();
    tables.map(K4, root, PAGE, 0x1000, 3, AF | NG | AP1);
    tables.map(K4, root, GLOBAL_PAGE, 0x2000, 3, AF);
    tables.map(K4, root, BLOCK, 0x20_0000, 2, AF | NG);
    tables.map(K4, root, RUN, 0x1_0000, 3, AF | NG | CONT);
    tables.map(K4, root, HIGH, 0x3000, 3, AF);
    let stage1 = [0, 1, 2, 3].map(|asid| Stage1::new(&regs(K4, root | asid << 48, root), &features(K4)));
    World { tables, stage1, tlb: Tlb::new() }
}

impl World {
    /// Fills the TLB with all five translations under ASIDs 1 and 2.
    fn fill(&mut self) {
        for asid in [1, 2] {
            for at in ALL {
                translate(&self.stage1[asid], &mut self.tlb, va(at), READ, &self.tables, |_| ()).unwrap();
            }
        }
        assert_eq!(self.tlb.len(), 3 * 2 + 2);
    }
    fn holds(&self, asid: usize, at: u64) -> bool {
        self.tlb.lookup(Key::new(&self.stage1[asid], va(at))).is_some()
    }
    /// What is left after `op`: for ASID 1, then for ASID 2, as letters.
    fn after(&mut self, op: TlbiOp) -> String {
        self.fill();
        let mut seen = 0;
        let before = self.tlb.len();
        let removed = self.tlb.invalidate(&op, |_| seen += 1);
        assert_eq!(removed, seen);
        assert_eq!(before - self.tlb.len(), removed as usize);
        let mut left = String::new();
        for asid in [1, 2] {
            for (at, letter) in ALL.into_iter().zip("PGBRH".chars()) {
                left.push(if self.holds(asid, at) { letter } else { '.' });
            }
        }
        left
    }
}

#[test]
fn tags() {
    let mut w = world();
    w.fill();
    for at in ALL {
        assert!(w.holds(1, at) && w.holds(2, at));
        let global = at == GLOBAL_PAGE || at == HIGH;
        assert_eq!(w.holds(3, at), global, "{at:#x}");
    }
    assert!(w.holds(1, BLOCK + 0x1f_ffff) && !w.holds(1, BLOCK + 0x20_0000));
    assert!(w.holds(1, RUN + 0xffff) && !w.holds(1, RUN + 0x1_0000));
    assert!(!w.holds(1, BLOCK - 1));
    // Another VMID, another regime: nothing matches.
    let root = 0x10_0000;
    let r = regs(K4, root | 1 << 48, root);
    for other in [Regs { vmid: 1, ..r }, Regs { regime: Regime::El20, ..r }] {
        let s = Stage1::new(&other, &features(K4));
        for at in ALL {
            assert!(w.tlb.lookup(Key::new(&s, va(at))).is_none());
        }
    }
}

/// Each form, local, IS and OS: what it leaves of both ASIDs' entries.
#[test]
fn every_form() {
    let asid1 = 1 << 48;
    for crm in [7, 3, 1] {
        for (op2, xt, left) in [
            (0, 0, ".........."),
            (2, asid1, ".G..HPGBRH"),
            (2, 3 << 48, "PGBRHPGBRH"),
            // VAE1: one ASID, and global pages.
            (1, by_va(1, PAGE), ".GBRHPGBRH"),
            (1, by_va(3, PAGE), "PGBRHPGBRH"),
            (1, by_va(3, GLOBAL_PAGE), "P.BRHP.BRH"),
            (1, by_va(2, BLOCK + 0x12_3000), "PGBRHPG.RH"),
            (1, by_va(2, RUN + 0x5000), "PGBRHPGB.H"),
            (1, by_va(1, HIGH), "PGBR.PGBR."),
            (1, by_va(1, HIGH + 0x1000), "PGBRHPGBRH"),
            // VAAE1: any ASID.
            (3, by_va(9, PAGE), ".GBRH.GBRH"),
            (3, by_va(9, RUN), "PGB.HPGB.H"),
            // Last level: the same, as no walk entries are held.
            (5, by_va(1, PAGE), ".GBRHPGBRH"),
            (7, by_va(9, PAGE), ".GBRH.GBRH"),
        ] {
            let op = op(crm, op2, xt);
            assert_eq!(world().after(op), left, "CRm {crm} op2 {op2} {xt:#x}");
            let broadcast = match crm {
                7 => Broadcast::Local,
                3 => Broadcast::Inner,
                _ => Broadcast::Outer,
            };
            assert_eq!(op.broadcast, broadcast);
            assert_eq!(op.levels, if op2 >= 5 { Levels::Last } else { Levels::All });
        }
    }
}

/// TTL names level 3 for what is a block: it may stay, and goes here.
#[test]
fn ttl_is_a_hint() {
    let op = op(7, 1, by_va(1, BLOCK) | 0b0111 << 44);
    assert_eq!(op.ttl, Some(Ttl { granule: Granule::K4, level: 3 }));
    assert_eq!(op.target, TlbiTarget::Va { va: va(BLOCK), asid: AsidMatch::This(1) });
    assert_eq!(world().after(op), "PG.RHPGBRH");
    let none =
        TlbiOp::decode(Enc::new(1, 0, 8, 7, 1), by_va(1, BLOCK) | 0b0111 << 44, Origin { ttl: Switch::Off, ..ORIGIN });
    assert_eq!(none.unwrap().ttl, None);
}

/// The operand of a range form.
fn range(asid: u64, tg: u64, scale: u64, num: u64, base: u64) -> u64 {
    asid << 48 | tg << 46 | scale << 44 | num << 39 | base & 0x1f_ffff_ffff
}

#[test]
fn ranges() {
    for crm in [6, 2, 5] {
        for (op2, xt, left) in [
            // Two pages from PAGE: both.
            (1, range(1, 1, 0, 0, PAGE >> 12), "..BRHP.BRH"),
            (3, range(9, 1, 0, 0, PAGE >> 12), "..BRH..BRH"),
            // From the page before: the first alone.
            (5, range(2, 1, 0, 0, (PAGE >> 12) - 1), "PGBRH.GBRH"),
            (7, range(9, 1, 0, 0, (PAGE >> 12) - 1), ".GBRH.GBRH"),
            // (31 + 1) << 1 = 64 pages from the middle of the block.
            (1, range(1, 1, 0, 31, (BLOCK >> 12) + 256), "PG.RHPGBRH"),
            // 2 << 6 pages up to the start of the block: not the block.
            (1, range(1, 1, 1, 1, (BLOCK >> 12) - 128), "PGBRHPGBRH"),
            (1, range(1, 1, 1, 2, (BLOCK >> 12) - 128), "PG.RHPGBRH"),
            // 32 << 16 pages, 8 GiB: a scan.
            (1, range(1, 1, 3, 31, 0), "....HP.BRH"),
            // The upper half: bit 36 of the base stands for what lies above.
            (1, range(1, 1, 0, 0, HIGH >> 12), "PGBR.PGBR."),
            // 64 KiB units.
            (1, range(1, 3, 0, 0, PAGE >> 16), "..BRHP.BRH"),
            // A reserved granule.
            (1, range(1, 0, 3, 31, 0), "PGBRHPGBRH"),
        ] {
            assert_eq!(world().after(op(crm, op2, xt)), left, "CRm {crm} op2 {op2} {xt:#x}");
        }
    }
    // With DS, all bases are in units of 64 KiB.
    let wide = Origin { ds: Switch::On, ..ORIGIN };
    let op = TlbiOp::decode(Enc::new(1, 0, 8, 6, 1), range(1, 1, 0, 0, PAGE >> 16), wide).unwrap();
    assert_eq!(op.target, TlbiTarget::Range { start: va(PAGE), bytes: 0x2000, asid: AsidMatch::This(1) });
}

/// A range that runs over the end of the address space ends, and takes its pages with it.
#[test]
fn range_over_the_top() {
    let mut w = world();
    let top = 0xffff_ffff_ffff_f000;
    w.tables.map(K4, 0x10_0000, top, 0x9000, 3, AF);
    translate(&w.stage1[1], &mut w.tlb, va(top), READ, &w.tables, |_| ()).unwrap();
    let mut op = op(6, 1, range(1, 1, 3, 31, top >> 12));
    assert_eq!(w.tlb.invalidate(&op, |_| ()), 1);
    op.target = TlbiTarget::Range { start: va(u64::MAX), bytes: u64::MAX, asid: AsidMatch::Any };
    assert_eq!(w.tlb.invalidate(&op, |_| ()), 0);
}

/// Which encodings exist, by feature; TLBI of other regimes and CRn are not decoded here.
#[test]
fn encodings() {
    for crm in 0..16 {
        for op2 in 0..8 {
            for (support, rank) in [(TlbiSupport::Base, 0), (TlbiSupport::OuterShareable, 1), (TlbiSupport::Range, 2)] {
                let needs = match (crm, op2) {
                    (3 | 7, 0 | 1 | 2 | 3 | 5 | 7) => Some(0),
                    (1, 0 | 1 | 2 | 3 | 5 | 7) => Some(1),
                    (2 | 5 | 6, 1 | 3 | 5 | 7) => Some(2),
                    _ => None,
                };
                let got = TlbiOp::decode(Enc::new(1, 0, 8, crm, op2), 0, Origin { support, ..ORIGIN });
                assert_eq!(got.is_some(), needs.is_some_and(|n| n <= rank), "CRm {crm} op2 {op2} {support:?}");
            }
        }
    }
    assert!(TlbiOp::decode(Enc::new(1, 4, 8, 7, 0), 0, ORIGIN).is_none());
    assert!(TlbiOp::decode(Enc::new(1, 0, 7, 7, 1), 0, ORIGIN).is_none());
}

#[test]
fn vmid_and_regime_scope() {
    let mut w = world();
    let r = regs(K4, 0x10_0000 | 1 << 48, 0x10_0000);
    let guest = Stage1::new(&Regs { vmid: 7, ..r }, &features(K4));
    let host = Stage1::new(&Regs { regime: Regime::El20, vmid: 7, ..r }, &features(K4));
    let fill = |w: &mut World| {
        for s in [&guest, &host] {
            translate(s, &mut w.tlb, va(PAGE), READ, &w.tables, |_| ()).unwrap();
        }
        w.fill_only();
    };
    let all = |origin: Origin| TlbiOp::decode(Enc::new(1, 0, 8, 7, 0), 0, origin).unwrap();
    fill(&mut w);
    assert_eq!(w.tlb.invalidate(&all(Origin { vmid: 7, ..ORIGIN }), |e| assert_eq!(e.vmid, 7)), 1);
    fill(&mut w);
    let host_op = all(Origin { regime: Regime::El20, vmid: 7, ..ORIGIN });
    assert_eq!(w.tlb.invalidate(&host_op, |e| assert_eq!(e.regime, Regime::El20)), 1);
    fill(&mut w);
    assert_eq!(w.tlb.invalidate(&all(ORIGIN), |e| assert_eq!((e.vmid, e.regime), (0, Regime::El10))), 8);
    let any = TlbiOp { vmid: VmidMatch::Any, ..all(ORIGIN) };
    assert_eq!(w.tlb.invalidate(&any, |_| ()), 1);
    assert_eq!(w.tlb.len(), 1);
}

impl World {
    fn fill_only(&mut self) {
        for asid in [1, 2] {
            for at in ALL {
                translate(&self.stage1[asid], &mut self.tlb, va(at), READ, &self.tables, |_| ()).unwrap();
            }
        }
    }
}

/// More pages than the TLB holds: every one translates, evictions are reported, the books balance.
#[test]
fn eviction() {
    let mut w = world();
    let base = 0x1_0000_0000_u64;
    let pages = 5000;
    for n in 0..pages {
        w.tables.map(K4, 0x10_0000, base + n * 4096, n * 4096, 3, AF | NG);
    }
    let mut out = std::collections::BTreeSet::new();
    for n in 0..pages {
        let t = translate(&w.stage1[1], &mut w.tlb, va(base + n * 4096), READ, &w.tables, |e| {
            out.insert(e.va.0);
        })
        .unwrap();
        assert_eq!((t.source, t.entry.pa.0), (Source::Walk, n * 4096));
    }
    assert_eq!(out.len() + w.tlb.len(), pages as usize);
    assert_eq!(w.tlb.len(), 2048, "consecutive pages use every way");
    let held: Vec<Entry> = w.tlb.iter().copied().collect();
    for e in held {
        assert!(!out.contains(&e.va.0));
        let t = translate(&w.stage1[1], &mut w.tlb, e.va, READ, &w.tables, |_| ()).unwrap();
        assert_eq!((t.source, t.entry), (Source::Tlb, e));
    }
    w.tlb.clear();
    assert!(w.tlb.is_empty() && w.tlb.iter().next().is_none());
}

/// The TLB really serves stale translations: without a TLBI, the old page stays.
#[test]
fn stale_until_invalidated() {
    let mut w = world();
    w.fill();
    w.tables.map(K4, 0x10_0000, PAGE, 0x7000, 3, AF | NG);
    let s = w.stage1[1];
    let get = |w: &mut World| translate(&s, &mut w.tlb, va(PAGE), READ, &w.tables, |_| ()).unwrap();
    let t = get(&mut w);
    assert_eq!((t.entry.pa.0, t.source), (0x1000, Source::Tlb));
    w.tlb.invalidate(&op(7, 1, by_va(1, PAGE)), |_| ());
    let t = get(&mut w);
    assert_eq!((t.entry.pa.0, t.source), (0x7000, Source::Walk));
}

/// A hit that denies is judged by the tables: wider permissions need no TLBI, and a fault is the walk's.
#[test]
fn denied_hit_walks() {
    let mut w = world();
    w.fill();
    let s = w.stage1[1];
    let slot = w.tables.slot(K4, 0x10_0000, PAGE, 3);
    w.tables.set(slot, w.tables.get(slot) | AP2);
    let again = |w: &mut World, access| translate(&s, &mut w.tlb, va(PAGE), access, &w.tables, |_| ());
    assert_eq!(again(&mut w, WRITE0).unwrap().source, Source::Tlb, "the stale entry still permits");
    w.tlb.invalidate(&op(7, 0, 0), |_| ());
    assert!(again(&mut w, READ0).is_ok());
    assert_eq!(what(again(&mut w, WRITE0).unwrap_err()), (FaultKind::Permission, 3));
    again(&mut w, READ0).unwrap();
    w.tables.set(slot, w.tables.get(slot) & !AP2);
    assert_eq!(again(&mut w, WRITE0).unwrap().source, Source::Walk);
    assert_eq!(again(&mut w, WRITE0).unwrap().source, Source::Tlb);
}

/// Reads cache a writable-clean page; the first write marks it in memory and reports the entry it replaces.
#[test]
fn first_write_marks_dirty() {
    let t = Tables::new();
    let root = t.alloc();
    let slot = t.map(K4, root, 0, 0x4000_0000, 3, AF | AP2 | DBM);
    let s = Stage1::new(&Regs { tcr: K4.tcr(5) | 3 << 39, ..regs(K4, root, root) }, &features(K4));
    let mut tlb = Tlb::new();
    let mut dropped = 0;
    let mut go = |access, tlb: &mut Tlb| translate(&s, tlb, va(0), access, &t, |_| dropped += 1).unwrap().source;
    assert_eq!(go(READ, &mut tlb), Source::Walk);
    assert_eq!(go(READ, &mut tlb), Source::Tlb);
    assert_eq!(go(WRITE, &mut tlb), Source::Walk);
    assert_eq!(go(WRITE, &mut tlb), Source::Tlb);
    assert_eq!(dropped, 1);
    assert_eq!(t.get(slot) & AP2, 0);
    assert_eq!(tlb.len(), 1);
}

/// Faults, AT on an unaccessed page, nT and translation off leave nothing in the TLB.
#[test]
fn what_is_never_held() {
    let t = Tables::new();
    let root = t.alloc();
    t.map(K4, root, 0, 0x4000_0000, 3, 0);
    t.map(K4, root, 0x4000_0000, 0x4000_0000, 2, AF | NT);
    let s = Stage1::new(&Regs { tcr: K4.tcr(5) | 1 << 39, ..regs(K4, root, root) }, &features(K4));
    let mut tlb = Tlb::new();
    let at = vambrace_mmu::Access::new(AccessKind::AtRead, Privilege::El1);
    assert!(translate(&s, &mut tlb, va(0), at, &t, |_| ()).is_ok());
    assert!(translate(&s, &mut tlb, va(0x4000_0000), READ, &t, |_| ()).is_ok());
    assert!(translate(&s, &mut tlb, va(0x8000_0000), READ, &t, |_| ()).is_err());
    assert!(translate(&s, &mut tlb, va(0), READ0, &t, |_| ()).is_err());
    let off = Stage1::new(&Regs { sctlr: 0, ..regs(K4, root, root) }, &features(K4));
    assert_eq!(translate(&off, &mut tlb, va(0), READ, &t, |_| ()).unwrap().source, Source::Off);
    assert!(tlb.is_empty());
    // E0PD and range checks come before the TLB.
    translate(&s, &mut tlb, va(0), READ, &t, |_| ()).unwrap();
    let e0pd = Stage1::new(&Regs { tcr: K4.tcr(5) | 1 << 55, ..regs(K4, root, root) }, &features(K4));
    assert_eq!(what(translate(&e0pd, &mut tlb, va(0), READ0, &t, |_| ()).unwrap_err()), (FaultKind::Translation, 0));
    // EPD does not stop a hit.
    let epd = Stage1::new(&Regs { tcr: K4.tcr(5) | 1 << 7, ..regs(K4, root, root) }, &features(K4));
    assert_eq!(translate(&epd, &mut tlb, va(0), READ, &t, |_| ()).unwrap().source, Source::Tlb);
    assert!(walk(&epd, va(0), READ, &t).is_err());
}
